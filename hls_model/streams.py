"""The event engine: when a consumer that reads from memory through FIFOs takes each of its beats.

A `Flow` is one read path: requests of bursts, a data channel, and a FIFO from which the consumer takes port beats. A
consumer issues beat b as soon as every flow holds what the beat needs and its interval has passed. `ReadPath` computes
the cycle of every request, port beat and issue, a whole column (one run over the data) at a time. The rules are those
of `docs/how/fpga-cycles.md`. With r(k) the request of burst k, A(x) the cycle in which
port beat x is taken from the channel, C(x) the one in which it leaves the FIFO, and t(b) the issue of beat b:

    r(k) = max(r(k-1) + 1, A(last port beat of burst k - O) + 1) + stall(k)
    A(x) = max(A(x-1) + 1 + late(x) + gap at the start of a burst, r(k) + M at the start of burst k, C(x-F) + 1)
    t(b) = max(t(b-1) + II, max over the flows of A(last port beat that b needs) + 1, ready)

Each recurrence is a running maximum (t(n) = max(t(n-1) + 1, v(n)) is `maximum.accumulate(v - n) + n`) but for what
reaches back: a port beat waits for room in the FIFO, a request for a slot, a flow for the others. Those terms start
from a lower bound and are substituted until nothing changes, which takes two rounds where they do not bind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hls_model.errors import ModelError

Cycles = NDArray[np.int64]
LONG_AGO = -(1 << 60)
CHUNK = 512  # port beats that are computed together, at least


def on_time(numbers: Cycles) -> Cycles:
    """Return no delay for each of the port beats or bursts numbered."""
    return np.zeros_like(numbers)


def slower(numerator: int, denominator: int) -> Callable[[Cycles], Cycles]:
    """Return the lateness of port beats that take 1 + numerator / denominator cycles each on average."""

    def late(numbers: Cycles) -> Cycles:
        before = np.maximum(numbers - 1, 0)
        lost: Cycles = numbers * numerator // denominator - before * numerator // denominator
        return lost

    return late


def turn(numerator: int, denominator: int, ports: int) -> int:
    """Return the lateness of a column's first port beat behind a column of `ports` of them; rounded up once a column.

    All port beats of a column then take no less than their share, however short the column is.
    """
    return -(-ports * numerator // denominator) - (ports - 1) * numerator // denominator


@dataclass(frozen=True)
class Supply:
    """A memory port, what lies behind it, and the FIFO in front of the consumer.

    Attributes
    ----------
    latency : int
        M, cycles from an accepted request to the first data; 1 at least.
    burst_length, burst_gap : int
        Port beats of a request; idle cycles on the data channel between two bursts.
    outstanding, fifo_beats : int
        O, requests under way at a time; F, port beats that the FIFO holds.
    late, stall : callable
        Cycles by which port beats 0, 1, ... of a column are late on the channel, and by which the requests of its
        bursts 0, 1, ... are accepted later than they could be: both from an int64 array to one of the same shape.
        The lateness of port beat 0 is that behind an equal column; the first one after a pause is never late.
    """

    latency: int
    burst_length: int = 16
    burst_gap: int = 0
    outstanding: int = 16
    fifo_beats: int = 64
    late: Callable[[Cycles], Cycles] = on_time
    stall: Callable[[Cycles], Cycles] = on_time


@dataclass(frozen=True)
class Flow:
    """What a consumer reads over one supply.

    Attributes
    ----------
    supply : Supply
    wide : int
        Port beats that one beat of the consumer takes, all at once; the FIFO has to hold them.
    shared : int
        Beats of the consumer that one port beat feeds; 1 where `wide` is more than 1.

    Raises
    ------
    ModelError
        Both `wide` and `shared` are more than 1, or the FIFO does not hold a beat.
    """

    supply: Supply
    wide: int = 1
    shared: int = 1

    def __post_init__(self) -> None:
        if min(self.wide, self.shared) != 1:
            raise ModelError(f"wide is {self.wide} and shared is {self.shared}; one of them has to be 1")
        if self.supply.fifo_beats < self.wide:
            raise ModelError(f"a FIFO of {self.supply.fifo_beats} port beats does not hold the {self.wide} of a beat")

    @classmethod
    def of_words(cls, supply: Supply, words: int, words_per_port_beat: int) -> Flow:
        """Return the flow of a consumer that takes `words` a beat, never words of one port beat in two halves."""
        return cls(supply, -(-words // words_per_port_beat), max(1, words_per_port_beat // words))

    @property
    def period(self) -> int:
        """Beats of the consumer after which a burst begins anew with a beat."""
        if self.wide == 1:
            return self.supply.burst_length * self.shared
        return math.lcm(self.supply.burst_length, self.wide) // self.wide

    def ports(self, beats: int) -> int:
        """Port beats of `beats` beats."""
        return -(-beats * self.wide // self.shared)


class ReadPath:
    """A consumer and its flows, column after column of `beats` beats; the first requests are in cycle 0.

    Parameters
    ----------
    flows : sequence of Flow
        What each beat needs.
    beats : int
        Beats of a column, 1 at least.
    interval : int
        Least cycles between two issues.
    ready : int
        The first cycle in which the consumer can issue.
    """

    def __init__(self, flows: Sequence[Flow], beats: int, interval: int, ready: int = 0) -> None:
        size = math.lcm(*(flow.period for flow in flows))
        size *= -(-CHUNK // min(flow.ports(size) for flow in flows))
        self.interval = interval
        self.issue = ready - interval  # of the last beat
        self.lines = [_Line(flow, beats, size) for flow in flows]
        self.lengths = [min(size, beats - start) for start in range(0, beats, size)]

    def column(self) -> Cycles:
        """Return the cycle of each beat's issue in the next column, int64 (beats,)."""
        return np.concatenate([self._advance(chunk, length) for chunk, length in enumerate(self.lengths)])

    def state(self) -> bytes:
        """Return what decides about the columns to come, whenever that may be."""
        origin = self.lines[0].taken
        return b"".join([np.array([self.issue - origin]).tobytes(), *(line.state(origin) for line in self.lines)])

    def _advance(self, chunk: int, beats: int) -> Cycles:
        at_full_rate = np.arange(beats) * self.interval
        for line in self.lines:
            line.begin(chunk)
        issues, settled = np.zeros(beats, np.int64), False
        while not settled:
            arrived = np.maximum.reduce([line.arrivals() for line in self.lines])
            arrived[0] = max(arrived[0], self.issue + self.interval)
            issues = np.maximum.accumulate(arrived - at_full_rate) + at_full_rate
            settled = not sum(line.leave(issues) for line in self.lines)
        for line in self.lines:
            line.end()
        self.issue = int(issues[-1])
        return issues


