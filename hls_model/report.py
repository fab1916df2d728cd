"""A design as a synthesis report shows it: clock, latency, loops and utilisation by kind of part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hls_model.boards import Amount
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.limits import check_possible
from hls_model.resources import REPORT_ROWS, Resources, check_fits
from hls_model.timing import simulate
from hls_model.timing.passes import split
from hls_model.timing.result import Level
from hls_model.workload import Workload

__all__ = ["Loop", "Report", "make_report"]


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
    workload_name, level : str, str
        What was timed and how; as in `Timing`.
    target_ns : float
        Period of the clock.
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
    least: int
    most: int
    cycles: int
    left: int
    right: int
    loops: tuple[Loop, ...]
    utilisation: dict[str, Amount]


def make_report(workload: Workload, config: Config, level: Level = "L1") -> Report:
    """Report a design on a workload.

    Raises
    ------
    ModelError
        The design does not fit its board, or no position has a full beat.
    """
    check_possible(config)
    resources = check_fits(config)
    timing = simulate(workload, config, level)
    cycles = timing.position_cycles
    if not timing.cycles:
        raise ModelError(f"no position has {config.unroll} right-side iterations; there is no latency to report")
    longest = int(np.argmax(cycles))
    by_kind = {row: resources.by_kind(row) for row in REPORT_ROWS}
    return Report(
        config=config,
        resources=resources,
        workload_name=workload.name,
        level=timing.level,
        target_ns=1e3 / config.clock_mhz,
        least=int(cycles[cycles > 0].min()),
        most=int(cycles[longest]),
        cycles=timing.cycles,
        left=int(workload.left[longest]),
        right=int(workload.right[longest]),
        loops=_loops(workload, config, level, longest),
        utilisation=by_kind | {"Total": resources.total, "Available": resources.board.available},
    )


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
    return (
        Loop("tiles of the right side", prefetch + running, (prefetch + running) // tiles, None, None, tiles, False),
        *([Loop("prefetch of RS", prefetch, prefetch // tiles, 1, 1, beats, True)] if prefetch else []),
        Loop(
            "left borders",
            running,
            column,
            column if joined else None,
            beats * config.ii if joined else None,
            columns,
            joined,
        ),
        Loop("beats of the right side", column, config.depth, achieved, config.ii, beats, True),
        Loop("merge of the lanes", merge, 1, 1, 1, config.lanes, True),
    )
