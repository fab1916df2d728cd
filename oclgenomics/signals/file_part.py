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
    """

    path: str
    begin: int
    end: int
    size: int

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
        return range(self.begin * count // self.size, self.end * count // self.size)


def numbers_of(part: FilePart | None, count: int) -> range:
    """Return which of so many reads of a file are asked for; all of them without a part."""
    return range(count) if part is None else part.numbers(count)
