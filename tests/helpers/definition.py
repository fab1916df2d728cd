"""The cycles of docs/fpga.md, "What happens in which cycle", equation by equation in plain loops."""

from __future__ import annotations

from hls_model import Config, Workload
from hls_model.timing.passes import split

NEVER = -(10**9)


def late(config: Config, x: int) -> int:
    """How much later than at full rate port beat x of a column comes."""
    if x == 0:
        return 0
    memory = config.memory
    slower = memory.pace(config.clock_mhz) - 1
    h = (2654435761 * x + 40503 * memory.random_gap_seed) % 2**32
    h ^= h >> 15
    h = h * 2246822519 % 2**32
    h ^= h >> 13
    random = 1 + (h >> 16 & 3) if (h & 0xFFFF) * 100 < memory.random_gap_percent * 65536 else 0
    return int(x * slower // 1) - int((x - 1) * slower // 1) + random


class Stream:
    """Columns of beats that are read one after the other: requests, data, FIFO and issue."""

    def __init__(self, config: Config, words: int, interval: int) -> None:
        self.config, self.interval = config, interval
        width = config.memory.words_per_beat
        self.wide, self.shared = -(-words // width), max(1, width // words)
        self.requests: list[int] = []  # r(k)
        self.ends: list[int] = []  # A of each burst's last port beat
        self.taken: list[int] = []  # A(x)
        self.gone: list[int] = []  # C(x)
        self.issued: list[int] = []  # t(b)

    def column(self, start: int, beats: int) -> int:
        """Read a column whose first request is not before `start`, and return the issue of its last beat.

        Beat by beat, as a port beat may have to wait until an earlier one has left the FIFO.
        """
        memory, first = self.config.memory, len(self.taken)
        ports = -(-beats * self.wide // self.shared)
        done = 0
        for x in range(ports):
            if x % memory.burst_length == 0:
                slot = self.ends[-memory.outstanding] if len(self.ends) >= memory.outstanding else NEVER
                follows = self.requests[-1] + 1 if self.requests else NEVER
                self.requests.append(max(start, follows, slot + 1))
            self._take(x)
            if x % memory.burst_length == memory.burst_length - 1 or x == ports - 1:
                self.ends.append(self.taken[-1])
            while done < beats and done // self.shared * self.wide + self.wide - 1 <= x:
                after = self.issued[-1] + self.interval if self.issued else NEVER
                self.issued.append(max(after, self.taken[first + x] + 1))
                done += 1
                if done % self.shared == 0 or done == beats:
                    self.gone += [self.issued[-1]] * self.wide
        return self.issued[-1]

    def _take(self, x: int) -> None:
        memory = self.config.memory
        before = self.taken[-1] if self.taken else NEVER
        offered = before + 1 + late(self.config, x)
        if x % memory.burst_length == 0:
            offered = max(self.requests[-1] + memory.latency, offered + memory.burst_gap)
        here = len(self.taken)
        room = self.gone[here - memory.fifo_beats] + 1 if here >= memory.fifo_beats else NEVER
        self.taken.append(max(offered, room))


def prefetch_ends(config: Config, start: int, beats: int) -> int:
    """The cycle of the last write into the RS buffer."""
    return Stream(config, config.lanes, 1).column(start, beats)


def pass_cycles(config: Config, columns: int, beats: int) -> int:
    """Cycles of one pass."""
    end = config.depth + config.fsm_cycles
    start = prefetch_ends(config, 0, beats) + 1 if config.rs_prefetch == "per_position" else 0
    if config.overlap_outer:
        stream = Stream(config, config.issue_words, config.ii)
        return [stream.column(start, beats) for _ in range(columns)][-1] + end
    for _ in range(columns):
        if config.rs_prefetch == "per_outer":
            start = prefetch_ends(config, start, beats) + 1
        start = Stream(config, config.issue_words, config.ii).column(start, beats) + end
    return start


def position_cycles(config: Config, left: int, right: int) -> int:
    """Cycles of one grid position."""
    passes = split(Workload.single(left, right), config)
    pairs = zip(passes.columns, passes.beats, strict=True)
    total = sum(pass_cycles(config, int(columns), int(beats)) for columns, beats in pairs)
    return total + config.lanes * bool(total)
