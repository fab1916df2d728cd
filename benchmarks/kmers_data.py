"""Reads for benchmarks of k-mer counting: a plain set, and sets that are hard in one way each.

plain      reads of a genome, `coverage`-fold, with 0.5 % errors
repeats    reads of a genome of 300-base elements: copies of 40 of them, each letter changed with probability 0.1
poly-a     reads of A alone, with 0.5 % errors
deep       reads of a small genome, 200-fold
distinct   random reads: all k-mers differ
short      reads of 36 bases
10kb       reads of 10,000 bases
long       one read
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["BASES", "SEED", "SETS", "genome_of", "write_set"]

SEED, READ, SHORT_READ, LONG_READ, ERRORS, CHUNK = 17, 150, 36, 10_000, 0.005, 100_000
AT_ONCE = 16_000_000  # bases of reads, at most
ELEMENTS, ELEMENT, DIVERGENCE = 40, 300, 0.1
DEEP = 200
LONG_PART = 1e8 / 2.4e8  # of the plain set's bases, in long reads
BASES = np.frombuffer(b"ACGT", np.uint8)

Draw = Callable[[np.random.Generator, int], np.ndarray]


def genome_of(path: str | None, bases: int) -> np.ndarray:
    """Letters of a random genome, or of a file's first record."""
    if path is None:
        return BASES[np.random.default_rng(SEED).integers(0, 4, bases)]
    with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
        text = file.read().upper()
    record = text[text.index(b"\n") :].split(b">")[0]
    return np.frombuffer(record.translate(None, b"\r\n"), np.uint8)


def _with_errors(rng: np.random.Generator, letters: np.ndarray, rate: float) -> np.ndarray:
    wrong = rng.random(letters.shape) < rate
    letters[wrong] = BASES[rng.integers(0, 4, int(wrong.sum()))]
    return letters


def _reads_of(genome: np.ndarray, length: int) -> Draw:
    def draw(rng: np.random.Generator, some: int) -> np.ndarray:
        places = rng.integers(0, len(genome) - length, some)
        return _with_errors(rng, genome[places[:, None] + np.arange(length)], ERRORS)

    return draw


def _repeats(bases: int) -> np.ndarray:
    rng = np.random.default_rng(SEED + 2)
    elements = BASES[rng.integers(0, 4, (ELEMENTS, ELEMENT))]
    return _with_errors(rng, elements[rng.integers(0, ELEMENTS, bases // ELEMENT)], DIVERGENCE).ravel()


def _poly_a(rng: np.random.Generator, some: int) -> np.ndarray:
    return _with_errors(rng, np.full((some, READ), ord("A"), np.uint8), ERRORS)


def _random(rng: np.random.Generator, some: int) -> np.ndarray:
    return BASES[rng.integers(0, 4, (some, READ))]


SETS = ("plain", "repeats", "poly-a", "deep", "distinct", "short", "10kb", "long")


def write_set(name: str, path: Path, genome: np.ndarray, coverage: float) -> list[int]:
    """Write a set as FASTQ.

    Returns
    -------
    list of int
        How many reads there are, and their length.
    """
    letters = int(len(genome) * coverage)
    if name == "long":
        return _write_long(path, genome, int(letters * LONG_PART))
    if name == "10kb":
        letters = int(letters * LONG_PART)
    length = {"short": SHORT_READ, "10kb": LONG_READ}.get(name, READ)
    draws: dict[str, Callable[[], Draw]] = {
        "plain": lambda: _reads_of(genome, READ),
        "repeats": lambda: _reads_of(_repeats(len(genome)), READ),
        "poly-a": lambda: _poly_a,
        "deep": lambda: _reads_of(genome[: letters // DEEP], READ),
        "distinct": lambda: _random,
        "short": lambda: _reads_of(genome, SHORT_READ),
        "10kb": lambda: _reads_of(genome, LONG_READ),
    }
    return [_write_reads(path, draws[name](), letters // length, length), length]


def _write_reads(path: Path, draw: Draw, count: int, length: int) -> int:
    rng = np.random.default_rng(SEED + 1)
    chunk = min(CHUNK, AT_ONCE // length)
    with path.open("wb") as file:
        for first in range(0, count, chunk):
            some = min(chunk, count - first)
            names = np.char.zfill(np.arange(first, first + some).astype("S9"), 9).view(np.uint8).reshape(-1, 9)
            parts = (b"@", names, b"\n", draw(rng, some), b"\n+\n", b"I" * length, b"\n")
            columns = [np.tile(np.frombuffer(p, np.uint8), (some, 1)) if isinstance(p, bytes) else p for p in parts]
            file.write(np.concatenate(columns, axis=1).tobytes())
    return count


def _write_long(path: Path, genome: np.ndarray, length: int) -> list[int]:
    letters = np.resize(genome, length)
    read = _with_errors(np.random.default_rng(SEED + 1), letters, ERRORS)
    path.write_bytes(b"@long\n" + read.tobytes() + b"\n+\n" + b"I" * length + b"\n")
    return [1, length]
