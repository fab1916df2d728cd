"""What a design takes of its device: bottom-up from a table of operators, or fitted to Table I of the paper.

Bottom-up counts what high-level synthesis would place: operators (costs that HLS 2019.2 reports for UltraScale+ at 250
MHz, of whose LUTs placement is assumed to leave three quarters), delay lines, memory adapters, FIFOs and the RS buffer
in banks. Paper-calibrated is the straight line through the two designs of Table I: exact for those, and the
only estimate there is for any other unroll. `docs/fpga.md` says where Table I contradicts itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add

from hls_model.boards import KINDS, Amount, Board, find_board
from hls_model.config import WORD_BITS, Config
from hls_model.engines import engine_parts
from hls_model.errors import ModelError
from hls_model.paper.published import TABLE1
from hls_model.parts import OPERATORS, PLACED, Part
from hls_model.placement import Placement, place

__all__ = ["METHODS", "REPORT_ROWS", "Part", "Resources", "check_fits", "estimate", "largest_unroll"]

PER_LANE = {"fadd": 2, "fsub": 2, "fdiv": 3, "i2f": 2, "imul": 2, "fcmp": 1}  # Fig. 8
GROUPS = 8  # in which the many instances of a part that is no lane are placed
TITLES = {
    "fadd": "float32 adder", "fsub": "float32 subtracter", "fdiv": "float32 divider", "i2f": "uint32 to float32",
    "imul": "32 x 16 bit multiplier", "fcmp": "float32 comparison",
}  # fmt: skip
# Ports: Control_csynth.rpt of the same project has a narrow one; a wide one, at 3.33 ns on the XCU250, is in
# Stencil/1PE/tapa_result/report/load_csynth.rpt.
ADAPTER = Amount(bram18k=4, ff=566, lut=766)  # of a 32-bit AXI port
WIDE_BITS, WIDE_ADAPTER = 512, Amount(bram18k=30, ff=1_415, lut=1_585)  # of a 512-bit one
REPORT_ROWS = ("DSP", "Expression", "FIFO", "Instance", "Memory", "Multiplexer", "Register")
BRAM_WORDS, BRAM_BITS = 512, 36
SHIFT_DEPTH = 32  # cycles that one LUT delays one bit
STATE_BITS = 200  # counters, addresses and states of the column and beat loops


@dataclass(frozen=True)
class Resources:
    """What a design takes.

    Attributes
    ----------
    config, board : Config, Board
        The design and the board that it is for.
    method : str
        One of `METHODS`.
    parts : tuple of Part
        What it consists of.
    """

    config: Config
    board: Board
    method: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> Amount:
        """The whole design."""
        return reduce(add, (part.total for part in self.parts), Amount())

    def by_kind(self, row: str) -> Amount:
        """Return what the parts of one row of a synthesis report (`REPORT_ROWS`) take."""
        return reduce(add, (part.total for part in self.parts if part.kind == row), Amount())

    @property
    def shares(self) -> dict[str, float]:
        """Part of the device by kind, 1.0 being all of it."""
        return self.total.shares(self.board.available)

    @property
    def largest_share(self) -> float:
        """The greatest of `shares`: 1 / it is how many times the design would fit."""
        return max(self.shares.values())

    @cached_property
    def placement(self) -> Placement:
        """Where it goes: what there is once for each lane stays with the lane, and all other parts go by themselves."""
        lanes = self.config.lanes * self.config.kernels
        engines = set(engine_parts(self.config))
        of_lanes = [part for part in self.parts if part.count % lanes == 0 and part not in engines]
        per_lane = [part.each.times(part.count // lanes) for part in of_lanes]
        others = [amount for part in self.parts if part not in of_lanes for amount in _groups(part)]
        return place(self.board, reduce(add, per_lane, Amount()), lanes, others)

    @property
    def short(self) -> list[str]:
        """Kinds for which the board's regions have too little room, the scarcest first."""
        return list(self.placement.short)


