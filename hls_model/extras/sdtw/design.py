"""The parameters of one systolic array for sDTW, and what its board allows.

A row of processing elements (PEs) holds one query sample each. The reference passes through, a column a cycle, and PE i
computes the cell of its sample and the column that it holds:

    S[i, j] = |q_i - r_j| + min(S[i-1, j-1], S[i-1, j]),   S[0, j] = 0 but for S[0, 0] = |q_0 - r_0|

    reference --> PE 0 --> PE 1 --> ... --> PE n-1 --> running minimum over the columns --> score
    last row --->   (in a second and later pass)  \\-> last row, for the pass after

That is the cell without a reference skip of SquiggleFilter (Dunn et al., MICRO-54, 2021). A query of more samples than
there are PEs takes several passes: the last row of one is kept and fed to PE 0 in the next. PEs that have no sample
hand the row on, so that every pass goes through all PEs. `sdtw_array.v` is this array in Verilog.

A row that is longer than a region of its device goes on in the next. What crosses the border takes registers there;
since nothing flows back, they make the score later and columns no slower.

The board `asic` is none: whatever is asked of its clock is believed, all memory is on the chip, and nothing is said
about its area. It is there to compare the model with published chips.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from hls_model.boards import Board, find_board
from hls_model.choices import ASIC
from hls_model.cycles import cycles_of, pace_of
from hls_model.errors import ModelError
from hls_model.limits import MAX_LATENCY_NS, burst_problems, clock_problems
from hls_model.ranges import Range
from hls_model.text import shown

Place = Literal["chip", "memory"]
LARGEST = 1 << 20  # of a whole-numbered parameter
MOST_MHZ = 10_000  # of an ASIC
LEAST = {
    "pes": 1, "stages": 1, "load_stages": 1, "burst_length": 1, "outstanding": 1, "fifo_beats": 2, "arrays": 1,
    "normaliser_cycles": 0, "crossings": 0, "crossing_cycles": 0,
}  # fmt: skip
CROSSING_CYCLES = Range(0, 2, 4)  # a register on each side of the border; bounds: none at a slow clock, two; assumed
LARGEST_REFERENCE = 100_000_000  # columns; a run of half a second at 200 MHz


@dataclass(frozen=True)
class SystolicArray:
    """A systolic array, its memory and its board.

    Attributes
    ----------
    board : str
        The device and its memory (`hls_model.boards`), or `ASIC`.
    pes : int
        P, processing elements, one query sample each.
    clock_mhz : float
        Clock.
    sample_bits, score_bits : int
        Widths of a normalised sample and of a score.
    stages, load_stages : int
        Cycles from a PE to the next one: of scores, 1, or more where the cell is pipelined; and of samples moving in.
    reference, row : {'chip', 'memory'}
        Where the reference and, of a query in several passes, the last row are kept: in block RAM, or in external
        memory behind a port and a bank for each.
    port_bits, burst_length, outstanding, fifo_beats : int
        The memory ports: width (0: the board's), port beats of a burst, requests under way, and room of the FIFO in
        port beats.
    latency_ns, efficiency : float
        Nanoseconds from a request to its first data, and the share of the memory's peak that long reads reach; 0: the
        board's.
    normaliser_cycles : int
        Cycles of the divisions of the normaliser for each query; 0 where samples come normalised.
    arrays : int
        Independent arrays on the device, which work on different reads; those that stream from memory share its banks.
    crossings, crossing_cycles : int
        Borders between regions that one array crosses, and the cycles of each.
    own_board : Board or None
        A board that is no known one, which counts in place of `board`.

    Raises
    ------
    ModelError
        A value outside its range, no such board, or something that the board has not: names the limit.
    """

    board: str = "u250"
    pes: int = 2_000
    clock_mhz: float = 250.0
    sample_bits: int = 8
    score_bits: int = 16
    stages: int = 1
    load_stages: int = 1
    reference: Place = "chip"
    row: Place = "chip"
    port_bits: int = 0
    burst_length: int = 16
    outstanding: int = 16
    fifo_beats: int = 64
    latency_ns: float = 0.0
    efficiency: float = 0.0
    normaliser_cycles: int = 40
    arrays: int = 1
    crossings: int = 0
    crossing_cycles: int = 2
    own_board: Board | None = None

    def __post_init__(self) -> None:
        for problem in (*self._wrong(), *self._impossible()):
            raise ModelError(problem)

    def _wrong(self) -> Iterator[str]:
        """Values that no array has."""
        for name, least in LEAST.items():
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= LARGEST:
                yield f"{name} is {shown(value)}; it has to be a whole number from {least} to {LARGEST:,}"
        for name in ("sample_bits", "score_bits"):
            if not 2 <= getattr(self, name) <= 32:
                yield f"{name} is {shown(getattr(self, name))}; it has to be 2 to 32"
        if self.score_bits < self.sample_bits:
            yield f"score_bits is {self.score_bits}; a score has to hold the {self.sample_bits} bits of a difference"
        for name in ("reference", "row"):
            if getattr(self, name) not in ("chip", "memory"):
                yield f"{name} is {shown(getattr(self, name))}; choose one of chip, memory"
        if self.port_bits not in (0, 32, 64, 128, 256, 512, 1_024):
            yield f"port_bits is {shown(self.port_bits)}; AXI data buses have 32, 64, ... 1,024, and 0 is the board's"
        for name, least, most in (("clock_mhz", 1, MOST_MHZ), ("latency_ns", 0, MAX_LATENCY_NS), ("efficiency", 0, 1)):
            if not least <= getattr(self, name) <= most:
                yield f"{name} is {shown(getattr(self, name))}; it has to lie between {least} and {most:,.0f}"

    def _impossible(self) -> Iterator[str]:
        """What the board has not."""
        if self.board == ASIC:
            if self.streams:
                yield f"{ASIC} has no external memory: set reference and row to chip, or name a board"
            return
        board = self.hardware
        yield from clock_problems(self.clock_mhz, board)
        yield from burst_problems(self.width, self.burst_length)
        ports = self.arrays * self.streams
        if ports > board.ports:
            yield f"arrays x memory ports is {self.arrays} x {self.streams}; {board.name} has {board.ports} ports"
        if self.width > board.port_bits:
            yield f"port_bits is {self.width}; {board.name} has {board.port_bits}"
        if self.width < max(self.sample_bits, self.score_bits):
            yield f"port_bits is {self.width}; a port beat has to hold a score, {self.score_bits} bits"
        if self.crossings >= len(board.regions):
            yield f"crossings is {self.crossings}; {board.name} has {len(board.regions) - 1} borders between regions"

    @property
    def hardware(self) -> Board:
        """The board; an ASIC has none."""
        return self.own_board or find_board(self.board)

    @property
    def width(self) -> int:
        """Bits of a memory port."""
        return self.port_bits or self.hardware.port_bits

    @property
    def latency(self) -> int:
        """Cycles from a request to the first data of external memory."""
        return cycles_of(self.latency_ns or self.hardware.latency_ns.likely, self.clock_mhz)

    def pace(self, transfers: int) -> Fraction:
        """Cycles of a bank for a port beat of each array that uses it, `transfers` (reads and writes) each."""
        ports = max(1, -(-self.arrays * self.streams // self.hardware.banks))  # on the busiest bank
        given = self.hardware.bank_gbps * 1e9 * (self.efficiency or self.efficiency_range.likely)
        return pace_of(transfers * ports, self.width, self.clock_mhz, given)

    @property
    def efficiency_range(self) -> Range:
        """The share of the memory's peak that the board's banks in use reach together."""
        return self.hardware.efficiency_of(max(1, min(self.arrays * self.streams, self.hardware.banks)))

    @property
    def streams(self) -> int:
        """Memory ports of one array."""
        return (self.reference == "memory") + (self.row == "memory")

    @property
    def through(self) -> int:
        """Cycles of a column through all PEs and borders."""
        return self.pes * self.stages + self.crossings * self.crossing_cycles

    def passes(self, samples: int) -> list[int]:
        """Return the rows of each pass of a query."""
        whole, rest = divmod(samples, self.pes)
        return [self.pes] * whole + ([rest] if rest else [])

    def within_bounds(self) -> tuple[SystolicArray, SystolicArray, SystolicArray]:
        """Return the array at the fast end of what is not known of memory and borders, as it is, and at the slow end.

        What the design sets is exact.
        """
        ends: dict[str, tuple[float, float]] = {}
        if self.streams and not self.latency_ns:
            ends["latency_ns"] = (self.hardware.latency_ns.low, self.hardware.latency_ns.high)
        if self.streams and not self.efficiency:
            ends["efficiency"] = (self.efficiency_range.high, self.efficiency_range.low)
        if self.crossings and self.crossing_cycles == CROSSING_CYCLES.likely:
            ends["crossing_cycles"] = (int(CROSSING_CYCLES.low), int(CROSSING_CYCLES.high))
        fast, slow = ({name: pair[end] for name, pair in ends.items()} for end in (0, 1))
        return dataclasses.replace(self, **fast), self, dataclasses.replace(self, **slow)  # type: ignore[arg-type]
