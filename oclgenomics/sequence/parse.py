"""FASTA and FASTQ text to symbols, on the device; one block of text at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence.defects import Census
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.line_breaks import last_place

if TYPE_CHECKING:
    from oclgenomics.sequence.block_records import RecordTable


@dataclass(frozen=True)
class Symbols:
    """A stream of symbols on the device.

    Attributes
    ----------
    codes : DeviceArray, uint32
        Symbol s has bits 31 - 2 (s mod 16) and the one below of word s / 16: A 0, C 1, G 2, T 3.
    valid : DeviceArray, uint32
        Bit 31 - (s mod 32) of word s / 32: whether symbol s is one of A, C, G and T, not a gap or another letter.
    size : int
        Symbols, gaps included.
    """

    codes: DeviceArray
    valid: DeviceArray
    size: int


def empty_symbols(engine: Engine, size: int) -> Symbols:
    """Return a stream of gaps."""
    groups = -(-size // 32) + 1  # a packer may write nothing into one more
    codes, valid = engine.empty(2 * groups, np.uint32), engine.empty(groups, np.uint32)
    engine.fill(codes, 0)
    engine.fill(valid, 0)
    return Symbols(codes, valid, size)


MAX_BYTES = 1 << 29  # of a block: places in it are 30 bits
NOTHING = 0xFFFFFFFF  # in a report, before anything is found; its counter goes on from there
GPU_TILE = 256  # bytes
CPU_TILES, CPU_TILE = 64, 4096  # at most so many tiles, at least so many bytes each


class Tiles:
    """Launches the kernels of one source with a work-item a tile.

    Parameters
    ----------
    engine : Engine
    size : int
        Bytes of the text.
    source : str
        Path below `kernels_cl`.
    **wanted : bool
        Names that are defined as 1 where True.

    Attributes
    ----------
    tiles : int

    Raises
    ------
    ValueError
        A text without bytes, or with more than `MAX_BYTES`.
    """

    def __init__(self, engine: Engine, size: int, source: str, **wanted: bool) -> None:
        if not 0 < size <= MAX_BYTES:
            raise ValueError(f"a block has 1 to {MAX_BYTES} bytes, not {size}")
        cpu = engine.tuning.cpu
        self._engine, self._source = engine, source
        self._defines = {name: 1 for name, asked in wanted.items() if asked}
        if cpu:
            self._defines["WIDE"] = 1
        self._lanes = 1 if cpu else None  # the tuning's
        tile = max(CPU_TILE, -(-size // CPU_TILES)) if cpu else GPU_TILE
        self.tiles = -(-size // tile)
        self._cut = {"size": size, "tile": tile, "tiles": self.tiles}

    def __call__(self, name: str, **arguments: Any) -> None:
        kernel: Kernel = self._engine.kernel(self._source, name, **self._defines)
        self._engine.launch_items(kernel, self.tiles, lanes=self._lanes, **self._cut, **arguments)


def filled(engine: Engine, size: int, dtype: DTypeLike, value: int) -> DeviceArray:
    """Allocate an array with one value everywhere."""
    array = engine.empty(size, dtype)
    engine.fill(array, value)
    return array


SOURCE = "sequence/lines.cl"


@dataclass(frozen=True)
class LineTable:
    """The newlines of a text.

    Attributes
    ----------
    newlines : DeviceArray, uint32 (size,) or longer
        Their places, ascending.
    size : int
        How many there are.
    """

    newlines: DeviceArray
    size: int


def lines_before(engine: Engine, text: Text, *, total: bool) -> DeviceArray:
    """Newlines before each tile, uint32; behind the last tile's those of the whole text if `total`."""
    launch = Tiles(engine, text.size, SOURCE)
    lines = filled(engine, launch.tiles + 1, np.uint32, 0) if total else engine.empty(launch.tiles, np.uint32)
    launch("count_lines", **text.place, lines=lines)
    return scan(engine, lines, out=lines)


def line_table(engine: Engine, text: Text) -> LineTable:
    """Find all newlines."""
    launch = Tiles(engine, text.size, SOURCE)
    lines = lines_before(engine, text, total=True)
    size = int(engine.download(lines, 1, launch.tiles)[0])
    newlines = engine.empty(max(size, 1), np.uint32)
    launch("place_lines", **text.place, lines=lines, newlines=newlines)
    return LineTable(newlines, size)


