"""FASTA and FASTQ text to symbols, on the device; one block of text at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oclgenomics.lazy_names import late
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.sequence.census import Census
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.line_table import lines_before
from oclgenomics.sequence.symbols import Symbols, empty_symbols
from oclgenomics.sequence.tiles import NOTHING, Tiles, filled

if TYPE_CHECKING:
    from oclgenomics.sequence.block_records import RecordTable
    from oclgenomics.sequence.fasta_state import FastaState

fasta_tiles = late("oclgenomics.sequence.fasta_tiles")

__all__ = [
    "BEST_QUALITY",
    "NO_QUALITY",
    "FastaResult",
    "FastqResult",
    "parse_fasta",
    "parse_fastq",
]

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
    found = fasta_tiles.count_fasta(engine, text, state, names=table is not None)
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
