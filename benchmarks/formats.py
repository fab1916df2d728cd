"""Throughput and peak memory of the readers on generated, seeded data.

    python benchmarks/formats.py [--megabytes 100] [--json]

Rates are megabytes of decompressed input per second of wall time, best of three in one process; `memory` is the peak of
traced allocations less one block, over the size of the packed planes, measured in a run of its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from oclgenomics.formats import read_alignments
from oclgenomics.formats.read import BLOCK_BYTES

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
CASES: dict[str, tuple[Lines, bool]] = {
    "ms": (ms_lines, False),
    "macs": (macs_lines, False),
    "fasta": (fasta_lines, False),
    "vcf GT": (lambda rng, size: vcf_lines(rng, size, b"GT", "|"), False),
    "vcf GT unphased": (lambda rng, size: vcf_lines(rng, size, b"GT", "/"), False),
    "vcf GT 1% missing": (lambda rng, size: vcf_lines(rng, size, b"GT", "|", 0.01), False),
    "vcf GT:DP:GQ": (lambda rng, size: vcf_lines(rng, size, b"GT:DP:GQ", "/"), False),
    "vcf.gz GT": (lambda rng, size: vcf_lines(rng, size, b"GT", "|"), True),
    "vcf.gz GT:DP:GQ": (lambda rng, size: vcf_lines(rng, size, b"GT:DP:GQ", "/"), True),
}


def write(path: Path, lines: Lines, size: int, packed: bool) -> int:
    """Write about `size` bytes of input; the number of decompressed bytes."""
    rng = np.random.default_rng(1)
    total = 0
    with gzip.open(path, "wb", 6) if packed else path.open("wb") as file:
        for line in lines(rng, size):
            total += file.write(line)
    return total


def seconds_to_read(path: Path) -> float:
    """Best of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        for _alignment in read_alignments(path, length=1e6):
            pass
        times.append(time.perf_counter() - start)
    return min(times)


def memory_ratio(path: Path) -> float:
    """(Peak - one block) / packed planes."""
    tracemalloc.start()
    (alignment,) = read_alignments(path, length=1e6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - BLOCK_BYTES) / alignment.packed_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100, help="size of each input (default: 100)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (lines, packed) in CASES.items():
            path = Path(folder, "input")
            size = write(path, lines, int(args.megabytes * 1e6), packed)
            seconds = seconds_to_read(path)
            results.append(
                {
                    "format": name,
                    "bytes": size,
                    "seconds": seconds,
                    "MB/s": size / seconds / 1e6,
                    "memory": memory_ratio(path),
                }
            )
            if not args.json:
                print(
                    f"{name:20} {results[-1]['MB/s']:8.0f} MB/s   memory {results[-1]['memory']:5.2f} x packed",
                    flush=True,
                )
    if args.json:
        json.dump(results, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
