"""FASTA and FASTQ text to symbols, on the device; one block of text at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence.symbols import Symbols, empty_symbols

__all__ = ["DEFECTS", "MOST_BYTES", "FastaState", "FastqResult", "Text", "parse_fasta", "parse_fastq"]

MOST_BYTES = 1 << 29  # of a block: places in it are 30 bits
GPU_TILE = 256  # bytes
CPU_TILES, CPU_TILE = 64, 4096  # at most so many tiles, at least so many bytes each
NOTHING = 0xFFFFFFFF  # in a report, before anything is found; its counter goes on from there
DEFECTS = (
    "a record has to start with @; FASTQ with four lines a record is read",
    "the third line of a record has to start with +; wrapped FASTQ is not read, so join its lines first",
    "letters and qualities of a record are not equally many",
    "the text ends within a record; it seems to be cut off",
)


@dataclass(frozen=True)
class Text:
    """Text in device memory.

    Attributes
    ----------
    memory : DeviceArray, uint8
    skip, size : int
        Its first byte and its number of bytes, at most `MOST_BYTES`.
    """

    memory: DeviceArray
    skip: int
    size: int

    @property
    def place(self) -> tuple[DeviceArray, np.uint32]:
        """The kernels' first arguments."""
        return self.memory, np.uint32(self.skip)


@dataclass(frozen=True)
class FastqResult:
    """What became of a block of FASTQ.

    Attributes
    ----------
    symbols : Symbols
    records : int
        Complete records.
    tail : int
        Where the record starts that is not complete; the block's size if there is none.
    defect : tuple of int or None
        Byte and kind (an index of `DEFECTS`) of the first defect.
    """

    symbols: Symbols
    records: int
    tail: int
    defect: tuple[int, int] | None


@dataclass(frozen=True)
class FastaState:
    """Where a block of FASTA begins or ends: at the start of a line, inside a header, or neither."""

    starts_line: bool = True
    in_header: bool = False

    def after(self, text: NDArray[np.uint8]) -> FastaState:
        """The state behind a block that begins in this one."""
        if not len(text):
            return self
        if text[-1] == ord("\n"):
            return FastaState()
        begin = _last_newline(text) + 1
        if begin or self.starts_line:
            return FastaState(False, bool(text[begin] == ord(">")))
        return FastaState(False, self.in_header)


def _last_newline(text: NDArray[np.uint8]) -> int:
    """Place of the last newline, -1 if there is none."""
    step = 1 << 16
    for end in range(len(text), 0, -step):
        found = np.flatnonzero(text[max(end - step, 0) : end] == ord("\n"))
        if len(found):
            return max(end - step, 0) + int(found[-1])
    return -1


def parse_fastq(engine: Engine, text: Text, *, final: bool) -> FastqResult:
    """Pack the letters of complete records.

    Parameters
    ----------
    engine : Engine
    text : Text
        Starts with a record.
    final : bool
        Nothing comes behind it: the last record needs no newline, and has to be complete.
    """
    size = text.size
    launch = _Tiles(engine, size, "sequence/pack_fastq.cl")
    lines = engine.empty(launch.tiles, np.uint32)
    symbols = empty_symbols(engine, size // 2 + 32)
    report = engine.empty(3, np.uint32)
    engine.fill(report, NOTHING)
    launch("count_lines", *text.place, *launch.cut, lines)
    scan(engine, lines, out=lines)
    launch("pack_fastq", *text.place, *launch.cut, lines, int(final), symbols.codes, symbols.valid, report)
    defect, tail, counter = engine.download(report).tolist()
    records = counter + 1 & NOTHING
    return FastqResult(symbols, records, min(tail, size), None if defect == NOTHING else (defect >> 2, defect & 3))


def parse_fasta(
    engine: Engine, text: Text, state: FastaState, before: Symbols | None, overlap: int
) -> Symbols:
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
    """
    carried = 0 if before is None else min(overlap, before.size)
    launch = _Tiles(engine, text.size, "sequence/pack_fasta.cl")
    marks, prefix, rest, places = (engine.empty(launch.tiles + 1, np.uint32) for _ in range(4))
    engine.fill(places, 0)
    begin = np.uint32(state.starts_line), np.uint32(state.in_header)
    launch("summarize_fasta", *text.place, *launch.cut, begin[0], marks, prefix, rest)
    scan(engine, marks, maximum=True, out=marks)
    launch("count_fasta", *text.place, *launch.cut, *begin, marks, prefix, rest, places)
    scan(engine, places, out=places)
    found = int(engine.download(places, 1, launch.tiles)[0])
    symbols = empty_symbols(engine, carried + found)
    packed = np.uint32(carried), symbols.codes, symbols.valid
    launch("pack_fasta", *text.place, *launch.cut, *begin, marks, places, *packed)
    if before is not None and carried:
        last = np.uint32(before.size - carried), np.uint32(carried)
        kernel = engine.kernel("sequence/pack_fasta.cl", "carry_symbols")
        engine.launch(kernel, (1,), (1,), before.codes, before.valid, *last, symbols.codes, symbols.valid)
    return symbols


class _Tiles:
    """Launches the kernels of one source with a work-item a tile."""

    def __init__(self, engine: Engine, size: int, source: str) -> None:
        if not 0 < size <= MOST_BYTES:
            raise ValueError(f"a block has 1 to {MOST_BYTES} bytes, not {size}")
        cpu = engine.tuning.cpu
        self._engine, self._source = engine, source
        self._lanes = 1 if cpu else None  # the tuning's
        tile = max(CPU_TILE, -(-size // CPU_TILES)) if cpu else GPU_TILE
        self.tiles = -(-size // tile)
        self.cut = np.uint32(size), np.uint32(tile), np.uint32(self.tiles)

    def __call__(self, name: str, *args: object) -> None:
        kernel: Kernel = self._engine.kernel(self._source, name)
        self._engine.launch_items(kernel, self.tiles, *args, lanes=self._lanes)
