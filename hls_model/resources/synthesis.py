"""What a design takes by synthesis: the Verilog of the lane and of all around it, as Yosys maps them to UltraScale+.

The lane is synthesised once for each set of operators' latencies. All else (FIFO, RS buffer, requests, state machine,
merge) is synthesised for some numbers of lanes with the lane as a black box, and lies on straight lines between these.
AXI adapters are not in the Verilog and not in these figures. `hls_model/rtl/synthesis.csv` holds the figures with the
version of Yosys.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from hls_model.boards import KINDS, Amount
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.resources.bottom_up import PER_LANE, TITLES, bottom_up
from hls_model.resources.parts import Part
from hls_model.rtl.yosys import Synthesis, read_figures

__all__ = ["LARGEST_LANES", "Comparison", "compare", "differences", "synthesised"]

LARGEST_LANES = 64  # twice the most that was synthesised
FIFO_BITS = 6
BUFFER_BITS = 10
MODULES = {
    "fadd": "fp32_add", "fsub": "fp32_add", "fdiv": "fp32_div", "i2f": "u32_to_fp32", "imul": "u32_mul",
    "fcmp": "fp32_key",
}  # fmt: skip
REST_OF_LANE = ("delay lines of a lane", "running maximum of a lane", "choice of the maximum")


@dataclass(frozen=True)
class Comparison:
    """A part of a lane, or the lane, by both methods.

    Attributes
    ----------
    name, count : str, int
        The part, and how many a lane has.
    bottom_up, yosys : Amount
        What all of them take.
    """

    name: str
    count: int
    bottom_up: Amount
    yosys: Amount


def synthesised(config: Config) -> tuple[Part, ...]:
    """Return the synthesised lanes of one omega pipeline, and what they share.

    Raises
    ------
    ModelError
        A design unlike those that were synthesised: names what differs.
    """
    _check(config)
    lane = _lane(config)
    shared, measured = _shared(config)
    named = "all but the lanes" if measured else "all but the lanes (extrapolated)"
    return Part("lane", "Instance", config.lanes, lane.amount), Part(named, "Instance", 1, shared)


def _check(config: Config) -> None:
    memory = config.memory
    for wrong, what in (
        (config.lanes > LARGEST_LANES, f"{config.lanes} lanes; it goes to {LARGEST_LANES}"),
        (config.rs_prefetch == "none", "rs_prefetch none; it has an RS buffer"),
        (memory.words_per_beat != config.lanes, "port beat that is wider or narrower than a beat of the lanes"),
        (memory.fifo_beats > 1 << FIFO_BITS, f"memory.fifo_beats {memory.fifo_beats}; it goes to {1 << FIFO_BITS}"),
    ):
        if wrong:
            raise ModelError(f"the synthesis by Yosys has no {what}")


def _figures() -> tuple[Synthesis, ...]:
    return read_figures()[1]


def _lane(config: Config) -> Synthesis:
    wanted = {name.upper(): cycles for name, cycles in vars(config.latencies).items()}
    for one in _figures():
        if one.top == "lane" and one.values == wanted:
            return one
    raise ModelError("the synthesis by Yosys has no lane of these latencies; it has those of 100 and 250 MHz")


def _shared(config: Config) -> tuple[Amount, bool]:
    """All but the lanes, and whether it lies between numbers of lanes that were synthesised."""
    depth = max(0, (-(-config.rs_buffer_words // config.lanes) - 1).bit_length() - BUFFER_BITS)
    for one in _figures():
        values = one.values
        if one.without == "lane" and (values["P"], values["BUFFER_BITS"]) == (config.lanes, BUFFER_BITS + depth):
            return one.amount, True
    points = sorted(
        (one.values["P"], one.amount)
        for one in _figures()
        if one.without == "lane" and one.values["BUFFER_BITS"] == BUFFER_BITS
    )
    above = next((index for index, (lanes, _) in enumerate(points) if lanes >= config.lanes), len(points) - 1)
    (fewer, least), (more, most) = points[max(above - 1, 0)], points[max(above, 1)]
    share = (config.lanes - fewer) / (more - fewer)
    counts = {kind: ceil(getattr(least, kind) + share * (getattr(most, kind) - getattr(least, kind))) for kind in KINDS}
    counts["bram18k"] <<= depth  # a buffer twice as deep takes twice the blocks at most (of 4 lanes: 16, not 18)
    return Amount(**counts), config.lanes <= points[-1][0]


def compare(config: Config) -> tuple[Comparison, ...]:
    """Set the parts of a lane side by side; empty where its operators were not synthesised one by one."""
    parts = {part.name: part for part in bottom_up(config)}
    found = []
    for name, count in PER_LANE.items():
        one = _operator(MODULES[name], getattr(config.latencies, name), subtracts=name == "fsub")
        if one is None:
            return ()
        found.append(Comparison(TITLES[name], count, parts[TITLES[name]].each.times(count), one.amount.times(count)))
    lane = _lane(config).amount
    rest = _less(lane, [each.yosys for each in found])
    found.append(
        Comparison(
            "all else, less what the parts save together", 1, _sum([parts[name].each for name in REST_OF_LANE]), rest
        )
    )
    found.append(Comparison("lane", 1, _sum([each.bottom_up for each in found]), lane))
    return tuple(found)


def differences(config: Config) -> list[str]:
    """Say where the two methods differ and why, from the parts that were synthesised; empty where `compare` is."""
    parts = {each.name: each for each in compare(config)}
    if not parts:
        return []
    lane, adders = _lane(config), [parts[TITLES[name]] for name in ("fadd", "fsub")]
    divider, conversion, multiplier = (parts[TITLES[name]] for name in ("fdiv", "i2f", "imul"))
    yosys, bottom_up = (sum(getattr(each, by).lut for each in adders) for by in ("yosys", "bottom_up"))
    return [
        f"dividers: {_luts(divider)}; each of the Verilog's 26 steps compares and subtracts, in carry chains and LUTs, "
        "and is a step of restoring division written out",
        f"adders and subtracters: {yosys:,} LUT and no DSP against {bottom_up:,} LUT and "
        f"{sum(each.bottom_up.dsp for each in adders)} DSP, which the vendor's operators take",
        f"conversions: {_luts(conversion)}",
        f"multipliers: {multiplier.yosys.dsp} DSP against {multiplier.bottom_up.dsp}; the Verilog multiplies 32 by 32 "
        "bits, bottom-up counts 32 by 16",
        f"small LUTs: {lane.small:,} of the lane's {lane.logic:,} have three inputs at most; a LUT of the device holds "
        "two with five inputs in all, Yosys counts each",
        f"inverters: {lane.inverters:,} of a lane are counted as LUTs; placement can take them into their neighbours",
        f"delay lines: {lane.shift:,} LUTs of a lane are shift registers, beside {lane.ff:,} flip-flops; registers "
        "stay where the Verilog has them, since nothing is retimed, and no clock is checked",
    ]


def _luts(part: Comparison) -> str:
    return f"{part.yosys.lut:,} LUT of a lane against {part.bottom_up.lut:,}"


def _operator(module: str, latency: int, *, subtracts: bool) -> Synthesis | None:
    for one in _figures():
        values = one.values
        same = one.top == module and values.get("LATENCY", latency) == latency
        if same and bool(values.get("SUBTRACT", 0)) == subtracts:
            return one
    return None


def _sum(amounts: list[Amount]) -> Amount:
    return Amount(**{kind: sum(getattr(each, kind) for each in amounts) for kind in KINDS})


def _less(whole: Amount, parts: list[Amount]) -> Amount:
    taken = _sum(parts)
    return Amount(**{kind: getattr(whole, kind) - getattr(taken, kind) for kind in KINDS})
