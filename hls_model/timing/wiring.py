"""What the cycle level's machine reads through: the wiring of a path from memory, and the receivers of its events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hls_model.config import Config, Memory
from hls_model.streams import turn
from hls_model.timing.events import STALL_SALT

__all__ = ["Probe", "ReadPath"]


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


def _offers(memory: Memory, slow: int, per: int, ports: int) -> list[tuple[bool, int]]:
    offers = []
    for x in range(1, ports):
        goes_on = x % memory.burst_length > 0
        wait = x * slow // per - (x - 1) * slow // per + _random_gap(memory, x)
        offers.append((goes_on, wait if goes_on else wait + memory.burst_gap))
    return [*offers, (False, turn(slow, per, ports) + memory.burst_gap)]


def _random_gap(memory: Memory, x: int) -> int:
    h = _hashed(2_654_435_761 * x + 40_503 * memory.random_gap_seed)
    return 1 + (h >> 16) % 4 if h % 2**16 * 100 < memory.random_gap_percent * 2**16 else 0


def _stall(memory: Memory, burst: int) -> int:
    h = _hashed(2_654_435_761 * burst + 40_503 * memory.random_gap_seed + STALL_SALT)
    return 1 + (h >> 16) % 8 if h % 2**16 * 100 < memory.random_stall_percent * 2**16 else 0


def _hashed(h: int) -> int:
    h %= 2**32
    h ^= h >> 15
    h = h * 2_246_822_519 % 2**32
    return h ^ h >> 13
