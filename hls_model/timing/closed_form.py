"""Level 0: cycles by formula.

Where memory keeps up, a column of nb beats takes M + (nb - 1) II + 1 + D + Z cycles (M latency, II initiation interval,
D depth, Z state machine) and an RS prefetch M + nb + 1. Where memory is the bottleneck the formula takes the greater of
the lanes' and the ports' time, which is a lower bound; `exact` says where nothing can be lost between the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.timing.phases import PassPhases

__all__ = ["time_passes"]

Cycles = NDArray[np.int64]


@dataclass(frozen=True)
class _Stream:
    """Columns read as one stream of requests: issue of the first and the last beat after the first request."""

    first: Cycles
    last: Cycles


def time_passes(config: Config, columns: Cycles, beats: Cycles) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more."""
    zero = np.zeros_like(columns)
    once = np.ones_like(columns)
    runs, joined = (once, columns) if config.overlap_outer else (columns, once)
    stream = _stream(config, joined, beats, config.ii, config.issue_words)
    ideal = (joined * beats - 1) * config.ii + 1
    prefetches = {"per_position": once, "per_outer": columns, "none": zero}[config.rs_prefetch]
    prefetch = _stream(config, once, beats, 1, config.lanes)
    return PassPhases(
        prefetch=prefetches * (prefetch.last + 1),
        fill=runs * stream.first,
        stream=runs * ideal,
        stall=runs * (stream.last - stream.first + 1 - ideal),
        drain=runs * (config.depth + config.fsm_cycles - 1),
        exact=_keeps_up(config, joined, beats),
    )


def _stream(config: Config, joined: Cycles, beats: Cycles, interval: int, words: int) -> _Stream:
    """Issue of `joined` columns of `beats` beats of `words` words, at least `interval` cycles apart."""
    memory = config.memory
    wide = -(-words // memory.words_per_beat)  # port beats for one beat of the lanes
    shared = max(1, memory.words_per_beat // words)  # beats of the lanes from one port beat
    ports = -(-beats * wide // shared)
    pace = memory.pace(config.clock_mhz) - 1

    def in_column(beat: Cycles) -> Cycles:
        return beat + beat * pace.numerator // pace.denominator + memory.burst_gap * (beat // memory.burst_length)

    column = in_column(ports - 1) + 1 + memory.burst_gap
    first = memory.latency + 1 + in_column(np.full_like(beats, wide - 1))
    arrived = memory.latency + 1 + (joined - 1) * column + in_column(ports - 1)
    return _Stream(first, np.maximum(first + (joined * beats - 1) * interval, arrived))


def _keeps_up(config: Config, joined: Cycles, beats: Cycles) -> NDArray[np.bool_]:
    """Whether data of every beat are there when the lanes could take them."""
    memory = config.memory
    if config.beats_per_issue > 1 or memory.pace(config.clock_mhz) > 1 or memory.random_gap_percent:
        return np.zeros(beats.shape, bool)
    ports = -(-beats // config.issues_per_beat)
    requests = joined * -(-ports // memory.burst_length)
    rest = ports % memory.burst_length
    shortest = np.where((rest == 0) | (joined == 1), np.minimum(ports, memory.burst_length), rest)
    hidden = (requests <= memory.outstanding) | (memory.latency <= (memory.outstanding - 1) * shortest)
    kept: NDArray[np.bool_] = hidden & ((memory.burst_gap == 0) | (requests == 1))
    return kept
