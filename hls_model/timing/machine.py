"""Level 2: the machine itself, stepped through every cycle.

The registers are those of the Verilog: the state, the counters of requests and of free slots, the memory's requests in
flight, the data channel's wait, the FIFO's fill, the interval counter and the lanes' shift register (the two shift
registers are the bits of one integer each). A `Probe` is called with every event. With a DRAM behind the ports,
`dram_stream` has the read path.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from itertools import count, cycle

import numpy as np
from numpy.typing import NDArray

from hls_model.config import WORD_BITS, Config
from hls_model.dram.memory import PortMemory
from hls_model.errors import ModelError
from hls_model.timing import dram_stream, events
from hls_model.timing.phases import PassPhases
from hls_model.timing.wiring import Probe, ReadPath

__all__ = ["MAX_CYCLES", "estimate", "run_pass", "time_passes"]

Cycles = NDArray[np.int64]
MAX_CYCLES = 200_000_000  # some minutes
MAX_DRAM_CYCLES = 50_000_000  # with a DRAM
MAX_DRAM_READS = 20_000_000  # of all channels, likewise


def time_passes(config: Config, columns: Cycles, beats: Cycles) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more.

    Raises
    ------
    ModelError
        More than `MAX_CYCLES` cycles to step through; with a DRAM, more than `MAX_DRAM_CYCLES` or `MAX_DRAM_READS`.
    """
    ignore = deque[int](maxlen=0).append  # the cheapest call there is
    probe = Probe(lambda state, cycle, column: None, ignore, ignore, ignore, ignore)
    if config.memory.dram != "none":
        return _time_all(config, columns, beats, probe)
    pairs, which = np.unique(np.stack([columns, beats], axis=1), axis=0, return_inverse=True)
    steps = int(events.time_passes(config, pairs[:, 0], pairs[:, 1]).total.sum())
    if steps > MAX_CYCLES:
        raise ModelError(f"level L2 would step through {steps:,} cycles, {MAX_CYCLES:,} at most; take level L1")
    runs = [run_pass(config, columns_each, beats_each, 0, probe)[0] for columns_each, beats_each in pairs.tolist()]
    prefetch, fill, stream, stall, drain = np.array(runs, np.int64).reshape(-1, 5)[which.reshape(-1)].T
    return PassPhases(prefetch, fill, stream, stall, drain)


def estimate(config: Config, columns: Cycles, beats: Cycles) -> int:
    """Return the cycles of passes by level L1, those of a DRAM as if its latency and pace were fixed."""
    fixed = config.but(memory=dataclasses.replace(config.memory, dram="none"))
    return int(events.time_passes(fixed, columns, beats).total.sum())


def _time_all(config: Config, columns: Cycles, beats: Cycles, probe: Probe) -> PassPhases:
    """Step through all passes, one after the other: with a DRAM no two of them are alike.

    The next pass begins where the last one ended; merge and overhead of the positions between them do not count here.
    """
    steps = estimate(config, columns, beats)
    if steps > MAX_DRAM_CYCLES:
        raise ModelError(
            f"level L2 would step through {steps:,} cycles, {MAX_DRAM_CYCLES:,} at most with memory.dram; "
            "take fewer positions"
        )
    source, runs, cycle = PortMemory(config), [], 0
    reads = int((columns * beats).sum()) * config.issue_words * WORD_BITS // 8 // source.part.access_bytes
    if reads > MAX_DRAM_READS:
        raise ModelError(
            f"level L2 would read the DRAM {reads:,} times, {MAX_DRAM_READS:,} at most; take fewer positions"
        )
    for columns_each, beats_each in zip(columns.tolist(), beats.tolist(), strict=True):
        phases, cycle = run_pass(config, columns_each, beats_each, cycle, probe, source)
        runs.append(phases)
    prefetch, fill, stream, stall, drain = np.array(runs, np.int64).reshape(-1, 5).T
    return PassPhases(prefetch, fill, stream, stall, drain)


