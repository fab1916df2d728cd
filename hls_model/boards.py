"""Boards that the designs run on: what their devices hold, their memory and their link to the host.

Counts are those of the vendor's data sheets; for the two boards of Table I they give its percentages exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hls_model.errors import ModelError
from hls_model.ranges import Range

__all__ = ["BOARDS", "KINDS", "Amount", "Board", "find_board"]

KINDS = ("bram18k", "dsp", "ff", "lut")  # what designs are counted in


@dataclass(frozen=True)
class Amount:
    """Block RAMs of 18 kbit, DSP slices, flip-flops and look-up tables."""

    bram18k: int = 0
    dsp: int = 0
    ff: int = 0
    lut: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(*(getattr(self, kind) + getattr(other, kind) for kind in KINDS))

    def times(self, count: int) -> Amount:
        """Return `count` times this amount."""
        return Amount(*(count * getattr(self, kind) for kind in KINDS))

    def shares(self, whole: Amount) -> dict[str, float]:
        """Return the share of `whole` that each kind takes, 1.0 being all of it."""
        return {kind: getattr(self, kind) / getattr(whole, kind) for kind in KINDS}


@dataclass(frozen=True)
class Board:
    """One board.

    Attributes
    ----------
    name, title, device : str
        Its short name, its product name, and the device on it.
    available : Amount
        What the device holds.
    uram : int
        Ultra RAMs of 288 kbit; the model's designs use none.
    memory : str
        Kind of the external memory.
    banks, bank_gbps : int, float
        Memory banks and each one's peak in GB/s.
    clock_mhz : float
        Clock that designs on it usually reach, in MHz.
    host_link : str
        How data reach it from the host.
    max_clock_mhz : float
        Fastest clock of a kernel, in MHz.
    ports, port_bits : int
        Memory ports that a kernel can have, and their greatest width.
    efficiency : float
        Share of the memory's peak that long bursts reach.
    latency_ns : Range
        Nanoseconds from a read request to its first data.
    """

    name: str
    title: str
    device: str
    available: Amount
    uram: int
    memory: str
    banks: int
    bank_gbps: float
    clock_mhz: float
    host_link: str
    max_clock_mhz: float
    ports: int
    port_bits: int
    efficiency: float
    latency_ns: Range


BOARDS: Mapping[str, Board] = {
    board.name: board
    for board in (
        Board(
            "zcu102", "Zynq UltraScale+ ZCU102", "XCZU9EG", Amount(1_824, 2_520, 548_160, 274_080), 0,
            "DDR4 of the processing system", 1, 19.2, 100.0, "shared memory",
            500.0, 6, 128, 0.8, Range(100.0, 256.0, 400.0),
        ),
        Board(
            "u200", "Alveo U200", "XCU200", Amount(4_320, 6_840, 2_364_480, 1_182_240), 960,
            "DDR4", 4, 19.2, 250.0, "PCIe 3.0 x16", 500.0, 4, 512, 0.8, Range(100.0, 256.0, 400.0),
        ),
        Board(
            "u250", "Alveo U250", "XCU250", Amount(5_376, 12_288, 3_456_000, 1_728_000), 1_280,
            "DDR4", 4, 19.2, 300.0, "PCIe 3.0 x16", 500.0, 4, 512, 0.68, Range(100.0, 256.0, 400.0),
        ),
        Board(
            "u280", "Alveo U280", "XCU280", Amount(4_032, 9_024, 2_607_360, 1_303_680), 960,
            "HBM2", 32, 14.4, 300.0, "PCIe 3.0 x16", 500.0, 32, 256, 0.9, Range(100.0, 256.0, 500.0),
        ),
    )
}  # fmt: skip


def find_board(name: str) -> Board:
    """Return a board by its short name.

    Raises
    ------
    ModelError
        No such board.
    """
    if name not in BOARDS:
        raise ModelError(f"board {name!r} is not known; choose one of {', '.join(BOARDS)}")
    return BOARDS[name]
