"""Lines of text made of columns, and how the host or a device joins them.

Columns follow each other without anything between them: what separates them belongs to their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.name_list import NameList

NO_NUMBER = (1 << 64) - 1  # nothing is written


DELETE = 127  # the one control character behind the printable ones of ASCII
NO_TEXT = -1  # the number that stands for none: no taxon, no target
_IN_A_FIELD = dict.fromkeys((*range(32), 127, 0x85, 0x2028, 0x2029), "_")
MAX_JOINED = 1 << 28  # bytes of lines at a time
MAX_DIGITS = 20
LINES = 1 << 13  # that the host joins at a time
LAID_OUT = 1 << 21  # bytes of them, unless it is a single line
SPAN = 1 << 10  # lines of a work-item on CPUs
SOURCE = "primitives/join_lines.cl"


@dataclass(frozen=True)
class NameColumn:
    """Names, each one mostly used once.

    Attributes
    ----------
    names : NameList
    which : ndarray of int (lines,), optional
        The name of each line; if not given, line i has name i.
    """

    names: NameList
    which: NDArray[np.signedinteger[Any]] | None = None


@dataclass(frozen=True)
class TextColumn:
    """Texts of a table, which stays the same from part to part or grows.

    Attributes
    ----------
    table : TextTable
    which : ndarray, int32 (lines,)
        Of each line, the place of its text in `table.texts`; see `TextTable.places`.
    """

    table: TextTable
    which: NDArray[np.int32]


@dataclass(frozen=True)
class NumberColumn:
    """Whole numbers in decimal digits.

    Attributes
    ----------
    values : ndarray, uint64 (lines,)
        `NO_NUMBER` where nothing is written.
    """

    values: NDArray[np.uint64]

    @classmethod
    def of(cls, values: NDArray[np.integer[Any]], known: NDArray[np.bool_] | None = None) -> NumberColumn:
        """Return a column of numbers that are not negative, which are written where they are known."""
        numbers = values.astype(np.uint64)
        return cls(numbers if known is None else np.where(known, numbers, np.uint64(NO_NUMBER)))


Column = NameColumn | TextColumn | NumberColumn


class LineJoiner(Protocol):
    """What joins columns: on the host or on a device, with the same bytes as the result.

    What `join` returns is there until the call of it behind the next one, so that it is written while that is made.
    """

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview: ...


class HostJoiner:
    """Joins columns with NumPy: no device is needed.

    Lines are laid out below each other, all as wide as the longest ones, and what they do not use is left out.
    """

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview:
        """Return so many lines, each of which has its piece of every column."""
        cells = [_Numbers(one.values) if isinstance(one, NumberColumn) else _Texts(one) for one in columns]
        parts: list[NDArray[np.uint8]] = []
        for begin in range(0, lines, LINES):
            _lay_out(cells, begin, min(begin + LINES, lines), parts)
        return memoryview(b"".join(part.data for part in parts))


def _lay_out(cells: Sequence[_Texts | _Numbers], begin: int, end: int, parts: list[NDArray[np.uint8]]) -> None:
    """Append some lines to parts; they are halved where a long one would make all of them wide."""
    widths = [int(one.sizes[begin:end].max()) for one in cells]
    if (end - begin) * sum(widths) > LAID_OUT and end - begin > 1:
        middle = (begin + end) // 2
        _lay_out(cells, begin, middle, parts)
        _lay_out(cells, middle, end, parts)
        return
    letters = np.empty((end - begin, sum(widths)), np.uint8)
    used = np.empty(letters.shape, np.bool_)
    at = 0
    for one, width in zip(cells, widths, strict=True):
        if width:
            one.fill(begin, end, letters[:, at : at + width], used[:, at : at + width])
        at += width
    parts.append(letters[used])


class _Texts:
    """Names, or texts of a table, of which some lines are laid out."""

    def __init__(self, column: NameColumn | TextColumn) -> None:
        names = column.names if isinstance(column, NameColumn) else column.table.texts
        first, sizes = names.starts[0], names.sizes
        which = slice(None) if column.which is None else column.which
        self._starts, self.sizes = (names.starts[:-1] - first)[which], sizes[which]
        behind = np.zeros(int(sizes.max(initial=0)), np.uint8)  # so that every text may be read as wide as the longest
        self._letters = np.concatenate([names.letters[first : names.starts[-1]], behind])

    def fill(self, begin: int, end: int, letters: NDArray[np.uint8], used: NDArray[np.bool_]) -> None:
        width = letters.shape[1]
        each = f"V{width}"  # as one item, which NumPy copies at once
        windows: NDArray[np.void] = np.ndarray(len(self._letters) - width + 1, each, self._letters, strides=(1,))
        letters.view(each)[:, 0] = windows[self._starts[begin:end]]
        _mark(used, self.sizes[begin:end], 1)


class _Numbers:
    """Numbers of which some lines are laid out, the last digits below each other."""

    def __init__(self, values: NDArray[np.uint64]) -> None:
        known = values != NO_NUMBER
        shown = np.where(known, values, np.uint64(0))
        most = int(shown.max(initial=0))
        self._values = shown.astype(np.min_scalar_type(most))  # which divides faster
        self.sizes = known.astype(np.int8)
        for digits in range(1, len(f"{most}")):
            self.sizes += self._values >= 10**digits

    def fill(self, begin: int, end: int, letters: NDArray[np.uint8], used: NDArray[np.bool_]) -> None:
        width, rest = letters.shape[1], self._values[begin:end]
        for place in range(width - 1, -1, -1):
            fewer = rest // 10
            letters[:, place] = rest - fewer * 10
            rest = fewer
        letters += ord("0")
        _mark(used, self.sizes[begin:end], -1)


def _mark(used: NDArray[np.bool_], sizes: NDArray[np.integer[Any]], step: int) -> None:
    """Mark so many bytes of each line: the first ones, or, with a step of -1, the last ones."""
    width = used.shape[1]
    if width > len(used):
        used[:] = np.arange(width)[::step] < sizes[:, np.newaxis]
        return
    marks = np.ascontiguousarray(np.tri(width + 1, width, -1, np.bool_)[:, ::step])
    used.view(f"V{width}")[:, 0] = marks.view(f"V{width}")[:, 0][sizes]


def clean_names(names: NameList) -> NameList:
    """Return names that stay in their column: control characters become underscores, as of `one_field`."""
    letters = names.letters
    if not len(letters) or (letters.min() >= ord(" ") and letters.max() < DELETE):  # as nearly all names are
        return names
    odd = (letters < ord(" ")) | (letters == DELETE)
    return NameList(np.where(odd, np.uint8(ord("_")), letters), names.starts) if odd.any() else names


def one_field(text: str) -> str:
    """Return a name that stays in its column: control characters, such as tabs and newlines, become underscores."""
    return text.translate(_IN_A_FIELD)


class TextTable:
    """Texts by number. A database may have millions of targets of which a sample shows a few.

    Parameters
    ----------
    count : int
        Numbers go from 0 to `count` - 1; `NO_TEXT` is one more.
    text_of : callable
        Gives the text of a number, `NO_TEXT` among them. Only asked once for each.
    """

    def __init__(self, count: int, text_of: Callable[[int], str]) -> None:
        self._text_of = text_of
        self._places = np.full(count + 1, -1, np.int32)  # the last one is that of NO_TEXT
        self._texts: list[bytes] = []
        self._list = NameList.of([])

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def texts(self) -> NameList:
        """The texts made so far, in the order in which they were asked for."""
        if len(self._list) < len(self._texts):
            starts = np.cumsum([0, *map(len, self._texts)], dtype=np.int64)
            self._list = NameList(np.frombuffer(b"".join(self._texts), np.uint8), starts)
        return self._list

    def places(self, numbers: NDArray[np.signedinteger[Any]]) -> NDArray[np.int32]:
        """Return where in `texts` those of numbers are, int32 (numbers,)."""
        numbers = numbers.astype(np.intp, copy=False)  # by which arrays are indexed fastest
        places: NDArray[np.int32] = self._places[numbers]
        if places.min(initial=0) < 0:
            asked = np.flatnonzero(np.bincount(numbers - NO_TEXT)) + NO_TEXT
            for number in asked[self._places[asked] < 0].tolist():
                self._places[number] = len(self._texts)
                self._texts.append(self._text_of(number).encode("utf-8", "replace"))
            places = self._places[numbers]
        return places

    def column(self, numbers: NDArray[np.signedinteger[Any]]) -> TextColumn:
        """Return the texts of numbers as a column."""
        return TextColumn(self, self.places(numbers))

    @classmethod
    def same(cls, text: str) -> TextTable:
        """Return a table of one text, for `repeated`."""
        return cls(0, lambda _: text)

    def repeated(self, lines: int) -> TextColumn:
        """Return a column that has the text of `NO_TEXT` in so many lines."""
        return self.column(np.full(lines, NO_TEXT))


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
        self._out, self._before = (engine.shared(1, np.uint8) for _ in range(2))

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview:
        """Return so many lines, each of which has its piece of every column."""
        self._out, self._before = self._before, self._out
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
            self._out = engine.shared(_roomy(size), np.uint8)
        for piece in pieces:
            self._launch(piece.write, lines, piece.defines, places=places, out=self._out.device, **piece.written)
        if engine.tuning.waiting_helps:
            engine.finish()
        return self._out.fetch(size)

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
        starts = np.subtract(names.starts, first, dtype=np.uint32, casting="unsafe")
        return self._engine.upload(letters), self._engine.upload(starts)

    def _launch(self, name: str, lines: int, defines: dict[str, int | str], **arguments: Any) -> None:
        engine = self._engine
        kernel = engine.kernel(SOURCE, name, **defines)
        if engine.tuning.cpu:
            engine.launch(kernel, (-(-lines // SPAN),), (1,), lines=lines, span=SPAN, **arguments)
        else:
            engine.launch_items(kernel, lines, lines=lines, span=1, **arguments)


def _roomy(size: int) -> int:
    """A quarter more bytes, rounded up, so that memory which is pinned serves later joiners as well."""
    step = 1 << max(size.bit_length() - 2, 0)
    return -(-(size + size // 4) // step) * step


class LaterJoiner:
    """Joins columns on an engine that is opened meanwhile, and is asked for when there is something to join.

    Parameters
    ----------
    opened : callable
        Returns the engine, or None if the host has to join.
    """

    def __init__(self, opened: Callable[[], Engine | None]) -> None:
        self._opened = opened
        self._joiner: LineJoiner | None = None

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview:
        """Return so many lines, each of which has its piece of every column."""
        if self._joiner is None:
            engine = self._opened()
            self._joiner = HostJoiner() if engine is None else DeviceJoiner(engine)
        return self._joiner.join(lines, columns)


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