@dataclass(frozen=True)
class FastaState:
    """Where a block of FASTA begins or ends: at the start of a line, inside a header, or neither."""

    starts_line: bool = True
    in_header: bool = False

    def whole_headers(self, text: NDArray[np.uint8], *, final: bool) -> int:
        """Bytes of a block that begins in this state, without a header at its end that may go on in the next."""
        begin = last_place(text, breaks=True) + 1
        cut = not final and begin < len(text) and text[begin] == ord(">") and (begin > 0 or self.starts_line)
        return begin if cut else len(text)

    def after(self, text: NDArray[np.uint8]) -> FastaState:
        """The state at the end of a block that begins in this state."""
        if not len(text):
            return self
        begin = last_place(text, breaks=True) + 1
        if begin == len(text):
            return FastaState()
        if begin or self.starts_line:
            return FastaState(False, bool(text[begin] == ord(">")))
        return FastaState(False, self.in_header)


@dataclass(frozen=True)
class FastaTiles:
    """The numbers of a text, and what kernels need that write its symbols tile by tile.

    Attributes
    ----------
    symbols : int
        Letters, and a gap for each header.
    headers : int
        0 if nobody asked.
    arguments : dict
        The text, where it begins, and what comes before each tile.
    """

    symbols: int
    headers: int
    arguments: dict[str, Any]


def count_fasta(engine: Engine, text: Text, state: FastaState, *, names: bool) -> FastaTiles:
    """Count the symbols of each tile.

    Parameters
    ----------
    engine : Engine
    text : Text
    state : FastaState
        Where the text begins.
    names : bool
        Headers are counted, too. The text does not end within one.
    """
    launch = Tiles(engine, text.size, "sequence/count_fasta.cl", NAMES=names)
    marks, prefix, rest = (engine.empty(launch.tiles, np.uint32) for _ in range(3))
    places = filled(engine, launch.tiles + 1, np.uint32, 0)
    headers = {"headers": filled(engine, launch.tiles + 1, np.uint32, 0)} if names else {}
    begin = {**text.place, "starts": state.starts_line}
    launch("summarize_fasta", **begin, marks=marks, prefix=prefix, rest=rest, **headers)
    scan(engine, marks, maximum=True, out=marks)
    begin["inside"] = state.in_header
    launch("count_fasta", **begin, marks=marks, prefix=prefix, rest=rest, symbols=places)
    totals = [
        int(engine.download(scan(engine, array, out=array), 1, launch.tiles)[0])
        for array in (places, *headers.values())
    ]
    return FastaTiles(totals[0], sum(totals[1:]), {**begin, "marks": marks, "places": places, **headers})


BEST_QUALITY, NO_QUALITY = 93, 255  # of FASTQ: from ! to ~; where no letter is


@dataclass(frozen=True)
class FastqResult:
    """The result of parsing a block of FASTQ.

    Attributes
    ----------
    symbols : Symbols
    census : Census
        Of the complete records.
    tail : int
        Where the incomplete record starts; the block's size if there is none.
    defect : tuple of int or None
        Byte and kind (an index of `defects.DEFECTS`) of the first defect.
    qualities : DeviceArray, uint8, or None
        That of each symbol, if asked for; `NO_QUALITY` where no letter is.
    """

    symbols: Symbols
    census: Census
    tail: int
    defect: tuple[int, int] | None
    qualities: DeviceArray | None = None


@dataclass(frozen=True)
class FastaResult:
    """The result of parsing a block of FASTA.

    Attributes
    ----------
    symbols : Symbols
    packed : int
        Symbols made from the text, including a gap for each header.
    counted : DeviceArray, uint32 (4,)
        Other letters, foreign ones and U, as `Census` has them, and headers.
    """

    symbols: Symbols
    packed: int
    counted: DeviceArray

    def census(self, engine: Engine) -> Census:
        """The numbers of the block; this waits for it to be packed."""
        others, foreign, uracils, headers = engine.download(self.counted).tolist()
        return Census(headers, self.packed - headers, others, foreign, uracils)


