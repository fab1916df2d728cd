"""Throughput, stages and peak memory of the readers on generated, seeded data, for several numbers of threads.

    python benchmarks/formats.py [--megabytes 100] [--threads 1,2,all] [--only "vcf GT,ms"] [--json FILE]

Rates are megabytes of decompressed input per second of wall time, best of `--repeat` in one process. A stage's seconds
are those of processor time in all threads together, from a run of its own; `waited` is the share of the wall time of
all stages but "cut" in which they did not run: for the interpreter's lock, or for a core. `memory` is the peak of
traced allocations over the size of the packed planes, in a run of its own.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import tempfile
import threading
import time
import tracemalloc
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from measure import host, table, write_json

from oclgenomics.formats import batch, inflate, macs, ms, packing, read_alignments, vcf, window
from oclgenomics.threads import usable_cores

HAPLOTYPES = 2000


def ms_lines(rng: np.random.Generator, size: int) -> Iterator[bytes]:
    """Rows of 10,000 sites."""
    sites = 10_000
    yield b"ms\n1 2 3\n\n//\nsegsites: %d\npositions: " % sites
    yield " ".join(f"{i / sites:.6f}" for i in range(sites)).encode() + b"\n"
    for _ in range(size // sites):
        yield rng.integers(ord("0"), ord("2"), sites, np.uint8).tobytes() + b"\n"


def macs_lines(rng: np.random.Generator, size: int) -> Iterator[bytes]:
    """Sites of `HAPLOTYPES` haplotypes with the column of times."""
    yield b"COMMAND:\tmacs\nSEED:\t1\n"
    sites = size // (HAPLOTYPES + 30)
    for site in range(sites):
        row = rng.integers(ord("0"), ord("2"), HAPLOTYPES, np.uint8).tobytes()
        yield f"SITE:\t{site}\t{site / sites:.9f}\t0.123\t".encode() + row + b"\n"


def fasta_lines(rng: np.random.Generator, size: int) -> Iterator[bytes]:
    """Sequences of 30,000 bases in lines of 60, a fifth of the columns polymorphic."""
    length = 30_000
    reference = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, length)]
    varying = rng.choice(length, length // 5, replace=False)
    for i in range(size // length):
        sequence = reference.copy()
        changed = varying[rng.random(len(varying)) < 0.05]
        sequence[changed] = ord("T")
        yield b">sample%d\n" % i
        yield b"\n".join(sequence[at : at + 60].tobytes() for at in range(0, length, 60)) + b"\n"


def vcf_lines(
    rng: np.random.Generator, size: int, keys: bytes, separator: str, missing: float = 0.0
) -> Iterator[bytes]:
    """Records of `HAPLOTYPES` haplotypes in the style of a population panel."""
    samples = HAPLOTYPES // 2
    names = b"\t".join(b"sample%d" % i for i in range(samples))
    yield b"##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t" + names + b"\n"
    written = site = 0
    extra = [f":{depth}:{quality}".encode() for depth in (7, 23, 104) for quality in (9, 48, 99)]
    while written < size:
        site += 1
        calls = (rng.random((samples, 2)) < 1 / rng.integers(2, 60)).astype(np.uint8) + ord("0")
        if missing:
            calls[rng.random((samples, 2)) < missing] = ord(".")
        quads = np.full((samples, 4), ord("\t"), np.uint8)
        quads[:, [0, 2]], quads[:, 1] = calls, ord(separator)
        row = quads.tobytes()[:-1]
        if keys != b"GT":
            tails = [extra[i] for i in rng.integers(0, len(extra), samples)]
            row = b"\t".join(call + tail for call, tail in zip(row.split(b"\t"), tails, strict=True))
        info = b"AC=%d;AF=0.%03d;AN=%d;NS=%d;VT=SNP" % (site % 99, site % 997 + 1, HAPLOTYPES, samples)
        line = b"20\t%d\trs%d\tA\tG\t100\tPASS\t%s\t%s\t%s\n" % (1000 + 37 * site, site, info, keys, row)
        written += len(line)
        yield line


Lines = Callable[[np.random.Generator, int], Iterator[bytes]]
PHASED: Lines = partial(vcf_lines, keys=b"GT", separator="|")
DEPTHS: Lines = partial(vcf_lines, keys=b"GT:DP:GQ", separator="/")
CASES: dict[str, tuple[Lines, str]] = {
    "ms": (ms_lines, "plain"),
    "ms bgzip": (ms_lines, "bgzip"),
    "macs": (macs_lines, "plain"),
    "fasta": (fasta_lines, "plain"),
    "vcf GT": (PHASED, "plain"),
    "vcf GT unphased": (partial(vcf_lines, keys=b"GT", separator="/"), "plain"),
    "vcf GT 1% missing": (partial(vcf_lines, keys=b"GT", separator="|", missing=0.01), "plain"),
    "vcf GT:DP:GQ": (DEPTHS, "plain"),
    "vcf GT gzip": (PHASED, "gzip"),
    "vcf GT bgzip": (PHASED, "bgzip"),
    "vcf GT:DP:GQ bgzip": (DEPTHS, "bgzip"),
}
STAGES: dict[str, list[tuple[Any, str]]] = {
    "inflate": [(inflate, "_inflate_run")],
    "cut": [(window.ByteWindow, "require")],
    "split": [(batch.Batch, "split")],
    "decode": [(vcf._Parser, "parse"), (macs, "_parse"), (ms, "_combine")],
    "join": [(vcf._Chromosome, "finish"), (macs._Sites, "finish"), (packing.RowPacker, "finish")],
}


def write(path: Path, lines: Lines, size: int, packed: str) -> int:
    """Write about `size` bytes of input; the number of decompressed bytes."""
    text = b"".join(lines(np.random.default_rng(1), size))
    path.write_bytes({"plain": bytes, "gzip": lambda data: gzip.compress(data, 6), "bgzip": bgzip}[packed](text))
    return len(text)


def bgzip(text: bytes) -> bytes:
    """The blocks that bgzip writes, the empty one at the end included."""
    blocks = []
    for at in [*range(0, len(text), 65280), len(text)]:
        part = text[at : at + 65280]
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
        blocks.append(head + packed + struct.pack("<II", zlib.crc32(part), len(part)))
    return b"".join(blocks)


def read(path: Path, threads: int) -> int:
    """Read all; bytes of the packed planes of the last alignment."""
    size = 0
    for alignment in read_alignments(path, length=1e6, threads=threads):
        size = alignment.packed_bytes
    return size


def seconds_to_read(path: Path, threads: int, repeat: int) -> float:
    """The best time."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        read(path, threads)
        times.append(time.perf_counter() - start)
    return min(times)


