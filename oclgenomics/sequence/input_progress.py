"""How far the reading of several files is, told as if they were one."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from oclgenomics.io.source import Progress

__all__ = ["InputProgress"]


class InputProgress:
    """Adds the files before to the progress of each file; its calls are those of a `Progress`.

    Where a call cannot be of the file before, the next file has begun; `end_file` says so for certain.

    Parameters
    ----------
    paths : sequence of str
        The files in the order in which they are read.
    progress : callable
        Called with (bytes read, bytes in all) as the files are stored; the latter is None where a file has no size.
    """

    def __init__(self, paths: Sequence[str], progress: Progress) -> None:
        sizes = [_stored_bytes(path) for path in paths]
        self._total = None if None in sizes else sum(size or 0 for size in sizes)
        self._progress, self._before, self._here = progress, 0, 0
        self._size: int | None = None  # of the file at work

    def __call__(self, done: int, size: int | None) -> None:
        if done < self._here or size != self._size:
            self.end_file()
        self._here, self._size = done, size
        done += self._before
        self._progress(done if self._total is None else min(done, self._total), self._total)

    def end_file(self) -> None:
        """Go on to the next file."""
        self._before, self._here = self._before + self._here, 0


def _stored_bytes(path: str) -> int | None:
    """The size of a file; None of standard input, of pipes, and of what is not there, which reading will tell."""
    try:
        found = None if path == "-" else os.stat(path)
    except OSError:
        return None
    return found.st_size if found is not None and stat.S_ISREG(found.st_mode) else None