def _groups(part: Part) -> list[Amount]:
    """The instances of a part in a few groups, each of which goes into one region."""
    size = -(-part.count // GROUPS)
    return [part.each.times(min(size, part.count - start)) for start in range(0, part.count, size)]


def estimate(config: Config, method: str = "bottom-up", *, pipelines_only: bool = False) -> Resources:
    """Estimate what a design takes on its board.

    Parameters
    ----------
    config : Config
    method : {'bottom-up', 'paper-calibrated', 'yosys'}
        The pipelines as the sum of their parts, as the straight line in the unroll through the two designs of Table I,
        or as the Verilog synthesised (see `hls_model.synthesis`).
    pipelines_only : bool
        The omega pipelines alone, as Table I has them; else all that the card holds (`hls_model.engines`).

    Raises
    ------
    ModelError
        No such method or board, or a design unlike those that were synthesised.
    """
    pipelines = _pipelines(config, method)
    parts = tuple(replace(part, count=part.count * config.kernels) for part in pipelines)
    parts += () if pipelines_only else engine_parts(config)
    return Resources(config, find_board(config.board), method, parts)


def _pipelines(config: Config, method: str) -> tuple[Part, ...]:
    """The parts of one omega pipeline."""
    if method == "yosys":
        from hls_model import synthesis

        return synthesis.estimate(config).parts
    if method not in METHODS:
        raise ModelError(f"method is {method!r}; choose one of {', '.join(METHODS)}")
    return METHODS[method](config)


def check_fits(config: Config, method: str = "bottom-up") -> Resources:
    """Return what a design takes, if its board has room for it beside the shell and below the placeable share.

    Raises
    ------
    ModelError
        It does not fit; names the limit and the largest unroll that would.
    """
    resources = estimate(config, method)
    if resources.short:
        most = largest_unroll(config, method)
        largest = f"the largest unroll that fits is {most}" if most else "no unroll fits"
        raise ModelError(f"unroll {config.unroll} needs {_shortage(resources)}; {largest}")
    return resources


def _shortage(resources: Resources) -> str:
    """What a design needs of the scarcest kind, and how much of it the board has, leaves and can place."""
    board, kind = resources.board, resources.short[0]
    needed, there, room = (getattr(one, kind) for one in (resources.total, board.available, resources.placement.room))
    left = sum(getattr(region.left, kind) for region in board.regions)
    text = f"{needed:,} {kind.upper()}; {board.name} has {there:,}, of which "
    text += f"the shell leaves {left:,} and " if left < there else ""
    text += f"{room:,} can be placed ({board.placeable[kind]:.0%}".replace("%", " %")
    return text + (", in whole lanes for each region)" if len(board.regions) > 1 else ")")


def largest_unroll(config: Config, method: str = "bottom-up") -> int:
    """Return the largest unroll, with a lane for each iteration, that fits the board; 0 if none does."""
    available = find_board(config.board).available
    one, two = (_at_unroll(config, unroll, method).total for unroll in (1, 2))
    slope = max(1, two.lut - one.lut)
    for unroll in range(available.lut // slope + 1, 0, -1):
        if not _at_unroll(config, unroll, method).short:
            return unroll
    return 0


def _at_unroll(config: Config, unroll: int, method: str) -> Resources:
    """The design at another unroll; its FIFO and buffer hold a beat at least."""
    memory = config.memory
    words = unroll * (2 if config.rs_prefetch == "none" else 1)
    fifo = max(memory.fifo_beats, -(-words // memory.words_per_beat))
    changed = config.but(
        unroll=unroll,
        physical_lanes=0,
        rs_buffer_words=max(config.rs_buffer_words, unroll),
        memory=type(memory)(**{**vars(memory), "fifo_beats": fifo}),
    )
    return estimate(changed, method)


def _bottom_up(config: Config) -> tuple[Part, ...]:
    lanes, memory = config.lanes, config.memory
    operators = tuple(
        Part(TITLES[name], "DSP" if name == "imul" else "Instance", lanes * PER_LANE[name], _operator(config, name))
        for name in PER_LANE
    )
    shared = (
        Part("delay lines of a lane", "Register", lanes, _delays(config)),
        Part("running maximum of a lane", "Register", lanes * config.positions_in_flight, Amount(ff=2 * WORD_BITS)),
        Part("choice of the maximum", "Multiplexer", lanes, Amount(lut=2 * WORD_BITS)),
        Part("C(k, 2) of a column", "DSP", 1, _operator(config, "imul")),
        Part("counters and addresses", "Expression", 1, Amount(lut=STATE_BITS * 2)),
        Part("state machine", "Register", 1, Amount(ff=STATE_BITS)),
        Part(f"AXI port, {memory.port_bits} bit", "Instance", memory.ports, _adapter(memory.port_bits)),
        Part("AXI port of LS and results", "Instance", 1, ADAPTER),
        Part(f"FIFO, {memory.fifo_beats} x {memory.port_bits} bit", "FIFO", memory.ports, _fifo(config)),
    )
    return operators + shared + _rs_buffer(config)


def _operator(config: Config, name: str) -> Amount:
    """An operator at its latency: registers in proportion to its stages, logic as in the table but placed."""
    latency, amount = OPERATORS[name]
    registers = round(amount.ff * getattr(config.latencies, name) / latency)
    return Amount(dsp=amount.dsp, ff=registers, lut=round(amount.lut * PLACED))


def _delays(config: Config) -> Amount:
    """What holds values until their partners are there, as shift registers in LUTs behind one register each."""
    op = config.latencies
    divided = max(op.fadd, op.imul + op.iadd + op.i2f)  # when LS + RS meets its divisor
    crossed = max(2 * op.fsub, op.imul + op.i2f)  # when TS - LS - RS meets its divisor
    waits = (
        op.fsub,  # RS, for the second subtraction
        divided - op.fadd,
        divided - op.imul - op.iadd - op.i2f,
        crossed - 2 * op.fsub,
        crossed - op.imul - op.i2f,
        abs(op.denominator_ready - op.numerator_ready),
        op.depth,  # the index of the beat
    )
    held = [cycles for cycles in waits if cycles]
    return Amount(ff=WORD_BITS * len(held), lut=sum(WORD_BITS * -(-(cycles - 1) // SHIFT_DEPTH) for cycles in held))


def _adapter(bits: int) -> Amount:
    """An AXI port: its buffers for reading and writing, and logic on the line through a narrow and a wide one."""
    wider = (bits - WORD_BITS) / (WIDE_BITS - WORD_BITS)
    brams = max(ADAPTER.bram18k, 2 * -(-bits // BRAM_BITS))
    more = WIDE_ADAPTER - ADAPTER
    return Amount(bram18k=brams, ff=ADAPTER.ff + round(wider * more.ff), lut=ADAPTER.lut + round(wider * more.lut))


def _fifo(config: Config) -> Amount:
    memory = config.memory
    blocks = -(-memory.port_bits // BRAM_BITS) * -(-memory.fifo_beats // BRAM_WORDS)
    return Amount(bram18k=blocks, ff=memory.port_bits, lut=memory.port_bits // 2)


def _rs_buffer(config: Config) -> tuple[Part, ...]:
    """The RS buffer, a bank for each lane."""
    if config.rs_prefetch == "none":
        return ()
    depth = -(-config.rs_buffer_words // config.lanes)
    bank = Amount(bram18k=-(-depth // BRAM_WORDS), ff=WORD_BITS, lut=WORD_BITS // 4)
    return (Part(f"RS buffer, bank of {depth:,} words", "Memory", config.lanes * config.positions_in_flight, bank),)


def _paper_calibrated(config: Config) -> tuple[Part, ...]:
    """The line through Table I, as a part for each lane of the unroll and a rest; rounded once, in the rest."""
    small, large = TABLE1.values()
    fixed, slopes, totals = {}, {}, {}
    for kind in KINDS:
        y0, y1 = getattr(small.used, kind), getattr(large.used, kind)
        slope = (y1 - y0) / (large.unroll - small.unroll)
        totals[kind] = round(y0 + slope * (config.unroll - small.unroll))
        slopes[kind] = int(slope)
        fixed[kind] = totals[kind] - slopes[kind] * config.unroll
    return (
        Part("lane", "Instance", config.unroll, Amount(**slopes)),
        Part("all else", "Instance", 1, Amount(**fixed)),
    )


METHODS: Mapping[str, Callable[[Config], tuple[Part, ...]]] = {
    "bottom-up": _bottom_up,
    "paper-calibrated": _paper_calibrated,
}
