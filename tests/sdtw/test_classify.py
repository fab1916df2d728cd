"""The verb `classify`: stages, targets and decoys."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.sdtw_oracle import OracleAligner, small_squiggle
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.runtime import Engine
from oclgenomics.sdtw import AlignOptions, Classified, classify, open_targets
from oclgenomics.sdtw.decisions.thresholds import WORDS, Stage, Thresholds
from oclgenomics.sdtw.device.reads import classify_block
from oclgenomics.sdtw.device.steps import finished
from oclgenomics.sdtw.formats.thresholds import write_thresholds
from oclgenomics.sdtw.plan import PrefixBlock, prefix_blocks
from oclgenomics.sdtw.result import mapping_quality
from oclgenomics.signals import Signals

RNG = np.random.default_rng(11)
REFERENCES = tuple(small_squiggle(name, 80 + 12 * RNG.standard_normal(40)) for name in "abcd")
OPTIONS = AlignOptions(arithmetic="int32")


def made_reads(seed: int, count: int) -> Signals:
    """Reads of stretches of the references, or of noise, some too short for a stage."""
    rng = np.random.default_rng(seed)
    reads = []
    for _ in range(count):
        levels = REFERENCES[rng.integers(4)].levels
        stretch = np.repeat(levels[rng.integers(30) :], 3) if rng.integers(3) else 80 + 12 * rng.standard_normal(40)
        reads.append((10 * stretch[: rng.integers(45)]).astype(np.int16))
    return Signals.of(reads)


def expected(signals: Signals, thresholds: Thresholds, targets: int) -> list[tuple[str, int, float]]:
    """What the definition says of each read: the decision, the samples of its last stage, and the score there."""
    aligner, result = OracleAligner(REFERENCES, OPTIONS), []
    for number in range(len(signals)):
        read = signals.read(number)
        decision, prefix, score = "undecided", 0, math.nan
        for stage in thresholds.stages:
            if len(read) < stage.prefix or decision != "undecided":
                break
            cost = aligner.align(read, np.zeros(1, np.int64), stage.prefix).cost[0]
            prefix, score = stage.prefix, min(cost[:targets])
            score -= min(cost[targets:]) if thresholds.score == "difference" else 0
            if score > stage.reject_above:
                decision = "reject"
            elif stage is thresholds.stages[-1] or (stage.accept_below is not None and score < stage.accept_below):
                decision = "accept"
        result.append((decision, prefix, score))
    return result


@given(
    st.integers(0, 10**6), st.integers(0, 12), st.integers(1, 3), st.sampled_from(["cost", "difference"]),
    st.lists(st.integers(-400, 900), min_size=3, max_size=3), st.lists(st.integers(0, 300), min_size=3, max_size=3),
    st.integers(1, 6),
)  # fmt: skip
@settings(max_examples=60)
def test_stages_are_as_defined(
    seed: int, count: int, targets: int, score: str, rejects: list[int], gaps: list[int], block: int
) -> None:
    """Decisions, stages and scores are those of each read by itself."""
    stages = [
        Stage(rows, reject, None if gap > 200 else reject - gap)
        for rows, reject, gap in zip((6, 15, 30), rejects, gaps, strict=True)
    ]
    thresholds = Thresholds(tuple(stages), OPTIONS, score)  # type: ignore[arg-type]
    signals = made_reads(seed, count)
    aligner = OracleAligner(REFERENCES, OPTIONS)
    parts = [
        finished(classify_block(aligner, part, thresholds, targets)) for part in prefix_blocks([signals], 30, block)
    ]
    found = Classified.joined(parts)
    assert list(found.names) == list(signals.names)
    assert found.samples.tolist() == signals.lengths.tolist()
    wanted = expected(signals, thresholds, targets)
    assert [WORDS[number] for number in found.decision] == [row[0] for row in wanted]
    assert found.prefix.tolist() == [row[1] for row in wanted]
    np.testing.assert_array_equal(found.score, [row[2] for row in wanted])
    assert sum(found.counts.values()) == count


def test_decided_reads_are_not_aligned_again() -> None:
    """Later stages get only the reads that are undecided and long enough."""
    calls: list[tuple[int, int]] = []

    class Counting(OracleAligner):
        def align(self, samples, first, prefix):  # type: ignore[no-untyped-def]
            calls.append((len(first), prefix))
            best = super().align(samples, first, prefix)
            return replace(best, cost=np.array([[1.0], [100.0], [1.0]])[: len(first)])

    signals = Signals.of([np.arange(n, dtype=np.int16) for n in (50, 50, 12)])
    thresholds = Thresholds((Stage(10, 50), Stage(20, 50), Stage(30, 50)), OPTIONS)
    found = finished(classify_block(Counting(REFERENCES[:1], OPTIONS), PrefixBlock.of(signals, 30), thresholds, 1))
    assert calls == [(3, 10), (1, 20), (1, 30)]
    assert [row["decision"] for row in found.records()] == ["accept", "reject", "undecided"]
    assert found.prefix.tolist() == [30, 10, 10]


def test_saturated_reads_are_rejected() -> None:
    """A cost that is saturated has no place, and is more than any threshold."""

    class Saturated(OracleAligner):
        def align(self, samples, first, prefix):  # type: ignore[no-untyped-def]
            best = super().align(samples, first, prefix)
            return replace(best, cost=np.full_like(best.cost, 65535), column=np.full_like(best.column, -1))

    options = AlignOptions()
    thresholds = Thresholds((Stage(10, 65534),), options)
    block = PrefixBlock.of(made_reads(3, 9), 10)
    found = finished(classify_block(Saturated(REFERENCES[:2], options), block, thresholds, 2))
    long_enough = found.samples >= 10
    assert (np.array(WORDS)[found.decision[long_enough]] == "reject").all()
    assert {row["record"] for row in found.records()} == {""}
    assert all(row["score"] is None for row in found.records())


def test_rows_tell_of_the_best_reference() -> None:
    """Of equals the first is the best; a read without costs has none."""
    thresholds = Thresholds((Stage(10, 100),), OPTIONS)
    found = Classified.none(REFERENCES[:2], 1, thresholds, np.array(["r", "s", "t"], object), np.array([20, 20, 5]))
    found.cost[:2], found.column[:2] = [[7, 5], [4, 4]], [[3, 41], [0, 1]]
    found = replace(found, start=np.array([43, 0, -1]))
    rows = found.records()
    assert [row["reference"] for row in rows] == ["b", "a", ""]
    assert [(row["strand"], row["position"], row["start"]) for row in rows] == [
        ("-", 38, 36),
        ("+", 0, 0),
        ("", -1, -1),
    ]
    assert [row["cost"] for row in rows] == [5, 4, None]
    assert [row["mapq"] for row in rows] == [60, 0, 255]


@pytest.mark.parametrize(
    ("cost", "quality"),
    [([[3.0]], 255), ([[math.nan] * 2], 255), ([[100, 100]], 0), ([[100, 99]], 6), ([[900, 1000]], 60),
     ([[901, 1000]], 59), ([[1000, 200, 199]], 3), ([[0, 0]], 0),
     ([[-500, -400]], 60), ([[-4, -4]], 0), ([[0, 1]], 60)],
)  # fmt: skip
def test_mapping_quality(cost: list[list[float]], quality: int) -> None:
    """The gap of the two best references, in tenths of the second one, times 60."""
    assert mapping_quality(np.array(cost)).tolist() == [quality]


def test_targets_and_decoys_go_together() -> None:
    """Names differ among targets and decoys together, and a difference needs a decoy."""
    with pytest.raises(ParameterError, match="decoys must differ in name; 2 of them have the name a"):
        open_targets(REFERENCES[0], REFERENCES[:2])
    with pytest.raises(ParameterError, match="targets must not be empty"):
        open_targets([], REFERENCES[0])
    assert [len(part) for part in open_targets(REFERENCES[:3], REFERENCES[3])] == [3, 1]
    thresholds = Thresholds((Stage(10, 100),), OPTIONS, "difference", ("a", "b"))
    with pytest.raises(UsageError, match="made with the references a, b, not a,b"):
        classify([], REFERENCES[:2], thresholds)
    with pytest.raises(ParameterError, match="needs a decoy"):
        classify([], REFERENCES[:2], replace(thresholds, references=()))


def test_reads_go_all_the_way(shaped: Engine, tmp_path: Path) -> None:
    """Decisions of the device are those of the oracle; thresholds may be in a file."""
    thresholds = Thresholds((Stage(6, 500, 20), Stage(15, 600), Stage(30, 700)), OPTIONS)
    signals = made_reads(7, 60)
    block = PrefixBlock.of(signals, 30)
    wanted = finished(classify_block(OracleAligner(REFERENCES, OPTIONS), block, thresholds, 2))
    found = classify(signals, REFERENCES[:2], thresholds, decoys=REFERENCES[2:], starts=True, engine=shaped)
    for name in ("decision", "prefix", "score", "cost", "column"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert set(found.counts.values()) != {0}
    assert found.start is not None
    assert ((found.start >= 0) == (found.prefix > 0)).all()
    write_thresholds(tmp_path / "thresholds.json", thresholds)
    again = classify(
        [signals], REFERENCES[:2], tmp_path / "thresholds.json", decoys=list(REFERENCES[2:]), engine=shaped
    )
    np.testing.assert_array_equal(again.decision, found.decision)
    assert again.start is None


def test_no_reads_are_classified(engine: Engine) -> None:
    """There may be none."""
    found = classify([], REFERENCES[0], Thresholds((Stage(6, 500),), OPTIONS), engine=engine)
    assert found.counts == {"undecided": 0, "accept": 0, "reject": 0}
    assert repr(found) == "Classified(reads=0, undecided=0, accept=0, reject=0)"
