"""Speed of writing and reading k-mer databases: NumPy by threads, and the device.

    python benchmarks/kmer_database.py [--kmers 17700000] [-k 31] [--device cpu] [--repeat 3] [--json FILE]

The k-mers are random and of all 4^k, so their gaps are as wide as those of any genome's; 72 % are singletons, and the
rest has a mean of 20, as 30-fold reads with errors have. The best of the runs is shown. CPU time is that of all threads
of the process, which is steadier on a machine with other work; GB/s is of the file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from measure import machine, table, write_json

from oclgenomics.kmers.database import KmerDatabase
from oclgenomics.kmers.database_writer import DatabaseWriter
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.sets import CountedKmers, KmerBlock
from oclgenomics.runtime import Engine, select_device
from oclgenomics.threads import usable_cores

SEED = 7
BLOCK = 1 << 20  # k-mers that come to the writer at a time


def random_kmers(k: int, size: int) -> CountedKmers:
    """Random k-mers with counts as those of reads."""
    rng = np.random.default_rng(SEED)
    words = key_words(k)
    keys = rng.integers(0, 1 << 64, (words, size), np.uint64)
    keys[-1] >>= np.uint64(64 * words - 2 * k)
    keys = keys[:, np.argsort(keys[-1]) if words == 1 else np.lexsort(keys)]
    keys = keys[:, np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])]
    counts = np.where(rng.random(keys.shape[1]) < 0.72, 1, 1 + rng.poisson(19, keys.shape[1])).astype(np.uint32)
    return CountedKmers(k, True, np.ascontiguousarray(keys), counts)


def write(path: Path, kmers: CountedKmers, engine: Engine | None, threads: int) -> None:
    """Write a database."""
    with DatabaseWriter(path, CountOptions(kmers.k), engine=engine, threads=threads) as writer:
        for start in range(0, kmers.distinct, BLOCK):
            writer.append(KmerBlock(kmers.keys[:, start : start + BLOCK], kmers.counts[start : start + BLOCK]))


def read(path: Path, threads: int) -> None:
    """Read a database."""
    with KmerDatabase.open(path) as database:
        for _ in database.blocks(threads):
            pass


def cases(path: Path, kmers: CountedKmers, engine: Engine) -> Iterator[tuple[str, Callable[[], None]]]:
    """What is measured."""
    threads = sorted({1, usable_cores()})
    for number in threads:
        yield f"write, NumPy, {number} threads", lambda number=number: write(path, kmers, None, number)
    yield f"write, {engine.device.name}", lambda: write(path, kmers, engine, usable_cores())
    for number in threads:
        yield f"read, NumPy, {number} threads", lambda number=number: read(path, number)


def best_times(run: Callable[[], None], repeat: int) -> tuple[float, float]:
    """Wall and CPU seconds, the best of some runs after one that is not counted."""
    times = []
    for _ in range(repeat + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(wall for wall, _ in times[1:]), min(cpu for _, cpu in times[1:])


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kmers", type=int, default=17_700_000)
    parser.add_argument("-k", type=int, default=31)
    parser.add_argument("--device", default=None)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    engine = Engine(select_device(args.device))
    kmers = random_kmers(args.k, args.kmers)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kmers"
        for name, run in cases(path, kmers, engine):
            wall, cpu = best_times(run, args.repeat)
            rows.append(
                {
                    "case": name,
                    "M k-mers/s": round(kmers.distinct / wall / 1e6, 1),
                    "CPU ns/k-mer": round(cpu / kmers.distinct * 1e9, 1),
                    "GB/s": round(os.path.getsize(path) / wall / 1e9, 2),
                    "bytes/k-mer": round(os.path.getsize(path) / kmers.distinct, 2),
                }
            )
    print(f"{kmers.distinct:,} k-mers, k = {args.k}\n{table(rows)}")
    if args.json:
        write_json(args.json, {"machine": machine(engine.device), "k": args.k, "kmers": kmers.distinct, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
