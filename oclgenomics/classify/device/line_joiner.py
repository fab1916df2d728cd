"""Joins columns to lines on a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.lines import Column, NameColumn, NumberColumn, TextColumn
from oclgenomics.classify.formats.text_table import TextTable
from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.name_list import NameList

__all__ = ["MAX_JOINED", "DeviceJoiner"]

MAX_JOINED = 1 << 28  # bytes of lines at a time
MAX_DIGITS = 20
SPAN = 1 << 10  # lines of a work-item on CPUs
SOURCE = "classify/join_lines.cl"


@dataclass(frozen=True)
class _Piece:
    """A column on the device: what its kernels are called and given."""

    measure: str
    write: str
    defines: dict[str, int | str]
    measured: dict[str, DeviceArray | None]
    written: dict[str, DeviceArray | None]


class DeviceJoiner:
    """Joins columns with two kernels a column. Tables of texts stay on the device.

    Parameters
    ----------
    engine : Engine
    at_once : int
        Bytes that lines joined at a time may have; a single line may have more, up to 4 GiB.
    """

    def __init__(self, engine: Engine, at_once: int = MAX_JOINED) -> None:
        self._engine, self._at_once = engine, at_once
        self._tables: dict[int, tuple[TextTable, int, DeviceArray, DeviceArray]] = {}
        self._lengths = engine.empty(1, np.uint32)
        self._out = engine.shared(1, np.uint8)

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview:
        """Return so many lines, each of which has its piece of every column; they are there until the next call."""
        chunks = _chunks(lines, columns, self._at_once)
        if len(chunks) == 1:
            return self._joined(0, lines, columns).data
        parts = [self._joined(begin, end, columns).tobytes() for begin, end in chunks]
        return memoryview(b"".join(parts))

    def _joined(self, begin: int, end: int, columns: Sequence[Column]) -> NDArray[np.uint8]:
        engine, lines = self._engine, end - begin
        pieces = [self._piece(column, begin, end) for column in columns]
        if self._lengths.size <= lines:
            self._lengths = engine.empty(lines + 1, np.uint32)
        engine.fill(self._lengths, 0)
        for piece in pieces:
            self._launch(piece.measure, lines, piece.defines, lengths=self._lengths, **piece.measured)
        places = scan(engine, self._lengths, size=lines + 1, out=self._lengths)
        size = int(engine.download(places, 1, lines)[0])
        if len(self._out.host) < size:
            self._out.release()
            self._out = engine.shared(size + size // 4, np.uint8)
        for piece in pieces:
            self._launch(piece.write, lines, piece.defines, places=places, out=self._out.device, **piece.written)
        return self._brought(size)

    def _brought(self, size: int) -> NDArray[np.uint8]:
        """The first bytes of the lines, on the host."""
        lines = self._out.host[:size]
        if self._out.device.memory.host is None:
            return self._engine.download(self._out.device, size, out=lines)
        self._engine.finish()
        return lines

    def _piece(self, column: Column, begin: int, end: int) -> _Piece:
        """Lines `begin` to `end` - 1 of a column."""
        if isinstance(column, NumberColumn):
            numbers = self._engine.upload(column.values[begin:end])
            arrays: dict[str, DeviceArray | None] = {"numbers": numbers}
            return _Piece("measure_numbers", "write_numbers", {"NUMBER": "ulong"}, arrays, arrays)
        which: DeviceArray | None = None
        if isinstance(column, TextColumn):
            letters, starts = self._table(column.table)
            which = self._engine.upload(column.which[begin:end].view(np.uint32))
        else:
            names, chosen = _names_of(column, begin, end)
            letters, starts = self._uploaded(names)
            if chosen is not None:
                which = self._engine.upload(chosen.astype(np.uint32))
        measured: dict[str, DeviceArray | None] = {"starts": starts, "which": which}
        defines: dict[str, int | str] = {"BY_NUMBER": which is not None}
        return _Piece("measure_texts", "copy_texts", defines, measured, {**measured, "letters": letters})

    def _table(self, table: TextTable) -> tuple[DeviceArray, DeviceArray]:
        """The texts of a table; brought to the device again when there are more of them."""
        known = self._tables.get(id(table))
        if known is None or known[1] < len(table):
            known = self._tables[id(table)] = (table, len(table), *self._uploaded(table.texts))
        return known[2:]

    def _uploaded(self, names: NameList) -> tuple[DeviceArray, DeviceArray]:
        first, last = int(names.starts[0]), int(names.starts[-1])
        letters = names.letters[first:last] if last > first else np.zeros(1, np.uint8)
        return self._engine.upload(letters), self._engine.upload((names.starts - first).astype(np.uint32))

    def _launch(self, name: str, lines: int, defines: dict[str, int | str], **arguments: Any) -> None:
        engine = self._engine
        kernel = engine.kernel(SOURCE, name, **defines)
        if engine.tuning.cpu:
            engine.launch(kernel, (-(-lines // SPAN),), (1,), lines=lines, span=SPAN, **arguments)
        else:
            engine.launch_items(kernel, lines, lines=lines, span=1, **arguments)


def _names_of(column: NameColumn, begin: int, end: int) -> tuple[NameList, NDArray[np.signedinteger[Any]] | None]:
    """The names that some lines need, and which of them each line has."""
    if column.which is None:
        return column.names[begin:end], None
    which = column.which[begin:end]
    first, last = int(which.min()), int(which.max())
    return column.names[first : last + 1], which - first


def _chunks(lines: int, columns: Sequence[Column], most: int) -> list[tuple[int, int]]:
    """Runs of lines that are sure to have no more than `most` bytes; a line that may have more is by itself."""
    longest = sum(map(_longest, columns))
    names = [column for column in columns if isinstance(column, NameColumn)]
    if all(one.which is None for one in names):
        total = sum(int(one.names.starts[lines] - one.names.starts[0]) for one in names)
        if lines * longest + total <= most:
            return [(0, lines)] if lines else []
    lengths = np.full(lines, longest, np.int64)
    for one in names:
        sizes = np.diff(one.names.starts)
        lengths += sizes if one.which is None else sizes[one.which]
    ends = np.cumsum(lengths)
    chunks, begin = [], 0
    while begin < lines:
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), begin + 1)
        chunks.append((begin, end))
        begin = end
    return chunks


def _longest(column: Column) -> int:
    """The most bytes that a piece of a column may have; of names, 0."""
    if isinstance(column, NumberColumn):
        return MAX_DIGITS
    return int(np.diff(column.table.texts.starts).max(initial=0)) if isinstance(column, TextColumn) else 0
