"""Level 2: the machine itself, stepped through every cycle.

The registers are those of the Verilog: the state, the counters of requests and of free slots, the memory's requests in
flight, the data channel's wait, the FIFO's fill, the interval counter and the lanes' shift register (the two shift
registers are the bits of one integer each). A `ReadPath` is the wiring from memory, and a `Probe` is called with every
event. Memory and lanes take turns in every cycle: a `Bus` has the registers of the requests and of the data channel.
What else may be behind the ports, such as a DRAM, is a `Source` with a bus of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from itertools import count, cycle
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config, Memory
from hls_model.errors import ModelError
from hls_model.streams import turn
from hls_model.timing import events
from hls_model.timing.events import STALL_SALT
from hls_model.timing.passes import PassPhases

Cycles = NDArray[np.int64]
MAX_CYCLES = 200_000_000  # some minutes


@dataclass
class Probe:
    """The receivers of events, each called with the event's cycle.

    Attributes
    ----------
    enters : callable (state, cycle, column)
        The machine enters "prefetch", "run", "drain" or "turn", with the (first) column that this is about.
    requested, taken, blocked, issued : callable (cycle)
        A request is accepted; a port beat is taken, or stays on the bus because the FIFO is full; a beat is issued.
    """

    enters: Callable[[str, int, int], None]
    requested: Callable[[int], None]
    taken: Callable[[int], None]
    blocked: Callable[[int], None]
    issued: Callable[[int], None]

    @classmethod
    def ignoring(cls) -> Probe:
        """Return one that receives nothing, at the least cost."""
        ignore = deque[int](maxlen=0).append
        return cls(lambda state, cycle, column: None, ignore, ignore, ignore, ignore)


@dataclass(frozen=True)
class ReadPath:
    """The wiring and the state of a path from memory to the RS buffer or the lanes.

    Attributes
    ----------
    memory : Memory
        Where the words come from.
    latency : int
        Cycles from an accepted request to the first data.
    interval, stages : int
        Cycles between two beats, and stages of the lanes' shift register.
    needed : int
        Port beats that the FIFO has to hold for a beat.
    stalls : list of int
        For each burst of a column: cycles that memory lets its request wait.
    offers : list of (bool, int)
        For each port beat of a column: whether its burst goes on, and the data channel's wait before the next one.
    leaving : list of int
        For each beat of a column: the port beats that leave the FIFO with it.
    """

    memory: Memory
    latency: int
    interval: int
    stages: int
    needed: int
    stalls: list[int]
    offers: list[tuple[bool, int]]
    leaving: list[int]

    @property
    def kept(self) -> int:
        """Port beats from the begin of a column to that of the next: whole bursts, so that none crosses 4 KB."""
        return -(-len(self.offers) // self.memory.burst_length) * self.memory.burst_length

    @classmethod
    def to_buffer(cls, config: Config, beats: int) -> ReadPath:
        """Return the path of RS into its buffer."""
        return cls._of(config, config.lanes, 1, 0, beats)

    @classmethod
    def to_lanes(cls, config: Config, beats: int) -> ReadPath:
        """Return the path of TS into the lanes; the last stage of these is the register of the maximum."""
        return cls._of(config, config.issue_words, config.ii, config.depth - 1, beats)

    @classmethod
    def _of(cls, config: Config, words: int, interval: int, stages: int, beats: int) -> ReadPath:
        wide = -(-words // config.memory.words_per_beat)
        shared = max(1, config.memory.words_per_beat // words)
        leaving = [wide if (beat + 1) % shared == 0 else 0 for beat in range(beats)]
        leaving[-1] = wide
        slow = config.pace - 1
        offers = _offers(config.memory, slow.numerator, slow.denominator, sum(leaving))
        stalls = [_stall(config.memory, k) for k in range(-(-len(offers) // config.memory.burst_length))]
        return cls(config.memory, config.latency, interval, stages, wide, stalls, offers, leaving)


Bus: TypeAlias = Generator[bool, bool, None]
"""The data channel, cycle after cycle: yields whether it offers a port beat, and is sent whether that was taken."""


class Source(Protocol):
    """What is behind the ports in place of a fixed latency and pace."""

    def take(self, beats: int) -> int:
        """Lay out `beats` port beats behind those in use, and return where they begin."""
        ...

    def bus(self, path: ReadPath, columns: int, start: int, requested: Callable[[int], None], begin: int) -> Bus:
        """Read columns that lie one after the other from `begin` on, from the first request in cycle `start` on."""
        ...


def _offers(memory: Memory, slow: int, per: int, ports: int) -> list[tuple[bool, int]]:
    offers = []
    for x in range(1, ports):
        goes_on = x % memory.burst_length > 0
        wait = x * slow // per - (x - 1) * slow // per + _random_gap(memory, x)
        offers.append((goes_on, wait if goes_on else wait + memory.burst_gap))
    return [*offers, (False, turn(slow, per, ports) + memory.burst_gap)]


def _random_gap(memory: Memory, x: int) -> int:
    h = hashed(2_654_435_761 * x + 40_503 * memory.random_gap_seed)
    return 1 + (h >> 16) % 4 if h % 2**16 * 100 < memory.random_gap_percent * 2**16 else 0


def _stall(memory: Memory, burst: int) -> int:
    h = hashed(2_654_435_761 * burst + 40_503 * memory.random_gap_seed + STALL_SALT)
    return 1 + (h >> 16) % 8 if h % 2**16 * 100 < memory.random_stall_percent * 2**16 else 0


def hashed(h: int) -> int:
    """Mix the bits of a number, as the Verilog does in 32 bits."""
    h %= 2**32
    h ^= h >> 15
    h = h * 2_246_822_519 % 2**32
    return h ^ h >> 13


def time_passes(config: Config, columns: Cycles, beats: Cycles) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more.

    Raises
    ------
    ModelError
        More than `MAX_CYCLES` cycles to step through.
    """
    probe = Probe.ignoring()
    pairs, which = np.unique(np.stack([columns, beats], axis=1), axis=0, return_inverse=True)
    steps = int(events.time_passes(config, pairs[:, 0], pairs[:, 1]).total.sum())
    if steps > MAX_CYCLES:
        raise ModelError(f"level L2 would step through {steps:,} cycles, {MAX_CYCLES:,} at most; take level L1")
    runs = [run_pass(config, columns_each, beats_each, 0, probe)[0] for columns_each, beats_each in pairs.tolist()]
    return PassPhases(*np.array(runs, np.int64).reshape(-1, 5)[which.reshape(-1)].T)


