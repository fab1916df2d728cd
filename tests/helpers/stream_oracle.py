"""The event engine's rules, stepped cycle by cycle with counters and a queue, and flows to try it on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st

from hls_model.streams import Cycles, Flow, Supply


class _Port:
    """One flow: what the memory still owes, and what the FIFO holds."""

    def __init__(self, flow: Flow, columns: int, beats: int) -> None:
        self.flow, supply = flow, flow.supply
        ports = -(-beats * flow.wide // flow.shared)
        lengths = [min(supply.burst_length, ports - x) for x in range(0, ports, supply.burst_length)]
        self.bursts = deque((k, length) for _ in range(columns) for k, length in enumerate(lengths))
        self.free, self.held, self.served = supply.outstanding, 0, 0
        self.owed: deque[tuple[int, int, int]] = deque()  # (first cycle of data, first port beat, port beats)
        self.waited = self.idle = 0
        self.started = False

    def step(self, now: int) -> None:
        """Ask, and take a port beat; `held` and `free` change at the end of the cycle."""
        supply = self.flow.supply
        freed = taken = 0
        if self.idle:
            self.idle -= 1
        elif self.owed and self.owed[0][0] <= now and self.held < supply.fifo_beats:
            arrived, x, left = self.owed.popleft()
            taken = 1
            if left > 1:
                self.owed.appendleft((arrived, x + 1, left - 1))
                self.idle = late(supply, x + 1)
            else:
                freed, self.idle = 1, supply.burst_gap + late(supply, self.next_first())
        if self.bursts and self.free:
            k, length = self.bursts[0]
            if self.waited == int(supply.stall(_one(k))[0]):
                self.bursts.popleft()
                self.owed.append((now + supply.latency, k * supply.burst_length, length))
                self.free -= 1
                self.waited = 0
            else:
                self.waited += 1
        self.freed, self.taken = freed, taken

    def next_first(self) -> int:
        """First port beat of the next burst; 0 after the last of all."""
        if self.owed:
            return self.owed[0][1]
        return self.bursts[0][0] * self.flow.supply.burst_length if self.bursts else 0

    def settle(self) -> None:
        self.free += self.freed
        self.held += self.taken


def late(supply: Supply, x: int) -> int:
    return int(supply.late(_one(x))[0])


def _one(x: int) -> Cycles:
    return np.array([x], np.int64)


def issues(flows: Sequence[Flow], columns: int, beats: int, interval: int, ready: int = 0) -> list[int]:
    """Return the cycle of every issue of `columns` columns in a row."""
    ports = [_Port(flow, columns, beats) for flow in flows]
    found: list[int] = []
    now = 0
    while len(found) < columns * beats:
        for port in ports:
            port.step(now)
        spaced = not found or now >= found[-1] + interval
        if now >= ready and spaced and all(port.held >= port.flow.wide for port in ports):
            beat = len(found) % beats
            for port in ports:
                last_user = (beat + 1) % port.flow.shared == 0 or beat + 1 == beats
                port.held -= port.flow.wide if last_user else 0
            found.append(now)
        for port in ports:
            port.settle()
        now += 1
    return found


def pattern(values: Sequence[int], *, zero_first: bool) -> Callable[[Cycles], Cycles]:
    """Return a lateness or stall that repeats `values`."""
    table = np.array(values, np.int64)

    def delays(numbers: Cycles) -> Cycles:
        found: Cycles = table[numbers % len(table)]
        return np.where(numbers == 0, 0, found) if zero_first else found

    return delays


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    """Draw a flow with any FIFO that holds a beat, gaps, lateness and stalls."""
    wide = draw(st.just(1) | st.integers(1, 6))
    supply = Supply(
        latency=draw(st.integers(1, 40)),
        burst_length=draw(st.integers(1, 9)),
        burst_gap=draw(st.just(0) | st.integers(1, 5)),
        outstanding=draw(st.integers(1, 5)),
        fifo_beats=wide + draw(st.integers(0, 12)),
        late=pattern(draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)), zero_first=True),
        stall=pattern(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)), zero_first=False),
    )
    return Flow(supply, wide, draw(st.integers(1, 7)) if wide == 1 else 1)
