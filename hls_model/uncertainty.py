"""Ranges of a design's time: what no published number fixes about it, and what follows from that.

What a design sets itself is taken as exact. `fsm_cycles` and `position_overhead_us` count as set where they differ from
their defaults, 1 and 0, which are also the fast ends of their ranges.

Time rises with every open parameter (or falls, for the memory's efficiency and the link's rate),
whatever the others are. So all fast ends together take the least time, and all slow ends together the
most.

Two things break this rule by little. The efficiency spreads late port beats over a column, and one that falls on the
first beat of a burst may be hidden by the wait for that burst, while at a better efficiency another one is not: up to a
cycle for each burst. And positions go to the first free of several kernels, which slower positions may share out
better. Ranges hold the likely value in any case.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from hls_model.choices import Level
from hls_model.clock import CLOCK_SOURCE, builds, least_seconds, reached_clock
from hls_model.config import Config
from hls_model.operators import REPORTED_MHZ, SLOWEST_TABLE_MHZ, latencies_at
from hls_model.paper.published import OVERHEAD_US
from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.timing import Timing, simulate
from hls_model.workload import Workload

FSM_CYCLES = Range(1, 1, 4)
LONGEST = {"fadd": 7, "fsub": 7, "fdiv": 16, "i2f": 6, "imul": 3, "iadd": 2, "fcmp": 3}  # up to 250 MHz
AUTOBRIDGE = "Vivado HLS 2019.2 for XCU280 at 4 ns, github.com/UCLA-VAST/AutoBridge"
ADDERS = f"{AUTOBRIDGE}, archive/benchmarks/PageRank/tapa_result/report/ProcElem_csynth.rpt"
DIVIDER = f"{AUTOBRIDGE}, archive/benchmarks/PageRank/tapa_result/report/Control_csynth.rpt"
OPERATOR_SOURCES = {
    "fadd": f"5 with DSP slices, 4 without ({ADDERS}); 7 is that of reports for 3.33 ns",
    "fsub": f"5 with DSP slices ({ADDERS}); 7 is that of reports for 3.33 ns",
    "fdiv": f"10 ({DIVIDER}); 16 is the longest of reports for other clocks and devices",
    "i2f": f"4 ({DIVIDER}); 6 is the longest of reports for other clocks and devices",
    "imul": "assumed",
    "iadd": "assumed",
    "fcmp": f"2 ({ADDERS}); bounds assumed",
}
SOURCES = {
    "fsm_cycles": "1 in the Verilog; HLS takes a cycle to enter a loop that it does not flatten and one to leave it "
    "(AMD UG1399, pragma HLS loop_flatten); 4, for two loops, is assumed",
    "position_overhead_us": f"0: the pipelines alone; {OVERHEAD_US:g}: the cost that fits Table III of the paper, with "
    "a memory latency of 37 cycles; where a kernel is started at every position, its start is a part of this",
}


@dataclass(frozen=True)
class Unknown:
    """A parameter that is known within bounds.

    Attributes
    ----------
    name, unit : str
        The parameter as `--set` takes it, and the unit of its values ('' is a share).
    values : Range
        Its least, likely and greatest value.
    slows : bool
        A greater value takes more time; else less.
    source : str
        Where the bounds come from, or that they are assumed.
    """

    name: str
    unit: str
    values: Range
    slows: bool
    source: str

    @property
    def fast(self) -> float:
        """The value at which a scan takes the least time."""
        return self.values.low if self.slows else self.values.high

    @property
    def slow(self) -> float:
        """The value at which a scan takes the most time."""
        return self.values.high if self.slows else self.values.low

    def put(self, config: Config, value: float) -> Config:
        """Return the design with this value of the parameter."""
        part, _, name = self.name.rpartition(".")
        holder = getattr(config, part) if part else config
        number = round(value) if isinstance(getattr(holder, name), int) else float(value)
        changed = dataclasses.replace(holder, **{name: number})
        return config.but(**{part: changed}) if part else changed


def unknowns(config: Config) -> list[Unknown]:
    """Return the parameters that a design leaves open, each with its range; the likely values are the design's own."""
    return list(_unknowns(config))


