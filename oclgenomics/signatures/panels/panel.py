"""The signatures to look for, and the patterns that they make on one strand or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.signatures.options import Strand
from oclgenomics.signatures.panels.letters import ANY, COMPLEMENTS, is_concrete, sets_of

TURNED_AT_ONCE = 1 << 16  # letters
ByteOf = Callable[[int, int], int]


@dataclass(frozen=True, repr=False)
class Panel:
    """Named signatures.

    Attributes
    ----------
    names : tuple of str
        Different from each other.
    sets : ndarray, uint8 (letters,)
        The letters of all signatures as sets of nucleotides (`oclgenomics.signatures.panels.letters`), none of them 0.
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
        names, letters = [], []
        for name, text in signatures:
            names.append(name)
            letters.append(text.encode() if isinstance(text, str) else text)
        return cls.from_lists(names, letters, source)

    @classmethod
    def from_lists(
        cls, names: list[str], letters: list[bytes], source: str | None, byte_of: ByteOf | None = None
    ) -> Panel:
        """Make a panel; `byte_of` tells where in the source a letter of a record is, both counted from 0."""
        sizes = np.fromiter(map(len, letters), np.int64, len(letters))
        sets = sets_of(b"".join(letters))
        if not names or not sizes.all() or not sets.all() or len(set(names)) < len(names):
            raise _refusal(names, letters, source, byte_of)
        return cls(tuple(names), sets, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Panel(signatures={len(self)}, letters={len(self.sets)})"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Letters of each signature."""
        return np.diff(self.offsets)

    def facts(self) -> dict[str, Any]:
        """Return what a panel holds, by name."""
        letters, lengths = len(self.sets), self.lengths
        return {
            "signatures": len(self),
            "letters": letters,
            "shortest": int(lengths.min()),
            "median_length": float(np.median(lengths)),
            "longest": int(lengths.max()),
            "n_share": int(np.count_nonzero(self.sets == ANY)) / letters,
            "ambiguous_share": int(np.count_nonzero(~is_concrete(self.sets))) / letters,
            "tables": [],
            "program": None,
        }

    def patterns(self, strand: Strand) -> Patterns:
        """Return what has to be found in samples to find the signatures on a strand, or on both."""
        everyone = np.arange(len(self), dtype=np.int32)
        forward = Patterns(self.sets, self.offsets, everyone, np.zeros(len(self), np.uint8))
        if strand == "+":
            return forward
        sets = _reverse_complements(self.sets, self.offsets)
        reverse = Patterns(sets, self.offsets, everyone, np.ones(len(self), np.uint8))
        if strand == "-":
            return reverse
        offsets = np.concatenate([self.offsets, self.offsets[1:] + self.offsets[-1]])
        sets, strands = (np.concatenate(both) for both in ((self.sets, sets), (forward.strand, reverse.strand)))
        return Patterns(sets, offsets, np.tile(everyone, 2), strands)


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


def _refusal(names: list[str], letters: list[bytes], source: str | None, byte_of: ByteOf | None) -> InputError:
    """What is wrong with signatures of which something is: the first thing."""
    numbers: dict[str, int] = {}
    for number, (name, text) in enumerate(zip(names, letters, strict=True), 1):
        wrong = np.flatnonzero(sets_of(text) == 0)
        if not text:
            return InputError(f"signature {name} has no letters", source=source, record=number)
        if len(wrong):
            at = int(wrong[0])
            letter = text[at : at + 4].decode("utf-8", "replace")[0]
            trouble = f"signature {name}, base {at + 1}: {letter!r} is no nucleotide; write IUPAC codes"
            byte = None if byte_of is None else byte_of(number - 1, at)
            return InputError(trouble, source=source, record=number, byte=byte)
        if name in numbers:
            trouble = f"signature {name} has the name of record {numbers[name]}; results could not tell them apart"
            return InputError(trouble, source=source, record=number)
        numbers[name] = number
    return InputError("holds no signature", source=source)


def _reverse_complements(sets: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Each signature turned around, in its place, uint8 (letters,)."""
    turned = np.empty_like(sets)
    first = 0
    while first < len(offsets) - 1:
        # Some signatures at a time, so that the places of their letters stay in the cache.
        last = max(int(np.searchsorted(offsets, offsets[first] + TURNED_AT_ONCE, "right")) - 1, first + 1)
        begins, ends = offsets[first:last] - offsets[first], offsets[first + 1 : last + 1] - offsets[first]
        source = np.repeat(begins + ends - 1, ends - begins) - np.arange(ends[-1])
        part = slice(int(offsets[first]), int(offsets[last]))
        turned[part] = COMPLEMENTS[sets[part][source]]
        first = last
    return turned
