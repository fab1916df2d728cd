"""The signatures to look for, and the patterns that they make on one strand or both."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.sequence.records import read_records
from oclgenomics.signatures.letters import COMPLEMENTS, sets_of
from oclgenomics.signatures.options import Strand

__all__ = ["Panel", "Patterns", "read_panel"]


@dataclass(frozen=True, repr=False)
class Panel:
    """Named signatures.

    Attributes
    ----------
    names : tuple of str
        Different from each other.
    sets : ndarray, uint8 (letters,)
        The letters of all signatures as sets of nucleotides (`oclgenomics.signatures.letters`), none of them 0.
    offsets : ndarray, int64 (signatures + 1,)
        Signature i is sets[offsets[i] : offsets[i + 1]], which is not empty.

    Examples
    --------
    >>> Panel.from_signatures([("one", "ACGTN"), ("two", "GATTACA")])
    Panel(signatures=2, letters=12)
    """

    names: tuple[str, ...]
    sets: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def from_signatures(cls, signatures: Iterable[tuple[str, str | bytes]], source: str | None = None) -> Panel:
        """Make a panel of names and letters.

        Parameters
        ----------
        signatures : iterable of (name, letters)
        source : str, optional
            Where they come from, for messages.

        Raises
        ------
        InputError
            A signature without letters or with others than those of IUPAC, a name that is there twice, or no signature
            at all.
        """
        numbers: dict[str, int] = {}
        parts = []
        for number, (name, letters) in enumerate(signatures, 1):
            sets = sets_of(letters)
            wrong = np.flatnonzero(sets == 0)
            if not len(sets):
                raise InputError(f"signature {name} has no letters", source=source, record=number)
            if len(wrong):
                at = int(wrong[0])
                letter = letters[at] if isinstance(letters, str) else chr(letters[at])
                trouble = f"signature {name}, letter {at + 1}: {letter!r} stands for no nucleotide (IUPAC letters do)"
                raise InputError(trouble, source=source, record=number)
            if name in numbers:
                trouble = f"signature {name} has the name of record {numbers[name]}; results could not tell them apart"
                raise InputError(trouble, source=source, record=number)
            numbers[name] = number
            parts.append(sets)
        if not parts:
            raise InputError("holds no signature", source=source)
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        return cls(tuple(numbers), np.concatenate(parts), offsets)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Panel(signatures={len(self)}, letters={len(self.sets)})"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Letters of each signature."""
        return np.diff(self.offsets)

    def patterns(self, strand: Strand) -> Patterns:
        """Return what has to be found in samples to find the signatures on a strand, or on both."""
        everyone = np.arange(len(self), dtype=np.int32)
        forward = Patterns(self.sets, self.offsets, everyone, np.zeros(len(self), np.uint8))
        if strand == "+":
            return forward
        parts = [COMPLEMENTS[self.sets[a:b]][::-1] for a, b in zip(self.offsets, self.offsets[1:], strict=False)]
        reverse = Patterns(np.concatenate(parts), self.offsets, everyone, np.ones(len(self), np.uint8))
        if strand == "-":
            return reverse
        offsets = np.concatenate([self.offsets, self.offsets[1:] + self.offsets[-1]])
        return Patterns(
            np.concatenate([forward.sets, reverse.sets]),
            offsets,
            np.concatenate([everyone, everyone]),
            np.concatenate([forward.strand, reverse.strand]),
        )


@dataclass(frozen=True)
class Patterns:
    """What is compared with samples, letter by letter from left to right.

    Attributes
    ----------
    sets : ndarray, uint8 (letters,)
    offsets : ndarray, int64 (patterns + 1,)
        As a panel has them.
    signature : ndarray, int32 (patterns,)
        The signature of each pattern.
    strand : ndarray, uint8 (patterns,)
        0 for the signature itself, 1 for its reverse complement.
    """

    sets: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    signature: NDArray[np.int32]
    strand: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.signature)

    def of(self, number: int) -> NDArray[np.uint8]:
        """The letters of one pattern."""
        return self.sets[self.offsets[number] : self.offsets[number + 1]]

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Letters of each pattern."""
        return np.diff(self.offsets)


def read_panel(path: str | os.PathLike[str]) -> Panel:
    """Read signatures from FASTA or FASTQ, plain or gzip.

    Raises
    ------
    InputError
        The file cannot be read, or `Panel.from_signatures` refuses what it holds.
    """
    return Panel.from_signatures(((record.name, record.letters) for record in read_records(path)), os.fspath(path))
