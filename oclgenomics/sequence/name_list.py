"""Names of records: bytes in a row, of which texts are made only for those who ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["NameList"]

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
    def __getitem__(self, which: slice) -> NameList: ...

    def __getitem__(self, which: int | slice) -> str | NameList:
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
        sizes = self.sizes[which]
        starts = np.append(np.int64(0), np.cumsum(sizes))
        letters = np.empty(starts[-1], np.uint8)
        shifts = self.starts[which] - starts[:-1]
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
