"""The three levels of timing agree with each other and with the definition, event by event."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import pipeline_oracle as oracle
from helpers.pipeline_oracle import designs
from hypothesis import given, settings
from hypothesis import strategies as st

from hls_model import PRESETS, Config, Memory, ModelError, Workload, load, simulate
from hls_model.timing import closed_form, events, machine
from hls_model.timing.passes import split
from hls_model.timing.phases import PassPhases

TRIPS = st.tuples(st.integers(0, 6), st.integers(0, 200))


def by_phase(phases: PassPhases) -> dict[str, list[int]]:
    return {name: getattr(phases, name).tolist() for name in oracle.PHASES}


@settings(max_examples=300, deadline=None)
@given(designs(), st.lists(TRIPS, max_size=4))
def test_events_and_machine_agree_with_the_definition(config: Config, trips: list[tuple[int, int]]) -> None:
    left, right = (np.array([trip[side] for trip in trips], np.int64) for side in (0, 1))
    workload = Workload(left, right, np.zeros_like(left), left + right, 1)
    passes = split(workload, config)
    expected = [oracle.one_pass(config, *map(int, pair)) for pair in zip(passes.columns, passes.beats, strict=True)]
    by_hand = {name: [phases[name] for phases in expected] for name in oracle.PHASES}
    fast = events.time_passes(config, passes.columns, passes.beats)
    slow = machine.time_passes(config, passes.columns, passes.beats)
    assert by_phase(fast) == by_hand
    assert by_phase(slow) == by_hand
    assert fast.exact.all()
    assert slow.exact.all()
    assert all(min(cycles, default=0) >= 0 for cycles in by_hand.values())
    bound = closed_form.time_passes(config, passes.columns, passes.beats)
    assert (bound.total <= fast.total).all()
    assert (bound.total == fast.total)[bound.exact].all()
    assert min((min(cycles, default=0) for cycles in by_phase(bound).values()), default=0) >= 0
