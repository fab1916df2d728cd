"""A part of a file as an input of its own, named by the file."""

from __future__ import annotations

import os
import stat


class FileSlice(str):
    """The name of a file of which only some stored bytes are read; never standard input's.

    It is the file's name wherever a name is compared, written or opened: who opens it reads from `start` up to `stop`.

    Parameters
    ----------
    path : path
        A regular file, uncompressed or of bgzip.
    start, stop : int
        The bytes as they are stored; of bgzip, whole blocks.
    skip, drop : int
        Bytes of the unpacked text of these blocks that are left out at its beginning and at its end.

    Raises
    ------
    ValueError
        There are no such bytes.
    """

    start: int
    stop: int
    skip: int
    drop: int

    def __new__(cls, path: str | os.PathLike[str], start: int, stop: int, skip: int = 0, drop: int = 0) -> FileSlice:
        if not 0 <= start < stop or skip < 0 or drop < 0:
            raise ValueError(f"bytes {start} to {stop}, without {skip} and {drop}, are no part of a file")
        part = super().__new__(cls, os.fspath(path))
        part.start, part.stop, part.skip, part.drop = start, stop, skip, drop
        return part

    @property
    def shown(self) -> str:
        """The name in messages, which count records, and bytes of unpacked text, from where the part begins."""
        return f"{self} from stored byte {self.start} on" if self.start or self.skip else str(self)

    def __getnewargs__(self) -> tuple[str, int, int, int, int]:  # type: ignore[override]
        return str(self), self.start, self.stop, self.skip, self.drop


def first_byte(path: str | os.PathLike[str]) -> int:
    """Return the place in its file of the first byte of an input."""
    return path.start if isinstance(path, FileSlice) else 0


def stored_size(path: str | os.PathLike[str]) -> int | None:
    """Return how many bytes of a file are read; None of standard input, of pipes, and of what is not there."""
    if isinstance(path, FileSlice):
        return path.stop - path.start
    try:
        status = None if path == "-" else os.stat(path)
    except OSError:
        return None
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None