def _unknowns(config: Config) -> Iterator[Unknown]:
    board, memory = config.hardware, config.memory
    if not memory.latency_ns:
        yield Unknown("memory.latency_ns", "ns", _latency(config), True, str(board.sources["latency_ns"]))
    if not memory.efficiency and memory.dram == "none":  # a DRAM says itself when data come
        values = config.efficiency_range
        source = str(board.sources["efficiency_range"])
        if values != board.efficiency_range:
            source += f"; all banks together: {board.sources['total_gbps']}"
        yield Unknown("memory.efficiency", "", values, False, source)
    if config.host_transfer != "none" and not config.host_gbps:
        yield Unknown("host_gbps", "GB/s", board.host_gbps, False, str(board.sources["host_gbps"]))
    if config.target_mhz and not config.clock_met:
        values = reached_clock(config)
        values = Range(min(values.low, config.clock_mhz), config.clock_mhz, max(values.high, config.clock_mhz))
        yield Unknown("clock_mhz", "MHz", values, False, CLOCK_SOURCE)
    for name, cycles in vars(config.operators).items():
        if not cycles:
            values = operator_range(name, config.target_mhz or config.clock_mhz)
            yield Unknown(f"operators.{name}", "cycles", values, True, OPERATOR_SOURCES[name])
    if config.fsm_cycles == FSM_CYCLES.likely:
        yield Unknown("fsm_cycles", "cycles", FSM_CYCLES, True, SOURCES["fsm_cycles"])
    if not config.position_overhead_us:
        overhead = Range(0.0, 0.0, OVERHEAD_US)
        yield Unknown("position_overhead_us", "us", overhead, True, SOURCES["position_overhead_us"])


def operator_range(name: str, clock_mhz: float) -> Range:
    """Return the cycles of an operator at a clock.

    HLS reports a latency of one cycle less than the states that an operator takes (a module named `fadd..._5_full_dsp`
    has five states and a latency of 4), which are what the model counts. So one cycle less is the least, where
    operators share a state; between 100 and 250 MHz it is one less than what lies between the estimate for 100 MHz and
    the report. The greatest grows with the clock above 250 MHz.
    """
    likely = getattr(latencies_at(clock_mhz), name)
    shortest = likely
    if SLOWEST_TABLE_MHZ < clock_mhz < REPORTED_MHZ:
        slow = getattr(latencies_at(SLOWEST_TABLE_MHZ), name)
        share = (clock_mhz - SLOWEST_TABLE_MHZ) / (REPORTED_MHZ - SLOWEST_TABLE_MHZ)
        shortest = min(likely, ceil(round(slow + share * (likely - slow), 9)))
    longest = ceil(round(LONGEST[name] * max(1.0, clock_mhz / REPORTED_MHZ), 9))
    return Range(max(1, shortest - 1), likely, max(likely, longest))


def _latency(config: Config) -> Range:
    """The board's range; it begins no lower than a gap between bursts, which no latency undercuts."""
    bounds = config.hardware.latency_ns
    least = min(bounds.likely, config.memory.burst_gap * 1e3 / config.clock_mhz)
    return Range(max(bounds.low, least), bounds.likely, bounds.high)


@dataclass(frozen=True)
class Band:
    """A scan on one design at the fast end, the likely value and the slow end of all that is not known.

    Attributes
    ----------
    low, likely, high : Timing
        The least time, the time of the design as it is, and the greatest.
    """

    low: Timing
    likely: Timing
    high: Timing

    @property
    def seconds(self) -> Range:
        """Seconds of the whole scan."""
        return Range.spanning(self.likely.seconds, self.low.seconds, self.high.seconds)

    @property
    def hardware_seconds(self) -> Range:
        """Seconds that the pipelines are at work."""
        return Range.spanning(self.likely.hardware_seconds, self.low.hardware_seconds, self.high.hardware_seconds)

    @property
    def rate(self) -> Range:
        """Scores per second of the whole scan; the least is that of the greatest time."""
        return Range.spanning(self.likely.rate, self.high.rate, self.low.rate)

    @property
    def hardware_rate(self) -> Range:
        """Scores per second of the pipelines alone."""
        return Range.spanning(self.likely.hardware_rate, self.high.hardware_rate, self.low.hardware_rate)


