"""The text of a file from any place on."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator

from oclgenomics.io.closing import Closing
from oclgenomics.io.file_slice import FileSlice
from oclgenomics.io.raw_file import open_stored

Place = tuple[int, int]
"""Where a byte of a text is: the stored byte of an uncompressed file and 0."""

FIRST_READ, MOST_READ = 1 << 16, 1 << 22  # bytes read at first, and at most: each time twice as many


class PlacedText(Closing):
    """An uncompressed file; a context manager.

    Parameters
    ----------
    name : str

    Attributes
    ----------
    name : str
    size : int
        Bytes as they are stored.
    start, end : Place
        The first byte of the text, and the place behind the last one.
    """

    start: Place = (0, 0)

    def __init__(self, name: str) -> None:
        self.name = name
        self._handle = open_stored(name, "part of an input")
        self.size = os.fstat(self._handle).st_size
        self.end: Place = (self.size, 0)

    def close(self) -> None:
        os.close(self._handle)

    def before(self, byte: int) -> Place:
        """Return the place behind which begins what is stored from a byte on; not of the first byte."""
        return byte - 1, 0

    def moved(self, place: Place, count: int) -> Place:
        """Return the place so many bytes behind one of the same chunk."""
        return place[0] + int(count), 0

    def chunks(self, place: Place) -> Iterator[tuple[Place, bytes]]:
        """Yield the text from a place on in chunks, each with the place of its first byte."""
        at, size = place[0], FIRST_READ
        while data := os.pread(self._handle, size, at):
            yield (at, 0), data
            at, size = at + len(data), min(2 * size, MOST_READ)

    def part(self, begin: Place, end: Place) -> str:
        """Return the name of what lies between two places: the file's if that is all."""
        if (begin, end) == (self.start, self.end):
            return self.name
        return FileSlice(self.name, begin[0], end[0])


class PlacesOf:
    """Where the bytes of a text come from that is put together of chunks."""

    def __init__(self, text: PlacedText) -> None:
        self._text = text
        self._starts: list[int] = []
        self._places: list[Place] = []

    def add(self, start: int, place: Place) -> None:
        """Say where the next chunk starts, and its place."""
        self._starts.append(start)
        self._places.append(place)

    def __call__(self, byte: int) -> Place:
        chunk = bisect_right(self._starts, byte) - 1
        return self._text.moved(self._places[chunk], byte - self._starts[chunk])
