"""Inputs of jobs that are shared out, made by all cores, so that long jobs have them soon.

Records have one size, so each process knows where its own begin.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 32
BASES = np.frombuffer(b"ACGT", np.uint8)
WRONG = 0.005  # of the bases of a read
BLOCK = 100_000  # reads that are made at a time
DIGITS = 10

Text = NDArray[np.uint8]


def random_bases(rng: np.random.Generator, count: int) -> Text:
    """Text of so many bases, uint8 (n,)."""
    return BASES[rng.integers(0, 4, count, np.uint8)]


def write_fasta(path: Path, genomes: Sequence[Text]) -> None:
    """Write genomes, each as a record of one line."""
    path.write_bytes(b"".join(b">genome%d\n%s\n" % (number, one.tobytes()) for number, one in enumerate(genomes)))


def write_reads(path: Path, genomes: Sequence[Text], reads: int, length: int, wrong: float = WRONG) -> None:
    """Write reads of genomes in turn, some of whose bases are wrong, as FASTQ."""
    record = 2 * length + DIGITS + 6
    with path.open("wb") as file:
        file.truncate(reads * record)
    with ProcessPoolExecutor() as pool:
        blocks = [(first, min(BLOCK, reads - first)) for first in range(0, reads, BLOCK)]
        tasks = [
            pool.submit(_write_block, os.fspath(path), genomes[number % len(genomes)], *block, length, wrong)
            for number, block in enumerate(blocks)
        ]
        for task in tasks:
            task.result()


def _write_block(path: str, genome: Text, first: int, count: int, length: int, wrong: float) -> None:
    rng = np.random.default_rng((SEED, first))
    records = np.empty((count, 2 * length + DIGITS + 6), np.uint8)
    numbers = np.arange(first, first + count)
    records[:, 0] = ord("@")
    for digit in range(DIGITS):
        records[:, DIGITS - digit] = numbers // 10**digit % 10 + ord("0")
    at = DIGITS + 1
    records[:, at] = records[:, -1] = ord("\n")
    windows = np.lib.stride_tricks.sliding_window_view(genome, length)
    bases = records[:, at + 1 : at + 1 + length]
    bases[:] = windows[rng.integers(0, len(windows), count)]
    errors = rng.integers(0, bases.size, rng.binomial(bases.size, wrong))
    bases[errors // length, errors % length] = random_bases(rng, len(errors))
    records[:, at + 1 + length : at + 4 + length] = np.frombuffer(b"\n+\n", np.uint8)
    records[:, at + 4 + length : -1] = ord("I")
    with open(path, "r+b") as file:
        file.seek(first * records.shape[1])
        file.write(records.data)
