"""K-mer counting from a file to a written database, beside KMC and Jellyfish where they are installed.

    python benchmarks/kmers.py [--device gpu] [--genome FILE] [--bases 24e6] [--coverage 10] [--k 21,28,31] [--repeat 3]
                               [--max-memory 500M] [--no-peers] [--json FILE]

Reads of 150 bases with 0.5 % errors, from a random genome or from the first record of a FASTA file. Each program is a
process of its own, timed from start to exit. Programs run in turn, Jellyfish once, the others `--repeat` times; rates
are of the median run. `peak` is the process' resident memory. KMC keeps all k-mers (-ci1) with two threads and 8 GB;
Jellyfish gets the table size that it needs.

`--pipeline` times the device alone instead: packed bases in device memory to counted k-mers in device memory.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import host, machine, run_process, table, write_json

from oclgenomics.kmers.counting.sort_counter import SortCounter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Engine, select_device
from oclgenomics.sequence import packed_blocks

SEED, READ, ERRORS, CHUNK = 17, 150, 0.005, 100_000
BASES = np.frombuffer(b"ACGT", np.uint8)
OUTPUTS = "outputs"
ONCE = ("jellyfish",)  # that take so long that another run would tell nothing


def genome_of(path: str | None, bases: int) -> np.ndarray:
    """Letters of a random genome, or of a file's first record."""
    if path is None:
        return BASES[np.random.default_rng(SEED).integers(0, 4, bases)]
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        text = file.read().upper()
    record = text[text.index(b"\n") :].split(b">")[0]
    return np.frombuffer(record.translate(None, b"\r\n"), np.uint8)


def write_reads(path: Path, genome: np.ndarray, coverage: float) -> int:
    """Write simulated reads as FASTQ; return how many."""
    rng = np.random.default_rng(SEED + 1)
    count = int(len(genome) * coverage / READ)
    with path.open("wb") as file:
        for first in range(0, count, CHUNK):
            some = min(CHUNK, count - first)
            reads = genome[rng.integers(0, len(genome) - READ, some)[:, None] + np.arange(READ)]
            wrong = rng.random(reads.shape) < ERRORS
            reads[wrong] = BASES[rng.integers(0, 4, int(wrong.sum()))]
            names = np.char.zfill(np.arange(first, first + some).astype("S9"), 9).view(np.uint8).reshape(-1, 9)
            parts = (b"@", names, b"\n", reads, b"\n+\n", b"I" * READ, b"\n")
            columns = [np.tile(np.frombuffer(p, np.uint8), (some, 1)) if isinstance(p, bytes) else p for p in parts]
            file.write(np.concatenate(columns, axis=1).tobytes())
    return count


Command = tuple[str, list[str]]


def commands(args: argparse.Namespace, reads: Path, folder: Path, k: int, device: str) -> Iterator[Command]:
    """The programs' command lines."""
    own = [sys.executable, "-m", "oclgenomics", "kmers", "count", str(reads), "-k", str(k)]
    own += ["-o", str(folder / OUTPUTS / "own.db"), "-d", device, "-q"]
    own += ["--max-memory", args.max_memory] if args.max_memory else []
    yield "oclgenomics", own
    if args.no_peers:
        return
    if kmc := shutil.which("kmc"):
        output = [str(reads), str(folder / OUTPUTS / "kmc"), str(folder)]
        yield "kmc", [kmc, f"-k{k}", "-t2", "-m8", "-ci1", "-cs65535", *output]
    if jellyfish := shutil.which("jellyfish"):
        output = ["-o", str(folder / OUTPUTS / "jf"), str(reads)]
        yield "jellyfish", [jellyfish, "count", "-m", str(k), "-C", "-t", "2", "-s", "100M", *output]


def whole_processes(
    args: argparse.Namespace, reads: Path, count: int, folder: Path, device: str
) -> list[dict[str, Any]]:
    """Every program for every k, in turn."""
    rows = []
    for k in args.k:
        runs: dict[str, list[dict[str, Any]]] = {}
        for number in range(args.repeat):
            for name, command in commands(args, reads, folder, k, device):
                if not number or name not in ONCE:
                    runs.setdefault(name, []).append(run_process(command, 1, outputs=folder / OUTPUTS))
        for name, some in runs.items():
            seconds, peak = [run["best"] for run in some], max(run["peak_mb"] for run in some)
            middle = float(np.median(seconds))
            row = {"k": k, "program": name, "runs": len(some), "median s": middle, "least s": min(seconds)}
            row |= {"most s": max(seconds), "M k-mers/s": count * (READ - k + 1) / middle / 1e6, "peak MB": peak}
            rows.append(row)
    return rows


def pipelines(args: argparse.Namespace, reads: Path, engine: Engine) -> list[dict[str, Any]]:
    """Packed bases to counted k-mers, both in device memory."""
    rows = []
    for k in args.k:
        times = []
        for _ in range(args.repeat + 1):
            blocks = [block.symbols for block in packed_blocks(engine, [reads], overlap=k - 1)]
            engine.finish()
            start = time.perf_counter()
            counter = SortCounter(engine, CountOptions(k))
            for symbols in blocks:
                counter.add(symbols)
            runs = counter.runs(0, counter.prefixes)
            engine.finish()
            times.append(time.perf_counter() - start)
            kmers, distinct = counter.kmers, runs.size
            del blocks, counter, runs
        rate = kmers / min(times[1:]) / 1e9
        rows.append({"k": k, "M k-mers": kmers / 1e6, "M distinct": distinct / 1e6, "G k-mers/s": rate})
    return rows


def main() -> int:
    """Make the reads and run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-d", "--device", default="auto")
    parser.add_argument("--genome", metavar="FILE")
    parser.add_argument("--bases", type=float, default=24e6)
    parser.add_argument("--coverage", type=float, default=10)
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=[21, 28, 31])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-memory")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--pipeline", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    device = select_device(args.device)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reads = folder / "reads.fq"
        count = write_reads(reads, genome_of(args.genome, int(args.bases)), args.coverage)
        record: dict[str, Any] = {"machine": machine(device), "host": host(), "reads": count}
        record["megabytes"] = os.path.getsize(reads) / 1e6
        if args.pipeline:
            with Engine(device) as engine:
                record["rows"] = pipelines(args, reads, engine)
        else:
            record["rows"] = whole_processes(args, reads, count, folder, str(device.index))
    print(f"{device}, {count:,} reads, {record['megabytes']:.0f} MB\n{table(record['rows'])}")
    if args.json:
        write_json(args.json, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
