"""FASTA and FASTQ text to symbols, on the device; one block of text at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence.block_records import RecordTable
from oclgenomics.sequence.census import Census
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.symbols import Symbols, empty_symbols

__all__ = [
    "BEST_QUALITY",
    "DEFECTS",
    "MAX_BYTES",
    "NO_QUALITY",
    "FastaResult",
    "FastaState",
    "FastqResult",
    "parse_fasta",
    "parse_fastq",
]

MAX_BYTES = 1 << 29  # of a block: places in it are 30 bits
GPU_TILE = 256  # bytes
CPU_TILES, CPU_TILE = 64, 4096  # at most so many tiles, at least so many bytes each
NOTHING = 0xFFFFFFFF  # in a report, before anything is found; its counter goes on from there
BEST_QUALITY, NO_QUALITY = 93, 255  # of FASTQ: from ! to ~; where no letter is
DEFECTS = (
    "a record has to start with @; FASTQ with four lines a record is read",
    "the third line of a record has to start with +; wrapped FASTQ is not read, so join its lines first",
    "letters and qualities of a record are not equally many",
    "the text ends within a record; it seems to be cut off",
)


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
        Byte and kind (an index of `DEFECTS`) of the first defect.
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


@dataclass(frozen=True)
class FastaState:
    """Where a block of FASTA begins or ends: at the start of a line, inside a header, or neither."""

    starts_line: bool = True
    in_header: bool = False

    def whole_headers(self, text: NDArray[np.uint8], *, final: bool) -> int:
        """Bytes of a block that begins in this state, without a header at its end that may go on in the next."""
        begin = _last_break(text) + 1
        cut = not final and begin < len(text) and text[begin] == ord(">") and (begin > 0 or self.starts_line)
        return begin if cut else len(text)

    def after(self, text: NDArray[np.uint8]) -> FastaState:
        """The state at the end of a block that begins in this state."""
        if not len(text):
            return self
        begin = _last_break(text) + 1
        if begin == len(text):
            return FastaState()
        if begin or self.starts_line:
            return FastaState(False, bool(text[begin] == ord(">")))
        return FastaState(False, self.in_header)


def _last_break(text: NDArray[np.uint8]) -> int:
    """Place of the last newline or carriage return, -1 if there is none."""
    step = 1 << 16
    for end in range(len(text), 0, -step):
        part = text[max(end - step, 0) : end]
        found = np.flatnonzero((part == ord("\n")) | (part == ord("\r")))
        if len(found):
            return max(end - step, 0) + int(found[-1])
    return -1


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
    launch = _Tiles(engine, size, "sequence/pack_fastq.cl", wanted)
    lines = _lines_before(engine, text, launch, total=table is not None)
    symbols = empty_symbols(engine, size // 2 + 32)
    report = _filled(engine, 7, np.uint32, NOTHING)
    kept = _filled(engine, symbols.size, np.uint8, NO_QUALITY) if qualities else None
    extras: dict[str, Any] = {} if min_quality is None else {"least": min_quality}
    extras |= {} if kept is None else {"phred": kept}
    if table is not None:
        newlines = int(engine.download(lines, 1, launch.tiles)[0])
        starts, places, lengths = table.reserve((newlines + final) // 4)
        extras |= {"starts": starts, "name_places": places, "name_lengths": lengths}
    packed = {"codes": symbols.codes, "valid": symbols.valid, "report": report}
    launch("pack_fastq", **text.place, lines=lines, final=final, **packed, **extras)
    defect, tail, *counters = engine.download(report).tolist()
    census = Census(*(counter + 1 & NOTHING for counter in counters))
    if table is not None:
        table.size = census.records
    found = None if defect == NOTHING else (defect >> 2, defect & 3)
    return FastqResult(symbols, census, min(tail, size), found, kept)


def _lines_before(engine: Engine, text: Text, launch: _Tiles, *, total: bool) -> DeviceArray:
    """Newlines before each tile; behind the last tile's those of the whole text if `total`."""
    lines = _filled(engine, launch.tiles + 1, np.uint32, 0) if total else engine.empty(launch.tiles, np.uint32)
    launch("count_lines", **text.place, lines=lines)
    return scan(engine, lines, out=lines)


