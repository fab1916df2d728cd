"""Inputs cut into parts at the borders of records: what each of several processes reads of files.

A cut is a pure function of the files and of the number of parts, so processes that know nothing of each other agree on
it. The parts of a file, in their order, are its text byte for byte.

A record of FASTA begins where > begins a line, and nowhere else. A record of FASTQ cannot be told by its first line, as
qualities may begin with @: text around the cut is taken for records of four lines each (@, letters, +, as many
qualities) in the only one of four ways that fits, and where none fits, or several, the file is parsed from its start.

Text that is made up so that a wrong way fits alone cannot change a result. Readers are strict: each record has to be
whole. The first part begins with the file's first record. A part that begins with a record and is read without an error
ends where a record ends, so that the next part begins with a record, too; a border within a record leaves the part
before it with a record that is cut, which is an error.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.io.file_slice import FileSlice, stored_size
from oclgenomics.io.foreign import HEAD_BYTES, foreign_format
from oclgenomics.io.placed_text import Place, PlacedText, PlacesOf, placed_text
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.io.source import BYTE_ORDER_MARK
from oclgenomics.sequence.line_breaks import NEWLINE, is_break
from oclgenomics.sequence.rewritten_source import Rewriter

HEADER = ord(">")  # of FASTA
LINES_THAT_TELL = 12  # of FASTQ: two records, wherever they begin
MOST_TEXT = 1 << 24  # bytes of FASTQ that are looked at around a cut before the file is parsed from its start

PlaceOf = Callable[[int], Place]


def cut_files(names: Sequence[str], number: int, of: int) -> list[str]:
    """Return one of several parts of files: the names of whole files, and a `FileSlice` where a file is cut.

    The parts have all records of all files, in order. A part may be empty.

    Parameters
    ----------
    names : sequence of str
        Regular files. Those that are not FASTA or FASTQ, uncompressed or of bgzip, are not cut.
    number, of : int
        The part, from 1 on, and how many there are, each with about as many stored bytes as the others.

    Raises
    ------
    UsageError
        There is no such part, or standard input or a pipe is to be cut.
    InputError
        A file cannot be read, or FASTQ that does not have four lines a record has a defect before the cut.
    """
    if not 1 <= number <= of:
        raise ParameterError("part", f"must be between 1 and {of}, not {number}")
    sizes = [_size(name) for name in names]
    total = sum(sizes)
    low, high = (number - 1) * total // of, number * total // of if number < of else total + 1
    found: list[str] = []
    begin = 0
    for name, size in zip(names, sizes, strict=True):
        found += _between(name, size, low - begin, high - begin)
        begin += size
    return found


def _size(name: str) -> int:
    """Bytes of a file as it is stored."""
    if isinstance(name, FileSlice):
        raise UsageError(f"{name}: a part of a file cannot be cut again; name the file")
    size = stored_size(name)
    if size is None:
        if name != "-" and not os.path.exists(name):
            StoredBytes(name)  # which says what is wrong
        shown = "standard input" if name == "-" else name
        raise UsageError(f"{shown}: only files are cut into parts; write it to a file, and name that")
    return size


def _between(name: str, size: int, low: int, high: int) -> list[str]:
    """What of a file lies between two cuts: nothing, all, or a part."""
    if low <= 0 < high and size <= high:
        return [name]
    if high <= 0 or size <= low:
        return []
    with placed_text(name) as text:
        records = _Records(text)
        begin, end = (records.border(cut) for cut in (low, high))
        return [text.part(begin, end)] if begin < end else []


class _Records:
    """Where records start in a text; one that is neither FASTA nor FASTQ is as one record."""

    def __init__(self, text: PlacedText) -> None:
        self._text = text
        self._first, self._offset, head = text.start, 0, b""  # the first record, and the bytes of text before it
        for place, chunk in text.chunks(text.start):
            head = chunk.removeprefix(BYTE_ORDER_MARK) if place == text.start else chunk
            head = head.lstrip(b"\r\n")
            self._first = text.moved(place, len(chunk) - len(head))
            self._offset += len(chunk) - len(head)
            if head:
                break
        self._fastq = head.startswith(b"@")
        self._known = head.startswith((b">", b"@")) and foreign_format(head[:HEAD_BYTES]) is None

    def border(self, cut: int) -> Place:
        """Return where the records begin that start from a stored byte on; the first one starts with the text."""
        if cut <= 0:
            return self._text.start
        if cut >= self._text.size or not self._known:
            return self._text.end
        before = max(self._text.before(cut), self._first)
        near = self._near(before) if self._fastq else None
        return self._behind(before) if near is None else near

    def _near(self, before: Place) -> Place | None:
        """The first record of FASTQ that starts behind a place; None where the text there does not tell."""
        text, places, enough = bytearray(), PlacesOf(self._text), 0
        for place, chunk in chain(self._text.chunks(before), [(self._text.end, b"")]):
            places.add(len(text), place)
            text += chunk
            if chunk and len(text) < enough:
                continue
            start = _fastq_start(bytes(text), final=not chunk)
            if start is not None:
                return places(start)
            if len(text) > MOST_TEXT:
                break
            enough = 2 * len(text)
        return None

    def _behind(self, before: Place) -> Place:
        """The first record that starts behind a place."""
        for starts, place_of in self._parsed() if self._fastq else self._headers(before):
            if len(starts) and place_of(starts[-1]) > before:
                return place_of(starts[bisect_right(starts, before, key=place_of)])
        return self._text.end

    def _headers(self, before: Place) -> Iterator[tuple[NDArray[np.int64], PlaceOf]]:
        """Starts of records of FASTA behind a place, and what gives their places."""
        broken = False
        for place, chunk in self._text.chunks(before):
            text = np.frombuffer(chunk, np.uint8)
            breaks = is_break(text)
            yield np.flatnonzero((text == HEADER) & np.append(broken, breaks[:-1])), partial(self._text.moved, place)
            broken = bool(breaks[-1])

    def _parsed(self) -> Iterator[tuple[NDArray[np.int64], PlaceOf]]:
        """Starts of all records of FASTQ, whatever their layout, and what gives their places."""
        places, rewriter, size = PlacesOf(self._text), Rewriter(self._text.name, offset=self._offset), 0

        def parts() -> Iterator[tuple[NDArray[np.uint8], bool]]:
            at = self._offset
            for place, chunk in self._text.chunks(self._first):
                places.add(at, place)
                at += len(chunk)
                yield np.frombuffer(chunk, np.uint8), False
            yield np.empty(0, np.uint8), True

        def place_of(start: int) -> Place:
            return places(rewriter.place_of(start))

        for text in rewriter.rewrite(parts()):
            starts = np.append(0, np.flatnonzero(text == NEWLINE)[3::4] + 1)
            yield size + starts[starts < len(text)], place_of
            size += len(text)
            rewriter.forget(size)


def _fastq_start(text: bytes, *, final: bool) -> int | None:
    """Where the first record starts behind the first line, which need not be whole; None where nothing tells."""
    begin = text.find(b"\n") + 1
    lines = text[begin:].split(b"\n") if begin else []
    if not final and len(lines) <= LINES_THAT_TELL:
        return None
    if not final:
        lines.pop()
    while final and lines and not lines[-1].strip():
        lines.pop()
    ways = [first for first in range(min(4, len(lines) + 1)) if _are_records(lines[first:], final=final)]
    if len(ways) != 1:
        return None
    first = ways[0]
    return begin + sum(len(line) + 1 for line in lines[:first]) if first < len(lines) else len(text)


def _are_records(lines: list[bytes], *, final: bool) -> bool:
    """Say whether lines are of records with four lines each; the last one may be begun unless the text is final."""
    letters, qualities = ([len(line.rstrip()) for line in lines[first::4]] for first in (1, 3))
    if final and len(lines) % 4 == 3 and not letters[-1]:
        qualities.append(0)  # the last line of an empty record, which looks like a blank one
    return (
        all(line.startswith(b"@") for line in lines[::4])
        and all(line.startswith(b"+") for line in lines[2::4])
        and letters[: len(qualities)] == qualities
        and not (final and len(lines[::4]) > len(qualities))
    )
