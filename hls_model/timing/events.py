"""Level 1: the cycle of every request, port beat and issue, a whole column at a time.

The recurrences are those of the event engine (`hls_model.streams`), with one flow: TS (and RS, where it is streamed) to
the lanes, or RS to its buffer.

Columns that do not overlap are all alike, and a shorter one is the beginning of a longer one, so one column serves a
whole scan. Columns that do overlap are followed until the state at a column's end is one seen before; from there on
everything repeats.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from hls_model.config import Config
from hls_model.streams import Cycles, Flow, ReadPath, Supply, slower, turn
from hls_model.timing.passes import PassPhases

STALL_SALT = 3_266_489_917  # so that stalls and gaps are chosen apart


def time_passes(config: Config, columns: Cycles, beats: Cycles) -> PassPhases:
    """Return the cycles of passes of `columns` columns of `beats` beats each, int64 (passes,), both 1 or more."""
    once = np.ones_like(columns)
    runs, joined = (once, columns) if config.overlap_outer else (columns, once)
    first, last = (_joined if config.overlap_outer else _alone)(config, columns, beats)
    prefetch = np.zeros_like(columns)
    if config.rs_prefetch != "none" and len(beats):
        issues = _read_path(config, config.lanes, 1, int(beats.max())).column()
        prefetch = (issues[beats - 1] + 1) * (columns if config.rs_prefetch == "per_outer" else once)
    ideal = (joined * beats - 1) * config.ii + 1
    return PassPhases(
        prefetch=prefetch,
        fill=runs * first,
        stream=runs * ideal,
        stall=runs * (last - first + 1 - ideal),
        drain=runs * (config.depth + config.fsm_cycles - 1),
    )


def _alone(config: Config, columns: Cycles, beats: Cycles) -> tuple[Cycles, Cycles]:
    """Issue of the first and the last beat of a column, counted from its first request."""
    if not len(beats):
        return beats, beats
    issues = _read_path(config, config.issue_words, config.ii, int(beats.max())).column()
    return np.full_like(beats, issues[0]), issues[beats - 1]


def _joined(config: Config, columns: Cycles, beats: Cycles) -> tuple[Cycles, Cycles]:
    """Issue of the first and the last beat of columns that overlap, counted from the first request."""
    first, last = np.zeros_like(beats), np.zeros_like(beats)
    for length in np.unique(beats):
        where = beats == length
        path = _read_path(config, config.issue_words, config.ii, int(length))
        first[where], last[where] = _repeated(path, columns[where])
    return first, last


def _repeated(path: ReadPath, columns: Cycles) -> tuple[int, Cycles]:
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


def _read_path(config: Config, words: int, interval: int, beats: int) -> ReadPath:
    """Return the path of columns of `beats` beats of `words` words to the lanes or the RS buffer."""
    memory = config.memory
    supply = Supply(
        latency=config.latency,
        burst_length=memory.burst_length,
        burst_gap=memory.burst_gap,
        outstanding=memory.outstanding,
        fifo_beats=memory.fifo_beats,
        late=partial(_late, config),
        stall=partial(_stalls, config),
    )
    return ReadPath([Flow.of_words(supply, words, memory.words_per_beat)], beats, interval)


def _late(config: Config, x: Cycles) -> Cycles:
    """Cycles by which all port beats x of a column are late: banks slower than the ports, and random gaps."""
    memory, pace = config.memory, config.pace - 1
    late = slower(pace.numerator, pace.denominator)(x)
    if memory.random_gap_percent:
        late += np.where(x > 0, _random(x, memory.random_gap_seed, 0, memory.random_gap_percent, 3), 0)
    late[:1] = turn(pace.numerator, pace.denominator, len(x))
    return late


def _stalls(config: Config, bursts: Cycles) -> Cycles:
    """Cycles by which memory accepts the requests of a column's bursts late."""
    memory = config.memory
    if not memory.random_stall_percent:
        return np.zeros_like(bursts)
    return _random(bursts, memory.random_gap_seed, STALL_SALT, memory.random_stall_percent, 7)


def _random(x: Cycles, seed: int, salt: int, percent: float, mask: int) -> Cycles:
    """1 to `mask` + 1 for a share of the numbers x, 0 for the others."""
    h = (x * 2_654_435_761 + 40_503 * (seed & 0xFFFFFFFF) + salt).astype(np.uint32)
    h ^= h >> np.uint32(15)
    h *= np.uint32(2_246_822_519)
    h ^= h >> np.uint32(13)
    hit = (h & np.uint32(0xFFFF)) * 100.0 < percent * 65_536
    return np.where(hit, 1 + ((h >> np.uint32(16)) & np.uint32(mask)), 0).astype(np.int64)
