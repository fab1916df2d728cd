"""The clock that a design reaches: it falls with how full the device's regions are, and with borders between dies.

A design names the clock that it is built for (`Config.clock_mhz`), and placement and routing may miss it. The range
here is between two findings. The paper's design for the U200, in a part of one region, meets 250 MHz after placement
and routing (Table I). Large HLS designs over the dies of a U250 or U280 reach 147 MHz on average as the tools place
them, and 297 MHz with a floorplan and registers at the borders (AutoBridge). How the clock falls between is assumed.

Nobody has to build for the clock that is asked for: one that is built for less runs at less. So a design is taken as
built for the clock up to the one asked for at which it takes the least time. So no scan gets slower where a faster
clock is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor

from hls_model.config import Config
from hls_model.operators import REPORTED, REPORTED_MHZ, SLOWEST_TABLE_MHZ
from hls_model.ranges import Range
from hls_model.resources import estimate
from hls_model.resources.placement import Placement
from hls_model.workload import Workload

__all__ = ["CLOCK_SOURCE", "builds", "clock_text", "quickest", "reached_clock"]

EASY = 0.75  # of the room of a region: up to here one region costs no clock; assumed
CLOSED_MHZ, PLATFORM_MHZ = 250.0, 300.0  # Table I of the paper; the default of the Alveo platforms (UG1393)
PLACED_MHZ, PIPELINED_MHZ = 147.0, 297.0  # of designs over several dies, as the tools place them and with registers
CLOCK_SOURCE = (
    "one region: 250 MHz after placement and routing (Table I of the paper), 300 is the platforms' default; several: "
    "147 MHz on average as the tools place designs, 297 with a floorplan and registers at borders (Guo et al., "
    "AutoBridge, FPGA 2021, https://about.blaok.me/publication/autobridge/); how it falls between is assumed"
)
_STEPS = sorted({*vars(REPORTED).values(), 3, 6, 7, 16})  # cycles whose proportion to the clock is rounded up


def reached_clock(config: Config) -> Range:
    """Return the MHz that a design reaches on its board; exact where it says so (`clock_met`).

    Raises
    ------
    ModelError
        No such board.
    """
    asked = config.target_mhz or config.clock_mhz
    if config.clock_met:
        return Range.exactly(asked)
    bounds = _bounds(estimate(config).placement, config.hardware.max_clock_mhz)
    return bounds.each(lambda mhz: min(float(floor(mhz)), asked))


def _bounds(placement: Placement, most: float) -> Range:
    taken = [one for one in placement.regions if one.share > 0]
    fill = min(1.0, max((one.share for one in taken), default=0.0))
    middle = (PLACED_MHZ + PIPELINED_MHZ) / 2
    if len(taken) > 1:
        return Range(_between(PIPELINED_MHZ, PLACED_MHZ, fill), _between(PIPELINED_MHZ, middle, fill), PIPELINED_MHZ)
    crowded = max(0.0, fill - EASY) / (1 - EASY)
    likely = _between(PLATFORM_MHZ, CLOSED_MHZ, crowded)
    return Range(_between(CLOSED_MHZ, middle, crowded), likely, max(likely, most))


def _between(empty: float, full: float, share: float) -> float:
    return empty + share * (full - empty)


def builds(config: Config) -> list[Config]:
    """Return the design as built for the clock asked for, and for those below at which an operator gets shorter.

    Each runs at the clock that it is likely to reach, and has a `target_mhz` where it may miss it.
    """
    asked = config.target_mhz or config.clock_mhz
    reached = reached_clock(config)
    targets = {asked}
    if not config.clock_met:
        points = {step * REPORTED_MHZ / cycles for cycles in _STEPS for step in range(cycles, 2 * cycles + 1)}
        points |= {SLOWEST_TABLE_MHZ, 175.0}  # where those below 250 MHz change
        targets |= {point for point in points if SLOWEST_TABLE_MHZ <= point < asked}
    return [
        config.but(clock_mhz=min(reached.likely, one), target_mhz=0.0 if one <= reached.low else one)
        for one in sorted(targets, reverse=True)
    ]


def clock_text(config: Config) -> str:
    """Return a line about the clock that a built design runs at."""
    mhz = reached_clock(config)
    asked = config.target_mhz or config.clock_mhz
    regions = sum(one.share > 0 for one in estimate(config).placement.regions)
    where = f"in {regions} regions" if regions > 1 else "in one region"
    bounds = f" ({mhz.low:.4g}-{mhz.high:.4g})" if mhz.low < mhz.high else ""
    return f"{config.name}: built for {asked:.4g} MHz {where}, reaches {config.clock_mhz:.4g}{bounds} MHz"


def quickest(workload: Workload, configs: Iterable[Config]) -> Config:
    """Return the design that takes the least time on a workload's columns by the closed form; the first of equals."""
    columns = max(1, int(workload.left.sum()))
    right = workload.omegas / columns

    def seconds(config: Config) -> float:
        beats = right * config.ii / config.lanes
        port_beats = right / config.memory.words_per_beat * float(config.pace)
        waits = config.latency + config.depth + config.fsm_cycles  # of each column, or else of a position's first one
        waited = len(workload.left) / columns if config.overlap_outer else 1.0
        return (max(beats, port_beats) + waited * waits) / config.clock_mhz

    return min(configs, key=seconds)
