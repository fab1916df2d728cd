"""What simulated reads are of: sequences of a file, or random ones."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np

from oclgenomics.errors import ParameterError
from oclgenomics.sequence.records import read_records
from oclgenomics.simulate.limits import check_range
from oclgenomics.simulate.random_bits import RandomBits

__all__ = ["Genome", "random_genome", "read_genome"]

MAX_LETTERS = 100_000_000  # of a random genome
MAX_READS = 10_000_000


@dataclass(frozen=True)
class Genome:
    """Sequences of which reads are simulated.

    Attributes
    ----------
    label : str
        What names of reads begin with: letters, digits and hyphens.
    names : tuple of str
        Of the sequences.
    letters : tuple of bytes
    reads : int
        How many are simulated.

    Raises
    ------
    ParameterError
        Another label, or a number of reads outside its range.
    """

    label: str
    names: tuple[str, ...]
    letters: tuple[bytes, ...]
    reads: int

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", self.label):
            raise ParameterError("label", "has 1 to 40 letters, digits and hyphens", self.label)
        check_range("reads", self.reads, 0, MAX_READS)


def read_genome(label: str, path: str | os.PathLike[str], reads: int) -> Genome:
    """Take the sequences of a file; see `oclgenomics.sequence.records.read_records`.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    records = list(read_records(path))
    return Genome(label, tuple(one.name for one in records), tuple(one.letters for one in records), reads)


def random_genome(label: str, length: int, gc: float, reads: int, seed: int) -> Genome:
    """Draw a sequence; its label is its name, and other labels have other sequences.

    Parameters
    ----------
    length : int
        Letters.
    gc : float
        Probability of each letter to be G or C.
    seed : int
        0 or more.

    Raises
    ------
    ParameterError
        A value outside its range.
    """
    check_range("length", length, 1, MAX_LETTERS)
    check_range("gc", gc, 0, 1)
    check_range("seed", seed, 0, (1 << 63) - 1)
    draws = RandomBits(np.random.SeedSequence([seed, *label.encode()]))
    strong, second = draws.happens(length, gc), draws.happens(length, 0.5)
    letters = np.frombuffer(b"ATGC", np.uint8)[2 * strong + second]
    return Genome(label, (label,), (letters.tobytes(),), reads)
