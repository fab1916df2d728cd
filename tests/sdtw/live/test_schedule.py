"""Selection at loads of 0.2 to 10, by a device of a modelled speed, against fixed numbers of channels."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.live_loads import Workload, play_at, play_unlimited
from helpers.products import only_whole
from hypothesis import given, strategies as st

from oclgenomics.sdtw.live.channels import FLYING, OPEN, ChannelTable
from oclgenomics.sdtw.live.judging import Job, Verdict
from oclgenomics.sdtw.live.playback import Played, played_text
from oclgenomics.sdtw.live.schedule import WINDOW, ChannelChoice, Pace, Schedule, rank

NO_CONTROL = np.empty(0, np.int64)

# Reads of several lengths and shares of the target; those of one length come and go in bursts. How fast the number of
# channels grows was chosen with a look at these runs, so they guard what is there and are no measure on unseen data.
WORKLOADS = {
    "long tail": Workload(lambda rng, n: rng.lognormal(1.2, 0.7, n), share=0.2, channels=250, seed=101),
    "geometric": Workload(lambda rng, n: 0.3 + rng.exponential(3.0, n), share=0.4, found=0.6, channels=250, seed=102),
    "bursts": Workload(lambda rng, n: np.full(n, 5.0), share=0.1, found=0.8, capture=0.05, channels=250, seed=103),
    "mostly target": Workload(lambda rng, n: rng.uniform(2, 9, n), share=0.7, capture=0.3, channels=250, seed=104),
}
TOLERANCE = 0.05  # of the enrichment: what a run leaves to chance, and the seconds in which the load gets known
SECONDS = 25.0


@cache
def unlimited(name: str) -> tuple[Played, float]:
    return play_unlimited(workload(name))


def workload(name: str) -> Workload:
    return replace(WORKLOADS[name], seconds=SECONDS)


def run_of(name: str, load: float, **options: Any) -> Played:
    return play_at(load, unlimited(name)[1], workload(name), **options)


@pytest.mark.parametrize(
    ("name", "load"),
    [("long tail", 1.0), ("geometric", 1.5), ("bursts", 3.0), ("mostly target", 10.0),
     *only_whole(*itertools.product(WORKLOADS, (0.2, 0.7, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)))],
)  # fmt: skip
def test_no_fixed_number_of_channels_brings_more(name: str, load: float) -> None:
    """And verdicts come in time."""
    run, channels = run_of(name, load), WORKLOADS[name].channels
    numbers = {channels, *(min(channels, max(1, round(share * channels / load))) for share in (0.7, 1.0, 1.4))}
    fixed = {number: run_of(name, load, select=number).enrichment for number in numbers}
    assert run.enrichment >= (1 - TOLERANCE) * max(fixed.values()), fixed
    record = run.record()
    verdicts = run.metrics.batch_reads.total  # of reads that end while they are judged some are lost at any load
    assert record["gone"] <= 0.02 * verdicts + 3
    assert record["gone"] + run.missed <= 0.06 * verdicts + 3
    assert record["latency"]["p99"] <= 1.0


@pytest.mark.parametrize("load", [0.2, 0.4])
def test_at_a_low_load_every_read_is_judged(load: float) -> None:
    """As on a device that takes no time."""
    free, _ = unlimited("long tail")
    run = run_of("long tail", load)
    for played in (free, run):
        counts = played.metrics.outcome_counts()
        assert (counts["delayed"], counts["unselected"], counts["undecided"]) == (0, 0, 0)
        assert played.metrics.choice.usual == WORKLOADS["long tail"].channels
    assert run.metrics.gone == 0
    assert run.enrichment == pytest.approx(free.enrichment, rel=0.03)


def test_what_is_said_of_a_machine_that_is_too_slow() -> None:
    said: list[str] = []
    run = run_of("bursts", 5.0, tell=said.append)
    choice = run.metrics.choice
    assert said[0].startswith("warning: this machine selects about ")
    assert " of 250 channels" in said[0]
    assert said[-1].startswith(f"warning: {choice.text()} channels were selected")
    assert "verdicts came too late" in said[-1]
    assert 20 < choice.usual < 150
    rows = dict(line.split("\t") for line in played_text(run).splitlines())
    assert choice.text().startswith("about ")
    assert rows["selected channels"] == f"{choice.text()}; this machine is too slow for more"
    assert rows["verdicts"].endswith("%)")
    assert f"{choice.text()} channels selected" in run.metrics.line()
    assert run.record()["selection"] == {"channels": 250, "selected": choice.usual}


def test_what_is_said_of_a_machine_that_is_fast_enough() -> None:
    said: list[str] = []
    run = run_of("long tail", 0.1, tell=said.append)
    assert said == ["this machine selects all of 250 channels"]
    assert "selected channels\tall of 250\n" in played_text(run)


def test_what_is_said_of_a_machine_that_is_too_slow_for_second_looks() -> None:
    said: list[str] = []
    run = run_of("geometric", 2.0, tell=said.append)
    counts = run.metrics.outcome_counts()
    assert not run.metrics.choice.short
    assert said[-1].startswith(f"warning: {counts['delayed']:,} of {sum(counts.values()):,} reads of selected channels")
    assert len(said) == 2


@pytest.mark.parametrize("number", [1, 60, 250])
def test_a_number_of_channels_that_is_wanted(number: int) -> None:
    said: list[str] = []
    run = run_of("long tail", 0.1, select=number, tell=said.append)
    assert (run.metrics.choice.selected, said) == (number, [])
    assert (run.metrics.outcome_counts()["unselected"] > 0) == (number < 250)


def choice_of(channels: int, **options: Any) -> ChannelChoice:
    choice = ChannelChoice(NO_CONTROL, **options)
    choice.of(np.arange(1, channels + 1))
    return choice


def settle(choice: ChannelChoice, capacity: float, windows: int, start: float) -> list[int]:
    """Windows in which each selected channel gives ten reads, of which the device judges so many."""
    counts = []
    for window in range(windows):
        wanted = 10 * choice.selected
        served = round(min(wanted, capacity))
        choice.count(served, wanted - served, WINDOW * served / capacity)
        assert choice.adapt(start + (window + 1) * WINDOW)
        counts.append(choice.selected)
    return counts


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5, 0.9, 1.5])
def test_channels_follow_what_the_device_can_do(share: float) -> None:
    """Down and up again."""
    choice = choice_of(1000)
    choice.adapt(0.0)
    expected = min(1000.0, 1000 * share)
    assert settle(choice, 10_000 * share, 10, 0.0)[-1] == pytest.approx(expected, rel=0.15)
    assert settle(choice, 500, 15, 20.0)[-1] == pytest.approx(50, rel=0.15)
    assert settle(choice, 10_000 * share, 40, 50.0)[-1] == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("windows", [1, 8])
def test_channels_that_come_later_are_selected_as_the_others(windows: int) -> None:
    """And do not make a device seem slow that serves all."""
    choice = choice_of(180)
    choice.adapt(0.0)
    assert set(settle(choice, 10_000, windows, 0.0)) == {180}
    choice.of(np.arange(1, 201))
    assert (choice.usual, choice.short, choice.text()) == (200, False, "all of 200")
    assert (choice.message() is not None) == (windows > 5)
    choice.of(np.arange(1, 301))
    assert choice.message() is None  # that was told


@pytest.mark.parametrize(("busy", "held_up", "selected"), [(0.5, False, 1000), (0.8, False, 718), (0.5, True, 600)])
def test_reads_that_are_missed_while_the_device_is_idle(busy: float, held_up: bool, selected: int) -> None:
    """They came all at once, and the device has time for as many channels; if the caller came late, it has not."""
    choice = choice_of(1000)
    choice.adapt(0.0)
    assert settle(choice, 10_000, 1, 0.0) == [1000]
    choice.count(500, 500, busy * WINDOW)
    if held_up:
        choice.hold_up()
    assert choice.adapt(2 * WINDOW)
    assert choice.selected == selected


def test_a_short_spell_is_not_told_as_fewer_channels() -> None:
    choice = choice_of(1000)
    choice.adapt(0.0)
    assert settle(choice, 10_000, 40, 0.0)[-1] == 1000
    assert settle(choice, 8_000, 1, 80.0) == [920]
    assert settle(choice, 10_000, 20, 82.0)[-1] == 1000
    assert (choice.usual, choice.short, choice.text()) == (1000, False, "all of 1,000")


def test_the_first_batches_tell_nothing_of_the_device() -> None:
    choice = choice_of(1000)
    choice.adapt(0.0)
    assert settle(choice, 1000, 2, 0.0) == [1000, 600]


@pytest.mark.parametrize(("interval", "fewer"), [(0.1, False), (1.5, True)])
def test_a_caller_that_is_too_slow_gets_fewer_channels(interval: float, fewer: bool) -> None:
    """Whatever the device could do."""
    run = run_of("long tail", 0.2, interval=interval)
    assert run.metrics.choice.short == fewer


def test_a_device_that_hangs_tells_nothing_of_its_speed() -> None:
    choice = choice_of(100)
    choice.adapt(0.0)
    choice.count(0, 500)
    assert not choice.adapt(100.0)
    assert choice.selected == 100


@given(st.sets(st.integers(1, 3000), min_size=20), st.integers(1, 3000), st.integers(1, 3000), st.integers(0, 5))
def test_the_same_channels_are_selected_and_no_others(seen: set[int], one: int, other: int, parts: int) -> None:
    """Fewer are among more, whatever the order in which they come."""
    control = np.array(sorted(seen)[:3], np.int64)
    chosen = []
    for number in sorted((one, other)):
        choice = ChannelChoice(control, number)
        channels = np.array(list(seen), np.int64)
        for some in np.array_split(channels, parts + 1):
            choice.of(some)
        mask = choice.of(channels)
        assert mask.sum() == choice.selected == min(number, len(seen) - 3)
        assert not choice.of(control).any()
        chosen.append(set(channels[mask].tolist()))
    assert chosen[0] <= chosen[1]


@pytest.mark.parametrize("number", [30, 300, 1900])
def test_selected_channels_lie_all_over_the_flow_cell(number: int) -> None:
    choice = choice_of(3000, wanted=number)
    places = np.flatnonzero(choice.of(np.arange(1, 3001)))
    tenths = np.bincount(places * 10 // 3000, minlength=10)
    assert abs(tenths - number / 10).max() <= 2
    assert len(np.unique(rank(np.arange(16385)))) == 16385


@pytest.mark.parametrize(("start", "each"), [(0.0, 1e-4), (0.002, 1e-6), (0.05, 1e-5), (0.3, 1e-3), (0.0, 0.5)])
def test_batches_are_as_large_as_time_allows(start: float, each: float) -> None:
    """Seconds of a batch without work, and of each sample."""
    pace = Pace(25, 0.05, None)
    for _ in range(60):
        work = max(25.0, pace.limit() // 25 * 25)
        pace.learn(int(work), start + each * work)
    one = start + 25 * each
    assert pace.seconds(1000) == pytest.approx(start + each * 1000, rel=0.02)
    assert pace.deadline == pytest.approx(max(1.0, 4 * one), rel=0.02)
    full = max(pace.limit() for _ in range(4))
    assert max(one, pace.seconds(full)) <= 1.02 * pace.deadline / 2
    assert pace.seconds(full) >= 0.9 * min(max(0.05, 4 * start), pace.deadline / 2)


def test_a_device_that_gets_slower_gets_smaller_batches() -> None:
    pace = Pace(25, 0.05, None)
    for each in (1e-5, 1e-3):
        for _ in range(80):
            pace.learn(int(max(25, pace.limit())), each * max(25, int(pace.limit())))
    assert max(pace.limit() for _ in range(4)) == pytest.approx(50, rel=0.3)


@pytest.mark.parametrize(("vector", "first"), [(32, 0.284), (32, 0.071), (16, 5.0)])
def test_a_device_that_aligns_vectors_gets_whole_ones(vector: int, first: float) -> None:
    """Even if its first batches took so long that not even one read seemed to fit."""
    pace = Pace(25, 0.05, None)
    pace.learn(4 * 25, first)
    for _ in range(60):
        reads = max(1, int(pace.limit() // 25))
        pace.learn(25 * reads, 0.071 * -(-reads // vector))
    assert max(pace.limit() for _ in range(4)) >= 25 * vector


def test_a_caller_that_stays_away_gets_larger_batches() -> None:
    """So that the device has something to do meanwhile."""
    pace = Pace(25, 0.05, None)
    for _ in range(30):
        pace.apart(0.4)
    assert pace.full() == pytest.approx(0.4, rel=0.01)
    for _ in range(30):
        pace.apart(3.0)
    assert pace.full() == pace.deadline / 2


@given(st.lists(st.tuples(st.integers(1, 10**7), st.floats(0, 1e4)), max_size=30), st.floats(0.01, 10))
def test_whatever_times_batches_take_there_is_a_bound(batches: list[tuple[int, float]], deadline: float) -> None:
    pace = Pace(25, 0.05, deadline)
    for work, seconds in batches:
        pace.learn(work, seconds)
        assert 0 <= pace.limit() < np.inf
        assert 0 <= pace.seconds(25) < np.inf
        assert pace.full() <= deadline / 2


def table_of(stages: list[int], arrived: list[float]) -> ChannelTable:
    """A read on each of the channels from 1 on, due at its stage since a moment."""
    table = ChannelTable((25, 50))
    for channel, (stage, moment) in enumerate(zip(stages, arrived, strict=True), 1):
        table.state[channel], table.stage[channel], table.located[channel] = OPEN, stage, True
        table.held[channel], table.arrived[channel, stage] = 50, moment
    return table


def verdict_of(job: Job, decision: list[int]) -> Verdict:
    empty = np.zeros((len(job), 1))
    return Verdict(
        np.array(decision, np.uint8), job.stage, empty[:, 0], empty, empty.astype(np.int64), 25 * len(job), 1
    )


def job_of(stage: list[int]) -> Job:
    count = len(stage)
    return Job(np.arange(count), np.zeros(count, np.int64), np.array(stage), np.full(count, 50),
               np.zeros((count, 50), np.int16))  # fmt: skip


@pytest.mark.parametrize("pays", [0, 1])
def test_what_ends_most_reads_comes_first_then_the_latest(pays: int) -> None:
    """A stage that ends no read waits for one that does."""
    schedule = Schedule((25, 50), [2], Pace(25, 0.05, None), 3)
    for stage in (0, 1):
        job = job_of([stage] * 50)
        schedule.learn(job, verdict_of(job, [2 if stage == pays else 1] * 50), 0.01)
    channels, others = schedule.batch(table_of([0, 1, 0, 1, 0], [1.0, 2.0, 3.0, 4.0, 2.0]))
    assert (channels.tolist(), others.tolist()) == (([3, 5, 1], [4, 2]), ([4, 2, 3], [5, 1]))[pays]
    assert schedule.first_share(job_of([0, 1, 1])) == ((1 / 5), 1.0)[pays]


@given(st.lists(st.sampled_from([0, 1]), min_size=1, max_size=150), st.integers(1, 150))
def test_batches_that_do_not_take_all_take_whole_vectors(stages: list[int], most: int) -> None:
    """Of each stage the first ones; no read is lost, and a device with time for all gets all."""
    schedule = Schedule((25, 50), [2], Pace(25, 0.05, None), most)
    table = table_of(stages, [float(number) for number in range(len(stages))])
    schedule.pace.learn(10**6, 1e-6)
    channels, others = schedule.batch(table)
    assert sorted([*channels, *others]) == list(range(1, len(stages) + 1))
    counts = np.bincount(table.stage[channels])
    due = np.bincount(stages, minlength=2)
    assert len(channels)
    if most >= len(stages):
        assert not len(others)
    elif most >= 64:  # 32 of one of both stages, at least
        assert all(count % 32 == 0 or count == 16 for count in counts)
        assert most - len(channels) < 64
    elif most < 16:
        assert len(channels) == most
    assert (counts <= due[: len(counts)]).all()


def test_the_rest_of_a_vector_waits() -> None:
    schedule = Schedule((25, 50), [2], Pace(25, 0.05, None), 100)
    schedule.pace.learn(10**6, 1e-6)
    channels, others = schedule.batch(table_of([0] * 90 + [1] * 40, [float(number) for number in range(130)]))
    assert channels.tolist() == list(range(90, 26, -1))  # the latest 64 of the first stage
    assert len(others) == 130 - 64


def test_a_first_look_that_only_leads_to_the_second_pays_as_much() -> None:
    schedule = Schedule((25, 50), [2], Pace(25, 0.05, None), None)
    for stage, decision in ((0, 0), (1, 2)):
        job = job_of([stage] * 1000)
        schedule.learn(job, verdict_of(job, [decision] * 1000), 0.01)
    assert schedule.gains == pytest.approx([1 / 75, 1 / 50], rel=0.01)


def test_reads_that_would_wait_too_long_are_not_judged() -> None:
    schedule = Schedule((25, 50), [2], Pace(25, 0.1, 1.0), None)
    table = table_of([0, 0, 1, 0], [0.05, 0.15, 0.05, 0.0])
    table.state[4] = FLYING
    assert schedule.expired(table, 1.0).tolist() == [1, 3]