class Stages:
    """Adds up the time that the stages take in all threads, each without the stages within it."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = defaultdict(float)
        self.wall: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._within = threading.local()

    def measure(self, path: Path, threads: int) -> dict[str, Any]:
        """Read with clocks around the stages."""
        with ExitStack() as stack:
            for stage, places in STAGES.items():
                for place, name in places:
                    timed = self._timed(stage, getattr(place, name))
                    stack.enter_context(patch.object(place, name, staticmethod(timed) if name == "split" else timed))
            read(path, threads)
        seconds = {stage: self.cpu[stage] for stage in STAGES}
        return {**seconds, "waited": 1 - sum(self.cpu[stage] for stage in self.wall) / sum(self.wall.values())}

    def _timed(self, stage: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            outside = getattr(self._within, "seconds", (0.0, 0.0))
            self._within.seconds = (0.0, 0.0)
            cpu, wall = time.thread_time(), time.perf_counter()
            try:
                return work(*args, **options)
            finally:
                took = time.thread_time() - cpu, time.perf_counter() - wall
                inner = self._within.seconds
                self._within.seconds = (outside[0] + took[0], outside[1] + took[1])
                if stage != "cut":  # it waits for what others inflate
                    self._add(self.wall, stage, took[1] - inner[1])
                self._add(self.cpu, stage, took[0] - inner[0])

        return timed

    def _add(self, clock: dict[str, float], stage: str, seconds: float) -> None:
        with self._lock:
            clock[stage] += seconds


def memory_ratio(path: Path, threads: int) -> float:
    """Peak / packed planes."""
    tracemalloc.start()
    packed = read(path, threads)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / packed


def thread_counts(text: str) -> list[int]:
    """Numbers of threads, "all" being those of the cores; each once, in order."""
    return sorted({usable_cores() if word == "all" else int(word) for word in text.split(",")})


def measure(path: Path, name: str, size: int, threads: int, repeat: int) -> dict[str, Any]:
    """One row of the table."""
    seconds = seconds_to_read(path, threads, repeat)
    return {
        "input": name,
        "threads": threads,
        "seconds": seconds,
        "MB/s": round(size / seconds / 1e6),
        **Stages().measure(path, threads),
        "memory": memory_ratio(path, threads),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100, help="size of each input (default: 100)")
    parser.add_argument("--threads", default="1,2,all", metavar="N,N,...", help="default: %(default)s")
    parser.add_argument("--only", metavar="INPUT,...", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--repeat", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--json", metavar="FILE", help="write a record as well")
    args = parser.parse_args()
    record: dict[str, Any] = {"benchmark": "formats", "megabytes": args.megabytes, "machine": host(), "inputs": []}
    with tempfile.TemporaryDirectory() as folder:
        for name in args.only.split(",") if args.only else CASES:
            path = Path(folder, "input")
            size = write(path, CASES[name][0], int(args.megabytes * 1e6), CASES[name][1])
            rows = [measure(path, name, size, threads, args.repeat) for threads in thread_counts(args.threads)]
            print(table(rows), flush=True)
            record["inputs"] += rows
    if args.json:
        write_json(args.json, record)


if __name__ == "__main__":
    main()
