"""Reports of a query: tables, BED, bedGraph and JSON of what was found, and the counts along sequences."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from oclgenomics.app.reports import MISSING
from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.io.json_text import json_text
from oclgenomics.kmers.analysis.found import RecordCounts, join_counts, joined_records

ROWS = 1 << 12  # that are written at a time
Item = TypeVar("Item")


def rows_of(parts: Iterable[Any]) -> Iterator[list[tuple[Any, ...]]]:
    """Return the rows of parts, some at a time."""
    return _some(itertools.chain.from_iterable(part.rows() for part in parts))


def records_of(parts: Iterable[Any]) -> Iterator[list[dict[str, Any]]]:
    """Return the records of parts, some at a time."""
    return _some(itertools.chain.from_iterable(part.records() for part in parts))


def _some(items: Iterator[Item]) -> Iterator[list[Item]]:
    while some := list(itertools.islice(items, ROWS)):
        yield some


class RowLines:
    """A line for each row of `rows_of`, below one with the names of the columns if there are any."""

    def __init__(self, columns: tuple[str, ...] = ()) -> None:
        self._columns = columns

    def head(self) -> bytes:
        return self.body([self._columns]) if self._columns else b""

    def body(self, rows: list[tuple[Any, ...]], /) -> bytes:
        return "".join(["\t".join([_cell(value) for value in row]) + "\n" for row in rows]).encode()

    def tail(self) -> bytes:
        return b""


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


class CountLines:
    """A line for each sequence: its name, a tab, and its counts with commas between them."""

    def head(self) -> bytes:
        return b"record\tcounts\n"

    def body(self, part: RecordCounts, /) -> bytes:
        lines = []
        for number, name in enumerate(part.names):
            lead = f"{name}\t" if number or part.begins else ","
            counts = ",".join([MISSING if count is None else str(count) for count in part.counts_of(number)])
            lines.append(lead + counts + ("\n" if part.ends or number + 1 < len(part) else ""))
        return "".join(lines).encode()

    def tail(self) -> bytes:
        return b""


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return MISSING if value is None else str(value)


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
