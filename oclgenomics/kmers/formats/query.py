"""Reports of a query: tables, BED, bedGraph and JSON of what was found, and the counts along sequences."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import MISSING, ByteSink, Lines, Report, write_reports
from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.io.json_text import json_text
from oclgenomics.io.workers import Workers
from oclgenomics.kmers.analysis.found import (
    STRANDS,
    FoundIntervals,
    FoundKmers,
    RecordCounts,
    RecordSummaries,
    join_counts,
    joined_records,
)
from oclgenomics.sequence.joined_lines import Column, HostJoiner, NameColumn, NumberColumn, TextTable
from oclgenomics.sequence.name_list import NameList

ROWS = 1 << 12  # that are written at a time
CELLS = 1 << 16  # counts that are made text at a time, in the cache
NONE = 1000  # in place of a count of at most three digits
_TAB = ord("\t")
_COMMA = ord(",")
Item = TypeVar("Item")


def records_of(parts: Iterable[Any]) -> Iterator[list[dict[str, Any]]]:
    """Return the records of parts, some at a time."""
    return _some(itertools.chain.from_iterable(part.records() for part in parts))


def _some(items: Iterator[Item]) -> Iterator[list[Item]]:
    while some := list(itertools.islice(items, ROWS)):
        yield some


def write_lines(parts: Iterable[Item], report: Report[Item], stream: ByteSink, threads: int | None = None) -> None:
    """Write a report whose bodies threads make: those of parts depend on nothing else, and keep their arrays."""
    with Workers(threads) as workers:
        write_reports(workers.map(report.body, parts), [(stream, _MadeLines(report.head()))])


class _MadeLines(Lines):
    """The bodies of a report below its head."""

    def __init__(self, head: bytes) -> None:
        self._head = head

    def head(self) -> bytes:
        return self._head

    def body(self, lines: bytes | memoryview, /) -> bytes | memoryview:
        return lines


def pieces_of(parts: Iterable[FoundKmers]) -> Iterator[FoundKmers]:
    """Return parts in pieces, of which the lines are not too many."""
    return itertools.chain.from_iterable(part.pieces() for part in parts)


class KmerLines(Lines):
    """A line for each k-mer of `pieces_of`, below one with the names of the columns."""

    def head(self) -> bytes:
        return _head(FoundKmers.COLUMNS)

    def body(self, found: FoundKmers, /) -> memoryview:
        kmers = np.full((len(found), found.k + 2), _TAB, np.uint8)  # a tab on either side
        kmers[:, 1:-1] = found.letters()
        letters = NameList(kmers.ravel(), np.arange(len(found) + 1) * kmers.shape[1])
        columns: list[Column] = [
            NameColumn(_with_tabs(found.names), found.record), NumberColumn.of(found.position + 1), NameColumn(letters),
            NumberColumn.of(found.counts), _same("\n", len(found)),
        ]  # fmt: skip
        return HostJoiner().join(len(found), columns)


class SummaryLines(Lines):
    """A line for each sequence, below one with the names of the columns."""

    def head(self) -> bytes:
        return _head(RecordSummaries.COLUMNS)

    def body(self, part: RecordSummaries, /) -> memoryview:
        tabs = _same("\t", len(part))
        columns: list[Column] = [
            NameColumn(_with_tabs(part.names)), NumberColumn.of(part.kmers), tabs, NumberColumn.of(part.found), tabs,
            _float_column(part.mean), tabs, _float_column(part.median), _same("\n", len(part)),
        ]  # fmt: skip
        return HostJoiner().join(len(part), columns)


class IntervalLines(Lines):
    """A line for each interval, in the form of BED or bedGraph, which have no head."""

    def body(self, part: FoundIntervals, /) -> memoryview:
        size, tabs = len(part), _same("\t", len(part))
        columns: list[Column] = [
            NameColumn(_with_tabs(part.names), part.record), NumberColumn.of(part.start), tabs,
            NumberColumn.of(part.end),
        ]  # fmt: skip
        if part.count is not None:
            columns += [tabs, NumberColumn.of(part.count)]
        if part.strand is not None:
            strands = TextTable(len(STRANDS), lambda number: f"\t.\t0\t{STRANDS[number]}")
            columns.append(strands.column(part.strand))
        return HostJoiner().join(size, [*columns, _same("\n", size)])


def _head(columns: Sequence[str]) -> bytes:
    return ("\t".join(columns) + "\n").encode()


def _same(text: str, lines: int) -> Column:
    return TextTable.same(text).repeated(lines)


def _utf8(names: Sequence[str]) -> NameList:
    """The bytes of names, those that are not UTF-8 replaced."""
    if isinstance(names, NameList) and names.letters[names.starts[0] : names.starts[-1]].max(initial=0) < 128:
        return names
    return NameList.of(list(names))


def _with_tabs(names: Sequence[str]) -> NameList:
    """Names with a tab behind each of them."""
    some = _utf8(names)
    starts = some.starts - some.starts[0] + np.arange(len(some) + 1)
    letters = np.empty(starts[-1], np.uint8)
    tabs = np.zeros(len(letters), np.bool_)
    tabs[starts[1:] - 1] = True
    letters[tabs], letters[~tabs] = _TAB, some.letters[some.starts[0] : some.starts[-1]]
    return NameList(letters, starts)


def _float_column(values: NDArray[np.float64]) -> NameColumn:
    """Numbers with six digits, of which many are equal; `MISSING` for NaN."""
    different, which = np.unique(values, return_inverse=True)
    texts = [MISSING if np.isnan(value) else f"{value:.6g}" for value in different.tolist()]
    return NameColumn(NameList.of(texts), which)


class JsonRows:
    """One object of JSON: what made it, and the records of `records_of`."""

    def __init__(self, provenance: dict[str, Any]) -> None:
        self._provenance, self._between = provenance, "\n"

    def head(self) -> bytes:
        return f'{{"provenance": {json_text(self._provenance)}, "rows": ['.encode()

    def body(self, records: list[dict[str, Any]], /) -> bytes:
        text = self._between + ",\n".join([json_text(record) for record in records])
        self._between = ",\n"
        return text.encode()

    def tail(self) -> bytes:
        return b"\n]}\n"


class CountLines(Lines):
    """A line for each sequence: its name, a tab, and its counts with commas between them."""

    def head(self) -> bytes:
        return b"record\tcounts\n"

    def body(self, part: RecordCounts, /) -> bytes:
        names, (text, begins, ends) = _with_tabs(part.names), _count_texts(part)
        places = names.starts.tolist()
        leads = [names.letters[begin:end].data for begin, end in itertools.pairwise(places)]
        counts = [text[begin:end].data for begin, end in zip(begins, ends, strict=True)]
        lines = [b"\n"] * len(leads)
        if leads and not part.begins:
            leads[0] = memoryview(b"," if counts[0] else b"")
        if leads and not part.ends:
            lines[-1] = b""
        return b"".join(itertools.chain.from_iterable(zip(leads, counts, lines, strict=True)))


def _count_texts(part: RecordCounts) -> tuple[NDArray[np.uint8], list[int], list[int]]:
    """The counts along sequences as text, and where in it those of each sequence begin and end."""
    texts = [np.empty(0, np.uint8)]
    sizes: list[NDArray[np.integer[Any]]] = [np.zeros(1, np.int64)]
    for begin in range(0, len(part.counts), CELLS):
        some = slice(begin, begin + CELLS)
        counts = part.counts[some] if part.valid[some].all() else np.where(part.valid[some], part.counts[some], NONE)
        short = int(part.counts[some].max()) < NONE
        text, size = _short_cells(counts) if short else _cells(part.counts[some], part.valid[some])
        texts.append(text)
        sizes.append(size)
    bounds = np.cumsum(np.concatenate(sizes))[part.starts]
    return np.concatenate(texts), bounds[:-1].tolist(), (bounds[1:] - (part.windows > 0)).tolist()


def _short_cells(counts: NDArray[np.uint32]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Counts below `NONE`, or that for none, with a comma behind each: text, and the bytes of each of them."""
    cells, used, sizes = _short_texts()
    return cells[counts].view(np.uint8)[used[counts].view(np.bool_)], sizes[counts]


