"""Exploration: the Pareto front is right, nothing that does not fit is in it, and hundreds of designs are quick."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.pipeline_oracle import designs
from hypothesis import given, strategies as st

from hls_model import PRESETS, ModelError, Workload, load, simulate
from hls_model.extras.explore import Space, explore, pareto_front
from hls_model.operators import Latencies, latencies_at
from hls_model.resources import estimate
from hls_model.roofline import roofline_of

SCAN = Workload.uniform(2_000, grid=50)
FEW = st.integers(0, 6).map(float)  # so that equal rates and costs happen


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """The definition: no worse in rate and cost, and better in one of them."""
    return one[0] >= other[0] and one[1] <= other[1] and one != other


@given(st.lists(st.tuples(FEW, FEW)))
def test_front_is_what_nothing_dominates(designs):
    rate, cost = (np.array([design[axis] for design in designs]) for axis in (0, 1))
    expected = [not any(dominates(other, design) for other in designs) for design in designs]
    assert pareto_front(rate, cost).tolist() == expected


@given(st.lists(st.tuples(st.floats(0, 1e10), st.floats(0, 1)), min_size=1))
def test_some_design_is_on_every_front(designs):
    rate, cost = (np.array([design[axis] for design in designs]) for axis in (0, 1))
    front = pareto_front(rate, cost)
    assert front[np.flatnonzero(rate == rate.max())].any()
    assert front[np.flatnonzero(cost == cost.min())].any()


def test_every_combination_is_tried_once():
    found = explore(SCAN, load("u200"), Space((8, 16, 8), (100.0, 250.0), (1, 2), (False, True)))
    assert len(found.designs) == 2 * 2 * 2 * 2
    tried = {
        (d.config.unroll, d.config.clock_mhz, d.config.memory.ports, d.config.overlap_outer) for d in found.designs
    }
    assert len(tried) == 16
    assert (found.too_large, found.impossible) == (0, 0)


def test_a_design_is_timed_as_it_would_be_alone():
    found = explore(SCAN, load("u200"), Space(unroll=(16,), ports=(4,)))
    memory = dataclasses.replace(load("u200").memory, ports=4, banks=4)
    alone = load("u200").but(unroll=16, memory=memory)
    assert found.designs[0].config == alone
    timing = simulate(SCAN, alone)
    assert found.designs[0].rate == timing.hardware_omegas / timing.seconds < timing.rate
    assert found.designs[0].cost == estimate(alone).largest_share


def test_what_does_not_fit_is_dropped_and_counted():
    found = explore(SCAN, load("zcu102"), Space(unroll=(4, 32, 128, 256)))
    assert [design.config.unroll for design in found.designs] == [32, 4] or len(found.designs) == 2
    assert found.too_large == 2
    assert all(design.cost <= 1 for design in found.designs)


def test_what_is_no_design_is_counted():
    found = explore(SCAN, load("u200").but(rs_buffer_words=32), Space(unroll=(16, 64)))
    assert (len(found.designs), found.impossible) == (1, 1)


@pytest.mark.parametrize(
    ("design", "space", "said"),
    [
        ("zcu102", Space(unroll=(200,)), "^with memory.ports=1 and kernels=1, unroll 200 .* largest unroll that"),
        ("u200", Space(unroll=(1000,), ports=(4, 2)), "^with memory.ports=2 and kernels=1, unroll 1000 .* is 166$"),
        ("u200", Space(unroll=(1000,), ports=(1,)), "^with memory.ports=1 and kernels=1, unroll 1000 .* is 167$"),
        ("u200", Space(ports=(0,)), "memory.ports is 0"),
        ("u200", Space(unroll=(100_000,)), "rs_buffer_words"),
    ],
)
def test_nothing_left_is_told(design, space, said):
    with pytest.raises(ModelError, match=said):
        explore(SCAN, load(design), space)


@pytest.mark.parametrize("name", PRESETS)
def test_no_rate_exceeds_the_designs_own_roofs(name):
    """Whatever software computes beside it, and however many kernels share the banks."""
    own = load(name)
    wide = Space((4, 32, 100), (own.clock_mhz,), (1, 3), (False, True), (1, 3))
    fast = Space((4, 100), (500.0,), (1, 3), (False, True), (1, 3))
    slow = dataclasses.replace(own.memory, bank_gbps=own.memory.bank_gbps / 4)
    tried = 0
    for design, space in ((own, wide), (own.but(memory=slow, rs_buffer_words=256), fast)):
        found = explore(Workload.uniform(700, grid=5), design, space, uncertainty=True)
        for one in found.designs:
            roof = one.roofline.roofs[one.roofline.binding]
            assert max(one.rate, one.timing.hardware_rate) <= roof * (1 + 1e-5)
            assert one.rate <= one.timing.hardware_rate * (1 + 1e-12)
            assert one.rate_range.low <= one.rate <= one.rate_range.high
            tried += 1
    assert tried > 4  # of small boards


@given(designs(), st.integers(1, 6), st.integers(0, 300), st.integers(1, 3))
def test_no_design_exceeds_its_roofs(config, left, right, kernels):
    """Also where columns are of a few port beats and the banks are slow."""
    timing = simulate(Workload.single(left, right), config.but(kernels=kernels))
    found = roofline_of(timing)
    assert timing.hardware_rate <= found.roofs[found.binding] * (1 + 1e-5)


def test_an_empty_space_is_the_design_itself():
    found = explore(SCAN, load("u200_resources16"), Space())
    assert [design.config for design in found.designs] == [load("u200_resources16")]
    assert found.designs[0].on_front


def test_progress_is_told():
    seen: list[tuple[int, int]] = []
    explore(SCAN, load("u200"), Space(unroll=(8, 16)), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_rates_that_differ_by_nothing_that_counts_are_equal():
    found = explore(Workload.uniform(13_000), load("u200").but(overlap_outer=True), Space(unroll=(8,), ports=(1, 2, 4)))
    assert [design.config.memory.ports for design in found.front] == [1]


@pytest.mark.parametrize(("clock", "fadd", "fdiv"), [(80, 4, 8), (100, 4, 8), (150, 5, 10), (250, 5, 10), (300, 7, 12)])
def test_operators_get_longer_with_the_clock(clock, fadd, fdiv):
    operators = latencies_at(clock)
    assert (operators.fadd, operators.fdiv) == (fadd, fdiv)
    assert isinstance(operators, Latencies)


def test_the_designs_own_clock_keeps_its_operators():
    own = load("u250").but(clock_met=True)
    found = explore(SCAN, own, Space(clock_mhz=(300.0,)))
    assert found.designs[0].config.operators == own.operators
    assert found.designs[0].config.latencies == latencies_at(300.0)


@given(st.lists(st.tuples(st.floats(0, 1e10), st.floats(0, 1)), min_size=1), st.floats(0, 0.5))
def test_slack_leaves_out_only_what_a_cheaper_design_nearly_reaches(designs, slack):
    rate, cost = (np.array([design[axis] for design in designs]) for axis in (0, 1))
    exact, thinned = pareto_front(rate, cost), pareto_front(rate, cost, slack)
    assert not (thinned & ~exact).any()
    for index in np.flatnonzero(exact & ~thinned):
        near = (cost < cost[index]) & (rate * (1 + slack) * (1 + 1e-12) >= rate[index])
        assert (near & thinned).any()


def test_a_picture_names_the_kernels():
    pytest.importorskip("matplotlib")
    from oclgenomics.fpga.plots.rates import plot_pareto

    found = explore(SCAN, load("u280_hbm").but(clock_met=True), Space((8,), ports=(1,), kernels=(1, 4)))
    axes = plot_pareto(found).axes[0]
    assert {text.get_text() for text in axes.texts} >= {
        "4 kernels, unroll 8, 300 MHz, 1 port", "unroll 8, 300 MHz, 1 port"
    }  # fmt: skip
