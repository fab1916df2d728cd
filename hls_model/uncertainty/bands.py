"""How fast and how slow a design may be, given what is not known about it.

Time rises with every open parameter of `unknowns` (or falls, for the memory's efficiency and the link's rate),
whatever the others are. So all fast ends together take the least time, and all slow ends together the
most.

Two things break this rule by little. The efficiency spreads late port beats over a column, and one that falls on the
first beat of a burst may be hidden by the wait for that burst, while at a better efficiency another one is not: up to a
cycle for each burst. And positions go to the first free of several kernels, which slower positions may share out
better. Ranges hold the likely value in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hls_model.clock import builds, least_seconds
from hls_model.config import Config
from hls_model.ranges import Range
from hls_model.timing import Timing, simulate
from hls_model.timing.result import Level
from hls_model.uncertainty.unknowns import Unknown, unknowns
from hls_model.workload import Workload

__all__ = ["Band", "Contribution", "band", "built_band", "built_timing", "contributions", "fastest", "slowest"]


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
        unknown = self.unknown
        return {
            "parameter": unknown.name,
            "unit": unknown.unit,
            "values": unknown.values.record(),
            "seconds": self.seconds.record(),
            "source": unknown.source,
        }


def fastest(config: Config) -> Config:
    """Return the design with every open parameter at its fast end."""
    return _put(config, ((one, one.fast) for one in unknowns(config)))


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
