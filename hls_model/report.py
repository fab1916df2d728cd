"""A design as a synthesis report shows it: clock, latency, loops and utilisation by kind of part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hls_model.boards import Amount
from hls_model.choices import Level
from hls_model.clock import clock_range
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.limits import check_possible
from hls_model.ranges import Range
from hls_model.resources import REPORT_ROWS, Resources, check_fits, estimate
from hls_model.timing import Timing, simulate
from hls_model.timing.passes import split
from hls_model.uncertainty import built_band, built_timing
from hls_model.workload import Workload


@dataclass(frozen=True)
class Loop:
    """A loop of the hardware.

    Attributes
    ----------
    name : str
        What it goes over.
    latency, iteration_latency : int
        Cycles of all its iterations, and of one from its start to its end.
    achieved, target : int or None
        Initiation interval; None where the loop is not pipelined.
    trips : int
        Iterations.
    pipelined : bool
        The next iteration begins before this one has ended.
    """

    name: str
    latency: int
    iteration_latency: int
    achieved: int | None
    target: int | None
    trips: int
    pipelined: bool


@dataclass(frozen=True)
class Report:
    """What a synthesis report says of a design on a workload.

    Attributes
    ----------
    config, resources : Config, Resources
        The design as built for the clock at which the workload takes the least time.
    workload_name, level : str, str
        What was timed and how; as in `Timing`.
    target_ns, period_ns : float, Range
        Period of the clock that it is built for, and of the clocks that it may reach.
    least_seconds, most_seconds, seconds : Range
        Seconds of the shortest and the longest position, and of all, with the bounds of what is not known.
    least, most, cycles : int
        Cycles of the shortest and the longest position that the hardware touches, and of all.
    left, right : int
        Trip counts of the longest position.
    loops : tuple of Loop
        Of the longest position.
    utilisation : dict of str to Amount
        By kind of thing (`REPORT_ROWS`), then 'Total' and 'Available'.
    """

    config: Config
    resources: Resources
    workload_name: str
    level: str
    target_ns: float
    period_ns: Range
    least_seconds: Range
    most_seconds: Range
    seconds: Range
    least: int
    most: int
    cycles: int
    left: int
    right: int
    loops: tuple[Loop, ...]
    utilisation: dict[str, Amount]


def make_report(workload: Workload, config: Config, level: Level = "L1", *, uncertainty: bool = True) -> Report:
    """Report a design on a workload, with the range of its times where `uncertainty` asks for it.

    Raises
    ------
    ModelError
        The design does not fit its board, or no position has a full beat.
    """
    check_possible(config)
    check_fits(config)
    found = built_band(workload, config, level) if uncertainty else None
    timing = built_timing(workload, config, level) if found is None else found.likely
    config, cycles = timing.config, timing.position_cycles
    if not timing.cycles:
        raise ModelError(f"no position has {config.unroll} right-side iterations; there is no latency to report")
    longest = int(np.argmax(cycles))
    times = [_seconds(one) for one in (timing, *((found.low, found.high) if found else (timing,)))]
    least, most, every = (Range.spanning(*values) for values in zip(*times, strict=True))
    mhz = clock_range(config)
    resources = estimate(config)
    by_kind = {row: resources.by_kind(row) for row in REPORT_ROWS}
    return Report(
        config=config,
        resources=resources,
        workload_name=workload.name,
        level=timing.level,
        target_ns=1e3 / (config.target_mhz or config.clock_mhz),
        period_ns=Range(1e3 / mhz.high, 1e3 / mhz.likely, 1e3 / mhz.low),
        least_seconds=least,
        most_seconds=most,
        seconds=every,
        least=int(cycles[cycles > 0].min()),
        most=int(cycles[longest]),
        cycles=timing.cycles,
        left=int(workload.left[longest]),
        right=int(workload.right[longest]),
        loops=_loops(workload, config, level, longest),
        utilisation=by_kind | {"Total": resources.total, "Available": resources.board.available},
    )


def _seconds(timing: Timing) -> tuple[float, float, float]:
    """Seconds of the shortest position that the hardware touches, of the longest, and of all."""
    cycles, second = timing.position_cycles, timing.config.clock_mhz * 1e6
    return float(cycles[cycles > 0].min()) / second, float(cycles.max()) / second, timing.hardware_seconds


def _loops(workload: Workload, config: Config, level: Level, position: int) -> tuple[Loop, ...]:
    """The loops of one position; a pass over a tile of its right side is an iteration of the outermost."""
    one = Workload.single(int(workload.left[position]), int(workload.right[position]))
    passes = split(one, config)
    phases = {name: int(cycles[0]) for name, cycles in simulate(one, config, level).phases.items()}
    prefetch, merge = phases["prefetch"], phases["merge"]
    running = sum(phases[name] for name in ("fill", "stream", "stall", "drain"))
    tiles, beats, columns = len(passes.beats), int(passes.beats.max()), int(passes.columns[0])
    stalled = 1 + phases["stall"] / max(phases["stream"], 1)
    achieved = int(np.ceil(config.ii * stalled))
    column = running // columns // tiles
    joined = config.overlap_outer
    between, target = (column, beats * config.ii) if joined else (None, None)
    return (
        Loop("tiles of the right side", prefetch + running, (prefetch + running) // tiles, None, None, tiles, False),
        *([Loop("prefetch of RS", prefetch, prefetch // tiles, 1, 1, beats, True)] if prefetch else []),
        Loop("left borders", running, column, between, target, columns, joined),
        Loop("beats of the right side", column, config.depth, achieved, config.ii, beats, True),
        Loop("merge of the lanes", merge, 1, 1, 1, config.lanes, True),
    )
