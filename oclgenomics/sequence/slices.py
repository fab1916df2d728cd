"""Inputs cut into parts at the borders of records: what each of several processes reads of files.

A cut is a pure function of the files and of the number of parts, so processes that know nothing of each other agree on
it. The parts of a file, in their order, are its text byte for byte.

A record of FASTA begins where > begins a line, and nowhere else. A record of FASTQ cannot be told by its first line, as
qualities may begin with @: text around the cut is taken for records of four lines each (@, letters, +, as many
qualities) in the only one of four ways that fits. Where none fits, or several, or the file begins with records of other
lines, it is parsed from its start.

Text that is made up so that a wrong way fits alone cannot change a result. Readers are strict: each record has to be
whole. The first part begins with the file's first record. A part that begins with a record and is read without an error
ends where a record ends, so that the next part begins with a record, too; a border within a record leaves the part
before it with a record that is cut, which is an error.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, starmap
from operator import eq

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.io.file_slice import FileSlice, stored_size
from oclgenomics.io.foreign import HEAD_BYTES, foreign_format
from oclgenomics.io.placed_text import Place, PlacedText, PlacesOf, placed_text
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.io.source import BYTE_ORDER_MARK
from oclgenomics.sequence.four_lines import AT, PLUS
from oclgenomics.sequence.line_breaks import NEWLINE, is_break
from oclgenomics.sequence.rewritten_source import Rewriter

HEADER = ord(">")  # of FASTA
HEAD_TEXT = 1 << 16  # bytes of FASTQ that tell whether its records have four lines
LINES_THAT_TELL = 12  # of FASTQ: two records, wherever they begin
MOST_TEXT = 1 << 24  # bytes of FASTQ that are looked at around a cut before the file is parsed from its start

NAMES = 16  # of records in a row that tell which mates they are
FIRST_WIDTH, MOST_WIDTH = 1 << 16, 1 << 25  # bytes on either side of where mates are expected that are searched

PlaceOf = Callable[[int], Place]


def cut_files(names: Sequence[str], number: int, of: int, *, interleaved: bool = False) -> list[str]:
    """Return one of several parts of files; see `cut_inputs`.

    Parameters
    ----------
    names : sequence of str
    number, of : int
    interleaved : bool
        Mates follow each other, and stay together.
    """
    return [name for (name,) in cut_inputs([(name,) for name in names], number, of, interleaved=interleaved)]


def cut_inputs(
    inputs: Sequence[tuple[str, ...]], number: int, of: int, *, interleaved: bool = False
) -> list[tuple[str, ...]]:
    """Return one of several parts of inputs: the names of whole files, and a `FileSlice` where a file is cut.

    The parts have all records of all inputs, in order. A part may be empty.

    Parameters
    ----------
    inputs : sequence of tuple of str
        Each of one file, or of the files of first and of second mates, which are cut at the same mates. Files are
        regular. Those that are not FASTA or FASTQ, uncompressed or of bgzip, are not cut.
    number, of : int
        The part, from 1 on, and how many there are, each with about as many stored bytes as the others.
    interleaved : bool
        In inputs of one file mates follow each other, and stay together.

    Raises
    ------
    UsageError
        There is no such part, or standard input or a pipe is to be cut.
    InputError
        A file cannot be read, FASTQ that does not have four lines a record has a defect before the cut, or mates are
        not equally many.
    """
    if not 1 <= number <= of:
        raise ParameterError("part", f"must be between 1 and {of}, not {number}")
    sizes = [sum(map(_size, names)) for names in inputs]
    total = sum(sizes)
    low, high = (number - 1) * total // of, number * total // of if number < of else total + 1
    found: list[tuple[str, ...]] = []
    begin = 0
    for names, size in zip(inputs, sizes, strict=True):
        found += _between(names, size, low - begin, high - begin, interleaved=interleaved)
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


def _between(names: tuple[str, ...], size: int, low: int, high: int, *, interleaved: bool) -> list[tuple[str, ...]]:
    """What of an input lies between two cuts: nothing, all, or a part."""
    if low <= 0 < high and size <= high:
        return [names]
    if high <= 0 or size <= low:
        return []
    with ExitStack() as stack:
        files = [_Records(stack.enter_context(placed_text(name))) for name in names]
        if not all(file.known for file in files):
            return [names] if low <= 0 else []
        begin, end = (_borders(files, cut, size, interleaved=interleaved) for cut in (low, high))
        if begin[0] == end[0]:
            return []
        if not all(one < other for one, other in zip(begin, end, strict=True)):
            message = f"the mates of records of {names[0]} are not in it; mates have to be equally many, in one order"
            raise InputError(message, source=names[-1])
        return [tuple(file.text.part(*ends) for file, *ends in zip(files, begin, end, strict=True))]


def _borders(files: Sequence[_Records], cut: int, size: int, *, interleaved: bool) -> list[Place]:
    """Where the files of an input are cut, of whose bytes so many come before: all at the same record."""
    if cut <= 0:
        return [file.text.start for file in files]
    if cut >= size:
        return [file.text.end for file in files]
    first = files[0].border(cut * files[0].text.size // size, interleaved=interleaved)
    return [first, *(file.mate_of(files[0], first) for file in files[1:])]


class _Records:
    """Where records start in a text.

    Attributes
    ----------
    text : PlacedText
    known : bool
        It is FASTA or FASTQ.
    """

    def __init__(self, text: PlacedText) -> None:
        self.text = text
        self._first, self._offset, head = text.start, 0, b""  # the first record, and the bytes of text before it
        for place, chunk in text.chunks(text.start):
            if head:
                head += chunk
            else:
                head = chunk.removeprefix(BYTE_ORDER_MARK) if place == text.start else chunk
                head = head.lstrip(b"\r\n")
                self._first = text.moved(place, len(chunk) - len(head))
                self._offset += len(chunk) - len(head)
            if len(head) >= HEAD_TEXT or head[:1] not in (b"", b"@"):
                break
        self._mark = head[:1]
        self._fastq = self._mark == b"@"
        self._has_four_lines = self._fastq and _whole_records(head) is not None  # in the beginning
        self.known = self._mark in (b">", b"@") and foreign_format(head[:HEAD_BYTES]) is None

    def border(self, cut: int, *, interleaved: bool = False) -> Place:
        """Return where the records, or pairs of mates, begin that start from a stored byte on.

        The first one counts as one that starts with the text.
        """
        if cut == 0:
            return self.text.start
        place = self._next(max(self.text.before(cut), self._first))
        return self._next(place) if interleaved and self._is_second(place) else place

    def mate_of(self, other: _Records, place: Place) -> Place:
        """Return where the mate starts of a record of another file; the start and the end are each other's."""
        if place in (other.text.start, other.text.end):
            return self.text.start if place == other.text.start else self.text.end
        near = self._with_names(other._names(place), place[0] * self.text.size // other.text.size)
        return self._numbered(other._number(place)) if near is None else near

    def _is_second(self, place: Place) -> bool:
        """Whether the record at a place is a second mate: by the names from there on, or by its number."""
        if place == self.text.end:
            return False
        names = self._names(place)
        first, second = (all(starmap(eq, zip(names[at::2], names[at + 1 :: 2], strict=False))) for at in (0, 1))
        return second if first != second and len(names) > 2 else self._number(place) % 2 == 1

    def _next(self, before: Place) -> Place:
        """The first record that starts behind a place; the end of the text if none does."""
        near = self._near(before) if self._has_four_lines else None
        if near is not None:
            return near
        for starts, place_of in self._four_lines() if self._fastq else self._headers(before):
            if len(starts) and place_of(starts[-1]) > before:
                return place_of(starts[bisect_right(starts, before, key=place_of)])
        return self.text.end

    def _near(self, before: Place) -> Place | None:
        """The first record of FASTQ that starts behind a place; None where the text there does not tell."""
        text, places, enough = bytearray(), PlacesOf(self.text), 0
        for place, chunk in chain(self.text.chunks(before), [(self.text.end, b"")]):
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

    def _number(self, place: Place) -> int:
        """How many records start before a place."""
        number = 0
        for starts, place_of in self._all():
            if len(starts) and place_of(starts[-1]) >= place:
                return number + bisect_left(starts, place, key=place_of)
            number += len(starts)
        return number

    def _numbered(self, number: int) -> Place:
        """Where the record with a number, from 0 on, starts; the end of the text if there are not so many."""
        for starts, place_of in self._all():
            if number < len(starts):
                return place_of(starts[number])
            number -= len(starts)
        return self.text.end

    def _names(self, place: Place) -> list[bytes]:
        """The names of some records from one on, fewer at the end; none of records that are very long.

        Records of FASTQ are taken to have four lines each.
        """
        text, enough = bytearray(), 0
        for _, chunk in chain(self.text.chunks(place), [(self.text.end, b"")]):
            text += chunk
            if chunk and len(text) < enough:
                continue
            lines = bytes(text).splitlines()
            if chunk:
                lines.pop()  # which may go on
            headers = [line for line in (lines[::4] if self._fastq else lines) if line.startswith(self._mark)]
            if len(headers) >= NAMES or not chunk:
                return [_bare_name(header) for header in headers[:NAMES]]
            if len(text) > MOST_TEXT:
                break
            enough = 2 * len(text)
        return []

    def _with_names(self, names: list[bytes], near: int) -> Place | None:
        """Where records with these names start, near a stored byte; None where nothing tells."""
        name, width = b"".join(names[:1]), FIRST_WIDTH
        header = re.compile(self._mark + re.escape(name) + rb"(?=\s|/[12]\s)")
        while name and len(set(names)) == len(names) and width <= MOST_WIDTH:
            found = [
                place for place in self._matches(header, near - width, near + width) if self._names(place) == names
            ]
            if found:
                return found[0] if len(found) == 1 else None
            width *= 8
        return None

    def _matches(self, header: re.Pattern[bytes], low: int, high: int) -> list[Place]:
        """Where lines that match begin between two stored bytes, about."""
        places, end, text = PlacesOf(self.text), 0, b""
        found: set[Place] = set()
        for place, chunk in self.text.chunks(self.text.before(low) if low > 0 else self.text.start):
            if place[0] > high:
                break
            places.add(end, place)
            text = text[-len(header.pattern) :] + chunk  # with what may have begun before
            end += len(chunk)
            starts = [match.start() for match in header.finditer(text)]
            found |= {places(end - len(text) + start) for start in starts if text[start - 1 : start] in (b"\n", b"\r")}
        return sorted(found)

    def _all(self) -> Iterator[tuple[NDArray[np.int64], PlaceOf]]:
        """Starts of all records, and what gives their places."""
        return self._four_lines() if self._fastq else self._headers(self._first, starts=True)

    def _headers(self, begin: Place, *, starts: bool = False) -> Iterator[tuple[NDArray[np.int64], PlaceOf]]:
        """Starts of records of FASTA behind a place, and at it if one `starts` there, and what gives their places."""
        broken = starts
        for place, chunk in self.text.chunks(begin):
            text = np.frombuffer(chunk, np.uint8)
            breaks = is_break(text)
            yield np.flatnonzero((text == HEADER) & np.append(broken, breaks[:-1])), partial(self.text.moved, place)
            broken = bool(breaks[-1])

    def _four_lines(self) -> Iterator[tuple[NDArray[np.int64], PlaceOf]]:
        """Starts of all records of FASTQ, and what gives their places."""
        places, text, at, records = PlacesOf(self.text), b"", self._offset, 0
        for place, chunk in self.text.chunks(self._first):
            places.add(at + len(text), place)
            text += chunk
            starts = _whole_records(text)
            if starts is None:
                break
            yield at + starts[:-1], places
            text, at, records = text[starts[-1] :], at + int(starts[-1]), records + len(starts) - 1
        if text:
            yield from self._other_lines(places(at), at, records)

    def _other_lines(self, begin: Place, offset: int, records: int) -> Iterator[tuple[NDArray[np.int64], PlaceOf]]:
        """Starts of records of any layout, from a place on, and what gives their places."""
        places, size = PlacesOf(self.text), 0
        rewriter = Rewriter(self.text.name, records=records, offset=offset)

        def parts() -> Iterator[tuple[NDArray[np.uint8], bool]]:
            at = offset
            for place, chunk in self.text.chunks(begin):
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


def _whole_records(text: bytes) -> NDArray[np.int64] | None:
    """Where records of four lines each start, and where the last one ends that is whole; None if there are others."""
    letters = np.frombuffer(text, np.uint8)
    breaks = np.flatnonzero(letters == NEWLINE)
    ends = breaks[: len(breaks) // 4 * 4].reshape(-1, 4)
    starts = np.append(0, ends[:, 3] + 1)
    lines = np.column_stack([starts[:-1], ends[:, :3] + 1])
    sizes = ends - lines
    fits = (letters[lines[:, 0]] == AT) & (letters[lines[:, 2]] == PLUS) & (sizes[:, 1] == sizes[:, 3])
    return starts if fits.all() else None


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


def _bare_name(header: bytes) -> bytes:
    """The name that mates have in common."""
    name = b"".join(header[1:].split(maxsplit=1)[:1])
    return name[:-2] if name.endswith((b"/1", b"/2")) else name
