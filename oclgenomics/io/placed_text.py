"""The text of a file from any place on."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator

from oclgenomics.errors import InputError
from oclgenomics.io import inflate
from oclgenomics.io.closing import Closing
from oclgenomics.io.file_slice import FileSlice
from oclgenomics.io.raw_file import open_stored

Place = tuple[int, int]
"""Where a byte of a text is: the stored byte of an uncompressed file, and 0; the stored byte at which a block of bgzip
begins, and the number of the byte in the block's text."""

FIRST_READ, MOST_READ = 1 << 16, 1 << 22  # bytes read at first, and at most: each time twice as many
CHAIN = 4  # blocks of bgzip that have to follow each other, so that what begins like one is one


class PlacedText(Closing):
    """An uncompressed file; a context manager. `placed_text` opens any.

    Parameters
    ----------
    name : str
    handle : int
        The open file, which is closed with this.

    Attributes
    ----------
    name : str
    size : int
        Bytes as they are stored.
    start, end : Place
        The first byte of the text, and the place behind the last one.
    blocks : bool
        It is a file of bgzip.
    """

    start: Place = (0, 0)
    blocks = False

    def __init__(self, name: str, handle: int) -> None:
        self.name, self._handle = name, handle
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


class _BlockText(PlacedText):
    """A file of bgzip."""

    blocks = True

    def before(self, byte: int) -> Place:
        """Return the first block that begins at a stored byte or behind."""
        for begin in range(byte, self.size, FIRST_READ):
            for found in inflate.BLOCK_START.finditer(os.pread(self._handle, FIRST_READ + inflate.HEADER_BYTES, begin)):
                if self._is_block(begin + found.start()):
                    return begin + found.start(), 0
        return self.end

    def _is_block(self, at: int) -> bool:
        """Whether blocks follow each other from a place on, or up to the end of the file."""
        for _ in range(CHAIN):
            block = inflate.block_at(self._handle, at)
            if block is None:
                return False
            at += block[0]
            if at == self.size:
                break
        return True

    def moved(self, place: Place, count: int) -> Place:
        return place[0], place[1] + int(count)

    def chunks(self, place: Place) -> Iterator[tuple[Place, bytes]]:
        at, skip = place
        while at < self.size:
            size, text = self._block(at)
            if skip < len(text):
                yield (at, skip), text[skip:]
            at, skip = at + size, 0

    def part(self, begin: Place, end: Place) -> str:
        if (begin, end) == (self.start, self.end):
            return self.name
        (start, skip), (stop, last) = begin, end
        size, text = self._block(stop) if last else (0, b"")
        return FileSlice(self.name, start, stop + size, skip, len(text) - last)

    def _block(self, at: int) -> tuple[int, bytes]:
        block = inflate.block_at(self._handle, at)
        if block is None:
            message = f"no whole block of bgzip is stored at its byte {at}, so it cannot be cut; pack it with bgzip"
            raise InputError(message, source=self.name)
        return block


def placed_text(name: str) -> PlacedText:
    """Open a file of bgzip, or any other as if it were not compressed.

    Raises
    ------
    InputError
        It cannot be read.
    """
    handle = open_stored(name, "part of an input")
    kind = _BlockText if inflate.is_block(os.pread(handle, inflate.HEADER_BYTES, 0)) else PlacedText
    return kind(name, handle)


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
