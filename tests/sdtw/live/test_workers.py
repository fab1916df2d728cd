"""Selection while sequencing when the device is late, hangs or fails; and what is measured of it."""

from __future__ import annotations

import io
import threading
from typing import Any

import numpy as np
import pytest
from helpers.read_until import BACKGROUND, LEVELS, TARGET, Chunk, Script, classifier_of, read_of, stages_of
from helpers.sdtw_oracle import OracleAligner
from helpers.squiggles import random_squiggle
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sdtw import CRESCENT, ReadUntilClassifier, Stage, Thresholds
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.device.strips import Found
from oclgenomics.sdtw.live.judging import Criteria, Job, Judge
from oclgenomics.sdtw.live.metrics import Latest
from oclgenomics.sdtw.live.options import LiveOptions
from oclgenomics.sdtw.live.workers import RealClock, ThreadWorker

STAGES = stages_of((40, 400.0), (80, 600.0))
GOOD = read_of(LEVELS, 100, seed=1)
BAD = read_of(BACKGROUND.levels, 100, seed=4)


def chunk_of(name: str, samples: NDArray[np.int16], start: int = 0) -> Chunk:
    return Chunk(name, samples.tobytes(), start, len(samples), 0)


class Hanging:
    """An aligner whose alignments wait for an event; those of one read, as for warming up, do not."""

    def __init__(self) -> None:
        self.inner = OracleAligner((TARGET,), STAGES.options)
        self.references, self.options = self.inner.references, self.inner.options
        self.go, self.thread = threading.Event(), ""

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Found:
        self.thread = threading.current_thread().name
        if len(first) > 1:
            assert self.go.wait(60)
        return self.inner.align(samples, first, prefix)


def test_a_device_that_hangs_holds_nobody_up() -> None:
    """Reads of the batch proceed, later ones wait, and all is taken up when the device is back."""
    aligner, clock = Hanging(), RealClock()
    options = LiveOptions(max_latency=0.01, interval=0.0, deadline=600.0)
    client = Script([
        [(1, chunk_of("a", GOOD)), (2, chunk_of("b", BAD)), (3, chunk_of("c", BAD))],
        [(4, chunk_of("d", BAD)), (2, chunk_of("e", BAD[:5]))],
        [], [],
    ])  # fmt: skip
    with ReadUntilClassifier(TARGET, STAGES, aligner=aligner, options=options, clock=clock) as classifier:
        assert len(classifier.step(client)) == 0
        assert len(classifier.step(client)) == 0
        assert client.told == []
        assert (classifier.metrics.slow_batches, classifier.metrics.deferred) == (1, 1)
        aligner.go.set()
        for _ in range(6000):  # of 10 ms at most
            client.turn = min(client.turn, 3)
            classifier.step(client)
            if len(client.told) == 3:
                break
    assert client.stopped == [(1, "a")]
    assert sorted(client.unblocked) == [(3, "c"), (4, "d")]
    assert (classifier.metrics.gone, classifier.metrics.batches) == (1, 2)
    assert aligner.thread == "oclgenomics-live"


def test_what_waits_for_a_device_for_too_long_proceeds() -> None:
    """It is not unblocked, even if undecided reads are."""
    client = Script([[(1, chunk_of("a", BAD[:60]))], [(1, chunk_of("a", BAD[60:], 60))], *[[]] * 7])
    log = io.StringIO()
    classifier, clock = classifier_of(
        STAGES, seconds=lambda job, real: 1.0, max_latency=0.5, max_samples=100, undecided="unblock", debug=log
    )
    with classifier:
        metrics = classifier.run(client)
    assert client.told == []
    assert metrics.outcome_counts()["delayed"] == 1
    assert metrics.actions["proceed"] == 1
    assert metrics.gone == 1
    assert log.getvalue().splitlines()[1].split("\t")[6:9] == ["delayed", "proceed", "proceed"]
    assert clock.now() == pytest.approx(1.3)  # half a second for the device, then eight intervals


