"""Reads of a large genome with repeats, written as FASTQ to standard output, the same ones in every run.

    python benchmarks/kmers_large_reads.py [--bases 310e6] [--coverage 10] [--processes 2] | oclgenomics kmers count ...

27 % of the genome are copies of repeats of 300 bp and 6 kbp that differ in up to a fifth of their bases, 3 % an array
of satellites of 171 bp. Reads have 150 bp, 0.5 % errors, and either strand. Processes make blocks of them, and write
these in turn.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED, READ, ERRORS, BLOCK, DIGITS = 310, 150, 0.005, 20_000, 10
BASES = np.frombuffer(b"ACGT", np.uint8)
FAMILIES = ((300, 30, 0.10, 0.15), (6_000, 20, 0.17, 0.08))  # bases, families, share of the genome, differences
SATELLITE, MONOMERS, SATELLITES, DIFFERENCES = 171, 12, 0.03, 0.01
RECORD = 2 * READ + DIGITS + 6

Codes = NDArray[np.uint8]


def genome_of(bases: int) -> Codes:
    """Return the genome as numbers of bases, uint8 (bases,)."""
    rng = np.random.default_rng(SEED)
    genome = rng.integers(0, 4, bases, np.uint8)
    for length, families, share, differences in FAMILIES:
        rows = genome[: bases // length * length].reshape(-1, length)
        copies = rng.permutation(len(rows))[: int(share * bases / length)]
        rows[copies] = rng.integers(0, 4, (families, length), np.uint8)[rng.integers(0, families, len(copies))]
        for some in np.array_split(copies, max(1, len(copies) * length >> 24)):
            rates = rng.uniform(0, 2 * differences, len(some)).astype(np.float32)
            wrong = rng.random((len(some), length), np.float32) < rates[:, None]
            rows[some] += wrong * rng.integers(1, 4, wrong.shape, np.uint8)
    size = int(SATELLITES * bases)
    array = np.resize(rng.integers(0, 4, SATELLITE * MONOMERS, np.uint8), size)
    array += (rng.random(size, np.float32) < DIFFERENCES) * rng.integers(1, 4, size, np.uint8)
    genome[bases // 2 : bases // 2 + size] = array
    genome &= 3
    return genome


def write_reads(genome: Codes, reads: int, number: int, turns: Sequence[Any]) -> None:
    """Write reads of a genome as FASTQ: those blocks whose turn it is to come from the process of a number."""
    windows = np.lib.stride_tricks.sliding_window_view(genome, READ)
    records = np.empty((BLOCK, RECORD), np.uint8)
    records[:, 0] = ord("@")
    at = DIGITS + 1
    records[:, at] = records[:, -1] = ord("\n")
    bases = records[:, at + 1 : at + 1 + READ]
    records[:, at + 1 + READ : at + 4 + READ] = np.frombuffer(b"\n+\n", np.uint8)
    records[:, at + 4 + READ : -1] = ord("I")
    for first in range(number * BLOCK, reads, len(turns) * BLOCK):
        rng = np.random.default_rng((SEED, first))
        numbers = np.arange(first, first + BLOCK)
        for digit in range(DIGITS):
            records[:, DIGITS - digit] = numbers // 10**digit % 10 + ord("0")
        codes = windows[rng.integers(0, len(windows), BLOCK)]
        codes[BLOCK // 2 :] = 3 - codes[BLOCK // 2 :, ::-1]
        wrong = rng.integers(0, codes.size, rng.binomial(codes.size, ERRORS))
        codes.reshape(-1)[wrong] += rng.integers(1, 4, len(wrong), np.uint8)
        np.take(BASES, codes & 3, out=bases)
        turns[number].acquire()
        rest = memoryview(records[: reads - first].reshape(-1))
        while len(rest):
            rest = rest[os.write(1, rest) :]
        turns[(number + 1) % len(turns)].release()


def main() -> int:
    """Write the reads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bases", type=float, default=310e6)
    parser.add_argument("--coverage", type=float, default=10)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args()
    bases = int(args.bases)
    genome, reads = genome_of(bases), int(bases * args.coverage) // READ
    forked = multiprocessing.get_context("fork")  # they share the genome
    turns = [forked.Semaphore(int(number == 0)) for number in range(args.processes)]
    makers = [
        forked.Process(target=write_reads, args=(genome, reads, number, turns)) for number in range(args.processes)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    return int(any(maker.exitcode for maker in makers))


if __name__ == "__main__":
    sys.exit(main())
