"""The FPGA pipeline's timing as docs/how/fpga-cycles.md defines it, one event at a time, and designs to try it on."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

from hypothesis import strategies as st

from hls_model import Config, Memory, Operators

PHASES = ("prefetch", "fill", "stream", "stall", "drain")
LATENCY_NS = 10  # of a unit of latency: at least a cycle at the clocks drawn


@dataclass
class Stream:
    """What happened in a stream of columns, in absolute cycles."""

    requests: list[int]
    taken: list[int]
    issues: list[int]


def late(config: Config, x: int, ports: int) -> int:
    q = config.pace - 1
    if x == 0:  # behind another column, whose port beats and this turn take no less than their share
        return ceil(ports * q) - floor((ports - 1) * q)
    h = (2654435761 * x + 40503 * config.memory.random_gap_seed) % 2**32
    h ^= h >> 15
    h = h * 2246822519 % 2**32
    h ^= h >> 13
    random = 1 + ((h >> 16) & 3) if (h & 0xFFFF) * 100 < config.memory.random_gap_percent * 65536 else 0
    return int(x * q // 1) - int((x - 1) * q // 1) + random


def stall(config: Config, k: int) -> int:
    h = (2654435761 * k + 40503 * config.memory.random_gap_seed + 3266489917) & 0xFFFFFFFF
    h ^= h >> 15
    h = (h * 2246822519) & 0xFFFFFFFF
    h ^= h >> 13
    return 1 + ((h >> 16) & 7) if (h & 0xFFFF) * 100 < config.memory.random_stall_percent * 65536 else 0


def stream(config: Config, start: int, columns: int, beats: int, words: int, interval: int) -> Stream:
    """Compute event by event; a port beat or a request whose turn has not come is not looked at."""
    memory = config.memory
    c = -(-words // memory.words_per_beat)
    g = max(1, memory.words_per_beat // words)
    ports = beats * c if c > 1 else -(-beats // g)
    # What is read, in order: (column's port beat x, first of its burst, last of its burst), and who needs it
    reads = [
        (x, x % memory.burst_length == 0, x % memory.burst_length == memory.burst_length - 1 or x == ports - 1)
        for _ in range(columns)
        for x in range(ports)
    ]
    needs = [
        column * ports + ((beat + 1) * c - 1 if c > 1 else beat // g)
        for column in range(columns)
        for beat in range(beats)
    ]
    requests: list[int] = []
    taken: list[int] = []
    issues: list[int] = []
    ends: list[int] = []
    left: list[int] = []

    for x, first, last in reads:
        n = len(taken)
        channel = taken[n - 1] + 1 + late(config, x, ports) if n else 0
        if first:
            k = len(requests)
            request = requests[k - 1] + 1 if k else start
            if k >= memory.outstanding:
                request = max(request, ends[k - memory.outstanding] + 1)
            request += stall(config, x // memory.burst_length)
            requests.append(request)
            channel = max(request + config.latency, channel + memory.burst_gap if n else 0)
        if n >= memory.fifo_beats:
            channel = max(channel, left[n - memory.fifo_beats] + 1)
        taken.append(channel)
        if last:
            ends.append(channel)
        while len(issues) < len(needs) and needs[len(issues)] < len(taken):
            b = len(issues)
            issues.append(max(taken[needs[b]] + 1, issues[b - 1] + interval if b else 0))
            if b + 1 == len(needs) or needs[b + 1] != needs[b]:
                left += [issues[b]] * (needs[b] + 1 - len(left))
    return Stream(requests, taken, issues)


def one_pass(config: Config, columns: int, beats: int) -> dict[str, int]:
    """Return the cycles of a pass by phase."""
    phases = dict.fromkeys(PHASES, 0)
    together = columns if config.overlap_outer else 1
    now = 0
    for column in range(0, columns, together):
        if config.rs_prefetch == "per_outer" or (config.rs_prefetch == "per_position" and column == 0):
            after = stream(config, now, 1, beats, config.lanes, 1).issues[-1] + 1
            phases["prefetch"] += after - now
            now = after
        words = config.lanes * (2 if config.rs_prefetch == "none" else 1)
        issues = stream(config, now, together, beats, words, config.ii).issues
        ideal = (together * beats - 1) * config.ii + 1
        phases["fill"] += issues[0] - now
        phases["stream"] += ideal
        phases["stall"] += issues[-1] - issues[0] + 1 - ideal
        after = issues[-1] + config.depth + config.fsm_cycles
        phases["drain"] += after - issues[-1] - 1
        now = after
    return phases


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Draw a memory, with a FIFO of 2 port beats."""
    latency = draw(st.integers(1, 90))
    return Memory(
        latency_ns=LATENCY_NS * latency,
        efficiency=1.0,
        port_bits=32 * draw(st.integers(1, 12)),
        ports=draw(st.integers(1, 3)),
        burst_length=draw(st.integers(1, 20)),
        burst_gap=draw(st.just(0) | st.integers(0, min(latency, 7))),
        outstanding=draw(st.integers(1, 6) | st.just(16)),
        fifo_beats=2,
        banks=draw(st.integers(1, 2)),
        bank_gbps=draw(st.just(1e6) | st.floats(0.5, 100)),
        random_gap_percent=draw(st.just(0.0) | st.floats(0, 100)),
        random_gap_seed=draw(st.integers(0, 2**33)),
        random_stall_percent=draw(st.just(0.0) | st.floats(0, 100)),
    )


@st.composite
def designs(draw: st.DrawFn) -> Config:
    """Draw a design: narrow and wide ports, from a FIFO that just holds one beat to one that is never full."""
    memory = draw(memories())
    lanes = draw(st.integers(1, 24))
    prefetch = draw(st.sampled_from(["per_position", "per_outer", "none"]))
    needed = max(2, -(-lanes * (2 if prefetch == "none" else 1) // memory.words_per_beat))
    fifo = needed + draw(st.just(0) | st.integers(0, 4) | st.integers(0, 40))
    clock = draw(st.sampled_from([100.0, 250.0]))
    operators = draw(st.just(Operators()) | st.just(Operators(1, 1, 1, 1, 1, 1, 1)))
    return Config(
        unroll=lanes * draw(st.integers(1, 3)),
        physical_lanes=lanes,
        ii=draw(st.integers(1, 4) | st.integers(1, min(24, operators.at(clock).depth))),
        clock_mhz=clock,
        operators=operators,
        memory=Memory(**{**vars(memory), "fifo_beats": fifo}),
        fsm_cycles=draw(st.integers(1, 3)),
        overlap_outer=prefetch != "per_outer" and draw(st.booleans()),
        rs_buffer_words=draw(st.just(32_768) | st.integers(lanes, 6 * lanes)),
        rs_prefetch=prefetch,
        remainder=draw(st.sampled_from(["software", "masked"])),
    )
