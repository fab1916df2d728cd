"""Runs that are played: the simulated flow cell, what it counts, the report and the figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.read_until import BACKGROUND, LEVELS, TARGET, read_of, stages_of
from helpers.sdtw_oracle import OracleAligner
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.sdtw.live.flow_cell import FlowCell
from oclgenomics.sdtw.live.options import FlowCellOptions, LiveOptions
from oclgenomics.sdtw.live.playback import Played, named_classes, of_class, play, played_text, read_classes
from oclgenomics.sdtw.live.workers import RealClock, VirtualClock
from oclgenomics.sdtw.plots.live import plot_played
from oclgenomics.signals.model import Signals

STAGES = stages_of((40, 400.0), (80, 600.0))
GOOD = read_of(LEVELS, 100, seed=1)
POOL = Signals.of(
    [np.tile(read, 4) for read in (GOOD, *(read_of(BACKGROUND.levels, 100, seed=n) for n in (4, 3, 2)))],
    ["target_1", "other_1", "other_2", "other_3"],
)
TRUTH = np.array([True, False, False, False])
CELL = FlowCellOptions(channels=12, rate=100.0, chunk=0.4, duration=20.0, capture=0.5, seed=7)


def flow_cell(clock: VirtualClock, **changes: Any) -> FlowCell:
    options = {"channels": 3, "rate": 100.0, "chunk": 0.4, "duration": 30.0, "capture": 0.5, "seed": 7, **changes}
    return FlowCell(POOL, TRUTH, clock, FlowCellOptions(**options))


def played(**changes: Any) -> Played:
    given = {"speed": 0.0, "seconds": lambda job, real: 0.01 * len(job), "truth": TRUTH, "flow_cell": CELL, **changes}
    return play(POOL, TARGET, STAGES, aligner=OracleAligner((TARGET,), STAGES.options), **given)


@pytest.mark.parametrize("accumulate", [False, True])
def test_chunks_are_those_of_the_read(accumulate: bool) -> None:
    clock = VirtualClock()
    cell = flow_cell(clock, accumulate=accumulate)
    heard: dict[str, bytes] = {}
    for _ in range(400):
        clock.sleep(0.05)
        for channel, chunk in cell.get_read_chunks(batch_size=512):
            assert channel == int(chunk.id.split(".")[1])
            before = heard.get(chunk.id, b"")
            assert chunk.chunk_length == len(chunk.raw_data) // 2
            assert chunk.chunk_length % 40 == 0
            assert chunk.chunk_start_sample - chunk.start_sample == (0 if accumulate else len(before) // 2)
            heard[chunk.id] = chunk.raw_data if accumulate else before + chunk.raw_data
            assert chunk.chunk_start_sample + chunk.chunk_length <= clock.now() * 100
    assert len(heard) > 6
    for name, data in heard.items():
        read = POOL.read(POOL.names.tolist().index(name.split(".")[0]))
        assert read.tobytes().startswith(data)


def test_a_read_that_is_unblocked_ends_soon() -> None:
    clock = VirtualClock()
    cell = flow_cell(clock, channels=1, capture=1e-9, unblock_latency=0.25, duration=2.0)
    clock.sleep(0.55)
    ((channel, chunk),) = cell.get_read_chunks(batch_size=512)
    cell.unblock_read_batch([(channel, chunk.id)], duration=0.15)
    assert cell.response.values().tolist() == [pytest.approx(0.15)]
    clock.sleep(0.4)
    assert cell.get_read_chunks(batch_size=512) == []  # 15 samples of the next read, which starts at 0.95
    clock.sleep(0.45)
    ((_, after),) = cell.get_read_chunks(batch_size=512)
    assert after.start_sample == 95
    clock.sleep(1.0)
    assert not cell.is_running
    tally = cell.finish()
    assert tally.reads.sum() == 2
    assert tally.unblocked.sum() == 1
    assert tally.samples.sum() == 80 + 105


def test_a_read_that_is_not_received_goes_on() -> None:
    clock = VirtualClock()
    cell = flow_cell(clock, channels=1, capture=1e-9, duration=5.0)
    clock.sleep(0.5)
    reads = [(channel, chunk.id) for channel, chunk in cell.get_read_chunks()]
    cell.stop_receiving_batch(reads)
    clock.sleep(3.4)
    assert cell.get_read_chunks() == []
    clock.sleep(0.6)
    ((_, after),) = cell.get_read_chunks()
    assert after.start_sample == 400
    cell.unblock_read_batch(reads)
    assert cell.missed == 1
    assert cell.finish().samples.sum() == 500


def test_a_read_that_ends_before_it_could_be_unblocked_is_whole() -> None:
    clock = VirtualClock()
    cell = flow_cell(clock, channels=1, capture=1e-9, unblock_latency=0.25, duration=5.0)
    clock.sleep(3.9)
    cell.unblock_read_batch([(channel, chunk.id) for channel, chunk in cell.get_read_chunks()])
    clock.sleep(0.5)
    ((_, after),) = cell.get_read_chunks()
    assert after.start_sample == 400
    assert cell.finish().unblocked.sum() == 0


def test_each_read_once() -> None:
    clock = VirtualClock()
    cell = flow_cell(clock, once=True, duration=1000.0)
    seen = set()
    while cell.is_running:
        clock.sleep(0.1)
        seen |= {chunk.id.split(".")[0] for _, chunk in cell.get_read_chunks(batch_size=512)}
    assert seen == set(POOL.names)
    assert clock.now() < 30
    assert cell.finish().samples.tolist() == [1200, 400]


@given(st.integers(0, 1000), st.integers(1, 40))
def test_captures_depend_on_the_seed_alone(seed: int, turns: int) -> None:
    """And not on how often anybody looks."""
    tallies = []
    for steps in (1, turns):
        clock = VirtualClock()
        cell = flow_cell(clock, seed=seed)
        for _ in range(steps):
            clock.sleep(20 / steps)
            cell.get_read_chunks(batch_size=512)
        tally = cell.finish()
        tallies.append([tally.reads.tolist(), tally.samples.tolist()])
    assert tallies[0] == tallies[1]


@pytest.fixture(scope="module")
def run() -> Played:
    return played()


def test_a_run_is_played(run: Played) -> None:
    record = run.record()
    assert record["outcomes_by_truth"]["target"]["reject"] == 0
    assert record["outcomes_by_truth"]["other"]["accept"] == 0
    assert run.outcomes[1, 1] > 5
    assert run.outcomes[0, 2] > 20
    assert run.enrichment > 1.2
    assert run.metrics.slow_batches == 0
    assert run.metrics.late == run.metrics.malformed == 0
    assert 0 < record["latency"]["p50"] <= record["latency"]["p99"] <= 0.2
    assert record["response"]["p50"] >= record["latency"]["p50"]
    assert record["with_selection"]["target_share_of_samples"] > record["without_selection"]["target_share_of_samples"]
    assert len(run.time) == len(run.latency) == sum(run.metrics.outcome_counts().values())
    assert (np.diff(run.time) >= 0).all()


def test_simulated_time_repeats_itself(run: Played) -> None:
    """Whether all chunks so far are sent, or only new ones."""
    again = played(flow_cell=FlowCellOptions(**{**vars(CELL), "accumulate": True}))
    records = run.record(), again.record()
    for record in records:
        for name in ("loop_seconds", "flow_cell"):  # real, and different
            record.pop(name)
    assert records[0] == records[1]
    assert np.array_equal(run.latency, again.latency, equal_nan=True)


def test_the_table_of_decisions() -> None:
    log = io.StringIO()
    small = played(flow_cell=FlowCellOptions(**{**vars(CELL), "channels": 2}), debug=log)
    rows = [line.split("\t") for line in log.getvalue().splitlines()]
    assert [float(row[0]) for row in rows[1:]] == pytest.approx(small.time.tolist(), abs=1e-4)
    assert [float(row[-1]) for row in rows[1:]] == pytest.approx(small.latency.tolist(), abs=1e-4)
    assert {row[6] for row in rows[1:] if row[2].startswith("target")} == {"accept"}
    assert len({row[2] for row in rows}) == len(rows)


def test_a_slow_device_selects_less_and_holds_nobody_up(run: Played) -> None:
    slow = played(seconds=lambda job, real: 1.0, live=LiveOptions(max_latency=0.2))
    assert slow.metrics.slow_batches > 5
    assert slow.metrics.deferred > 0
    assert slow.metrics.gone + slow.missed > 0
    assert slow.enrichment < run.enrichment
    assert slow.seconds == pytest.approx(20.0, abs=0.5)


def test_a_dry_run_is_a_run_without_selection() -> None:
    run = played(live=LiveOptions(dry_run=True))
    assert run.enrichment == 1.0
    assert run.selected.samples.tolist() == run.control.samples.tolist()
    assert run.outcomes[0, 2] > 5


def test_control_channels_take_no_part() -> None:
    run = played(live=LiveOptions(control_channels=frozenset(range(1, 13))))
    assert run.metrics.batches == 0
    assert run.outcomes.sum() == run.outcomes[:, 3].sum() > 5
    assert run.enrichment == 1.0


def test_real_time_may_run_faster() -> None:
    run = played(speed=200.0, flow_cell=FlowCellOptions(**{**vars(CELL), "channels": 2, "duration": 20.0}),
                 live=LiveOptions(max_latency=400.0))  # fmt: skip
    assert run.seconds >= 20
    assert run.metrics.reads > 2
    assert run.outcomes[1, 2] == run.outcomes[0, 1] == 0


def test_clocks() -> None:
    clock = RealClock(speed=1000.0)
    clock.sleep(1.0)
    clock.sleep(-1.0)
    assert clock.now() >= 1.0
    assert clock.real(2.0) == 0.002
    virtual = VirtualClock()
    virtual.sleep(-1.0)
    virtual.sleep(0.5)
    assert (virtual.now(), virtual.real(3.0)) == (0.5, 0.0)


@pytest.mark.parametrize("labelled", [True, False])
def test_the_report_and_the_figure(labelled: bool) -> None:
    run = played(truth=TRUTH if labelled else None, flow_cell=FlowCellOptions(**{**vars(CELL), "channels": 4}))
    lines = dict(line.split("\t") for line in played_text(run).splitlines())
    assert lines["reads"] == f"{run.metrics.reads:,}"
    assert ("enrichment" in lines) == labelled
    figure = plot_played(run, title="reads.blow5")
    texts = [text.get_text() for text in figure.texts]
    assert texts[0].startswith("Enrichment " if labelled else f"{run.metrics.reads:,} reads played on 4 channels")
    assert texts[1].startswith("reads.blow5: 4 channels; ")


def test_the_report_of_a_run_without_reads() -> None:
    run = played(flow_cell=FlowCellOptions(channels=1, rate=100.0, duration=0.2, capture=100.0), truth=None)
    assert "decisions\tnone" in played_text(run)
    assert run.record()["cells_per_second"] is None
    plot_played(run)


@pytest.mark.parametrize(
    "changes",
    [{"channels": 0}, {"rate": 0}, {"chunk": 0.001}, {"duration": -1}, {"capture": float("nan")}, {"seed": -1},
     {"unblock_latency": -0.1}],
)  # fmt: skip
def test_options_of_flow_cells_are_checked(changes: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(changes))):
        flow_cell(VirtualClock(), **changes)


def test_nothing_to_play() -> None:
    with pytest.raises(InputError, match="no read to play"):
        FlowCell(Signals.of([np.empty(0, np.int16)]), np.zeros(1, np.bool_), VirtualClock(), CELL)
    with pytest.raises(ParameterError, match="speed"):
        played(speed=-1.0)


def test_classes_of_reads(tmp_path: Path) -> None:
    table = tmp_path / "truth.tsv"
    table.write_text("# made by hand\nclass\tread\nvirus\ta\nhost\tb\n")
    classes = read_classes(table)
    assert classes == {"a": "virus", "b": "host"}
    assert of_class(["b", "a"], classes, "virus", "x").tolist() == [False, True]
    with pytest.raises(InputError, match="read c"):
        of_class(["a", "c"], classes, "virus", "x")
    with pytest.raises(InputError, match="no read is of class yeast; there are host, virus"):
        of_class(["a"], classes, "yeast", "x")
    assert named_classes(["virus_1_x", "plain"]) == {"virus_1_x": "virus"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "the file is empty"), ("#", "line 1"), ("a\tb\n", "columns"), ("read\tclass\nx\n", "line 2: 1 columns"),
     ("read\tclass\nx\ta\nx\tb\n", "line 3: read x is of two classes")],
)  # fmt: skip
def test_tables_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    table = tmp_path / "truth.tsv"
    table.write_text(text)
    with pytest.raises(InputError, match=message):
        read_classes(table)


@given(st.text(st.sampled_from("read\tclass\n#x"), max_size=40))
def test_tables_of_any_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    table = tmp_path_factory.mktemp("truth") / "t.tsv"
    for head in ("", "read\tclass\n"):
        table.write_text(head + text)
        try:
            told = str(read_classes(table))
        except InputError as error:
            told = str(error)
        assert "\n" not in told