@functools.cache
def _short_texts() -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint8]]:
    """The text of each short cell, four bytes, which of these it uses, and how many."""
    texts = [*(b"%d," % count for count in range(NONE)), MISSING.encode() + b","]
    cells = np.frombuffer(b"".join(text.ljust(4) for text in texts), np.uint32)
    used = np.frombuffer(b"".join((b"\1" * len(text)).ljust(4, b"\0") for text in texts), np.uint32)
    return cells, used, np.array([len(text) for text in texts], np.uint8)


def _cells(counts: NDArray[np.uint32], valid: NDArray[np.bool_]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Counts with a comma behind each: text, and the bytes of each of them."""
    commas = TextTable(2, lambda number: (MISSING + ",", ",")[number]).column(valid.astype(np.int8))
    text = np.frombuffer(HostJoiner().join(len(counts), [NumberColumn.of(counts, valid), commas]), np.uint8)
    return text, np.diff(np.flatnonzero(text == _COMMA), prepend=-1)


def write_counts_npz(parts: Iterable[RecordCounts], output: str | os.PathLike[str]) -> None:
    """Write the counts along sequences for `numpy.load`: `names`, `starts`, `counts` and `valid`.

    All of them are in memory, 5 bytes for each place.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    joined = join_counts(list(joined_records(parts)), separate=True)
    names = np.array(joined.names, dtype=np.str_) if joined.names else np.empty(0, "U1")
    with open_whole(output, "wb", OutputError) as stream:
        np.savez(stream, names=names, starts=joined.starts, counts=joined.counts, valid=joined.valid)
