"""Some of the reads of a file, for processes that share it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from oclgenomics.errors import InputError


@dataclass(frozen=True)
class FilePart:
    """The reads of a file between two places in it; parts that follow each other have each read of the file once.

    Attributes
    ----------
    path : str
    begin, end : int
        Bytes. Of formats whose reads lie one behind the other, these are the reads that begin there; of others, as
        large a share of them by number.
    size : int
        Of the file.
    together : int
        Reads whose share is cut by number are cut at multiples of it.
    """

    path: str
    begin: int
    end: int
    size: int
    together: int = 1

    @classmethod
    def whole(cls, path: str) -> FilePart:
        """Return all of a file.

        Raises
        ------
        InputError
            There is no such file.
        """
        try:
            size = os.path.getsize(path)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read ({getattr(error, 'strerror', None) or error})", source=path) from error
        return cls(path, 0, size, size)

    def __fspath__(self) -> str:
        return self.path

    def __len__(self) -> int:
        return self.end - self.begin

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the file."""
        return len(self) == self.size

    def numbers(self, count: int) -> range:
        """Return which of the reads of the file are of this part, where the file says how many there are."""
        return range(self._number(self.begin, count), self._number(self.end, count))

    def _number(self, place: int, count: int) -> int:
        """How many of so many reads come before a place, the end of the file last."""
        number = place * count // self.size
        return number if place == self.size else number // self.together * self.together


def numbers_of(part: FilePart | None, count: int) -> range:
    """Return which of so many reads of a file are asked for; all of them without a part."""
    return range(count) if part is None else part.numbers(count)
