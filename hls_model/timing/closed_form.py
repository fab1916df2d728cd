"""Level 0: cycles by formula.

Where memory keeps up, a column of nb beats takes M + (nb - 1) II + 1 + D + Z cycles (M latency, II initiation interval,
D depth, Z state machine) and an RS prefetch M + nb + 1. Where memory is the bottleneck, the last beat is issued in the
cycle after its data came. The formula takes the greater of the two, which is a lower bound; `exact` says where
provably nothing is lost between them:

- memory leads: port beats come on time for every beat, so that only the interval counts;
- lanes lead: every beat is issued as soon as its data are there, and the FIFO never holds a port beat back.

Both need requests early enough to hide the latency, or a formula for how late they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.timing.phases import PassPhases

__all__ = ["time_passes"]

Cycles = NDArray[np.int64]
Flags = NDArray[np.bool_]


def time_passes(config: Config, columns: Cycles, beats: Cycles) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more."""
    once = np.ones_like(columns)
    runs, joined = (once, columns) if config.overlap_outer else (columns, once)
    path = _ReadPath(config, config.issue_words, config.ii, joined, beats)
    first, last = path.first(), path.last()
    prefetches = {"per_position": once, "per_outer": columns, "none": 0 * columns}[config.rs_prefetch]
    prefetch = _ReadPath(config, config.lanes, 1, once, beats)
    ideal = (joined * beats - 1) * config.ii + 1
    return PassPhases(
        prefetch=prefetches * (prefetch.last() + 1),
        fill=runs * first,
        stream=runs * ideal,
        stall=runs * (last - first + 1 - ideal),
        drain=runs * (config.depth + config.fsm_cycles - 1),
        exact=path.exact() & (prefetch.exact() | (prefetches == 0)),
    )


@dataclass(frozen=True)
class _ReadPath:
    """`joined` columns of `beats` beats of `words` words, at least `interval` cycles apart, read as one stream."""

    config: Config
    words: int
    interval: int
    joined: Cycles
    beats: Cycles

    @property
    def wide(self) -> int:
        """Port beats for one beat of the lanes."""
        return -(-self.words // self.config.memory.words_per_beat)

    @property
    def shared(self) -> int:
        """Beats of the lanes from one port beat."""
        return max(1, self.config.memory.words_per_beat // self.words)

    @property
    def ports(self) -> Cycles:
        """Port beats of a column."""
        return -(-self.beats * self.wide // self.shared)

    @property
    def slow(self) -> tuple[int, int]:
        """Cycles lost to slow banks per port beat, as a fraction."""
        lost = self.config.pace - 1
        return lost.numerator, lost.denominator

    @property
    def steps(self) -> int:
        """Least cycles between two beats: the interval, or more where the FIFO has room for one beat only."""
        tight = self.wide > 1 and self.config.memory.fifo_beats == self.wide
        return max(self.interval, self.wide + 1) if tight else self.interval

    @property
    def turn(self) -> Cycles:
        """Cycles by which slow banks part a column's last port beat from the first one of the next."""
        slow, per = self.slow
        turned: Cycles = -(-self.ports * slow // per) - (self.ports - 1) * slow // per
        return turned

    def in_column(self, x: Cycles) -> Cycles:
        """Cycles from a column's first port beat to its port beat x, if the FIFO always has room."""
        memory, (slow, per) = self.config.memory, self.slow
        bursts, inside = np.divmod(x, memory.burst_length)
        channel = x + memory.burst_gap * bursts + x * slow // per
        rounds, turn = np.divmod(bursts, memory.outstanding)
        slots = rounds * (self.config.latency + memory.burst_length) + turn * (memory.burst_length + memory.burst_gap)
        waits: Cycles = np.maximum(channel, slots + inside)
        return waits

    def first(self) -> Cycles:
        """Issue of the first beat after the first request."""
        return self.config.latency + 1 + self.in_column(np.full_like(self.beats, self.wide - 1))

    def last(self) -> Cycles:
        """Issue of the last beat after the first request."""
        column = self.in_column(self.ports - 1)
        before = (self.joined - 1) * (column + 1 + self.config.memory.burst_gap + self.turn)
        arrived = self.config.latency + 1 + before + column
        at_rate = self.first() + (self.joined * self.beats - 1) * self.steps
        last: Cycles = np.maximum(at_rate, arrived)
        return last

    def exact(self) -> Flags:
        """Whether `first` and `last` are those of the hardware."""
        memory = self.config.memory
        full_rate = self.slow[0] == 0
        regular = np.full(self.beats.shape, memory.random_gap_percent == 0) | (self.ports == 1)
        regular &= memory.random_stall_percent == 0
        hidden = self._hidden()
        one_column = self.joined == 1
        lanes_lead = self.shared == 1 and self.wide >= self.interval and memory.fifo_beats > self.wide
        known = hidden | (one_column & full_rate)
        tight = full_rate and memory.burst_gap == 0 and self.steps > self.interval
        one_port_beat = one_column & (self.ports == 1)
        exact: Flags = regular & (hidden & (self._memory_leads() | tight) | known & lanes_lead | one_port_beat)
        return exact

    def _hidden(self) -> Flags:
        """Whether requests are accepted so early that no burst waits for the latency but the first."""
        memory = self.config.memory
        bursts = -(-self.ports // memory.burst_length)
        others = memory.outstanding - 1  # bursts under way while one is asked for
        cut = bursts * memory.burst_length - self.ports  # port beats that the last burst lacks
        shortest = others * memory.burst_length - np.where(self.joined > 1, -(-others // bursts) * cut, 0)
        enough = self.config.latency <= shortest + memory.outstanding * memory.burst_gap
        hidden: Flags = enough | (self.joined * bursts <= memory.outstanding)
        return hidden

    def _memory_leads(self) -> Flags:
        """Whether the port beats of a beat come within the interval even where gaps meet."""
        memory, (slow, per) = self.config.memory, self.slow
        bursts = -(-self.ports // memory.burst_length)
        gaps = np.where(bursts > 1, -(-self.wide // memory.burst_length), 0) + (self.joined > 1)
        took = self.wide + np.minimum(gaps, self.wide) * memory.burst_gap - (-self.wide * slow // per)
        if self.wide > 1:
            return np.asarray(took + 1 <= self.interval)
        fewest = np.where(self.joined > 1, self.beats - (self.ports - 1) * self.shared, self.shared)
        return np.asarray(took <= fewest * self.interval)
