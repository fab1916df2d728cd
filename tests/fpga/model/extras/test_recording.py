"""Recordings hold what the definition says happens, and waveforms hold what is in the recording."""

from __future__ import annotations

import io

import numpy as np
import pytest
from helpers import pipeline_oracle as oracle
from helpers.pipeline_oracle import designs
from helpers.vcd_reader import Dump, read_vcd
from hypothesis import given, settings, strategies as st

from hls_model import Config, Memory, ModelError, load
from hls_model.extras.recording import SIGNALS, STATES, Recording, record
from hls_model.extras.waves import half_period, write_vcd
from hls_model.timing import events


def recorded(config: Config, *passes: tuple[int, int]) -> Recording:
    columns, beats = np.array(passes, np.int64).T
    return record(config, columns, beats)


def when(recording: Recording, name: str) -> list[int]:
    return np.flatnonzero(recording.signals[name]).tolist()


@settings(max_examples=100, deadline=None)
@given(designs(), st.integers(1, 4), st.integers(1, 80))
def test_events_are_those_of_the_definition(config: Config, columns: int, beats: int) -> None:
    recording = recorded(config, (columns, beats))
    together = columns if config.overlap_outer else 1
    requests, taken, issues, writes = [], [], [], []
    for span in recording.spans:
        if span.state == "prefetch":
            stream = oracle.stream(config, span.start, 1, beats, config.lanes, 1)
            writes += stream.issues
        elif span.state == "run":
            stream = oracle.stream(config, span.start, together, beats, config.issue_words, config.ii)
            issues += stream.issues
        else:
            continue
        requests += stream.requests
        taken += stream.taken
        assert span.stop == stream.issues[-1] + 1
    assert when(recording, "request.accepted") == requests
    assert when(recording, "bus.taken") == taken
    assert when(recording, "lanes.issue") == issues
    assert when(recording, "buffer.write") == writes


