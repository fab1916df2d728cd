"""What every part of the machine did in every cycle of one grid position."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.extras.dram.memory import PortMemory, level1_cycles
from hls_model.timing import machine
from hls_model.timing.machine import Probe, ReadPath

Values = NDArray[np.int32]
PASS_PHASES = ("prefetch", "fill", "stream", "stall", "drain")
MAX_CYCLES = 2_000_000  # of some 100 bytes each
STATES = ("idle", "prefetch", "run", "drain", "turn", "merge")
SIGNALS: Mapping[str, str] = {
    "control.state": "state of the machine, an index into STATES",
    "control.merge_lane": "lane that is merged",
    "control.done": "1 in the cycle after the last",
    "request.waits": "1 while a burst of the stream is still to be asked for",
    "request.valid": "1 while a burst is asked for: there is a slot for it",
    "request.accepted": "1 where a request is accepted",
    "request.burst": "number of the stream's burst that is asked for",
    "request.under_way": "requests accepted whose last port beat has not been taken",
    "bus.valid": "1 while memory offers a port beat",
    "bus.ready": "1 while the FIFO has room",
    "bus.taken": "1 where a port beat is taken",
    "bus.beat": "number of the column's port beat that comes next",
    "fifo.count": "port beats in the FIFO",
    "buffer.write": "1 where a beat of RS goes into the buffer",
    "lanes.issue": "1 where a beat is issued into the lanes",
    "lanes.column": "column of the beat that comes next",
    "lanes.beat": "number in its column of the beat that comes next",
    "lanes.occupied": "beats in the lanes: one counts from the cycle of its issue on, for the depth of the lanes",
}


@dataclass(frozen=True)
class Span:
    """A state of the machine, from its first cycle to the one after its last.

    Attributes
    ----------
    state : str
        One of `STATES`.
    start, stop : int
        Cycles.
    tile, column : int
        Which pass of the position, and the (first) column that this is about.
    """

    state: str
    start: int
    stop: int
    tile: int
    column: int


@dataclass(frozen=True)
class Recording:
    """One grid position, cycle by cycle.

    Attributes
    ----------
    config : Config
        The design.
    columns, beats : tuple of int
        Columns of each pass, and beats of each of its columns.
    phases : dict of str to int
        Cycles of the position by phase, the merge too.
    spans : tuple of Span
        The states in turn.
    signals : dict of str to ndarray, int32 (cycles + 1,)
        The value of each signal in each cycle and in the first one after; see `SIGNALS`.
    """

    config: Config
    columns: tuple[int, ...]
    beats: tuple[int, ...]
    phases: Mapping[str, int]
    spans: tuple[Span, ...]
    signals: Mapping[str, Values]

    @property
    def cycles(self) -> int:
        """Cycles of the position, with the merge."""
        return self.spans[-1].stop


@dataclass
class _Tape:
    """Keeps events as they come."""

    states: list[tuple[str, int, int, int]] = field(default_factory=list)
    requested: array[int] = field(default_factory=lambda: array("q"))
    taken: array[int] = field(default_factory=lambda: array("q"))
    blocked: array[int] = field(default_factory=lambda: array("q"))
    issued: array[int] = field(default_factory=lambda: array("q"))

    def probe(self, tile: int) -> Probe:
        def enters(state: str, cycle: int, column: int) -> None:
            self.states.append((state, cycle, tile, column))

        return Probe(enters, self.requested.append, self.taken.append, self.blocked.append, self.issued.append)

    def pulses(self, name: str, cycles: int) -> Values:
        """Return 1 in the cycles of an event and 0 in the others, int32 (cycles + 1,)."""
        pulses = np.zeros(cycles + 1, np.int32)
        pulses[np.array(getattr(self, name), np.int64)] = 1
        return pulses


def record(config: Config, columns: NDArray[np.int64], beats: NDArray[np.int64]) -> Recording:
    """Run the passes of one position, int64 (passes,) each, and the merge, and keep what happens.

    Raises
    ------
    ModelError
        No pass, or more than `MAX_CYCLES` cycles.
    """
    if not len(columns):
        raise ModelError("nothing runs in hardware: the position has no column or no full beat; take more --right")
    cycles = level1_cycles(config, columns, beats) + config.lanes
    if cycles > MAX_CYCLES:
        raise ModelError(f"a recording of {cycles:,} cycles is too long, {MAX_CYCLES:,} at most; take fewer --left")
    tape, cycle, phases = _Tape(), 0, np.zeros(len(PASS_PHASES), np.int64)
    source = None if config.memory.dram == "none" else PortMemory(config)
    for tile, (columns_each, beats_each) in enumerate(zip(columns.tolist(), beats.tolist(), strict=True)):
        taken, cycle = machine.run_pass(config, columns_each, beats_each, cycle, tape.probe(tile), source)
        phases += taken
    marks = [*tape.states, ("merge", cycle, tile, 0), ("idle", cycle + config.lanes, tile, 0)]
    spans = tuple(Span(mark[0], mark[1], after[1], *mark[2:]) for mark, after in itertools.pairwise(marks))
    by_phase = dict(zip((*PASS_PHASES, "merge"), [*phases.tolist(), config.lanes], strict=True))
    signals = _signals(config, tape, beats.tolist(), spans)
    return Recording(config, tuple(columns.tolist()), tuple(beats.tolist()), by_phase, spans, signals)


def _signals(config: Config, tape: _Tape, beats: Sequence[int], spans: Sequence[Span]) -> dict[str, Values]:
    cycles = spans[-1].stop
    signals = {name: np.zeros(cycles + 1, np.int32) for name in SIGNALS}
    signals["request.accepted"] = tape.pulses("requested", cycles)
    signals["bus.taken"] = tape.pulses("taken", cycles)
    signals["bus.valid"] = signals["bus.taken"] | tape.pulses("blocked", cycles)
    issued = tape.pulses("issued", cycles)
    for span in spans:
        here = slice(span.start, span.stop)
        signals["control.state"][here] = STATES.index(span.state)
        if span.state in ("prefetch", "run"):
            part = {name: values[here] for name, values in signals.items()}
            _fill(part, config, span, beats[span.tile], issued[here])
    begun = np.cumsum(signals["lanes.issue"], dtype=np.int32)
    signals["lanes.occupied"] = begun - np.concatenate([np.zeros(config.depth, np.int32), begun])[: cycles + 1]
    merge = spans[-1]
    signals["control.merge_lane"][merge.start : merge.stop] = np.arange(config.lanes)
    signals["control.done"][cycles] = 1
    return signals


def _fill(part: Mapping[str, Values], config: Config, span: Span, beats: int, issued: Values) -> None:
    """Fill in what belongs to one stream of requests; `part` are the signals in its cycles."""
    left, ends = _column(config, span.state, beats)
    accepted, taken, index = _before(part["request.accepted"]), _before(part["bus.taken"]), _before(issued)
    part["request.burst"][:] = accepted
    part["request.waits"][:] = accepted < part["request.accepted"].sum()
    part["bus.beat"][:] = taken % len(ends)
    part["request.under_way"][:] = accepted - _before(ends[part["bus.beat"]] * part["bus.taken"])
    part["request.valid"][:] = part["request.waits"] & (part["request.under_way"] < config.memory.outstanding)
    part["fifo.count"][:] = taken - (index // beats * len(ends) + left[index % beats])
    part["bus.ready"][:] = part["fifo.count"] < config.memory.fifo_beats
    part["lanes.column"][:] = span.column + index // beats
    part["lanes.beat"][:] = index % beats
    part["lanes.issue" if span.state == "run" else "buffer.write"][:] = issued


@lru_cache(maxsize=8)
def _column(config: Config, state: str, beats: int) -> tuple[Values, Values]:
    """Return how many port beats of a column have left before each beat, and 1 for each that ends a burst."""
    path = (ReadPath.to_lanes if state == "run" else ReadPath.to_buffer)(config, beats)
    ends = np.array([not goes_on for goes_on, _ in path.offers], np.int32)
    return _before(np.array(path.leaving, np.int32)), ends


def _before(pulses: Values) -> Values:
    """Count the events before each cycle."""
    return np.cumsum(pulses, dtype=np.int32) - pulses