def test_a_device_that_fails_once_is_asked_again() -> None:
    said: list[str] = []
    client = Script([[(1, chunk_of("a", GOOD)), (2, chunk_of("b", BAD))], []])
    classifier, _ = classifier_of(STAGES, fails=lambda call: call == 3, said=said)  # after two to warm up
    with classifier:
        assert len(classifier.step(client)) == 0
        classifier.step(client)
    assert (client.stopped, client.unblocked) == ([(1, "a")], [(2, "b")])
    assert classifier.metrics.failures == 1
    assert len(said) == 1
    assert "RuntimeError: the device is gone for good" in said[0]


def test_only_failures_in_a_row_end_the_selection() -> None:
    client = Script([[(n, chunk_of(f"r{n}", BAD))] for n in range(1, 9)])
    classifier, _ = classifier_of(STAGES, fails=lambda call: call > 2 and call % 3 != 2, max_failures=3)
    with classifier:
        metrics = classifier.run(client)
    assert metrics.failures > 3
    assert client.unblocked != []


def test_a_device_that_is_lost_ends_the_selection() -> None:
    said: list[str] = []
    turns = [[(n, chunk_of(f"r{n}", BAD))] for n in range(1, 9)] + [[(1, chunk_of("r1", BAD, 100))]]
    client = Script(turns)
    classifier, _ = classifier_of(
        STAGES, fails=lambda call: call > 2, said=said, max_failures=3, max_samples=150, undecided="unblock"
    )
    with classifier:
        metrics = classifier.run(client)
    assert client.told == []
    assert metrics.failures == 3
    assert [text.split(":")[0] for text in said] == ["warning", "WARNING"]
    assert "the selection has ended" in said[1]
    counts = metrics.outcome_counts()
    assert counts == {"undecided": 0, "accept": 0, "reject": 0, "control": 0, "delayed": 1, "unselected": 0}


def test_a_device_that_is_not_there_is_told_at_the_start() -> None:
    class MissingError(Exception):
        pass

    def make() -> Any:
        raise MissingError("no device")

    classifier = ReadUntilClassifier(
        TARGET, STAGES, make_worker=lambda _, criteria, clock: ThreadWorker(make, criteria, clock)
    )
    with pytest.raises(MissingError):
        classifier.run(Script([[]]))
    classifier.close()


def test_decisions_on_a_device(engine: Engine) -> None:
    client = Script([[(1, chunk_of("a", GOOD)), (2, chunk_of("b", BAD))], [], []])
    options = LiveOptions(max_latency=60.0, deadline=600.0)
    with ReadUntilClassifier(TARGET, STAGES, engine=engine, options=options) as classifier:
        classifier.run(client)
    assert (client.stopped, client.unblocked) == ([(1, "a")], [(2, "b")])