@settings(max_examples=100, deadline=None)
@given(designs(), st.lists(st.tuples(st.integers(1, 3), st.integers(1, 40)), min_size=1, max_size=3))
def test_signals_keep_to_their_limits(config: Config, passes: list[tuple[int, int]]) -> None:
    recording = recorded(config, *passes)
    signals, memory = recording.signals, config.memory
    assert set(signals) == set(SIGNALS)
    assert {len(values) for values in signals.values()} == {recording.cycles + 1}
    assert sum(recording.phases.values()) == recording.cycles
    timed = events.time_passes(config, *np.array(passes, np.int64).T)
    assert recording.cycles == timed.total.sum() + config.lanes
    assert [span.start for span in recording.spans[1:]] == [span.stop for span in recording.spans[:-1]]
    assert 0 <= signals["fifo.count"].min() <= signals["fifo.count"].max() <= memory.fifo_beats
    assert 0 <= signals["request.under_way"].min() <= signals["request.under_way"].max() <= memory.outstanding
    assert signals["lanes.occupied"].max() <= -(-config.depth // config.ii)
    assert (signals["bus.taken"] == signals["bus.valid"] & signals["bus.ready"]).all()
    assert (signals["request.accepted"] <= signals["request.valid"]).all()
    assert (signals["request.valid"] <= signals["request.waits"]).all()
    assert (signals["request.accepted"] == signals["request.valid"]).all() or memory.random_stall_percent
    for name in ("fifo.count", "request.under_way", "lanes.occupied"):
        assert signals[name][-1] == 0
    assert when(recording, "control.done") == [recording.cycles]


def test_a_short_recording_by_hand() -> None:
    """Two beats of one lane, 3 cycles of latency: request 0, data 3 and 4, writes 4 and 5, then the same for TS."""
    memory = Memory(latency_ns=12.0, port_bits=32, ports=1)
    recording = recorded(Config(unroll=1, memory=memory), (1, 2))
    spans = [(span.state, span.start, span.stop) for span in recording.spans]
    assert spans == [("prefetch", 0, 6), ("run", 6, 12), ("drain", 12, 48), ("turn", 48, 49), ("merge", 49, 50)]
    assert when(recording, "request.accepted") == [0, 6]
    assert when(recording, "bus.valid") == [3, 4, 9, 10]
    assert when(recording, "fifo.count") == [4, 5, 10, 11]
    assert when(recording, "lanes.issue") == [10, 11]
    assert when(recording, "lanes.occupied") == list(range(10, 11 + 37))
    assert recording.signals["lanes.occupied"].max() == 2
    assert when(recording, "request.under_way") == [1, 2, 3, 4, 7, 8, 9, 10]
    assert when(recording, "request.valid") == [0, 6]


def test_a_full_fifo_holds_the_bus() -> None:
    memory = Memory(latency_ns=12.0, port_bits=32, ports=1, fifo_beats=2)
    recording = recorded(Config(unroll=1, ii=4, rs_prefetch="none", memory=memory), (1, 6))
    held = recording.signals["bus.valid"] > recording.signals["bus.ready"]
    assert held.any()
    assert (recording.signals["fifo.count"][held] == 2).all()


def test_what_cannot_be_recorded_is_refused() -> None:
    with pytest.raises(ModelError, match="nothing runs in hardware"):
        record(load("u200"), np.zeros(0, np.int64), np.zeros(0, np.int64))
    with pytest.raises(ModelError, match=r"a recording of [\d,]+ cycles is too long, 2,000,000 at most"):
        recorded(load("u200"), (100_000, 1000))


def dump(recording: Recording) -> Dump:
    stream = io.StringIO()
    write_vcd(recording, stream)
    return read_vcd(stream.getvalue())


@settings(max_examples=25, deadline=None)
@given(designs(), st.lists(st.tuples(st.integers(1, 3), st.integers(1, 30)), min_size=1, max_size=2))
def test_waveforms_hold_the_recording(config: Config, passes: list[tuple[int, int]]) -> None:
    recording = recorded(config, *passes)
    dumped = dump(recording)
    period = 2 * half_period(config.clock_mhz)[0]
    assert set(dumped.wires) == {"pipeline.clock", *(f"pipeline.{name}" for name in SIGNALS)}
    assert dumped.end == (recording.cycles + 1) * period
    for name, values in recording.signals.items():
        wire = dumped.wires[f"pipeline.{name}"]
        changes = np.flatnonzero(np.diff(values)) + 1
        assert wire.times == [0, *(changes * period).tolist()]
        assert wire.values == [int(values[0]), *values[changes].tolist()]


def test_the_clock_has_the_designs_period_and_states_are_named() -> None:
    dumped = dump(recorded(load("u200"), (2, 3)))
    assert dumped.timescale == "1 ns"
    clock = dumped.wires["pipeline.clock"]
    assert clock.times[:4] == [0, 2, 4, 6]
    assert clock.values[:4] == [1, 0, 1, 0]
    assert dumped.wires["pipeline.control.state"].at(0) == STATES.index("prefetch")
    assert "control.state: 0 idle, 1 prefetch, 2 run, 3 drain, 4 turn, 5 merge" in dumped.comments


def test_waveforms_longer_than_a_block_have_no_seam() -> None:
    recording = recorded(load("zcu102"), (11, 1000))
    assert recording.cycles > 10_000
    wire = dump(recording).wires["pipeline.lanes.beat"]
    values = recording.signals["lanes.beat"]
    assert wire.values == [int(values[0]), *values[np.flatnonzero(np.diff(values)) + 1].tolist()]


@pytest.mark.parametrize(
    ("clock_mhz", "half", "unit"),
    [(250.0, 2, "ns"), (100.0, 5, "ns"), (200.0, 2500, "ps"), (300.0, 1_666_667, "fs"), (400.0, 1250, "ps")],
)
def test_the_timescale_is_the_coarsest_that_holds_half_a_period(clock_mhz: float, half: int, unit: str) -> None:
    assert half_period(clock_mhz) == (half, unit)


def test_a_designs_name_cannot_break_the_header() -> None:
    name = "$end $upscope\n$end"
    assert dump(recorded(load("u200").but(name=name), (1, 1))).comments[0] == "_end__upscope__end: 32 lanes at 250 MHz"
