"""What a systolic array takes of its device, counted part by part.

A PE has a subtracter and its absolute value, a comparison and a choice of two scores, an adder that saturates, and
registers for its sample (and for the one that moves through), the level, two scores and a valid bit. An UltraScale+ LUT
is counted as one bit of an adder or a comparison, or two bits of a choice. No control sets, no routing: assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

from hls_model.boards import Amount, Board
from hls_model.errors import ModelError
from hls_model.resources import Part
from hls_model.sdtw.design import SystolicArray

__all__ = ["ArrayResources", "array_resources", "check_fits", "largest_array"]

BRAM_BITS, BRAM_DEPTH = 18, 1_024  # block RAM of 18 kbit at this width
WIDE_BITS = 36  # of a block RAM as a FIFO
PORT_LUT, PORT_FF = 766, 566  # of a 32-bit AXI port, as in hls_model.resources
CONTROL = Amount(ff=400, lut=400)  # counters, addresses and state; assumed
NORMALISER = Amount(bram18k=4, dsp=6, ff=2_500, lut=2_000)  # two sums, two 32-bit divisions, a multiplication; assumed


@dataclass(frozen=True)
class ArrayResources:
    """The parts of all arrays of a design.

    Attributes
    ----------
    array : SystolicArray
    parts : tuple of Part
    """

    array: SystolicArray
    parts: tuple[Part, ...]

    @property
    def board(self) -> Board:
        """The board."""
        return self.array.hardware

    @property
    def total(self) -> Amount:
        """All of them together."""
        return reduce(add, (part.total for part in self.parts), Amount())

    @property
    def shares(self) -> dict[str, float]:
        """Part of the device by kind, 1.0 being all of it."""
        return self.total.shares(self.board.available)

    @property
    def short(self) -> list[str]:
        """Kinds of which the device has too few, the scarcest first."""
        shares = self.shares
        return sorted((kind for kind in shares if shares[kind] > 1), key=lambda kind: -shares[kind])


def array_resources(array: SystolicArray, columns: int, samples: int, *, kept: bool = False) -> ArrayResources:
    """Count what arrays take for references of `columns` columns and queries of `samples` samples.

    The last row has a buffer where a query takes several passes, or is `kept` for a later stage.
    """
    w, s, port = array.sample_bits, array.score_bits, array.port_bits
    cell = Amount(ff=3 * w + (1 + array.stages) * s + 1, lut=2 * w + s + -(-s // 2) + s)
    wider = port - 32
    adapter = Amount(ff=PORT_FF + 2 * wider, lut=PORT_LUT + wider, bram18k=2 * -(-port // WIDE_BITS))
    fifo = Amount(bram18k=-(-port // WIDE_BITS) * -(-array.fifo_beats // 512), ff=port, lut=port // 2)
    parts = [
        Part("processing element", "Instance", array.pes, cell),
        Part("running minimum and threshold", "Expression", 1, Amount(ff=2 * s, lut=3 * s)),
        Part("control", "Expression", 1, CONTROL),
    ]
    if array.normaliser_cycles:
        parts.append(Part("normaliser", "Instance", 1, NORMALISER))
    if array.streams:
        parts += [Part("AXI port", "Instance", array.streams, adapter), Part("FIFO", "FIFO", array.streams, fifo)]
    if array.reference == "chip":
        parts.append(Part(f"reference, {columns:,} columns", "Memory", 1, _buffer(columns, w)))
    if array.row == "chip" and (kept or samples > array.pes):
        parts.append(Part(f"last row, {columns:,} columns", "Memory", 1, _buffer(columns, s)))
    return ArrayResources(array, tuple(Part(p.name, p.kind, p.count * array.arrays, p.each) for p in parts))


def check_fits(array: SystolicArray, columns: int, samples: int, *, kept: bool = False) -> ArrayResources:
    """Return what a design takes, if its device has it.

    Raises
    ------
    ModelError
        It does not fit; names what is short, and what would help.
    """
    found = array_resources(array, columns, samples, kept=kept)
    if not found.short:
        return found
    kind = found.short[0]
    needed, there = getattr(found.total, kind), getattr(found.board.available, kind)
    most = largest_array(array, columns, samples, kept=kept)
    helps = f"the largest array that fits has {most:,} PEs" if most else "stream it from memory (reference=memory)"
    raise ModelError(
        f"{array.arrays} x {array.pes:,} PEs over {columns:,} columns need {needed:,} {kind.upper()} and "
        f"{found.board.name} has {there:,}; {helps}"
    )


def largest_array(array: SystolicArray, columns: int, samples: int, *, kept: bool = False) -> int:
    """Return the most PEs with which the design fits its device; 0 if none do."""
    low, high = 0, 1 << 20
    while low < high:
        middle = (low + high + 1) // 2
        fits = not array_resources(_with_pes(array, middle), columns, samples, kept=kept).short
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _with_pes(array: SystolicArray, pes: int) -> SystolicArray:
    return type(array)(**{**vars(array), "pes": pes})


def _buffer(columns: int, bits: int) -> Amount:
    """Return the block RAMs of a buffer of one entry a column, read and written in every cycle."""
    depth = BRAM_DEPTH if bits > BRAM_BITS // 2 else 2 * BRAM_DEPTH
    return Amount(bram18k=-(-columns // depth) * -(-bits // BRAM_BITS))
