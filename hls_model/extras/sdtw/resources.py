"""What a systolic array takes of its device, counted part by part, and where its PEs go.

The LUTs of a PE are those of `sdtw_pe.v` as Yosys 0.23 mapped it to UltraScale+ once (`PE_LUTS`, `PE_SOURCE`); other
versions and vendors' tools make other numbers. The hand count is what the same PE takes where every LUT is
full: a subtracter and its absolute value, a comparison and a choice of two scores, an adder that saturates, with a LUT
for one bit of an adder or a comparison, or two bits of a choice. Control, normaliser, AXI
ports and routing are assumed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

from hls_model.boards import Amount, Board
from hls_model.choices import ASIC
from hls_model.errors import ModelError
from hls_model.extras.sdtw.design import LARGEST, SystolicArray
from hls_model.ranges import Range
from hls_model.resources.estimates import shortage
from hls_model.resources.parts import Part
from hls_model.resources.placement import Placement, place

PE_SOURCE = (
    "Yosys 0.23 (git sha1 7ce5011c24b), 2026-11-22; synth_xilinx -family xcup -flatten -noiopad -noclkbuf"  # of PE_LUTS
)
PE_LUTS = {  # of `sdtw_pe.v` by the bits of a sample and of a score
    (4, 12): 37, (8, 14): 57, (8, 16): 61, (10, 16): 69, (16, 16): 93, (8, 24): 73, (12, 24): 89, (8, 32): 87,
}  # fmt: skip
PE = "processing element"
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

    @cached_property
    def placement(self) -> Placement:
        """Where the PEs go, each whole, and every other part by itself."""
        pes, *others = self.parts
        return place(self.board, pes.each, pes.count, [part.each for part in others for _ in range(part.count)])

    @property
    def short(self) -> list[str]:
        """Kinds for which the board's regions have too little room, the scarcest first."""
        return list(self.placement.short)

    @property
    def crossings(self) -> int:
        """The most borders between regions that one array crosses.

        The PEs of all arrays, one after the other, fill the regions in their order. A placement that keeps arrays
        together may need fewer.
        """
        ends, end = [], 0
        for occupied in self.placement.regions:
            end += occupied.lanes
            ends.append(end)
        of = [next(index for index, end in enumerate(ends) if pe < end) for pe in _ends_of_arrays(self.array)]
        return max(last - first for first, last in zip(of[::2], of[1::2], strict=True))


def _ends_of_arrays(array: SystolicArray) -> list[int]:
    """The first and the last PE of each array."""
    return [pe for one in range(array.arrays) for pe in (one * array.pes, (one + 1) * array.pes - 1)]