def run_pass(
    config: Config, columns: int, beats: int, cycle: int, probe: Probe, source: PortMemory | None = None
) -> tuple[tuple[int, ...], int]:
    """Step through one pass from its first cycle on; a DRAM holds its RS and then its columns behind the pass before.

    Returns
    -------
    phases : tuple of int
        Cycles of the prefetch, fill, stream, stall and drain.
    cycle : int
        The first cycle after the pass.
    """
    prefetch = fill = stream = stall = drain = 0
    together = columns if config.overlap_outer else 1
    to_buffer, to_lanes = ReadPath.to_buffer(config, beats), ReadPath.to_lanes(config, beats)
    kept = dram_stream.beats_to_keep(to_lanes)
    rs = source.take(dram_stream.beats_to_keep(to_buffer)) if source and config.rs_prefetch != "none" else 0
    ts = source.take(columns * kept) if source else 0
    for column in range(0, columns, together):
        start = cycle
        if config.rs_prefetch == "per_outer" or (config.rs_prefetch == "per_position" and column == 0):
            probe.enters("prefetch", cycle, column)
            _, cycle, _ = _stream(to_buffer, 1, cycle, probe, source, rs)
        prefetch += cycle - start
        start = cycle
        probe.enters("run", cycle, column)
        first, cycle, lanes = _stream(to_lanes, together, cycle, probe, source, ts + column * kept)
        ideal = (together * beats - 1) * config.ii + 1
        fill += first - start
        stream += ideal
        stall += cycle - first - ideal
        start = cycle
        probe.enters("drain", cycle, column)
        while lanes:
            lanes >>= 1
            cycle += 1
        probe.enters("turn", cycle, column)
        for _ in range(config.fsm_cycles):
            cycle += 1
        drain += cycle - start
    return (prefetch, fill, stream, stall, drain), cycle


def _stream(
    path: ReadPath, columns: int, start: int, probe: Probe, source: PortMemory | None, begin: int
) -> tuple[int, int, int]:
    """Step from the first request to the issue of the last beat; `begin` is where a DRAM holds the first column.

    Returns
    -------
    first, cycle, lanes : int
        Cycle of the first issue, the first cycle after the last one, and the lanes' shift register then.
    """
    if source:
        return dram_stream.stream(path, columns, start, probe, source, begin)
    memory, needed, interval = path.memory, path.needed, path.interval - 1
    requested, taken, blocked, issued = probe.requested, probe.taken, probe.blocked, probe.issued
    requests = columns * len(path.stalls)
    slots, room = memory.outstanding, memory.fifo_beats
    asked, entered = 1 << path.latency >> 1, 1 << path.stages >> 1
    in_flight = arrived = wait = fifo = spacing = lanes = first = 0
    in_burst = False
    issues = total = columns * len(path.leaving)
    stalls, offers, leaving = cycle(path.stalls), cycle(path.offers), cycle(path.leaving)
    stall = next(stalls)
    for now in count(start):
        # Everything below sees the registers as they were when the cycle began.
        held = fifo
        lanes >>= 1
        if in_flight:
            arrived += in_flight & 1
            in_flight >>= 1
        if requests and slots and stall:
            stall -= 1
        elif requests and slots:
            requested(now)
            stall = next(stalls)
            requests -= 1
            slots -= 1
            in_flight |= asked
        if wait:
            wait -= 1
        elif in_burst or arrived:
            if held < room:
                taken(now)
                fifo += 1
                if not in_burst:
                    arrived -= 1
                in_burst, wait = next(offers)
                if not in_burst:
                    slots += 1
            else:
                blocked(now)
        if spacing:
            spacing -= 1
        elif held >= needed:
            issued(now)
            if issues == total:
                first = now
            fifo -= next(leaving)
            lanes |= entered
            spacing = interval
            issues -= 1
            if not issues:
                break
    return first, now + 1, lanes
