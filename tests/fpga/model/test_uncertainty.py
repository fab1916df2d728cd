"""Ranges: what is open, that time is monotone in it, and that both corners therefore hold everything between."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from hls_model import PRESETS, Config, ModelError, Workload, load, simulate
from hls_model.config import Memory, Operators
from hls_model.limits import check_possible
from hls_model.operators import latencies_at
from hls_model.paper.published import OVERHEAD_US
from hls_model.project import project, total_ranges
from hls_model.ranges import Range
from hls_model.uncertainty import Unknown, band, contributions, fastest, operator_range, slowest, unknowns

SCAN = Workload.uniform(3_000, grid=40, samples=100)
EXACT = Config(
    operators=Operators(5, 5, 10, 4, 2, 1, 2),
    memory=Memory(latency_ns=256.0, efficiency=0.8),
    fsm_cycles=2,
    position_overhead_us=1.0,
)

EFFICIENCY = Unknown("memory.efficiency", "", Range(0.3, 0.7, 1.0), False, "wider than that of any board")


def likely_values(config):
    return {one.name: one.values.likely for one in unknowns(config)}


def test_a_design_that_sets_everything_has_no_range():
    assert unknowns(EXACT) == []
    found = band(SCAN, EXACT)
    assert found.low.cycles == found.likely.cycles == found.high.cycles
    assert contributions(found) == []


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("memory.latency_ns", {"memory": Memory(latency_ns=100.0)}),
        ("memory.efficiency", {"memory": Memory(efficiency=0.9)}),
        ("operators.fdiv", {"operators": Operators(fdiv=12)}),
        ("operators.iadd", {"operators": Operators(iadd=1)}),
        ("fsm_cycles", {"fsm_cycles": 2}),
        ("position_overhead_us", {"position_overhead_us": 5.0}),
    ],
)
def test_what_is_set_is_exact(name, change):
    open_, closed = (set(likely_values(config)) for config in (Config(), Config().but(**change)))
    assert open_ - closed == {name}


@pytest.mark.parametrize("name", PRESETS)
def test_likely_values_are_the_designs_own(name):
    config = load(name)
    values = likely_values(config)
    assert values["memory.latency_ns"] == config.hardware.latency_ns.likely
    assert values["memory.efficiency"] == config.efficiency
    assert {f"operators.{key}": cycles for key, cycles in vars(config.latencies).items()}.items() <= values.items()
    assert values["fsm_cycles"] == config.fsm_cycles
    assert values["position_overhead_us"] == config.position_overhead_us


@pytest.mark.parametrize("name", PRESETS)
def test_both_ends_are_designs_that_their_board_can_be(name):
    for end in (fastest, slowest):
        check_possible(end(load(name)))
        assert unknowns(end(load(name))) != unknowns(load(name))


@pytest.mark.parametrize("clock", [60.0, 100.0, 150.0, 250.0, 300.0, 450.0])
def test_ranges_of_operators_hold_the_table_and_grow_with_the_clock(clock):
    for name, cycles in vars(latencies_at(clock)).items():
        values, faster = operator_range(name, clock), operator_range(name, clock + 50)
        assert values.likely == cycles
        assert 1 <= values.low <= cycles <= values.high
        assert faster.high >= values.high
        assert faster.low >= values.low


def test_ranges_hold_what_hls_reports():
    assert operator_range("fadd", 250.0).holds(4)  # the adder without DSP slices
    assert operator_range("fadd", 300.0).holds(7)
    assert operator_range("fdiv", 250.0).holds(16)


designs = st.builds(
    lambda base, lanes, ports, burst, outstanding, fifo, gap, gbps, overlap, prefetch, transfer, after: Config(
        board=base,
        unroll=lanes,
        clock_mhz=250.0 if base != "zcu102" else 100.0,
        memory=Memory(
            ports=ports, banks=1, burst_length=burst, outstanding=outstanding, fifo_beats=fifo, burst_gap=gap,
            bank_gbps=gbps, port_bits=128,
        ),
        overlap_outer=overlap,
        rs_prefetch="per_position" if overlap and prefetch == "per_outer" else prefetch,
        host_transfer=transfer,
        software_overlap=after,
    ),
    st.sampled_from(["u200", "zcu102", "u280"]),
    st.sampled_from([1, 4, 8]),
    st.integers(1, 4),
    st.sampled_from([1, 4, 16]),
    st.integers(1, 5),
    st.integers(16, 40),
    st.integers(0, 3),
    st.sampled_from([0.5, 2.0, 14.4]),
    st.booleans(),
    st.sampled_from(["per_position", "per_outer", "none"]),
    st.sampled_from(["none", "full"]),
    st.booleans(),
)  # fmt: skip
positions = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 90)), min_size=1, max_size=3)


def joined(trips):
    return Workload.joined([Workload.single(*one) for one in trips])


def whole_cycles(scan, config):
    """Seconds of a cycle for each burst: a late beat at the first of one may be hidden by the wait for that burst."""
    beats = 2 * (scan.right + config.unroll) // config.memory.words_per_beat + 1
    bursts = int(((scan.left + 1) * (beats // config.memory.burst_length + 1)).sum())
    return bursts * (1 + 1e-9) / (config.clock_mhz * 1e6)


@settings(max_examples=examples(60))
@given(designs, positions, st.data(), st.just("L1"))
def test_time_is_monotone_in_every_open_parameter(config, trips, data, level):
    scan = joined(trips)
    for one in unknowns(config):  # whatever the others are
        config = one.put(config, data.draw(st.sampled_from([one.values.low, one.values.likely, one.values.high])))
    for one in (*unknowns(Config(board=config.board, clock_mhz=config.clock_mhz)), EFFICIENCY):
        least = config.memory.burst_gap * 1e3 / config.clock_mhz if one.name == "memory.latency_ns" else one.values.low
        steps = np.linspace(max(least, one.values.low), one.values.high, 5)
        times = [simulate(scan, one.put(config, step), level).seconds for step in steps]
        ordered = times if one.slows else times[::-1]
        slack = 0.0 if one.slows else whole_cycles(scan, config)
        assert all(later >= earlier - slack for earlier, later in itertools.pairwise(ordered)), (one.name, steps, times)


@settings(max_examples=60, deadline=None)
@given(designs, positions, st.data())
def test_the_corners_hold_everything_between(config, trips, data):
    scan = joined(trips)
    bounds = band(scan, config)
    somewhere = config
    for one in unknowns(config):
        value = data.draw(st.floats(one.values.low, one.values.high))
        somewhere = one.put(somewhere, value)
    slack, seconds = whole_cycles(scan, config), simulate(scan, somewhere).seconds
    assert bounds.seconds.low - slack <= seconds <= bounds.seconds.high + slack
    assert bounds.seconds.likely == simulate(scan, config).seconds


def test_machine_and_events_give_the_same_band():
    scan, config = Workload.single(4, 300), load("u200")
    events, machine = band(scan, config, "L1"), band(scan, config, "L2")
    assert events.hardware_seconds == machine.hardware_seconds


def test_rates_are_the_times_turned_round():
    found = band(SCAN, load("u200"))
    assert found.seconds.low < found.seconds.likely < found.seconds.high
    for rate, seconds in ((found.rate.low, found.seconds.high), (found.rate.high, found.seconds.low)):
        assert rate == pytest.approx(SCAN.omegas / seconds)
    assert found.hardware_rate.low < found.hardware_rate.likely < found.hardware_rate.high


@pytest.mark.parametrize("name", PRESETS)
def test_contributions_are_one_at_a_time_and_the_widest_first(name):
    config = load(name)
    found = contributions(band(SCAN, config))
    assert [one.unknown.name for one in found] != []
    assert {one.unknown.name for one in found} == set(likely_values(config))
    assert [one.width for one in found] == sorted((one.width for one in found), reverse=True)
    for one in found:
        ends = [
            simulate(SCAN, one.unknown.put(config, value)).seconds for value in (one.unknown.fast, one.unknown.slow)
        ]
        assert [one.seconds.low, one.seconds.high] == ends


def test_a_gap_between_bursts_bounds_the_latency_from_below():
    config = load("u200").but(memory=Memory(burst_gap=40))  # 160 ns; the board's range begins lower
    assert config.hardware.latency_ns.low < 160
    assert fastest(config).latency == 40
    assert band(SCAN, config).seconds.low > 0


def test_an_unknown_of_a_part_keeps_the_rest_of_it():
    config = Config(memory=Memory(ports=1, banks=1))
    one = next(one for one in unknowns(config) if one.name == "memory.latency_ns")
    assert one.put(config, 300).memory == dataclasses.replace(config.memory, latency_ns=300.0)


@pytest.mark.parametrize("name", PRESETS)
def test_only_a_greater_efficiency_saves_time(name):
    assert [one.name for one in unknowns(load(name)) if not one.slows] == ["memory.efficiency"]


def test_a_dram_leaves_no_efficiency_open_and_is_asked_what_each_range_does():
    design = load("u200").but(memory=dataclasses.replace(load("u200").memory, dram="ddr4_2400"))
    assert "memory.efficiency" not in [one.name for one in unknowns(design)]
    scan = Workload.single(3, 200)
    parts = contributions(band(scan, design, "L2"))
    latency = next(part for part in parts if part.unknown.name == "memory.latency_ns")
    slow = latency.unknown.put(design, latency.unknown.slow)
    assert latency.seconds.high == simulate(scan, slow, "L2").seconds > latency.seconds.likely


def test_what_each_range_does_is_the_same_at_the_levels_that_agree():
    scan = Workload.single(5, 300)
    for name in ("u200", "zcu102"):
        ones, others = (contributions(band(scan, load(name), level)) for level in ("L1", "L2"))
        assert ones == others


def test_the_longest_latency_of_an_operator_grows_with_the_clock():
    assert operator_range("fdiv", 250.0).high == operator_range("fdiv", 100.0).high == 16
    assert operator_range("fdiv", 300.0).high == 20  # 19.2
    assert operator_range("fdiv", 500.0).high == 32


def test_every_range_says_where_it_comes_from():
    for config in PRESETS.values():
        for one in unknowns(config):
            assert one.source
            assert one.values.low <= one.values.likely <= one.values.high


def test_projection_has_the_band_and_can_do_without():
    design = load("u200").but(clock_met=True)
    one, bare = project(SCAN, design), project(SCAN, design, uncertainty=False)
    assert one.band is not None
    assert one.omega_range == one.band.seconds
    assert one.omega_range.likely == one.omega_seconds == bare.omega_seconds
    assert one.total.low < one.total.likely < one.total.high
    positions = int((one.timing.position_cycles > 0).sum())
    wider = one.omega_range.high - one.omega_seconds - OVERHEAD_US * 1e-6 * positions  # which the starts have in both
    assert wider > 0
    assert one.total.high - bare.total.high == pytest.approx(wider)
    assert (bare.band, bare.omega_range) == (None, Range.exactly(bare.omega_seconds))
    assert bare.record()["range"] is None
    record = one.record()["range"]
    assert record["omega_seconds"] == one.omega_range.record()
    assert len(one.made_of) == len(unknowns(load("u200")))
    assert bare.made_of == []
    both = total_ranges([one, one])
    assert both["seconds"].high == pytest.approx(2 * one.total.high)


def test_a_range_holds_the_likely_value_where_late_beats_fall_otherwise():
    """Only the efficiency is open, and at its fast end late beats fall where the likely one hides them."""
    memory = Memory(
        latency_ns=230.0, port_bits=128, ports=1, banks=1, burst_length=4, burst_gap=1, outstanding=1, fifo_beats=33,
        bank_gbps=2.0,
    )  # fmt: skip
    config = Config(
        board="u280", unroll=4, memory=memory, operators=Operators(5, 5, 10, 4, 2, 1, 2), fsm_cycles=2,
        overlap_outer=True, position_overhead_us=1.0, clock_met=True,
    )  # fmt: skip
    scan = Workload.single(4, 71)
    assert [one.name for one in unknowns(config)] == ["memory.efficiency"]
    found = band(scan, config)
    assert found.low.seconds > found.likely.seconds
    assert found.seconds == Range(found.likely.seconds, found.likely.seconds, found.high.seconds)
    assert found.rate.holds(found.likely.rate)
    assert found.hardware_rate.holds(found.likely.hardware_rate)
    assert contributions(found)[0].seconds == found.seconds
    assert project(scan, config).made_of[0].seconds == found.seconds


def test_a_scan_with_nothing_to_do_takes_no_time_at_either_end():
    found = band(Workload.single(0, 0), load("u200"))
    assert found.seconds == Range.exactly(0.0)
    assert found.rate == Range.exactly(0.0)


def test_errors_of_a_level_are_those_of_simulate():
    with pytest.raises(ModelError, match="level is 'L9'"):
        band(SCAN, load("u200"), "L9")


def test_a_range_holds_its_likely_value_wherever_that_lies():
    assert Range.spanning(2.0, 3.0, 4.0) == Range(2.0, 2.0, 4.0)
    assert Range.spanning(2.0, 1.0, 1.5) == Range(1.0, 2.0, 2.0)