@dataclass(frozen=True)
class Contribution:
    """What one open parameter does alone, with all others at their likely values.

    Attributes
    ----------
    unknown : Unknown
        The parameter.
    seconds : Range
        Seconds of the whole scan at its fast end, its likely value and its slow end.
    """

    unknown: Unknown
    seconds: Range

    @property
    def width(self) -> float:
        """Seconds between its two ends."""
        return self.seconds.high - self.seconds.low

    def record(self) -> dict[str, object]:
        """Return the contribution for JSON."""
        names = "parameter=unknown.name unit=unknown.unit values=unknown.values seconds source=unknown.source"
        return record_of(self, names)


@lru_cache(maxsize=1_000)
def fastest(config: Config) -> Config:
    """Return the design with every open parameter at its fast end."""
    return _put(config, ((one, one.fast) for one in unknowns(config)))


@lru_cache(maxsize=1_000)
def slowest(config: Config) -> Config:
    """Return the design with every open parameter at its slow end."""
    return _put(config, ((one, one.slow) for one in unknowns(config)))


def band(workload: Workload, config: Config, level: Level = "L1") -> Band:
    """Time a workload on a design with everything at its fast end, as it is, and with everything at its slow end.

    Raises
    ------
    ModelError
        As for `simulate`.
    """
    return Band(*(simulate(workload, one, level) for one in (fastest(config), config, slowest(config))))


def built_timing(workload: Workload, config: Config, level: Level = "L1") -> Timing:
    """Time a workload on a design as built for the clock at which it takes the least time (`hls_model.clock.builds`).

    Raises
    ------
    ModelError
        As for `simulate`.
    """
    return _quickest(workload, builds(config), level)


def built_band(workload: Workload, config: Config, level: Level = "L1") -> Band:
    """Return the `band` of a design that is built for the best clock: at either end and between, the best one there.

    Raises
    ------
    ModelError
        As for `simulate`.
    """
    built = builds(config)
    ends = ([*map(fastest, built)], built, [*map(slowest, built)])
    return Band(*(_quickest(workload, end, level) for end in ends))


def _quickest(workload: Workload, configs: Sequence[Config], level: Level) -> Timing:
    """The timing of the design that takes the least time; of equals, the one with the least by the closed form.

    What takes longer than the best one even by the closed form is not timed. At level L2 the closed form decides.
    """
    alike = {_decides(one): one for one in reversed(configs)}  # of those that are timed alike the first
    different = list(reversed(alike.values()))
    least = least_seconds(workload, different)
    order = sorted(range(len(different)), key=least.__getitem__)
    best = simulate(workload, different[order[0]], level)
    for index in order[1:] if level == "L1" else ():
        if least[index] >= best.hardware_seconds:
            break
        best = min(best, simulate(workload, different[index], level), key=lambda one: one.hardware_seconds)
    return best


def contributions(found: Band) -> list[Contribution]:
    """Return what each open parameter of a band does alone, the widest first.

    Level L2 is left to a DRAM, which no other knows: it steps through every cycle, and L1 has the same cycles.
    """
    likely = found.likely
    level: Level = "L1" if likely.config.memory.dram == "none" else "L2"
    config, known = likely.config, {_decides(likely.config): likely.seconds}

    def seconds(unknown: Unknown, value: float) -> float:
        changed = unknown.put(config, value)
        key = _decides(changed)
        if key not in known:
            known[key] = simulate(likely.workload, changed, level).seconds
        return known[key]

    parts = [
        Contribution(one, Range.spanning(likely.seconds, seconds(one, one.fast), seconds(one, one.slow)))
        for one in unknowns(config)
    ]
    return sorted(parts, key=lambda part: -part.width)


def _put(config: Config, values: Iterable[tuple[Unknown, float]]) -> Config:
    for unknown, value in values:
        config = unknown.put(config, value)
    return config


def _decides(config: Config) -> tuple[float, ...]:
    """All that the open parameters change in a timing: operators count through the depth alone."""
    link = config.host_rate.likely
    clock, overhead = config.clock_mhz, config.position_overhead_us
    return (clock, config.latency, config.depth, float(config.pace), config.fsm_cycles, overhead, link)
