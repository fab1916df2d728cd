"""Level 1: the cycle of every request, port beat and issue, a whole column at a time.

Each of the recurrences of `docs/fpga.md` is a running maximum (t(n) = max(t(n-1) + 1, v(n)) is
`maximum.accumulate(v - n) + n`) but for what reaches back: a port beat waits for room in the FIFO, a request for a
slot. Those terms start from a lower bound and are substituted until nothing changes, which takes two rounds where
they do not bind.

Columns that do not overlap are all alike, and a shorter one is the beginning of a longer one, so one column serves a
whole scan. Columns that do overlap are followed until the state at a column's end is one seen before; from there on
everything repeats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.timing.phases import PassPhases

__all__ = ["time_passes"]

Cycles = NDArray[np.int64]
LONG_AGO = -(1 << 60)
CHUNK = 512  # port beats that are computed together, at least


def time_passes(config: Config, columns: Cycles, beats: Cycles) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more."""
    once = np.ones_like(columns)
    runs, joined = (once, columns) if config.overlap_outer else (columns, once)
    first, last = (_joined if config.overlap_outer else _alone)(config, columns, beats)
    prefetch = np.zeros_like(columns)
    if config.rs_prefetch != "none" and len(beats):
        issues = _ReadPath(config, config.lanes, 1, int(beats.max())).column()
        prefetch = (issues[beats - 1] + 1) * (columns if config.rs_prefetch == "per_outer" else once)
    ideal = (joined * beats - 1) * config.ii + 1
    return PassPhases(
        prefetch=prefetch,
        fill=runs * first,
        stream=runs * ideal,
        stall=runs * (last - first + 1 - ideal),
        drain=runs * (config.depth + config.fsm_cycles - 1),
        exact=np.ones(beats.shape, bool),
    )


def _alone(config: Config, columns: Cycles, beats: Cycles) -> tuple[Cycles, Cycles]:
    """Issue of the first and the last beat of a column, counted from its first request."""
    if not len(beats):
        return beats, beats
    issues = _ReadPath(config, config.issue_words, config.ii, int(beats.max())).column()
    return np.full_like(beats, issues[0]), issues[beats - 1]


def _joined(config: Config, columns: Cycles, beats: Cycles) -> tuple[Cycles, Cycles]:
    """Issue of the first and the last beat of columns that overlap, counted from the first request."""
    first, last = np.zeros_like(beats), np.zeros_like(beats)
    for length in np.unique(beats):
        where = beats == length
        path = _ReadPath(config, config.issue_words, config.ii, int(length))
        first[where], last[where] = _repeated(path, columns[where])
    return first, last


def _repeated(path: _ReadPath, columns: Cycles) -> tuple[int, Cycles]:
    """Issue of the first beat of equal columns in a row, and of the last one for each number of columns."""
    seen: dict[bytes, int] = {}
    ends: list[int] = []
    most, first, state = int(columns.max()), 0, b""
    while len(ends) < most and state not in seen:
        if ends:
            seen[state] = len(ends) - 1
        issues = path.column()
        first = first if ends else int(issues[0])
        ends.append(int(issues[-1]))
        state = path.state()
    known = np.array(ends)
    start = seen.get(state, len(ends) - 1)
    period = max(len(ends) - 1 - start, 1)
    rounds = np.maximum(columns - 1 - start, 0) // period
    return first, known[columns - 1 - rounds * period] + rounds * (known[-1] - known[start])


@dataclass(frozen=True)
class _Chunk:
    """Part of a column, from the start of a burst to the end of one (or of the column).

    Attributes
    ----------
    arrive : ndarray
        Cycles by which the data channel parts each port beat from the one before, summed from the chunk's start.
    firsts, lasts : ndarray
        First and last port beat of each burst.
    needs, frees : ndarray
        Last port beat that each beat of the lanes needs; last beat of the lanes that needs each port beat.
    """

    arrive: Cycles
    firsts: Cycles
    lasts: Cycles
    needs: Cycles
    frees: Cycles


