"""The clock that a design reaches: it falls with how full the device's regions are, and with borders between dies.

A design names the clock that it is built for (`Config.clock_mhz`), and placement and routing may miss it. The range
here is between two findings. The paper's design for the U200, in a part of one region, meets 250 MHz after placement
and routing (Table I). Large HLS designs over the dies of a U250 or U280 reach 147 MHz on average as the tools place
them, and 297 MHz with a floorplan and registers at the borders (AutoBridge). How the clock falls between is assumed.

Nobody has to build for the clock that is asked for: one that is built for less runs at less. So a design is taken as
built for the clock up to the one asked for at which it takes the least time, and no scan gets slower where a faster
clock is asked for. Cycles rise in steps with the clock, where an operator or a read takes a cycle more; between two
steps time falls. So the clocks to try are the last ones before a step (`builds`): for operators all of them, for reads
the last one of each stretch of equal operators, since time at the ends of their steps falls with the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.operators import REPORTED, REPORTED_MHZ, SLOWEST_TABLE_MHZ
from hls_model.presets import is_what_if
from hls_model.ranges import Range
from hls_model.resources import estimate
from hls_model.resources.placement import Placement
from hls_model.timing.passes import split
from hls_model.workload import Workload

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


@lru_cache(maxsize=256)
def builds(config: Config) -> tuple[Config, ...]:
    """Return the design as built for the clock asked for, and for those below after which something takes a cycle more.

    Each runs at the clock that it is likely to reach, and has a `target_mhz` where it may miss it.
    """
    asked = config.target_mhz or config.clock_mhz
    if config.clock_met:
        return (config.but(clock_mhz=asked, target_mhz=0.0),)
    found = []
    below = 0.0
    for top in _stretches(asked):
        reached = reached_clock(config.but(clock_mhz=top, target_mhz=0.0))
        for target in {top, *(end for end in _ends_of_waits(config, reached, top) if end > below)}:
            target_mhz = 0.0 if target <= reached.low else target
            found.append(config.but(clock_mhz=min(reached.likely, target), target_mhz=target_mhz))
        below = top
    return tuple(sorted(found, key=lambda one: -(one.target_mhz or one.clock_mhz)))


def _stretches(asked: float) -> list[float]:
    """The greatest clock of each stretch of clocks with equal operators, up to the one asked for, ascending."""
    last = ceil(asked / REPORTED_MHZ)
    points = {step * REPORTED_MHZ / cycles for cycles in _STEPS for step in range(cycles, last * cycles)}
    points |= {SLOWEST_TABLE_MHZ, 175.0}  # where those below 250 MHz change
    return sorted({asked, *(point for point in points if point < asked)})


def _ends_of_waits(config: Config, reached: Range, top: float) -> set[float]:
    """The greatest clocks up to `top` at which a read takes whole cycles, or the banks bring a port beat in each cycle.

    At the fast end of a design's range, the fastest clock comes with the shortest wait and the best banks, and so on.
    """
    memory, board = config.memory, config.hardware
    waits = Range.exactly(memory.latency_ns) if memory.latency_ns else board.latency_ns
    kept = memory.bank_gbps * 8e3 / (config.ports_per_bank * memory.port_bits)
    ends = ((reached.high, waits.low), (reached.likely, waits.likely), (reached.low, waits.high))
    whole = {floor(round(min(mhz, top) * wait / 1e3, 6)) * 1e3 / wait for mhz, wait in ends}
    return whole | {mhz for mhz in (kept * share for share in vars(config.efficiency_range).values()) if mhz < top}


def clock_range(config: Config) -> Range:
    """Return the MHz of a built design: what it may reach, and the clock that it is timed at between."""
    mhz = reached_clock(config)
    return Range.spanning(config.clock_mhz, mhz.low, mhz.high)


def clock_text(config: Config) -> str:
    """Return a line about the clock that a built design runs at."""
    asked = config.target_mhz or config.clock_mhz
    mhz = clock_range(config)
    return f"{config.name}: built for {asked:.4g} MHz {_where(config)}, reaches {_mhz_text(mhz)}{_what_if_text(config)}"


def asked_text(config: Config) -> str:
    """Return a line about a design that is shown at the clock asked for: what it may reach."""
    mhz = reached_clock(config)
    text = f"{config.name}: shown at the {config.clock_mhz:.4g} MHz asked for"
    if mhz.low == config.clock_mhz:
        return f"{text}, which it reaches {_where(config)}{_what_if_text(config)}"
    return f"{text}; {_where(config)} it reaches {_mhz_text(mhz)}{_what_if_text(config)}"


def _what_if_text(config: Config) -> str:
    return "; a what-if: no such kernel is known to have been built" if is_what_if(config) else ""


def _where(config: Config) -> str:
    regions = sum(one.share > 0 for one in estimate(config).placement.regions)
    return f"in {regions} regions" if regions > 1 else "in one region"


def _mhz_text(mhz: Range) -> str:
    bounds = f" ({mhz.low:.4g}-{mhz.high:.4g})" if mhz.low < mhz.high else ""
    return f"{mhz.likely:.4g}{bounds} MHz"


def clock_record(config: Config) -> dict[str, object]:
    """Return a design's clock for JSON.

    These are 'clock_mhz', at which it is timed, 'target_mhz', for which it is built (0: the same),
    'clock_mhz_range', what it may reach, and 'what_if', whether nothing is published of it.
    """
    mhz = reached_clock(config)
    record = {"clock_mhz": config.clock_mhz, "target_mhz": config.target_mhz, "clock_mhz_range": mhz.record()}
    return {**record, "what_if": is_what_if(config)}


def least_seconds(workload: Workload, configs: Sequence[Config]) -> list[float]:
    """Return the seconds that pipelines take at least on a workload, by the closed form, for each design.

    The designs differ in what takes how many cycles, and in the clock, alone. A column takes as long as its beats, its
    port beats or its bursts do by themselves, whichever is longest (`hls_model.streams` has how they meet).
    """
    passes = split(workload, configs[0])
    beats, which = np.unique(passes.beats, return_inverse=True)
    columns = np.bincount(which, passes.columns, len(beats)).astype(float)
    counts = np.bincount(which, minlength=len(beats))
    positions = len(np.unique(passes.position))
    return [_least_cycles(one, beats, columns, counts, positions) / (one.clock_mhz * 1e6) for one in configs]


def _least_cycles(
    config: Config, beats: NDArray[np.int64], columns: NDArray[np.float64], passes: NDArray[np.int64], positions: int
) -> float:
    """Cycles of `passes` passes with `columns` columns in all, for each number of beats of a column."""
    last = passes if config.overlap_outer else columns  # columns that no other one follows at once
    cycles = float((last * (_alone(config, beats, config.issue_words) + config.latency)).sum())
    cycles += float(last.sum()) * (config.depth + config.fsm_cycles)
    if config.overlap_outer:
        cycles += float(_joined(config, beats, columns, passes).sum())
    if config.positions_in_flight == 1:  # else prefetch and merge overlap with the columns of another position
        if config.rs_prefetch != "none":
            again = columns if config.rs_prefetch == "per_outer" else passes
            cycles += float((again * (_alone(config, beats, config.lanes) + config.latency + 1)).sum())
        cycles += positions * (config.lanes + ceil(config.position_overhead_us * config.clock_mhz))
    return cycles / config.kernels


def _read(config: Config, beats: NDArray[np.int64], words: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Port beats and bursts of columns of `beats` beats of `words` words."""
    wide, shared = -(-words // config.memory.words_per_beat), max(1, config.memory.words_per_beat // words)
    ports = -(-beats * wide // shared)
    return ports, -(-ports // config.memory.burst_length)


def _alone(config: Config, beats: NDArray[np.int64], words: int) -> NDArray[np.float64]:
    """Cycles from the first data of a column to its last issue."""
    memory, (ports, bursts) = config.memory, _read(config, beats, words)
    late = np.floor(np.round((ports - 1) * float(config.pace - 1), 6))
    brought = ports + late + (bursts - 1) * memory.burst_gap
    asked = (bursts - 1) // memory.outstanding * (config.latency + memory.burst_length) + 1.0
    found: NDArray[np.float64] = np.maximum.reduce([(beats - 1) * config.ii + 1.0, brought, asked])
    return found


def _joined(
    config: Config, beats: NDArray[np.int64], columns: NDArray[np.float64], passes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Cycles of the columns that another one follows at once; requests wait when as many as may be are under way."""
    memory, (ports, bursts) = config.memory, _read(config, beats, config.issue_words)
    brought = ports + np.ceil(np.round(ports * float(config.pace - 1), 6)) + bursts * memory.burst_gap
    each = np.maximum(beats * float(config.ii), brought)
    rest = ports % memory.burst_length
    shortest = np.where(rest > 0, rest, memory.burst_length)
    more = np.maximum(bursts / memory.outstanding * (config.latency + shortest) - each, 0.0)
    waiting = np.maximum(columns - passes * np.ceil(memory.outstanding / bursts), 0.0)
    found: NDArray[np.float64] = (columns - passes) * each + waiting * more
    return found
