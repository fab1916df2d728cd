"""Selection while sequencing: a scripted sequencer, simulated time, and a device that is late or fails."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from helpers.read_until import BACKGROUND, LEVELS, TARGET, Chunk, Script, classifier_of, read_of, stages_of
from helpers.sdtw_oracle import OracleAligner
from hypothesis import example, given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.sdtw import ReadUntilClassifier
from oclgenomics.sdtw.decisions.thresholds import UNDECIDED, Thresholds, read_scores
from oclgenomics.sdtw.live.options import LiveOptions
from oclgenomics.signals.trimming import TrimOptions, trim_start

STAGES = stages_of((40, 400.0), (80, 600.0))


def chunks_of(name: str, samples: NDArray[np.int16], sizes: list[int], start: int = 1000) -> list[Chunk]:
    """A read in chunks of these sizes, the last of which takes the rest."""
    ends = np.cumsum([*sizes, max(0, len(samples) - sum(sizes))]).clip(max=len(samples))
    cuts = [0, *dict.fromkeys(int(end) for end in ends if end)]
    return [Chunk(name, samples[a:b].tobytes(), start + a, b - a, start) for a, b in pairwise(cuts)]


def whole_read(name: str, samples: NDArray[np.int16], start: int = 1000) -> Chunk:
    return Chunk(name, samples.tobytes(), start, len(samples), start)


def expected(thresholds: Thresholds, samples: NDArray[np.int16], decoys: Any = ()) -> int:
    """The decision of a whole read, stage by stage."""
    aligner = OracleAligner((TARGET, *decoys), thresholds.options)
    for stage, rows in enumerate(thresholds.prefixes):
        if len(samples) < rows:
            break
        cost = aligner.align(samples, np.zeros(1, np.int64), rows).cost
        decision = int(thresholds.decide(stage, read_scores(cost, thresholds.score, thresholds.options))[0])
        if decision != UNDECIDED:
            return decision
    return UNDECIDED


GOOD = read_of(LEVELS, 100, seed=1)
BAD = read_of(BACKGROUND.levels, 100, seed=4)


def test_the_examples_are_what_they_are_called() -> None:
    assert expected(STAGES, GOOD) == 1
    assert expected(STAGES, BAD) == 2


def test_targets_are_sequenced_and_others_end() -> None:
    client = Script([[(1, whole_read("a", GOOD)), (2, whole_read("b", BAD))]])
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.stopped == [(1, "a")]
    assert client.unblocked == [(2, "b")]
    counts = metrics.outcome_counts()
    assert counts == {"undecided": 0, "accept": 1, "reject": 1, "control": 0, "delayed": 0, "unselected": 0}
    assert metrics.actions == {"unblock": 1, "stop_receiving": 1, "proceed": 0}


def test_reads_are_named_by_number_where_there_is_one() -> None:
    chunk = whole_read("b", BAD)
    chunk.number = 77  # type: ignore[attr-defined]
    client = Script([[(2, chunk)]])
    classifier, _ = classifier_of(STAGES)
    with classifier:
        classifier.run(client)
    assert client.unblocked == [(2, 77)]


@settings(max_examples=examples(40))
@given(st.data())
def test_decisions_are_those_of_whole_reads(data: st.DataObject) -> None:
    """However reads are cut into chunks, whether only new samples come or all so far, and whatever a batch may hold."""
    prefixes = sorted(data.draw(st.sets(st.integers(10, 60), min_size=1, max_size=3)))
    thresholds = stages_of(*((prefix, data.draw(st.floats(0, 6 * prefix))) for prefix in prefixes))
    trim = data.draw(st.sampled_from([0, 0, 7, 25]))
    count = data.draw(st.integers(1, 5))
    reads = [read_of(LEVELS, data.draw(st.integers(1, 120)), seed=seed) for seed in range(count)]
    accumulate = data.draw(st.booleans())
    turns: list[list[tuple[int, Chunk]]] = [[] for _ in range(12)]
    for number, samples in enumerate(reads):
        sizes = data.draw(st.lists(st.integers(1, 60), max_size=8))
        for turn, chunk in enumerate(chunks_of(f"r{number}", samples, sizes, start=100 * number)):
            end = chunk.chunk_start_sample + chunk.chunk_length - 100 * number
            turns[turn].append((number + 1, whole_read(chunk.id, samples[:end], 100 * number) if accumulate else chunk))
    client = Script(turns)
    classifier, _ = classifier_of(
        thresholds,
        trim=TrimOptions(stall=False, extra=trim),
        max_samples=10_000,
        max_batch=data.draw(st.sampled_from([None, 1, 2])),
    )
    with classifier:
        metrics = classifier.run(client)
    wanted = [expected(thresholds, samples[trim:]) for samples in reads]
    assert sorted(client.stopped) == [(n + 1, f"r{n}") for n, decision in enumerate(wanted) if decision == 1]
    assert sorted(client.unblocked) == [(n + 1, f"r{n}") for n, decision in enumerate(wanted) if decision == 2]
    assert metrics.malformed == 0
    assert metrics.reads == count


def test_decoys_are_compared() -> None:
    thresholds = Thresholds(stages_of((40, 0.0)).stages, STAGES.options, "difference")
    client = Script([[(1, whole_read("a", GOOD)), (2, whole_read("b", BAD))]])
    classifier, _ = classifier_of(thresholds, decoys=(BACKGROUND,))
    with classifier:
        classifier.run(client)
    assert client.stopped == [(1, "a")]
    assert client.unblocked == [(2, "b")]


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_stage_waits_for_its_samples(accumulate: bool) -> None:
    """After 40 samples the read goes on, after 80 it is accepted; nothing is asked of the device in between."""
    parts = [GOOD[:39], GOOD[39:41], GOOD[41:79], GOOD[79:]]
    ends = np.cumsum([len(part) for part in parts])
    turns = [
        [(5, Chunk("a", GOOD[: end if accumulate else None][0 if accumulate else end - len(part) : end].tobytes(),
                   1000 if accumulate else 1000 + end - len(part), len(part), 1000))]
        for part, end in zip(parts, ends.tolist(), strict=True)
    ]  # fmt: skip
    client = Script(turns)
    classifier, _ = classifier_of(STAGES)
    with classifier:
        steps = []
        while client.is_running:
            steps.append(len(classifier.step(client)))
            assert classifier.metrics.batches == [0, 1, 1, 2][client.turn - 1]
    assert steps == [0, 0, 0, 1]
    assert classifier.metrics.aligned == 40 + 80


def test_a_new_read_takes_the_place_of_the_old_one() -> None:
    client = Script([[(1, whole_read("a", GOOD[:30]))], [(1, whole_read("b", BAD, 5000))]])
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.unblocked == [(1, "b")]
    assert client.stopped == []
    assert (metrics.reads, metrics.late) == (2, 0)


def test_a_chunk_of_the_read_before_is_late() -> None:
    client = Script([
        [(1, whole_read("a", GOOD[:30]))],
        [(1, whole_read("b", BAD[:30], 5000))],
        [(1, Chunk("a", GOOD[30:].tobytes(), 1030, 70, 1000))],
        [(1, Chunk("b", BAD[30:].tobytes(), 5030, 70, 5000))],
        [(1, Chunk("b", BAD.tobytes(), 5100, 100, 5000))],
    ])  # fmt: skip
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.unblocked == [(1, "b")]
    assert client.stopped == []
    assert (metrics.reads, metrics.late, metrics.malformed) == (2, 2, 0)


BROKEN = {
    "half a sample": {"raw_data": GOOD.tobytes()[:-1]},
    "no samples": {"raw_data": b""},
    "text": {"raw_data": "text"},
    "nothing": {"raw_data": None},
    "fewer samples than it says": {"chunk_length": 101},
    "a start that is no number": {"chunk_start_sample": "x"},
    "a start before the read's": {"chunk_start_sample": 900},
    "no start": {"chunk_start_sample": None},
    "overlap": {"chunk_start_sample": 1010},
    "a gap": {"chunk_start_sample": 1021},
    "out of order": {"chunk_start_sample": 1001},
    "shorter than what came before": {"chunk_start_sample": 1000, "raw_data": GOOD[:19].tobytes(), "chunk_length": 19},
}


@pytest.mark.parametrize("fields", BROKEN.values(), ids=BROKEN.keys())
def test_a_malformed_chunk_lets_its_read_proceed(fields: dict[str, Any]) -> None:
    """And no other one."""
    odd = Chunk("b", **({"raw_data": BAD[20:].tobytes(), "chunk_start_sample": 1020, "chunk_length": 80,
                         "start_sample": 1000} | fields))  # fmt: skip
    turns = [[(2, whole_read("b", BAD[:20]))], [(1, whole_read("a", BAD)), (2, odd), (3, whole_read("c", BAD))]]
    client = Script(turns)
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert sorted(client.unblocked) == [(1, "a"), (3, "c")]
    assert client.stopped == []
    assert metrics.malformed == 1


@pytest.mark.parametrize("channel", [0, -1, 1 << 20, "x", None])
def test_a_channel_that_cannot_be_is_counted(channel: Any) -> None:
    client = Script([[(channel, whole_read("a", BAD)), (16_384, whole_read("b", BAD))]])
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.unblocked == [(16_384, "b")]
    assert metrics.malformed == 1


def test_calibrated_samples_become_integers_again() -> None:
    scale, offset = 0.1755, 12.0

    class Known(Script):
        calibration_values = {1: type("C", (), {"scaling": scale, "offset": offset})()}  # noqa: RUF012

    current = ((GOOD + offset) * scale).astype(np.float32)
    client = Known([[(1, Chunk("a", current.tobytes(), 1000, 100, 1000))]], signal_dtype="<f4")
    classifier, _ = classifier_of(STAGES)
    with classifier:
        decided = classifier.step(client)
    plain, _ = classifier_of(STAGES)
    with plain:
        wanted = plain.step(Script([[(1, whole_read("a", GOOD))]]))
    assert decided.score.tolist() == wanted.score.tolist()
    assert client.stopped == [(1, "a")]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_malformed(value: float) -> None:
    bad = BAD.astype(np.float32)
    odd = bad.copy()
    odd[57] = value
    client = Script([[(1, Chunk("a", odd.tobytes(), 0, 100)), (2, Chunk("b", bad.tobytes(), 0, 100))]], "<f4")
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.unblocked == [(2, "b")]
    assert metrics.malformed == 1


def test_samples_of_an_unknown_type_are_refused() -> None:
    classifier, _ = classifier_of(STAGES)
    with classifier, pytest.raises(UsageError, match="type float64"):
        classifier.run(Script([[]], signal_dtype=np.float64))


def test_samples_of_the_other_byte_order() -> None:
    client = Script([[(1, Chunk("a", GOOD.astype(">i2").tobytes(), 0, 100))]], ">i2")
    classifier, _ = classifier_of(STAGES)
    with classifier:
        classifier.run(client)
    assert client.stopped == [(1, "a")]


def test_a_dry_run_unblocks_nothing() -> None:
    client = Script([[(1, whole_read("a", GOOD)), (2, whole_read("b", BAD))]])
    log = io.StringIO()
    classifier, _ = classifier_of(STAGES, dry_run=True, debug=log)
    with classifier:
        metrics = classifier.run(client)
    assert client.unblocked == []
    assert sorted(client.stopped) == [(1, "a"), (2, "b")]
    assert metrics.outcome_counts()["reject"] == 1
    rows = [line.split("\t") for line in log.getvalue().splitlines()]
    assert rows[0][0] == "time"
    assert [row[6:9] for row in rows[1:] if row[2] == "b"] == [["reject", "unblock", "stop_receiving"]]


def test_reads_of_control_channels_are_sequenced() -> None:
    client = Script([[(1, whole_read("a", BAD[:1])), (2, whole_read("b", BAD))], [(1, whole_read("a", BAD))]])
    classifier, _ = classifier_of(STAGES, control_channels=frozenset({1, 9_000}))
    with classifier:
        metrics = classifier.run(client)
    assert client.stopped == [(1, "a")]
    assert client.unblocked == [(2, "b")]
    assert metrics.outcome_counts()["control"] == 1
    assert metrics.late == 1


@pytest.mark.parametrize("action", ["unblock", "stop_receiving", "proceed"])
def test_a_read_without_a_decision_ends_at_max_samples(action: str) -> None:
    chunks = chunks_of("a", GOOD, [30, 30])
    client = Script([[(1, chunk)] for chunk in chunks])
    classifier, _ = classifier_of(stages_of((90, 1000.0)), max_samples=60, undecided=action)
    with classifier:
        metrics = classifier.run(client)
    assert (len(client.unblocked), len(client.stopped)) == (action == "unblock", action == "stop_receiving")
    assert metrics.outcome_counts()["undecided"] == 1
    assert metrics.batches == 0


def test_a_read_that_has_run_too_long_proceeds() -> None:
    late = [Chunk(name, BAD.tobytes(), 9000, 100, start) for name, start in (("a", 3999), ("b", 4000))]
    client = Script([[(1, late[0]), (2, late[1])]])
    classifier, _ = classifier_of(STAGES, max_missed=5000)
    with classifier:
        metrics = classifier.run(client)
    assert client.unblocked == [(2, "b")]
    assert metrics.joined == 1


@pytest.mark.parametrize(
    "options",
    [{"accept": "x"}, {"max_latency": 0}, {"max_batch": 0}, {"control_channels": frozenset({0})},
     {"interval": -1}, {"max_failures": 0}, {"max_missed": -1}, {"max_latency": float("nan")}],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        LiveOptions(**options)


def with_stall(samples: NDArray[np.int16], stall: int = 12, before: int = 20) -> NDArray[np.int16]:
    """A read behind some samples and a stall of high current."""
    rng = np.random.default_rng(1)
    lead = np.concatenate([rng.normal(450, 10, before), rng.normal(1200, 5, stall)])
    return np.concatenate([np.rint(lead).astype(np.int16), samples])


@pytest.mark.parametrize("sizes", [[], [25], [70, 5, 5], [10] * 14])
@pytest.mark.parametrize("stalled", [True, False])
def test_stalls_are_looked_for_in_what_is_there(sizes: list[int], stalled: bool) -> None:
    """As soon as there are samples for the first stage; so the answer may depend on the chunks."""
    trim = TrimOptions(extra=6, max_trim=60)
    samples = with_stall(GOOD) if stalled else GOOD
    ends = np.cumsum([*sizes, max(0, len(samples) - sum(sizes))]).clip(max=len(samples))
    seen = next(int(end) for end in ends if end >= 6 + 40)
    start = trim_start(samples[:seen], trim)
    assert sizes or (38 <= start <= 45 if stalled else start == 6)
    client = Script([[(1, chunk)] for chunk in chunks_of("a", samples, sizes)])
    classifier, _ = classifier_of(STAGES, trim=trim)
    decided = []
    with classifier:
        while client.is_running:
            decided += classifier.step(client).score.tolist()
    aligner = OracleAligner((TARGET,), STAGES.options)
    first = np.array([start], np.int64)
    costs = [float(aligner.align(samples, first, rows).cost[0, 0]) for rows in (40, 80)]
    wanted = costs[:1] if costs[0] > 400 else costs[1:] if len(samples) >= start + 80 else []
    assert decided == wanted


def test_reads_without_the_stall_that_is_asked_for_are_undecided() -> None:
    trim = TrimOptions(extra=6, max_trim=60, keep=False)
    client = Script([[(1, whole_read("a", GOOD)), (2, whole_read("b", with_stall(GOOD)))], []])
    classifier, _ = classifier_of(STAGES, trim=trim, max_samples=100, undecided="proceed")
    with classifier:
        metrics = classifier.run(client)
    assert [read for _, _, read in client.told] == [(2, "b")]
    assert metrics.outcome_counts()["undecided"] == 1


def test_what_was_missed_counts_as_trimmed() -> None:
    """The first 30 of 40 samples to leave out never came."""
    samples = np.concatenate([np.full(40, 500, np.int16), GOOD])
    client = Script([[(1, Chunk("a", samples[30:].tobytes(), 1030, 110, 1000))]])
    classifier, _ = classifier_of(STAGES, trim=TrimOptions(stall=False, extra=40))
    plain, _ = classifier_of(STAGES)
    with classifier, plain:
        found = classifier.step(client)
        assert found.score.tolist() == plain.step(Script([[(1, whole_read("a", GOOD))]])).score.tolist()


def test_several_targets_of_which_the_best_counts() -> None:
    client = Script([[(1, whole_read("a", GOOD)), (2, whole_read("b", BAD))]])
    aligner = OracleAligner((TARGET, BACKGROUND), STAGES.options)
    options = LiveOptions(max_latency=30.0)
    with ReadUntilClassifier([TARGET, BACKGROUND], STAGES, aligner=aligner, options=options) as classifier:
        decided = classifier.step(client)
    assert sorted(client.stopped) == [(1, "a"), (2, "b")]
    assert decided.score.tolist() == decided.cost.min(axis=1).tolist()


def test_thresholds_of_other_references_are_refused() -> None:
    thresholds = Thresholds(STAGES.stages, STAGES.options, references=("yeast",))
    with pytest.raises(UsageError, match="yeast"):
        ReadUntilClassifier(TARGET, thresholds)


def test_a_chunk_that_is_sent_again_changes_nothing() -> None:
    client = Script(
        [[(1, whole_read("a", GOOD[:50]))], [(1, whole_read("a", GOOD[:50]))], [(1, whole_read("a", GOOD))]]
    )
    classifier, _ = classifier_of(STAGES)
    with classifier:
        metrics = classifier.run(client)
    assert client.stopped == [(1, "a")]
    assert (metrics.malformed, metrics.samples) == (0, 100)


WORDS = st.one_of(
    st.none(), st.integers(-5, 300), st.floats(), st.binary(max_size=9), st.text(max_size=3), st.just([1])
)


@st.composite
def odd_chunks(draw: st.DrawFn) -> tuple[Any, Any]:
    """Chunks of a few reads in any order, and some that are none."""
    name, start = draw(st.sampled_from("abc")), draw(st.integers(0, 90))
    data = GOOD[start : start + draw(st.integers(0, 60))].tobytes()
    chunk = Chunk(
        name, data, draw(st.sampled_from([start, 0])), draw(st.integers(0, 60)), draw(st.sampled_from([0, 5]))
    )
    for field in draw(st.sets(st.sampled_from([*vars(chunk), "number"]), max_size=1)):
        setattr(chunk, field, draw(WORDS))
    return draw(st.one_of(st.integers(0, 3), WORDS)), draw(st.one_of(st.just(chunk), WORDS))


@settings(max_examples=examples(150))
@given(st.lists(st.lists(odd_chunks(), max_size=6), max_size=8), st.sampled_from(["<i2", "<f4"]))
@example([[(0, Chunk("a", GOOD.tobytes(), 0, len(GOOD), 0))]], "<i2")
@example([[(1, Chunk("a", GOOD.tobytes(), float("inf"), len(GOOD), 0))]], "<i2")
def test_whatever_comes_the_loop_goes_on(turns: list[list[tuple[Any, Any]]], dtype: str) -> None:
    """And each read is told about once at most."""
    client = Script([*turns, []], dtype)
    classifier, _ = classifier_of(STAGES, max_samples=70)
    with classifier:
        metrics = classifier.run(client)
    told = client.stopped + client.unblocked
    assert len(told) <= metrics.reads
    assert metrics.outcome_counts()["control"] == metrics.failures == 0
    assert sum(metrics.outcome_counts().values()) == len(told)
    assert all(1 <= channel <= 300 for channel, _ in told)