@dataclass(frozen=True)
class _Chunk:
    """Part of a column, from the start of a burst to the end of one (or of the column).

    Attributes
    ----------
    arrive, ask : ndarray
        Cycles by which the data channel parts each port beat, and the stalls and turns each request, from the one
        before, summed from the chunk's start.
    stall : ndarray
        Stall of each request.
    firsts, lasts : ndarray
        First and last port beat of each burst.
    needs, frees : ndarray
        Last port beat that each beat of the consumer needs; last beat of the consumer that needs each port beat.
    """

    arrive: Cycles
    ask: Cycles
    stall: Cycles
    firsts: Cycles
    lasts: Cycles
    needs: Cycles
    frees: Cycles


class _Line:
    """The events of one flow: what has happened, and the chunk that is being computed."""

    def __init__(self, flow: Flow, beats: int, size: int) -> None:
        supply = flow.supply
        self.latency = supply.latency
        self.chunks = _chunks(flow, beats, size)
        self.lead = self.latency + sum(int(chunk.stall.sum()) for chunk in self.chunks)
        self.request = -1  # cycle of the last request
        self.taken = LONG_AGO  # of the last port beat
        self.left = np.full(supply.fifo_beats, LONG_AGO)  # when the last port beats left the FIFO
        self.ended = np.full(supply.outstanding, LONG_AGO)  # when the last beats of the last bursts were taken

    def begin(self, chunk: int) -> None:
        """Start the computation of a chunk with lower bounds."""
        self.chunk = self.chunks[chunk]
        self.room, self.slots = len(self.left), len(self.ended)
        self.left = np.concatenate([self.left, np.full(len(self.chunk.frees), LONG_AGO)])
        self.ended = np.concatenate([self.ended, np.full(len(self.chunk.firsts), LONG_AGO)])

    def arrivals(self) -> Cycles:
        """Return the first cycle in which each beat's data are at the FIFO's head, as far as is known."""
        chunk = self.chunk
        ports, bursts = len(chunk.frees), len(chunk.firsts)
        requests = self.ended[:bursts] + 1
        requests[0] = max(requests[0], self.request + 1)
        self.requests = np.maximum.accumulate(requests + chunk.stall - chunk.ask) + chunk.ask
        taken = self.left[:ports] + 1
        taken[chunk.firsts] = np.maximum(taken[chunk.firsts], self.requests + self.latency)
        taken[0] = max(taken[0], self.taken + chunk.arrive[0])
        self.takes = np.maximum.accumulate(taken - chunk.arrive) + chunk.arrive
        arrived: Cycles = self.takes[chunk.needs] + 1
        return arrived

    def leave(self, issues: Cycles) -> bool:
        """Let port beats leave with the issues; return whether anything changed that a later event looks back at."""
        ports, bursts = len(self.chunk.frees), len(self.chunk.firsts)
        was_left, was_ended = self.left[self.room : ports].copy(), self.ended[self.slots : bursts].copy()
        self.left[self.room :], self.ended[self.slots :] = issues[self.chunk.frees], self.takes[self.chunk.lasts]
        moved = not np.array_equal(was_left, self.left[self.room : ports])
        return moved or not np.array_equal(was_ended, self.ended[self.slots : bursts])

    def end(self) -> None:
        """Keep what the next chunk looks back at."""
        self.request, self.taken = int(self.requests[-1]), int(self.takes[-1])
        self.left, self.ended = self.left[len(self.chunk.frees) :], self.ended[len(self.chunk.firsts) :]

    def state(self, origin: int) -> bytes:
        """Return what decides about later events, relative to a cycle."""
        # What lies further back than the last beat (or request) can delay nothing any more, nor can a last request so
        # early that those of a column, stalls included, come before their data can be taken.
        request = max(self.request, self.taken - self.lead)
        scalars = np.array([request - origin, self.taken - origin])
        room, slots = np.maximum(self.left - self.taken, 0), np.maximum(self.ended - request, 0)
        return np.concatenate([scalars, room, slots]).tobytes()


def _chunks(flow: Flow, beats: int, size: int) -> list[_Chunk]:
    """Cut a flow's part in a column into chunks of `size` beats of the consumer."""
    supply, wide, shared = flow.supply, flow.wide, flow.shared
    ports = flow.ports(beats)
    parts = 1 + supply.late(np.arange(ports))
    parts[:: supply.burst_length] += supply.burst_gap
    stall = supply.stall(np.arange(-(-ports // supply.burst_length)))
    chunks = []
    for start in range(0, beats, size):
        inside = min(size, beats - start)
        first_port, some = flow.ports(start), flow.ports(inside)
        firsts = np.arange(0, some, supply.burst_length)
        stalled = stall[first_port // supply.burst_length :][: len(firsts)]
        beat = np.arange(inside)
        chunks.append(
            _Chunk(
                arrive=np.cumsum(parts[first_port : first_port + some]),
                ask=np.cumsum(stalled + 1),
                stall=stalled,
                firsts=firsts,
                lasts=np.minimum(firsts + supply.burst_length, some) - 1,
                needs=(beat + 1) * wide - 1 if wide > 1 else beat // shared,
                frees=np.minimum((np.arange(some) // wide + 1) * shared, inside) - 1,
            )
        )
    return chunks