def pe_luts(array: SystolicArray) -> Range:
    """Return the LUTs of a PE: by hand and as synthesised, which is the likely value.

    Of widths that were not synthesised, a plane over those that were: exact up to 16 bits of a score, and up to 6 LUT
    too many beyond.
    """
    w, s = array.sample_bits, array.score_bits
    by_hand = 2 * w + s + -(-s // 2) + s
    luts = PE_LUTS.get((w, s), 4 * w + 2 * s - 3)
    return Range(min(by_hand, luts), luts, max(by_hand, luts))


def array_resources(
    array: SystolicArray, columns: int, samples: int, *, kept: bool = False, by_hand: bool = False
) -> ArrayResources:
    """Count what arrays take for references of `columns` columns and queries of `samples` samples.

    The last row has a buffer where a query takes several passes, or is `kept` for a later stage. PEs count as they are
    synthesised, or `by_hand` at the low end of `pe_luts`.
    """
    w, s, luts = array.sample_bits, array.score_bits, pe_luts(array)
    moving, samples_moving = w + s + 1, w + 1  # with the bit that says that something is there
    cell = Amount(
        ff=array.load_stages * samples_moving + array.stages * moving + s,
        lut=round(luts.low if by_hand else luts.likely),
    )
    border = Amount(ff=array.crossing_cycles * (moving + samples_moving + 1))
    parts = [
        Part(PE, "Instance", array.pes, cell),
        Part("running minimum and threshold", "Expression", 1, Amount(ff=2 * s, lut=3 * s)),
        Part("control", "Expression", 1, CONTROL),
    ]
    if array.normaliser_cycles:
        parts.append(Part("normaliser", "Instance", 1, NORMALISER))
    if array.streams:
        parts += _ports(array)
    if array.crossings:
        parts.append(Part("border between regions", "Register", array.crossings, border))
    if array.reference == "chip":
        parts.append(Part(f"reference, {columns:,} columns", "Memory", 1, _buffer(columns, w)))
    if array.row == "chip" and (kept or samples > array.pes):
        parts.append(Part(f"last row, {columns:,} columns", "Memory", 1, _buffer(columns, s)))
    return ArrayResources(array, tuple(Part(p.name, p.kind, p.count * array.arrays, p.each) for p in parts))


def _ports(array: SystolicArray) -> list[Part]:
    """Memory ports with their FIFOs."""
    port = array.width
    wider = port - 32
    adapter = Amount(ff=PORT_FF + 2 * wider, lut=PORT_LUT + wider, bram18k=2 * -(-port // WIDE_BITS))
    fifo = Amount(bram18k=-(-port // WIDE_BITS) * -(-array.fifo_beats // 512), ff=port, lut=port // 2)
    return [Part("AXI port", "Instance", array.streams, adapter), Part("FIFO", "FIFO", array.streams, fifo)]


def check_fits(array: SystolicArray, columns: int, samples: int, *, kept: bool = False) -> ArrayResources:
    """Return what a design takes, if its board has room for it next to the shell and below the placeable share.

    Raises
    ------
    ModelError
        It does not fit; names what is short, and what would help.
    """
    found = array_resources(array, columns, samples, kept=kept)
    if not found.short:
        return found
    most = largest_array(array, columns, samples, kept=kept)
    helps = f"the largest array that fits has {most:,} PEs" if most else "stream it from memory (reference=memory)"
    raise ModelError(
        f"{array.arrays} x {array.pes:,} PEs over {columns:,} columns need "
        f"{shortage(found.board, found.total, found.placement, 'PEs')}; {helps}"
    )


def placed(array: SystolicArray, columns: int, samples: int, *, kept: bool = False) -> SystolicArray:
    """Return the array with the borders that its chain crosses on its board; an ASIC has none.

    Raises
    ------
    ModelError
        It does not fit.
    """
    if array.board == ASIC:
        return array
    crossings = check_fits(array, columns, samples, kept=kept).crossings
    found = dataclasses.replace(array, crossings=crossings)
    return dataclasses.replace(
        array, crossings=max(crossings, check_fits(found, columns, samples, kept=kept).crossings)
    )


def largest_array(
    array: SystolicArray, columns: int, samples: int, *, kept: bool = False, by_hand: bool = False
) -> int:
    """Return the most PEs of each array with which the design fits its device; 0 if none do."""
    low, high = 0, LARGEST
    while low < high:
        middle = (low + high + 1) // 2
        design = dataclasses.replace(array, pes=middle)
        fits = not array_resources(design, columns, samples, kept=kept, by_hand=by_hand).short
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def largest_arrays(array: SystolicArray, columns: int, samples: int, *, kept: bool = False) -> Range:
    """Return the range of `largest_array`: PEs as synthesised, which is likely and the least, to the hand count."""
    least, most = (largest_array(array, columns, samples, kept=kept, by_hand=by_hand) for by_hand in (False, True))
    return Range(least, least, max(least, most))


def _buffer(columns: int, bits: int) -> Amount:
    """Return the block RAMs of a buffer of one entry a column, read and written in every cycle."""
    depth = BRAM_DEPTH if bits > BRAM_BITS // 2 else 2 * BRAM_DEPTH
    return Amount(bram18k=-(-columns // depth) * -(-bits // BRAM_BITS))