def run_pass(
    config: Config, columns: int, beats: int, cycle: int, probe: Probe, source: Source | None = None
) -> tuple[tuple[int, ...], int]:
    """Step through one pass from its first cycle on; a source holds its RS and then its columns behind the pass before.

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
    kept = to_lanes.kept
    rs = source.take(to_buffer.kept) if source and config.rs_prefetch != "none" else 0
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
        cycle += lanes.bit_length()  # the beats in the lanes leave, the last one a stage a cycle
        probe.enters("turn", cycle, column)
        cycle += config.fsm_cycles
        drain += cycle - start
    return (prefetch, fill, stream, stall, drain), cycle


def _stream(
    path: ReadPath, columns: int, start: int, probe: Probe, source: Source | None, begin: int
) -> tuple[int, int, int]:
    """Step from the first request to the issue of the last beat; `begin` is where a source holds the first column.

    Returns
    -------
    first, cycle, lanes : int
        Cycle of the first issue, the first cycle after the last one, and the lanes' shift register then.
    """
    if source:
        bus = source.bus(path, columns, start, probe.requested, begin)
    else:
        bus = _fixed_bus(path, columns, start, probe.requested)
    offers = bus.send
    room, needed, interval = path.memory.fifo_beats, path.needed, path.interval - 1
    taken, blocked, issued = probe.taken, probe.blocked, probe.issued
    entered = 1 << path.stages >> 1
    fifo = spacing = lanes = first = 0
    issues = total = columns * len(path.leaving)
    leaving = cycle(path.leaving)
    offered = next(bus)
    for now in count(start):
        # Everything below sees the registers as they were when the cycle began.
        held = fifo
        lanes >>= 1
        took = False
        if offered:
            if held < room:
                taken(now)
                fifo += 1
                took = True
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
        offered = offers(took)
    return first, now + 1, lanes


def _fixed_bus(path: ReadPath, columns: int, start: int, requested: Callable[[int], None]) -> Bus:
    """The data channel of a memory with a fixed latency and pace."""
    requests = columns * len(path.stalls)
    slots, asked = path.memory.outstanding, 1 << path.latency >> 1
    in_flight = arrived = wait = 0
    in_burst = False
    stalls, offers = cycle(path.stalls), cycle(path.offers)
    stall = next(stalls)
    for now in count(start):
        if in_flight:
            arrived += in_flight & 1
            in_flight >>= 1
        if requests and slots:
            if stall:
                stall -= 1
            else:
                requested(now)
                stall = next(stalls)
                requests -= 1
                slots -= 1
                in_flight |= asked
        if wait:
            wait -= 1
            yield False
        elif (yield in_burst or arrived > 0):
            if not in_burst:
                arrived -= 1
            in_burst, wait = next(offers)
            if not in_burst:
                slots += 1
