"""Speed of writing and reading k-mer databases: from device memory, from host memory by NumPy, and back.

    python benchmarks/kmer_database.py [-d gpu] [--kmers 17.7e6] [-k 31,55,90] [--repeat 3] [--folder DIR] [--json FILE]
                                       [--device-only]

The k-mers are random and of all 4^k, so their gaps are as wide as those of any genome's; 72 % are singletons, and the
rest has a mean of 20, as 30-fold reads with errors have. They are in device memory from the start.
"encode" goes to /dev/null, so all is done but writing the file: sections, checksums, histogram and the way to the host.
The bound of "encode" is the copy of the encoded bytes to the host, or within its memory where the device shares it;
that of "write" is one thread that writes as many bytes. NumPy and reading are measured for at most 20 million k-mers.

The best of the runs is shown. CPU time is that of all threads of the process, which is steadier on a machine with other
work; GB/s is of the file.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import host, machine, table, write_json

from oclgenomics.io.cores import usable_cores
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine, select_device

SEED = 7
BLOCK = 1 << 20  # k-mers that are made, or come to the writer, at a time
MAX_ON_HOST = 20_000_000
COPIED = 1 << 26  # bytes
Case = tuple[str, Callable[[], None], int, float | None]  # name, run, k-mers, GB/s that bound it


def random_blocks(k: int, size: int) -> Iterator[KmerBlock]:
    """Ascending random k-mers with counts as those of reads."""
    rng = np.random.default_rng(SEED)
    words = key_words(k)
    counts = np.where(rng.random(BLOCK) < 0.72, 1, 1 + rng.poisson(19, BLOCK)).astype(np.uint32)
    mean = (1 << 2 * k - 64 * (words - 1)) // size  # of gaps of the most significant word, which is where they are
    if not mean:
        raise SystemExit(f"{size:,} k-mers of {k} letters cannot be made; take another k")
    key = 0
    for start in range(0, size, BLOCK):
        part = min(BLOCK, size - start)
        keys = rng.integers(0, 1 << 64, (words, part), np.uint64)
        keys[-1] = np.uint64(key) + np.cumsum(rng.integers(1, 2 * mean - mean // 64, part, np.uint64))
        key = int(keys[-1, -1])
        yield KmerBlock(keys, counts[:part])


def make_runs(engine: Engine, k: int, size: int) -> Runs:
    """Random k-mers in device memory."""
    keys, counts = engine.empty((key_words(k), size), np.uint64), engine.empty(size, np.uint32)
    start = 0
    for block in random_blocks(k, size):
        for word, row in enumerate(block.keys):
            engine.write(keys, row, word * size + start)
        engine.write(counts, block.counts, start)
        start += len(block)
    return Runs(keys, counts, size)


def write_runs(path: Path, k: int, engine: Engine, runs: Runs) -> None:
    """Write a database from device memory."""
    with DatabaseWriter(path, CountOptions(k), engine=engine) as writer:
        writer.append_runs(runs)


def write_blocks(path: Path, k: int, blocks: list[KmerBlock], threads: int) -> None:
    """Write a database from host memory."""
    with DatabaseWriter(path, CountOptions(k), threads=threads) as writer:
        for block in blocks:
            writer.append(block)


def read(path: Path, threads: int) -> None:
    """Read a database."""
    with KmerDatabase.open(path) as database:
        for _ in database.blocks(threads):
            pass


def read_runs(path: Path, engine: Engine) -> None:
    """Read a database into device memory."""
    with KmerDatabase.open(path) as database:
        for _ in database.runs(engine):
            pass


def copy_rate(engine: Engine) -> float:
    """GB/s at which results come to the host, or are copied in the memory that the device shares with it."""
    source, target = engine.upload(np.ones(COPIED, np.uint8)), engine.pinned(COPIED, np.uint8)
    return COPIED / 1e9 / best_times(lambda: engine.download(source, out=target), 3)[0]


def file_rate(path: Path) -> float:
    """GB/s at which one thread writes to a file."""
    data = np.ones(COPIED, np.uint8).data

    def run() -> None:
        with path.open("wb", buffering=0) as file:
            for start in range(0, COPIED, 1 << 24):
                file.write(data[start : start + (1 << 24)])

    rate = COPIED / 1e9 / best_times(run, 3)[0]
    path.unlink()
    return rate


def cases(path: Path, k: int, size: int, engine: Engine, device_only: bool) -> Iterator[Case]:
    """What is measured."""
    runs = make_runs(engine, k, size)
    yield "encode, device", lambda: write_runs(Path("/dev/null"), k, engine, runs), size, copy_rate(engine)
    yield "write, device", lambda: write_runs(path, k, engine, runs), size, file_rate(path)
    yield "read, device", lambda: read_runs(path, engine), size, None
    runs.keys.release()
    runs.counts.release()
    if device_only:
        return
    size = min(size, MAX_ON_HOST)
    blocks = list(random_blocks(k, size))
    threads = sorted({1, usable_cores()})
    for number in threads:
        yield f"write, NumPy, {number} threads", lambda n=number: write_blocks(path, k, blocks, n), size, None
    for number in threads:
        yield f"read, NumPy, {number} threads", lambda n=number: read(path, n), size, None


def best_times(run: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Wall and CPU seconds, the best of some runs after one that is not counted."""
    times = []
    for _ in range(repeat + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(wall for wall, _ in times[1:]), min(cpu for _, cpu in times[1:])


def measure(path: Path, k: int, args: argparse.Namespace, engine: Engine) -> Iterator[dict[str, Any]]:
    """Run all cases for one k."""
    each = 0.0  # bytes of a k-mer in the file; all databases of a k have as many
    rows = []
    for name, run, size, bound in cases(path, k, int(args.kmers), engine, args.device_only):
        wall, cpu = best_times(run, args.repeat)
        each = path.stat().st_size / size if path.exists() else each
        rows.append((name, size, wall, cpu, bound))
    for name, size, wall, cpu, bound in rows:
        yield {
            "k": k,
            "case": name,
            "M k-mers": size / 1e6,
            "s": wall,
            "M k-mers/s": size / wall / 1e6,
            "bound, M k-mers/s": None if bound is None else 1e3 * bound / each,
            "CPU ns/k-mer": cpu / size * 1e9,
            "GB/s": each * size / wall / 1e9,
            "bytes/k-mer": each,
        }
    path.unlink()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kmers", type=float, default=17.7e6)
    parser.add_argument("-k", type=lambda text: [int(k) for k in text.split(",")], default=[31, 55, 90])
    parser.add_argument("-d", "--device")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", help="where the database is written; the system's for temporary files if not given")
    parser.add_argument("--device-only", action="store_true", help="leave NumPy and reading out")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    engine = Engine(select_device(args.device))
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        rows = [row for k in args.k for row in measure(Path(folder) / "kmers", k, args, engine)]
    print(table(rows))
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    write_json(args.json, {"machine": machine(engine.device), "host": host(), "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