def test_what_is_measured() -> None:
    """A scripted run: chunks every second, a batch takes 15 ms for each of its reads."""
    third = read_of(LEVELS, 100, seed=1)
    client = Script([
        [(1, chunk_of("a", GOOD[:50])), (2, chunk_of("b", BAD[:30])), (7, chunk_of("x", GOOD[:50]))],
        [(1, chunk_of("a", GOOD[50:], 50)), (2, chunk_of("b", BAD[30:], 30)), (7, chunk_of("x", GOOD, 99))],
        [(3, chunk_of("c", third)), (2, chunk_of("b", BAD, 100)), ("?", chunk_of("?", BAD))],
    ])  # fmt: skip
    classifier, clock = classifier_of(
        STAGES, seconds=lambda job, real: 0.015 * len(job), interval=1.0, max_latency=0.02
    )
    client.clock = clock
    with classifier:
        record = classifier.run(client).record()
    # Turn 1 at 0.0: a and x, 30 ms, not there after 20. Turn 2 at 1.0: x broke, its verdict is for nothing; a and b,
    # 30 ms again. Turn 3 at 2.0: the verdicts of a and b come, then c takes 15 ms.
    assert [(round(when, 6), what, read) for when, what, read in client.told] == [
        (2.015, "unblock", (2, "b")), (2.015, "stop_receiving", (1, "a")), (2.015, "stop_receiving", (3, "c")),
    ]  # fmt: skip
    latency = record.pop("latency")
    assert {name: round(value, 6) for name, value in latency.items()} == {
        "count": 3, "mean": round(2.045 / 3, 6), "p50": 1.015, "p95": 1.015, "p99": 1.015, "max": 1.015,
    }  # fmt: skip
    assert round(record.pop("batch_seconds")["mean"], 6) == 0.025
    assert record.pop("batch_reads")["max"] == 2
    assert record.pop("loop_seconds")["count"] == 3
    assert record == {
        "reads": 4, "chunks": 7, "samples": 50 + 30 + 50 + 50 + 70 + 100 + 100, "malformed": 2, "joined": 0, "late": 0,
        "batches": 3, "aligned": 40 * 2 + 40 + 80 + 40 + 80, "cells": 320 * 120,
        "slow_batches": 2, "deferred": 0, "gone": 1, "failures": 0, "selection": {"channels": 4, "selected": 4},
        "outcomes": {"undecided": 0, "accept": 2, "reject": 1, "control": 0, "delayed": 0, "unselected": 0},
        "outcomes_by_stage": {"accept": [0, 2, 0], "reject": [1, 0, 0]},
        "actions": {"unblock": 1, "stop_receiving": 2, "proceed": 0},
    }  # fmt: skip


def test_a_line_says_how_it_goes() -> None:
    client = Script([[(1, chunk_of("a", GOOD)), (2, chunk_of("b", BAD))], [], []])
    said: list[str] = []
    classifier, _ = classifier_of(STAGES, seconds=lambda job, real: 0.02, said=said)
    with classifier:
        classifier.run(client, log_seconds=0.15)
    assert said == ["2 reads: 1 accept, 1 reject; 1 batches, p99 20 ms; decisions p50 20 ms, p99 20 ms"]


def test_the_latest_numbers() -> None:
    latest = Latest(kept=4)
    assert latest.summary() == {"count": 0, "mean": None, "p50": None, "p95": None, "p99": None, "max": None}
    latest.add(np.array([9.0, np.nan, 1.0]))
    latest.add(np.array([2.0, 3.0, 4.0]))
    assert sorted(latest.values().tolist()) == [1, 2, 3, 4]
    assert (latest.count, latest.total, latest.largest) == (5, 19.0, 9.0)
    latest.add(np.arange(11.0))
    assert sorted(latest.values().tolist()) == [7, 8, 9, 10]


def test_channels_go_on_where_blocks_are_normalised(engine: Engine) -> None:
    """A read's next stage costs its new samples only; a new read of the channel begins anew; channels become more."""
    reference = random_squiggle([400, 90], 5)
    thresholds = Thresholds((Stage(500, 1e9), Stage(1000, 1e9), Stage(1500, 1e9)), CRESCENT)
    aligner = Aligner(engine, [reference], CRESCENT)
    judge = Judge(aligner, Criteria(thresholds, 1))
    signals = np.random.default_rng(2).integers(300, 700, (4, 1500)).astype(np.int16)
    turns = [  # channel, generation, stage, samples and read of each
        [(0, 1, 0, 500, 0), (3, 1, 0, 700, 1)],
        [(0, 1, 1, 1100, 0), (3, 2, 0, 1000, 2), (600, 1, 0, 500, 3)],
        [(0, 1, 2, 1500, 0), (3, 2, 2, 1500, 2), (600, 1, 1, 1500, 3)],
    ]
    for turn in turns:
        channel, generation, stage, held, read = np.array(turn, np.int64).T
        verdict = judge.verdict(Job(channel, generation, stage, held, signals[read, : held.max()]))
        for number, (samples, own) in enumerate(zip(held.tolist(), read.tolist(), strict=True)):
            prefix = max(rows for rows in thresholds.prefixes if rows <= samples)
            expected = aligner.align(signals[own], np.zeros(1, np.int64), prefix)
            assert (verdict.cost[number], verdict.column[number]) == (expected.cost[0], expected.column[0])
