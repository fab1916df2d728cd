"""Kernels and positions in flight: the schedule is that of kernels stepped through every cycle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import schedule_oracle as oracle
from hypothesis import given, settings, strategies as st

from hls_model import Config, Memory, ModelError, Workload, change, load, simulate
from hls_model.limits import check_possible
from hls_model.resources import estimate
from hls_model.roofline import roofline
from hls_model.timing.schedule import Schedule, Stages, schedule

POSITION = st.tuples(st.integers(1, 30), st.integers(1, 60), st.integers(1, 20), st.integers(0, 30)).map(
    lambda given: (*given[:3], min(given[3], given[0]))
)


def run(positions: list[tuple[int, int, int, int]], kernels: int, in_flight: int) -> Schedule:
    columns = np.array(positions, np.int64).reshape(-1, 4).T
    return schedule(Stages(*columns), kernels, in_flight)


@settings(max_examples=400, deadline=None)
@given(st.lists(POSITION, max_size=12), st.integers(1, 4), st.integers(1, 4))
def test_the_schedule_is_that_of_the_stepped_kernels(
    positions: list[tuple[int, int, int, int]], kernels: int, in_flight: int
) -> None:
    found = run(positions, kernels, in_flight)
    assert list(zip(found.kernel, found.start, found.end, strict=True)) == oracle.run(positions, kernels, in_flight)
    work = sum(front + columns + merge for front, columns, merge, _ in positions)
    columns = sum(position[1] for position in positions)
    assert columns <= found.busy.sum() <= columns + sum(position[3] for position in positions)
    assert columns / kernels <= found.makespan
    if in_flight == 1:
        assert not found.bound
        assert found.makespan <= work
    if kernels == in_flight == 1:
        assert found.makespan == work
    if found.makespan:
        assert (found.utilisation <= 1).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(POSITION, max_size=12), st.integers(2, 4))
def test_without_a_prefetch_more_in_flight_takes_no_longer(
    positions: list[tuple[int, int, int, int]], in_flight: int
) -> None:
    unshared = [(*position[:3], 0) for position in positions]
    few, many = (run(unshared, 1, number) for number in (in_flight - 1, in_flight))
    assert many.makespan <= few.makespan
    assert not many.bound


def test_the_first_free_kernel_takes_the_next_position() -> None:
    found = run([(1, 50, 1, 0), (1, 10, 1, 0), (1, 10, 1, 0), (1, 10, 1, 0)], 2, 1)
    assert found.kernel.tolist() == [0, 1, 1, 1]
    assert found.start.tolist() == [0, 0, 12, 24]
    assert found.makespan == 52
    assert found.utilisation.tolist() == [50 / 52, 30 / 52]


def test_positions_without_a_front_go_to_idle_kernels() -> None:
    found = run([(0, 50, 1, 0)] * 4, 2, 2)
    assert found.kernel.tolist() == [0, 1, 0, 1]
    assert found.makespan == 101


def test_a_prefetch_beside_columns_pushes_them_back() -> None:
    """The second front runs in cycles 5 to 14, takes 8 port cycles, and the first columns end in 25 + 8."""
    found = run([(5, 20, 3, 4), (10, 20, 3, 8)], 1, 2)
    assert found.bound
    assert found.end.tolist() == [33 + 3, 33 + 20 + 3]


def test_one_kernel_and_one_position_change_nothing() -> None:
    workload, config = Workload.uniform(13_000, grid=60), load("u200").but(position_overhead_us=2.0)
    timing = simulate(workload, config)
    assert timing.cycles == int(timing.position_cycles.sum())
    assert timing.bound == "exact"
    assert (timing.schedule.end - timing.schedule.start).tolist() == timing.position_cycles.tolist()


def test_kernels_that_share_nothing_divide_the_work() -> None:
    workload = Workload.uniform(13_000, grid=200)
    one = load("u200").but(memory=Memory(ports=1, banks=4))
    alone, four = simulate(workload, one), simulate(workload, one.but(kernels=4))
    assert four.position_cycles.tolist() == alone.position_cycles.tolist()
    assert alone.cycles / 4 <= four.cycles <= alone.cycles / 4 + alone.position_cycles.max()
    assert four.bound == "exact"
    assert four.schedule.utilisation.min() > 0.95


def test_two_kernels_gain_nothing_where_one_keeps_the_banks_busy() -> None:
    workload = Workload.uniform(13_000, grid=100)
    config = change(load("u200_overlap"), {"memory": {"efficiency": 0.8}})  # two ports ask for more than two banks give
    timing = simulate(workload, config.but(kernels=2))
    assert config.but(kernels=2).pace == 2 * config.pace
    assert timing.bound == "at most"
    assert timing.cycles == pytest.approx(simulate(workload, config).cycles, rel=0.01)


def test_positions_in_flight_hide_what_is_no_column() -> None:
    workload, config = Workload.uniform(13_000, grid=100), load("u200").but(position_overhead_us=20.0)
    one, two = simulate(workload, config), simulate(workload, config.but(positions_in_flight=2))
    columns = sum(int(one.phases[name].sum()) for name in ("fill", "stream", "stall", "drain"))
    assert columns < two.cycles < one.cycles
    assert two.bound == "at most"
    hidden = one.phases["overhead"].sum() + one.phases["merge"].sum() + 100 * config.latency
    assert one.cycles - two.cycles == pytest.approx(hidden, rel=0.1)


@pytest.mark.parametrize("prefetch", ["none", "per_outer"])
def test_only_a_prefetch_once_per_position_takes_the_port(prefetch: str) -> None:
    config = load("u200").but(rs_prefetch=prefetch, positions_in_flight=2)
    assert simulate(Workload.uniform(13_000, grid=10), config).bound == "exact"


def test_copies_take_their_resources_and_ports() -> None:
    config = load("u200")
    one, three = (estimate(config.but(kernels=kernels), pipelines_only=True).total for kernels in (1, 3))
    assert three == one.times(3)
    deeper = estimate(config.but(positions_in_flight=2), pipelines_only=True).total
    buffers = next(part for part in estimate(config).parts if part.kind == "Memory").total
    assert deeper.bram18k == one.bram18k + buffers.bram18k
    with pytest.raises(ModelError, match=r"^kernels x memory\.ports is 6; u200 has 4$"):
        check_possible(config.but(kernels=3))


def test_roofs_count_all_kernels() -> None:
    workload, config = Workload.uniform(13_000, grid=20), load("u200").but(clock_met=True)
    one, two = roofline(workload, config), roofline(workload, config.but(kernels=2))
    assert two.roofs["lanes"] == 2 * one.roofs["lanes"]
    assert two.roofs["ports"] == 2 * one.roofs["ports"]
    assert two.roofs["banks"] == pytest.approx(one.roofs["banks"])  # the same two banks
    assert two.rate <= two.roofs[two.binding] * 1.01


@pytest.mark.parametrize("name", ["kernels", "positions_in_flight"])
@pytest.mark.parametrize("value", [0, 1025, 1.5])
def test_copies_are_whole_numbers_from_1_on(name: str, value: float) -> None:
    with pytest.raises(ModelError, match=f"^{name} is {value}"):
        Config(**{name: value})  # type: ignore[arg-type]


def test_a_prefetch_takes_the_port_for_its_port_beats() -> None:
    design = Config(memory=Memory(efficiency=1.0))
    timing = simulate(Workload.joined([Workload.single(5, 640), Workload.single(5, 31)]), design)
    assert timing.stages.port.tolist() == [640 // 32, 0]  # 32 words in a port beat
    assert timing.stages.front.tolist() == [design.latency + 640 // 32 + 1, 0]


@pytest.mark.parametrize(
    ("kernels", "in_flight", "bound"), [(1, 1, "exact"), (2, 1, "at most"), (1, 2, "at most"), (2, 2, "about")]
)
def test_cycles_say_what_they_are(kernels: int, in_flight: int, bound: str) -> None:
    memory = Memory(efficiency=0.4)  # the two ports of one kernel have a bank each
    design = Config(clock_mhz=100.0, kernels=kernels, positions_in_flight=in_flight, memory=memory)
    assert design.banks_shared == (kernels > 1)
    assert simulate(Workload.joined([Workload.single(5, 6_400)] * 6), design).bound == bound
