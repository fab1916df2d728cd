"""Names of records and of mates: bytes in a row, of which texts are made only on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

TAKEN_BYTES = 1 << 18

NEWLINE = ord("\n")


@dataclass(frozen=True)
class NameList(Sequence[str]):
    """A sequence of texts; bytes that are not UTF-8 are replaced.

    Attributes
    ----------
    letters : ndarray, uint8
        The names, one behind the other.
    starts : ndarray, int64 (names + 1,)
        Name i is letters[starts[i]] .. letters[starts[i + 1] - 1].
    """

    letters: NDArray[np.uint8]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, names: Sequence[str]) -> NameList:
        """Make a list of texts."""
        encoded = [name.encode() for name in names]
        starts = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts)

    @classmethod
    def joined(cls, parts: Sequence[NameList]) -> NameList:
        """Join lists in their order."""
        sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)])
        letters = [part.letters[part.starts[0] : part.starts[-1]] for part in parts]
        return cls(np.concatenate([np.empty(0, np.uint8), *letters]), np.cumsum(sizes))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, which: int) -> str: ...

    @overload
    def __getitem__(self, which: slice | NDArray[Any]) -> NameList: ...

    def __getitem__(self, which: int | slice | NDArray[Any]) -> str | NameList:
        if isinstance(which, np.ndarray):
            return self.take(np.flatnonzero(which) if which.dtype == np.bool_ else which)
        if isinstance(which, slice):
            begin, end, step = which.indices(len(self))
            if step != 1:
                raise ValueError("names are sliced without a step")
            return NameList(self.letters, self.starts[begin : max(begin, end) + 1])
        at = range(len(self))[which]
        return self.letters[self.starts[at] : self.starts[at + 1]].tobytes().decode("utf-8", "replace")

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each name."""
        return np.diff(self.starts)

    def take(self, which: NDArray[np.int64]) -> NameList:
        """Return some names, in the order of their numbers."""
        begins = self.starts[which]
        sizes = self.starts[which + 1] - begins
        starts = np.append(np.int64(0), np.cumsum(sizes))
        letters = np.empty(starts[-1], np.uint8)
        shifts = begins - starts[:-1]
        begin = 0
        while begin < len(which):  # places are eight times as long as names, so they are made for some at a time
            end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + TAKEN_BYTES, "right")) - 1)
            first, last = starts[begin], starts[end]
            letters[first:last] = self.letters[np.repeat(shifts[begin:end], sizes[begin:end]) + np.arange(first, last)]
            begin = end
        return NameList(letters, starts)

    def copy(self) -> NameList:
        """Return the same names in memory of their own."""
        begin = self.starts[0]
        return NameList(self.letters[begin : self.starts[-1]].copy(), self.starts - begin)

    def tolist(self) -> list[str]:
        """Return all texts."""
        return list(self)

    def __iter__(self) -> Iterator[str]:
        begin, end = self.starts[0], self.starts[-1]
        letters = self.letters[begin:end]
        if not (letters == NEWLINE).any():
            return iter(_split(letters, self.starts - begin))
        return (
            letters[first:last].tobytes().decode("utf-8", "replace") for first, last in pairwise(self.starts - begin)
        )


def _split(letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> list[str]:
    """Texts without newlines, decoded at once: several times faster than one by one."""
    names = len(starts) - 1
    joined = np.full(len(letters) + names, NEWLINE, np.uint8)
    of_names = np.ones(len(joined), np.bool_)
    of_names[starts[1:] + np.arange(names)] = False
    joined[of_names] = letters
    return joined.tobytes().decode("utf-8", "replace").split("\n")[:-1]


SLASH, ONE, TWO = b"/12"


def first_difference(first: NameList, second: NameList) -> int | None:
    """Return the number of the first pair whose mates have different names, None if there is none.

    /1 and /2 at the end of a name count for nothing.
    """
    sizes = [_bare_sizes(names) for names in (first, second)]
    other_size = np.flatnonzero(sizes[0] != sizes[1])
    end = int(other_size[0]) if len(other_size) else len(first)
    letters = [_bare_letters(names, size, end) for names, size in zip((first, second), sizes, strict=True)]
    other_letter = np.flatnonzero(letters[0] != letters[1])
    if len(other_letter):
        return int(np.searchsorted(np.cumsum(sizes[0]), other_letter[0], side="right"))
    return end if len(other_size) else None


def _bare_sizes(names: NameList) -> NDArray[np.int64]:
    """Bytes of names without /1 or /2."""
    sizes = names.sizes
    last = names.starts[1:] - 1
    if not len(names.letters):
        return sizes
    number, slash = names.letters[np.maximum(last, 0)], names.letters[np.maximum(last - 1, 0)]
    marked = (sizes >= 2) & (slash == SLASH) & ((number == ONE) | (number == TWO))
    bare: NDArray[np.int64] = sizes - 2 * marked
    return bare


def _bare_letters(names: NameList, sizes: NDArray[np.int64], end: int) -> NDArray[np.uint8]:
    """The first `sizes` bytes of each of the first `end` names."""
    begin = names.starts[0]
    letters = names.letters[begin : names.starts[end]]
    left_out = names.sizes[:end] - sizes[:end]
    if not left_out.any():
        return letters
    kept = np.ones(len(letters), np.bool_)
    cut = names.starts[1 : end + 1][left_out > 0] - begin
    kept[cut - 1] = kept[cut - 2] = False
    return letters[kept]
