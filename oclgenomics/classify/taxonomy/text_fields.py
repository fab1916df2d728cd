"""Fields of the lines of big text files, many lines at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.source import Source

BLOCK_BYTES = 1 << 23
MAX_LINE = 1 << 20  # bytes
MAX_DIGITS = 18
NOT_A_NUMBER = -1
_TAB, _NEWLINE, _RETURN, _BAR = b"\t\n\r|"


@dataclass(frozen=True)
class Lines:
    """Lines that are not empty.

    Attributes
    ----------
    source : str
    text : ndarray, uint8
        What they are in.
    begins, ends : ndarray, int64 (lines,)
        Of each one, without the line break.
    numbers : ndarray, int64 (lines,)
        In the file, from 1 on.
    """

    source: str
    text: NDArray[np.uint8]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.begins)

    def fields_by_tab(self, count: int) -> Fields:
        """Split at tabs; lines of fewer than `count` fields are left out."""
        tabs = np.flatnonzero(self.text == _TAB)
        return self._split(count, tabs, tabs + 1)

    def fields_of_dump(self, count: int) -> Fields:
        """Split lines of NCBI's dump files, whose fields end with a tab and a bar.

        Raises
        ------
        InputError
            A line has fewer than `count` fields.
        """
        bars = np.flatnonzero(self.text == _BAR)
        bars = bars[self.text[bars - 1] == _TAB]  # before the first byte: the last one, a line break
        followed = self.text[np.minimum(bars + 1, len(self.text) - 1)] == _TAB
        fields = self._split(count, bars - 1, bars + 1 + followed)
        if len(fields) < len(self):
            line = np.setdiff1d(self.numbers, fields.lines)[0]
            what = f"has fewer than the {count} fields of such a file, which end with a tab and a bar"
            raise InputError(what, source=self.source, line=int(line))
        return fields

    def _split(self, count: int, field_ends: NDArray[np.int64], next_begins: NDArray[np.int64]) -> Fields:
        """The first fields of lines with enough of them."""
        first = np.searchsorted(field_ends, self.begins)
        end = np.append(first[1:], len(field_ends))
        enough = end - first >= count - 1
        first, end = first[enough], end[enough]
        begins, ends = np.empty((count, len(first)), np.int64), np.empty((count, len(first)), np.int64)
        begins[0] = self.begins[enough]
        for field in range(count):
            if field:
                begins[field] = next_begins[first + field - 1]
            open_end = first + field >= end  # the line ends with this field
            if len(field_ends):
                ends[field] = field_ends[np.minimum(first + field, len(field_ends) - 1)]
            ends[field][open_end] = self.ends[enough][open_end]
        return Fields(self.source, self.text, begins, np.maximum(begins, ends), self.numbers[enough])


@dataclass(frozen=True)
class Fields:
    """Fields of lines.

    Attributes
    ----------
    source : str
    text : ndarray, uint8
    begins, ends : ndarray, int64 (fields, lines)
        Where in the text each field lies.
    lines : ndarray, int64 (lines,)
        Numbers of the lines in the file, from 1 on.
    """

    source: str
    text: NDArray[np.uint8]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lines)

    def error(self, what: str, line: int) -> InputError:
        """Return the error that a line is wrong in some way."""
        return InputError(what, source=self.source, line=int(self.lines[line]))

    def shown(self, field: int, line: int) -> str:
        """A field as text."""
        return self.text[self.begins[field, line] : self.ends[field, line]].tobytes().decode("utf-8", "replace")

    def numbers(self, field: int) -> NDArray[np.int64]:
        """Read fields as whole numbers, int64 (lines,); `NOT_A_NUMBER` where one is no number or has over 18 digits."""
        return whole_numbers(self.text, self.begins[field], self.ends[field])

    def starting_with(self, field: int, word: bytes, *, whole: bool) -> NDArray[np.bool_]:
        """Say which fields start with a word, or are it, whatever its case, bool (lines,)."""
        begins, sizes = self.begins[field], self.ends[field] - self.begins[field]
        here = np.flatnonzero(sizes == len(word) if whole else sizes >= len(word))
        for place, letter in enumerate(word):
            here = here[(self.text[begins[here] + place] | np.uint8(0x20)) == letter | 0x20]
        found = np.zeros(len(begins), np.bool_)
        found[here] = True
        return found


def whole_numbers(text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Read whole numbers that begin and end at some places, int64; see `Fields.numbers`."""
    sizes = ends - begins
    good = (sizes > 0) & (sizes <= MAX_DIGITS)
    values = np.zeros(len(begins), np.int64)
    for place in range(int(sizes[good].max(initial=0))):
        inside = place < sizes
        digits = text[np.minimum(begins + place, len(text) - 1)] - np.uint8(ord("0"))
        good &= ~inside | (digits <= 9)
        values = np.where(inside, values * 10 + digits, values)
    return np.where(good, values, NOT_A_NUMBER)


def read_lines(path: str | os.PathLike[str], progress: Progress | None = None) -> Iterator[Lines]:
    """Read the lines of a file, uncompressed or compressed with gzip, block by block.

    Raises
    ------
    InputError
        It cannot be read, or a line is too long.
    """
    before = 0
    with Source(path, chunk_bytes=BLOCK_BYTES, progress=progress) as source:
        for block in _blocks_of_lines(source):
            text = np.frombuffer(block, np.uint8)
            ends = np.flatnonzero(text == _NEWLINE)
            begins = np.append(0, ends + 1)[: len(ends)]
            returned = (ends > begins) & (text[ends - 1] == _RETURN)
            numbers = before + 1 + np.arange(len(ends))
            before += len(ends)
            ends = ends - returned
            some = ends > begins
            yield Lines(source.name, text, begins[some], ends[some], numbers[some])


def _blocks_of_lines(source: Source) -> Iterator[bytes]:
    """Blocks of whole lines, the last one with its line break."""
    rest, parts, size = b"", [], 0
    for chunk in source:
        parts.append(chunk)
        size += len(chunk)
        if size < BLOCK_BYTES:
            continue
        block = b"".join([rest, *parts])
        cut = block.rfind(b"\n") + 1
        rest, parts, size = block[cut:], [], 0
        if len(rest) > MAX_LINE:
            raise InputError(f"has a line of more than {MAX_LINE:,} bytes; is it such a file?", source=source.name)
        yield block[:cut]
    block = b"".join([rest, *parts])
    if block:
        yield block if block.endswith(b"\n") else block + b"\n"
