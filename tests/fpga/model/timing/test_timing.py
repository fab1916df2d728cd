"""The three levels of timing agree with each other and with the definition, event by event."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers import pipeline_oracle as oracle
from helpers.pipeline_oracle import designs
from hypothesis import given, settings, strategies as st

from hls_model import Config, Memory, ModelError, Timing, Workload, load, simulate, streams
from hls_model.paper.published import as_simulated
from hls_model.timing import events, machine
from hls_model.timing.passes import PassPhases, split

TRIPS = st.tuples(st.integers(0, 6), st.integers(0, 200))


def by_phase(phases: PassPhases) -> dict[str, list[int]]:
    return {name: getattr(phases, name).tolist() for name in oracle.PHASES}


def workload_of(trips: list[tuple[int, int]]) -> Workload:
    left, right = (np.array([trip[side] for trip in trips], np.int64) for side in (0, 1))
    return Workload(left, right, np.zeros_like(left), left + right - 1, left - 1, 1)


def arrays(columns: int, beats: int) -> tuple[np.ndarray, np.ndarray]:
    return np.array([columns], np.int64), np.array([beats], np.int64)


@settings(max_examples=300, deadline=None)
@given(designs(), st.lists(TRIPS, max_size=4))
def test_events_and_machine_agree_with_the_definition(config: Config, trips: list[tuple[int, int]]) -> None:
    passes = split(workload_of(trips), config)
    expected = [oracle.one_pass(config, *map(int, pair)) for pair in zip(passes.columns, passes.beats, strict=True)]
    by_hand = {name: [phases[name] for phases in expected] for name in oracle.PHASES}
    fast = events.time_passes(config, passes.columns, passes.beats)
    slow = machine.time_passes(config, passes.columns, passes.beats)
    assert by_phase(fast) == by_hand
    assert by_phase(slow) == by_hand
    assert all(min(cycles, default=0) >= 0 for cycles in by_hand.values())
    assert fast.total.tolist() == [sum(phases.values()) for phases in expected]


@settings(max_examples=40, deadline=None)
@given(designs(), st.integers(20, 120), st.integers(1, 12))
def test_overlapped_columns_go_on_as_their_state_repeats(config: Config, columns: int, beats: int) -> None:
    if config.rs_prefetch == "per_outer":
        config = config.but(rs_prefetch="per_position")
    config = config.but(overlap_outer=True)
    counts = np.arange(1, columns + 1)
    timed = events.time_passes(config, counts, np.full_like(counts, beats))
    issues = oracle.stream(config, 0, columns, beats, config.issue_words, config.ii).issues
    assert (timed.fill + timed.stream + timed.stall).tolist() == [last + 1 for last in issues[beats - 1 :: beats]]


@settings(max_examples=30, deadline=None)
@given(designs(), st.integers(600, 1500))
def test_long_columns_are_cut_into_chunks_without_a_seam(config: Config, beats: int) -> None:
    config = config.but(overlap_outer=False)
    timed = events.time_passes(config, *arrays(1, beats))
    issues = oracle.stream(config, 0, 1, beats, config.issue_words, config.ii).issues
    assert int((timed.fill + timed.stream + timed.stall)[0]) == issues[-1] + 1


@pytest.mark.parametrize(("seed", "percent", "beats"), [(147, 80.0, 3), (68, 50.0, 14), (715, 80.0, 5)])
def test_overlapped_columns_remember_when_the_last_request_was(seed: int, percent: float, beats: int) -> None:
    """A request before one that stalls counts even where its data came long ago."""
    memory = Memory(latency_ns=80.0, port_bits=32, ports=1, burst_length=4, outstanding=8, fifo_beats=3, efficiency=1.0)
    memory = dataclasses.replace(memory, random_gap_seed=seed, random_stall_percent=percent)
    config = Config(unroll=1, overlap_outer=True, memory=memory)
    issues = oracle.stream(config, 0, 40, beats, 1, 1).issues
    timed = events.time_passes(config, *arrays(40, beats))
    assert int((timed.fill + timed.stream + timed.stall)[0]) == issues[-1] + 1


def test_stalls_go_on_from_chunk_to_chunk() -> None:
    memory = Memory(port_bits=32, ports=1, burst_length=4, outstanding=1, random_stall_percent=50.0)
    config = Config(unroll=1, memory=memory)
    timed = events.time_passes(config, *arrays(1, 3 * streams.CHUNK))
    issues = oracle.stream(config, 0, 1, 3 * streams.CHUNK, 1, 1).issues
    assert int((timed.fill + timed.stream + timed.stall)[0]) == issues[-1] + 1


def test_a_stalled_request_waits_by_hand() -> None:
    """All bursts stall: with one request at a time each of three costs its stall on top of the latency."""
    memory = Memory(latency_ns=40.0, port_bits=32, ports=1, outstanding=1, burst_length=4)
    stalled = dataclasses.replace(memory, random_stall_percent=100.0)
    plain, late = (
        simulate(Workload.single(1, 12), Config(unroll=1, rs_prefetch="none", memory=some), "L2")
        for some in (memory, stalled)
    )
    stalls = [oracle.stall(Config(memory=stalled), burst) for burst in range(6)]  # 2 words a beat: 24 in bursts of 4
    assert min(stalls) >= 1
    assert late.cycles == plain.cycles + sum(stalls)


def test_columns_take_what_the_paper_says() -> None:
    """M + (nb - 1) II + 1 + D + Z cycles a column, M + nb + 1 the prefetch, P the merge: 64 + 37 + 1 on top of nb."""
    timing = simulate(Workload.single(10, 32 * 81), as_simulated(load("u200")), "L2")
    assert timing.phases["prefetch"].tolist() == [64 + 81 + 1]
    assert timing.phases["merge"].tolist() == [32]
    assert timing.cycles == 64 + 81 + 1 + 10 * (81 + 102) + 32


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_what_does_not_reach_the_hardware_takes_no_cycle(level: str) -> None:
    config = load("u200")
    for workload in (workload_of([]), Workload.single(0, 500), Workload.single(5, 0), Workload.single(5, 31)):
        timing = simulate(workload, config, level)
        assert timing.cycles == 0
        assert timing.hardware_rate == 0
    masked = simulate(Workload.single(5, 31), config.but(remainder="masked"), level)
    assert masked.phases["stream"].tolist() == [5]


@pytest.mark.parametrize("snps", [13_000, 5_000])
@pytest.mark.parametrize("name", ["u200", "u200_overlap", "zcu102"])
def test_a_grid_is_the_sum_of_its_positions(snps: int, name: str) -> None:
    workload, config = Workload.uniform(snps, grid=40), load(name)
    grid = simulate(workload, config)
    alone = [
        simulate(Workload.single(int(left), int(right)), config).cycles
        for left, right in zip(workload.left, workload.right, strict=True)
    ]
    assert grid.position_cycles.tolist() == alone
    assert grid.cycles == sum(alone)


def test_phases_of_a_position_sum_to_its_cycles() -> None:
    config = load("u200").but(position_overhead_us=1.0, rs_buffer_words=64)
    timing = simulate(Workload.single(3, 300), config, "L2")
    assert timing.phases["overhead"].tolist() == [250]
    assert timing.position_cycles.tolist() == [sum(int(cycles[0]) for cycles in timing.phases.values())]


def test_the_machine_refuses_what_would_take_hours() -> None:
    with pytest.raises(ModelError, match=r"^level L2 would step through [\d,]+ cycles, .*take level L1$"):
        simulate(Workload.uniform(13_000), load("zcu102"), "L2")


def test_an_unknown_level_is_named() -> None:
    with pytest.raises(ModelError, match="level is 'L3'; choose one of L1, L2"):
        simulate(Workload.single(1, 1), load("u200"), "L3")  # type: ignore[arg-type]


def test_slots_hold_requests_back_until_data_came() -> None:
    """One request at a time: each burst of 4 takes the latency anew."""
    config = Config(unroll=1, memory=Memory(latency_ns=40.0, port_bits=32, ports=1, outstanding=1, burst_length=4))
    timing: Timing = simulate(Workload.single(1, 12), config, "L2")
    assert timing.phases["stall"].tolist() == [2 * 10]


def test_random_gaps_depend_on_their_seed_only() -> None:
    memory = Memory(random_gap_percent=30.0, random_gap_seed=1)
    cycles = [
        simulate(Workload.single(2, 6400), Config(memory=Memory(**{**vars(memory), "random_gap_seed": seed}))).cycles
        for seed in (1, 1, 2, 2**32 + 1)
    ]
    assert cycles[0] == cycles[1] == cycles[3] != cycles[2]
