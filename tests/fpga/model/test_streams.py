"""The event engine gives the cycles of a machine that is stepped through every cycle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import stream_oracle as oracle
from hypothesis import given, settings, strategies as st

from hls_model.errors import ModelError
from hls_model.streams import Flow, ReadPath, Supply, slower


@settings(max_examples=200, deadline=None)
@given(
    st.lists(oracle.flows(), min_size=1, max_size=3),
    st.integers(1, 4),
    st.integers(1, 60),
    st.integers(1, 5),
    st.integers(0, 50),
)
def test_issues_are_those_of_the_machine(
    flows: list[Flow], columns: int, beats: int, interval: int, ready: int
) -> None:
    path = ReadPath(flows, beats, interval, ready)
    found = [cycle for _ in range(columns) for cycle in path.column().tolist()]
    assert found == oracle.issues(flows, columns, beats, interval, ready)


@settings(max_examples=10, deadline=None)
@given(st.lists(oracle.flows(), min_size=1, max_size=2), st.integers(1200, 2500))
def test_long_columns_are_cut_without_a_seam(flows: list[Flow], beats: int) -> None:
    assert ReadPath(flows, beats, 1).column().tolist() == oracle.issues(flows, 1, beats, 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(oracle.flows(), min_size=1, max_size=2), st.integers(1, 12))
def test_equal_states_have_equal_futures(flows: list[Flow], beats: int) -> None:
    path = ReadPath(flows, beats, 1)
    seen: dict[bytes, int] = {}
    ends: list[np.ndarray] = []
    for number in range(40):
        ends.append(path.column())
        state = path.state()
        if state in seen:
            before = ends[seen[state]]
            later = path.column() - ends[-1][-1]
            assert later.tolist() == (ends[seen[state] + 1] - before[-1]).tolist()
            return
        seen[state] = number


def test_a_slow_bank_delays_the_beats_it_serves() -> None:
    assert np.cumsum(slower(1, 2)(np.arange(7))).tolist() == [0, 0, 1, 1, 2, 2, 3]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (lambda: Flow(Supply(1), 2, 2), "wide is 2 and shared is 2; one of them has to be 1"),
        (lambda: Flow(Supply(1, fifo_beats=2), 3), "a FIFO of 2 port beats does not hold the 3 of a beat"),
    ],
)
def test_flows_that_cannot_be_are_refused(flow: object, said: str) -> None:
    with pytest.raises(ModelError, match=f"^{said}$"):
        flow()  # type: ignore[operator]


def test_gaps_part_bursts() -> None:
    supply = Supply(3, burst_length=2, burst_gap=2)
    with_gap = ReadPath([Flow(supply)], 4, 1).column().tolist()
    without = ReadPath([Flow(dataclasses.replace(supply, burst_gap=0))], 4, 1).column().tolist()
    assert with_gap == [4, 5, 8, 9]
    assert without == [4, 5, 6, 7]


@pytest.mark.parametrize("wide", [1, 2, 3, 5])
def test_a_tight_fifo_takes_a_beat_and_no_more(wide: int) -> None:
    """It holds just the port beats of one beat: the next ones come when these have left, and are seen a cycle later."""
    tight = Supply(4, fifo_beats=wide)
    issues = ReadPath([Flow(tight, wide)], 6, 1).column().tolist()
    assert issues == oracle.issues([Flow(tight, wide)], 1, 6, 1, 0)
    assert issues == [4 + wide + (wide + 1) * beat for beat in range(6)]
    roomy = dataclasses.replace(tight, fifo_beats=wide + 1)
    assert ReadPath([Flow(roomy, wide)], 6, 1).column().tolist() == oracle.issues([Flow(roomy, wide)], 1, 6, 1, 0)
    assert ReadPath([Flow(roomy, wide)], 6, 1).column().tolist() == [4 + wide + wide * beat for beat in range(6)]
    with pytest.raises(ModelError, match=f"a FIFO of {wide - 1} port beats does not hold the {wide} of a beat"):
        Flow(dataclasses.replace(tight, fifo_beats=wide - 1), wide)