class _ReadPath:
    """Ports, FIFO and issue, column after column of `beats` beats of `words` words; the first request is in cycle 0."""

    def __init__(self, config: Config, words: int, interval: int, beats: int) -> None:
        memory = config.memory
        self.latency, self.interval = config.latency, interval
        self.chunks = _chunks(config, words, beats)
        self.request = -1  # cycle of the last request
        self.taken = self.issue = LONG_AGO  # of the last port beat and of the last beat of the lanes
        self.left = np.full(memory.fifo_beats, LONG_AGO)  # when the last port beats left the FIFO
        self.ended = np.full(memory.outstanding, LONG_AGO)  # when the last beats of the last bursts were taken

    def column(self) -> Cycles:
        """Return the cycle of each beat's issue in the next column."""
        return np.concatenate([self._advance(chunk) for chunk in self.chunks])

    def state(self) -> bytes:
        """Return what decides about the columns to come, whenever that may be."""
        # What lies further back than the last beat (or request) can delay nothing any more.
        request = max(self.request, self.taken - self.latency)
        scalars = np.array([request - self.taken, self.issue - self.taken])
        room, slots = np.maximum(self.left - self.taken, 0), np.maximum(self.ended - request, 0)
        return np.concatenate([scalars, room, slots]).tobytes()

    def _advance(self, chunk: _Chunk) -> Cycles:
        ports, bursts, beats = len(chunk.frees), len(chunk.firsts), len(chunk.needs)
        left = np.concatenate([self.left, np.full(ports, LONG_AGO)])
        ended = np.concatenate([self.ended, np.full(bursts, LONG_AGO)])
        room, slots = len(self.left), len(self.ended)
        at_full_rate, a_cycle_each = np.arange(beats) * self.interval, np.arange(bursts)
        while True:
            requests = ended[:bursts] + 1
            requests[0] = max(requests[0], self.request + 1)
            requests = np.maximum.accumulate(requests - a_cycle_each) + a_cycle_each
            taken = left[:ports] + 1
            taken[chunk.firsts] = np.maximum(taken[chunk.firsts], requests + self.latency)
            taken[0] = max(taken[0], self.taken + chunk.arrive[0])
            taken = np.maximum.accumulate(taken - chunk.arrive) + chunk.arrive
            issues = taken[chunk.needs] + 1
            issues[0] = max(issues[0], self.issue + self.interval)
            issues = np.maximum.accumulate(issues - at_full_rate) + at_full_rate
            was_left, was_ended = left[room:ports].copy(), ended[slots:bursts].copy()
            left[room:], ended[slots:] = issues[chunk.frees], taken[chunk.lasts]
            if np.array_equal(was_left, left[room:ports]) and np.array_equal(was_ended, ended[slots:bursts]):
                break
        self.request, self.taken, self.issue = int(requests[-1]), int(taken[-1]), int(issues[-1])
        self.left, self.ended = left[ports:], ended[bursts:]
        return issues


def _chunks(config: Config, words: int, beats: int) -> list[_Chunk]:
    """Cut a column of `beats` beats of `words` words into chunks of whole bursts and whole beats of the lanes."""
    memory = config.memory
    wide = -(-words // memory.words_per_beat)  # port beats for one beat of the lanes
    shared = max(1, memory.words_per_beat // words)  # beats of the lanes from one port beat
    ports = -(-beats * wide // shared)
    whole = math.lcm(memory.burst_length, wide)
    size = -(-CHUNK // whole) * whole
    parts = 1 + _late(config, ports)
    parts[:: memory.burst_length] += memory.burst_gap
    chunks = []
    for start in range(0, ports, size):
        some = min(size, ports - start)
        inside = min(some * shared // wide, beats - start * shared // wide)
        firsts = np.arange(0, some, memory.burst_length)
        chunks.append(
            _Chunk(
                arrive=np.cumsum(parts[start : start + some]),
                firsts=firsts,
                lasts=np.minimum(firsts + memory.burst_length, some) - 1,
                needs=(np.arange(inside) + 1) * wide - 1 if wide > 1 else np.arange(inside) // shared,
                frees=np.minimum((np.arange(some) // wide + 1) * shared, inside) - 1,
            )
        )
    return chunks


def _late(config: Config, ports: int) -> Cycles:
    """Cycles by which each port beat of a column is late: banks that are slower than the ports, and random gaps."""
    memory = config.memory
    x = np.arange(ports)
    pace = config.pace - 1
    late = np.diff(x * pace.numerator // pace.denominator, prepend=0)
    if memory.random_gap_percent:
        h = (x * 2_654_435_761 + 40_503 * (memory.random_gap_seed & 0xFFFFFFFF)).astype(np.uint32)
        h ^= h >> np.uint32(15)
        h *= np.uint32(2_246_822_519)
        h ^= h >> np.uint32(13)
        hit = (h & np.uint32(0xFFFF)) * 100.0 < memory.random_gap_percent * 65_536
        late += np.where(hit, 1 + ((h >> np.uint32(16)) & np.uint32(3)), 0)
    late[:1] = 0
    return late