def parse_fastq(
    engine: Engine,
    text: Text,
    *,
    final: bool,
    min_quality: int | None = None,
    qualities: bool = False,
    table: RecordTable | None = None,
) -> FastqResult:
    """Pack the letters of complete records.

    Parameters
    ----------
    engine : Engine
    text : Text
        Starts with a record.
    final : bool
        The text ends here: the last record needs no newline, and has to be complete.
    min_quality : int, optional
        Letters of lower quality become gaps; 0 to `BEST_QUALITY`.
    qualities : bool
        Keep the qualities.
    table : RecordTable, optional
        Gets the places of the records and their names.
    """
    size = text.size
    wanted = {"MIN_QUALITY": min_quality is not None, "QUALITIES": qualities, "NAMES": table is not None}
    launch = Tiles(engine, size, "sequence/pack_fastq.cl", **wanted)
    lines = lines_before(engine, text, total=table is not None)
    symbols, room = _room(engine, size, launch.tiles)
    report = filled(engine, 7, np.uint32, NOTHING)
    kept = filled(engine, symbols.size, np.uint8, NO_QUALITY) if qualities else None
    extras: dict[str, Any] = {} if min_quality is None else {"least": min_quality}
    extras |= {} if kept is None else {"phred": kept}
    if table is not None:
        newlines = int(engine.download(lines, 1, launch.tiles)[0])
        starts, places, lengths = table.reserve((newlines + final) // 4)
        extras |= {"starts": starts, "name_places": places, "name_lengths": lengths}
    packed = {"codes": symbols.codes, "valid": symbols.valid, "report": report, **room}
    launch("pack_fastq", **text.place, lines=lines, final=final, **packed, **extras)
    defect, tail, *counters = engine.download(report).tolist()
    census = Census(*(counter + 1 & NOTHING for counter in counters))
    if table is not None:
        table.size = census.records
    found = None if defect == NOTHING else (defect >> 2, defect & 3)
    return FastqResult(symbols, census, min(tail, size), found, kept)


def _room(engine: Engine, size: int, tiles: int) -> tuple[Symbols, dict[str, int]]:
    """Room for the symbols of FASTQ, and what the kernel is told of it."""
    if not engine.tuning.cpu:
        return empty_symbols(engine, size // 2 + 32), {}
    groups = size // 64 + tiles  # each tile starts with a group of its own
    codes, valid = engine.empty(2 * groups + 2, np.uint32), engine.empty(groups + 1, np.uint32)
    return Symbols(codes, valid, 32 * groups), {"groups": groups + 1}


def parse_fasta(
    engine: Engine,
    text: Text,
    state: FastaState,
    before: Symbols | None,
    overlap: int,
    table: RecordTable | None = None,
) -> FastaResult:
    """Pack the letters of all lines but headers, which become gaps.

    Parameters
    ----------
    engine : Engine
    text : Text
    state : FastaState
        Where the text begins.
    before : Symbols, optional
        The symbols of the text before this one; their last `overlap` ones are repeated in front.
    overlap : int
    table : RecordTable, optional
        Gets the places of the records that start in the text, which may not end within a header, and their names.
    """
    carried = 0 if before is None else min(overlap, before.size)
    found = count_fasta(engine, text, state, names=table is not None)
    symbols = empty_symbols(engine, carried + found.symbols)
    counted = filled(engine, 4, np.uint32, 0)
    packed = {"first_symbol": carried, "codes": symbols.codes, "valid": symbols.valid, "census": counted}
    if table is not None:
        table.size = found.headers
        starts, places, lengths = table.reserve(table.size)
        packed |= {"record_starts": starts, "name_places": places, "name_lengths": lengths}
    launch = Tiles(engine, text.size, "sequence/pack_fasta.cl", NAMES=table is not None)
    launch("pack_fasta", **found.arguments, **packed)
    if before is not None and carried:
        _carry(engine, before, carried, symbols)
    return FastaResult(symbols, found.symbols, counted)


def _carry(engine: Engine, before: Symbols, count: int, symbols: Symbols) -> None:
    """Repeat the last symbols of a block in front of those of the next."""
    kernel = engine.kernel("sequence/pack_fasta.cl", "carry_symbols")
    last = {"codes": before.codes, "valid": before.valid, "first": before.size - count, "count": count}
    engine.launch(kernel, (1,), (1,), **last, to_codes=symbols.codes, to_valid=symbols.valid)
