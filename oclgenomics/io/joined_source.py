"""Many plain files read as one text, by several threads: read one by one, small files would take most of the time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.closing import Closing
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.file_slice import first_byte, stored_size
from oclgenomics.io.raw_file import PIECE_BYTES, Progress, read_at
from oclgenomics.io.source import MAX_READERS

SEPARATOR = b"\n"
PART_BYTES = 4 << 20  # that a thread reads at a time, of as many files as that takes
HEAD_BYTES = 4096


def head_of(path: str | os.PathLike[str]) -> tuple[bytes, int] | None:
    """Return the first bytes of a regular file, and its size; None for anything else, or what cannot be read."""
    size = stored_size(path)
    if size is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.pread(handle, min(HEAD_BYTES, size), first_byte(path)), size
    except OSError:
        return None
    finally:
        os.close(handle)


@dataclass(frozen=True)
class _Stretch:
    """Bytes of a file, and where they go."""

    path: str
    start: int
    target: memoryview

    def read(self) -> None:
        """Read them, and what separates the files if the stretch goes on behind the file's end."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                read_at(file.fileno(), first_byte(self.path) + self.start, self.target, self.path)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", source=self.path) from error


class JoinedSource(Closing):
    """Plain files as one text, each followed by a newline; offers what `TextBlocks` takes of a `Source`.

    Parameters
    ----------
    paths : sequence of str
        Regular files.
    sizes : sequence of int
        Their bytes.
    progress : callable, optional
        Called with the bytes of all files.

    Attributes
    ----------
    paths : tuple of str
    starts : ndarray, int64 (files + 1,)
        Where each file starts in the text, and where the text ends.
    """

    live, repeatable, skipped = False, True, 0

    def __init__(self, paths: Sequence[str], sizes: Sequence[int], *, progress: Progress | None = None) -> None:
        self.paths = tuple(paths)
        self.name = self.paths[0] if len(paths) == 1 else f"{self.paths[0]} and {len(paths) - 1} more"
        self.starts: NDArray[np.int64] = np.append(0, np.cumsum(np.array(sizes, np.int64) + len(SEPARATOR)))
        self._progress, self._at = progress, 0

    @property
    def size(self) -> int:
        """Bytes of the text."""
        return int(self.starts[-1])

    @property
    def readers(self) -> int:
        """Threads that `start_reading` has use for."""
        return min(MAX_READERS, usable_cores())

    def close(self) -> None:
        """Do nothing: between two parts nothing is open."""

    def file_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of the file to which each place of the text belongs."""
        return np.searchsorted(self.starts, places, side="right") - 1

    def read_into(self, target: NDArray[np.uint8]) -> int:
        """Fill an array; see `Source.read_into`."""
        begin = self._at
        for _, _, read in self._parts(target):
            read()
        return self._at - begin

    def read_some_into(self, target: NDArray[np.uint8]) -> int:
        """Fill an array: files do not come live."""
        return self.read_into(target)

    def start_reading(self, target: NDArray[np.uint8], threads: ThreadPoolExecutor) -> Iterator[tuple[int, int]]:
        """Have an array filled by threads; see `Source.start_reading`."""
        reading = [(begin, end, threads.submit(read)) for begin, end, read in self._parts(target)]
        at = self._at

        def finished() -> Iterator[tuple[int, int]]:
            for begin, end, part in reading:
                part.result()
                yield begin, end
            if self._progress is not None:
                self._progress(at, self.size)

        return finished()

    def _parts(self, target: NDArray[np.uint8]) -> Iterator[tuple[int, int, Callable[[], None]]]:
        """Share out what comes next: places in the target, and what fills them."""
        view, begin = target.data.cast("B"), self._at
        self._at = end = min(begin + len(view), self.size)
        first = int(self.file_at(np.array([begin]))[0])
        stretches: list[_Stretch] = []
        low = at = begin
        for number in range(first, len(self.paths)):
            last = int(self.starts[number + 1]) - len(SEPARATOR)
            while at < min(last, end):
                to = min(last, end, at + PIECE_BYTES)
                stretch = view[at - begin : to - begin]
                stretches.append(_Stretch(self.paths[number], at - int(self.starts[number]), stretch))
                at = to
                if at - low >= PART_BYTES:
                    yield low - begin, at - begin, partial(_read_all, stretches)
                    low, stretches = at, []
            if at == end:
                break
            view[at - begin : at - begin + len(SEPARATOR)] = SEPARATOR
            at += len(SEPARATOR)
        if at > low:
            yield low - begin, at - begin, partial(_read_all, stretches)


def _read_all(stretches: Sequence[_Stretch]) -> None:
    for stretch in stretches:
        stretch.read()