def _filled(engine: Engine, size: int, dtype: DTypeLike, value: int) -> DeviceArray:
    array = engine.empty(size, dtype)
    engine.fill(array, value)
    return array


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
    launch = _Tiles(engine, text.size, "sequence/pack_fasta.cl", {"NAMES": table is not None})
    marks, prefix, rest = (engine.empty(launch.tiles, np.uint32) for _ in range(3))
    places = _filled(engine, launch.tiles + 1, np.uint32, 0)
    headers = None if table is None else _filled(engine, launch.tiles + 1, np.uint32, 0)
    named: dict[str, Any] = {} if headers is None else {"headers": headers}
    begin = {**text.place, "starts": state.starts_line}
    launch("summarize_fasta", **begin, marks=marks, prefix=prefix, rest=rest, **named)
    scan(engine, marks, maximum=True, out=marks)
    begin["inside"] = state.in_header
    launch("count_fasta", **begin, marks=marks, prefix=prefix, rest=rest, symbols=places)
    scan(engine, places, out=places)
    found = int(engine.download(places, 1, launch.tiles)[0])
    symbols = empty_symbols(engine, carried + found)
    counted = _filled(engine, 4, np.uint32, 0)
    packed = {"first_symbol": carried, "codes": symbols.codes, "valid": symbols.valid, "census": counted}
    if table is not None and headers is not None:
        named |= _reserve(engine, table, headers, launch.tiles)
    launch("pack_fasta", **begin, marks=marks, places=places, **packed, **named)
    if before is not None and carried:
        _carry(engine, before, carried, symbols)
    return FastaResult(symbols, found, counted)


def _carry(engine: Engine, before: Symbols, count: int, symbols: Symbols) -> None:
    """Repeat the last symbols of a block in front of those of the next."""
    kernel = engine.kernel("sequence/pack_fasta.cl", "carry_symbols")
    last = {"codes": before.codes, "valid": before.valid, "first": before.size - count, "count": count}
    engine.launch(kernel, (1,), (1,), **last, to_codes=symbols.codes, to_valid=symbols.valid)


def _reserve(engine: Engine, table: RecordTable, headers: DeviceArray, tiles: int) -> dict[str, DeviceArray]:
    """Turn numbers of headers into those of headers before, and make room for all of them."""
    scan(engine, headers, out=headers)
    table.size = int(engine.download(headers, 1, tiles)[0])
    starts, places, lengths = table.reserve(table.size)
    return {"record_starts": starts, "name_places": places, "name_lengths": lengths}


class _Tiles:
    """Launches the kernels of one source with a work-item a tile."""

    def __init__(self, engine: Engine, size: int, source: str, wanted: dict[str, bool]) -> None:
        if not 0 < size <= MAX_BYTES:
            raise ValueError(f"a block has 1 to {MAX_BYTES} bytes, not {size}")
        cpu = engine.tuning.cpu
        self._engine, self._source = engine, source
        self._defines = {name: 1 for name, asked in wanted.items() if asked}
        self._lanes = 1 if cpu else None  # the tuning's
        tile = max(CPU_TILE, -(-size // CPU_TILES)) if cpu else GPU_TILE
        self.tiles = -(-size // tile)
        self._cut = {"size": size, "tile": tile, "tiles": self.tiles}

    def __call__(self, name: str, **arguments: Any) -> None:
        kernel: Kernel = self._engine.kernel(self._source, name, **self._defines)
        self._engine.launch_items(kernel, self.tiles, lanes=self._lanes, **self._cut, **arguments)
