"""The parameters of one systolic array for sDTW.

A row of processing elements (PEs) holds one query sample each. The reference passes through, a column a cycle, and PE i
computes the cell of its sample and the column that it holds:

    S[i, j] = |q_i - r_j| + min(S[i-1, j-1], S[i-1, j]),   S[0, j] = 0 but for S[0, 0] = |q_0 - r_0|

    reference --> PE 0 --> PE 1 --> ... --> PE n-1 --> running minimum over the columns --> score
    last row --->   (in a second and later pass)  \\-> last row, for the pass after

That is the cell without a reference skip of SquiggleFilter (Dunn et al., MICRO-54, 2021). A query of more samples than
there are PEs takes several passes: the last row of one is kept and fed to PE 0 in the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from hls_model.boards import Board, find_board
from hls_model.errors import ModelError
from hls_model.text import shown

__all__ = ["LARGEST_REFERENCE", "SystolicArray"]

Place = Literal["chip", "memory"]
LARGEST = 1 << 20  # of a whole-numbered parameter
LARGEST_REFERENCE = 100_000_000  # columns; a run of half a second at 200 MHz


@dataclass(frozen=True)
class SystolicArray:
    """A systolic array, its memory and its board.

    Attributes
    ----------
    board : str
        The device and its memory (`hls_model.boards`).
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
        The memory ports: width, port beats of a burst, requests under way, and room of the FIFO in port beats.
    normaliser_cycles : int
        Cycles of the divisions of the normaliser for each query; 0 where samples come normalised.
    arrays : int
        Independent arrays on the device, which work on different reads; those that stream from memory share its banks.

    Raises
    ------
    ModelError
        A value outside its range, or no such board.
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
    port_bits: int = 512
    burst_length: int = 16
    outstanding: int = 16
    fifo_beats: int = 64
    normaliser_cycles: int = 40
    arrays: int = 1

    def __post_init__(self) -> None:
        for name in (
            "pes",
            "stages",
            "load_stages",
            "burst_length",
            "outstanding",
            "fifo_beats",
            "arrays",
            "normaliser_cycles",
        ):
            least = {"fifo_beats": 2, "normaliser_cycles": 0}.get(name, 1)
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= LARGEST:
                raise ModelError(f"{name} is {shown(value)}; it has to be a whole number from {least} to {LARGEST:,}")
        for name in ("sample_bits", "score_bits"):
            if not 2 <= getattr(self, name) <= 32:
                raise ModelError(f"{name} is {shown(getattr(self, name))}; it has to be 2 to 32")
        for name in ("reference", "row"):
            if getattr(self, name) not in ("chip", "memory"):
                raise ModelError(f"{name} is {shown(getattr(self, name))}; choose one of chip, memory")
        if not 1 <= self.clock_mhz <= 10_000:
            raise ModelError(f"clock_mhz is {shown(self.clock_mhz)}; it has to lie between 1 and 10,000")
        if self.port_bits not in (32, 64, 128, 256, 512, 1_024):
            raise ModelError(f"port_bits is {shown(self.port_bits)}; AXI data buses have 32, 64, ... 1,024")
        if self.port_bits < max(self.sample_bits, self.score_bits):
            raise ModelError(f"port_bits is {self.port_bits}; a port beat has to hold a score, {self.score_bits} bits")
        find_board(self.board)

    @property
    def hardware(self) -> Board:
        """The board."""
        return find_board(self.board)

    @property
    def latency(self) -> int:
        """Cycles from a request to the first data of external memory."""
        return max(1, ceil(round(self.hardware.latency_ns.likely * self.clock_mhz / 1e3, 6)))

    def pace(self, transfers: int) -> Fraction:
        """Cycles of a bank for a port beat of each array that uses it, `transfers` (reads and writes) each."""
        ports = max(1, -(-self.arrays * self.streams // self.hardware.banks))  # on the busiest bank
        asked = transfers * ports * self.port_bits / 8 * self.clock_mhz * 1e6
        given = self.hardware.bank_gbps * 1e9 * self.hardware.efficiency
        return max(Fraction(1), Fraction(asked / given).limit_denominator(1000))

    @property
    def streams(self) -> int:
        """Memory ports of one array."""
        return (self.reference == "memory") + (self.row == "memory")

    def passes(self, samples: int) -> list[int]:
        """Return the rows of each pass of a query."""
        whole, rest = divmod(samples, self.pes)
        return [self.pes] * whole + ([rest] if rest else [])
