"""What methods are expected to take, and which of them is taken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.signature_samples import SampleRecord, random_letters, sample_letters
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures import Panel, ScanOptions
from oclgenomics.signatures.device import methods as device_methods
from oclgenomics.signatures.device.methods import Methods
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.plan import (
    CPU_COSTS,
    CPU_EDITS,
    GPU_COSTS,
    GPU_EDITS,
    EditCosts,
    MethodCosts,
    expected_candidates,
    index_cost,
    index_pays,
    index_surely_pays,
    lanes_pay,
    plan_lanes,
    planes_cost,
)

LETTERS = np.array([1_000_000])
PATTERNS = np.full(100, 5000)
RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
SAMPLES = {"large": (100_000, 200_000), "small": (10_000, 20_000)}  # letters of the benchmark's samples
SIGNATURES = {"long": (3000, 10_000), "short": (300, 1000)}  # and of its 1,000 signatures
N_RATE = 0.1


@pytest.mark.parametrize("costs", [CPU_COSTS, GPU_COSTS])
def test_costs_grow_with_what_there_is_to_do(costs: MethodCosts) -> None:
    few, many = (index_cost(costs, LETTERS, LETTERS // 9, LETTERS // part, PATTERNS) for part in (2, 1))
    assert few < many < index_cost(costs, LETTERS, LETTERS, LETTERS, PATTERNS)
    known = [float(planes_cost(costs, LETTERS, LETTERS * share, PATTERNS)[0]) for share in (0, 0.1, 0.5, 1)]
    assert known == sorted(known)
    assert np.isfinite(known).all()
    assert planes_cost(costs, LETTERS, LETTERS // 9, PATTERNS[:10]) < planes_cost(
        costs, LETTERS, LETTERS // 9, PATTERNS
    )
    assert planes_cost(costs, np.array([0]), np.array([0]), PATTERNS) == 0


@settings(max_examples=400)
@given(
    st.sampled_from([CPU_COSTS, GPU_COSTS]),
    st.lists(
        st.tuples(*map(st.sampled_from, ([100, 500, 5000], [0, 0.5, 1], [0.1, 0.9, 1.1, 2]))), min_size=1, max_size=2
    ),
    st.sampled_from([[90] * 50, [90] * 5 + [5000] * 5]),
)
def test_bounds_hold_for_each_sample(
    costs: MethodCosts, rows: list[tuple[int, float, float]], sizes: list[int]
) -> None:
    size, share, factor = (np.array([row[i] for row in rows]) for i in range(3))
    ambiguous, lengths = (size * share).astype(np.int64), np.array(sizes)
    even = planes_cost(costs, size, 0 * size, lengths) / (costs.candidate + costs.compare * 4 / 3)
    candidates = (even * factor).astype(np.int64)
    dearer = index_cost(costs, size, ambiguous, candidates, lengths) > planes_cost(costs, size, ambiguous, lengths)
    assert not (index_surely_pays(costs, size, candidates, lengths) and dearer.any())


def test_usual_reads_are_decided_by_bounds() -> None:
    letters, candidates = np.array([150, 100, 150]), np.array([0, 40, 7])
    assert index_surely_pays(GPU_COSTS, letters, candidates, PATTERNS // 50)
    assert not index_surely_pays(GPU_COSTS, letters, candidates * 1000, PATTERNS // 50)
    assert index_surely_pays(GPU_COSTS, letters[:0], candidates[:0], PATTERNS)


def scanned(engine: Engine, monkeypatch: pytest.MonkeyPatch, sample: bytes, sizes: list[int]) -> list[tuple[str, int]]:
    """Scan a sample, and tell the methods that were given patterns and pieces, and how many pieces."""
    rng = np.random.default_rng(1)
    signatures = [(str(i), random_letters(rng, size, 0.1)) for i, size in enumerate(sizes)]
    patterns = DevicePatterns.upload(engine, Panel.from_signatures(signatures).patterns("+"), ScanOptions())
    told: list[tuple[str, int]] = []
    for name in ("IndexMatcher", "PlanesMatcher", "BruteMatcher"):
        matcher = getattr(device_methods, name)

        def pairs(self: object, samples: object, pieces: object = None, found: object = matcher.pairs) -> object:
            count = 2 if pieces is None else int(np.sum(pieces))  # type: ignore[arg-type]
            told.append((type(self).__name__.removesuffix("Matcher").lower(), count))
            return found(self, samples, pieces)  # type: ignore[operator]

        monkeypatch.setattr(matcher, "pairs", pairs)
    other = random_letters(rng, 300_000, 0.05)
    samples = sample_letters(engine, [SampleRecord(other), SampleRecord(sample)])
    Methods(engine, patterns, "auto").pairs(samples)
    return told


def test_the_index_is_taken_for_many_long_signatures(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scanned(engine, monkeypatch, b"ACGT" * 9, [400] * 300) == [("index", 2)]


def test_short_signatures_go_to_the_planes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    told = scanned(engine, monkeypatch, b"ACGT" * 9, [400] * 300 + [3])
    assert sorted(told) == [("index", 2), ("planes", 2)]


def test_a_dense_sample_goes_to_the_planes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    told = scanned(engine, monkeypatch, b"N" * 20_000, [400] * 300)
    assert sorted(told) == [("index", 1), ("planes", 1)]


def test_what_is_expected_of_seeds() -> None:
    patterns = Panel.from_signatures([("a", "ACGTTGCATTGACCGATTAC" * 20)]).patterns("+")
    few, rare = expected_candidates(patterns, 0, 0.0, 10**6)
    many, often = expected_candidates(patterns, 3, 0.5, 10**6)
    assert few < many
    assert rare < often


def patterns_of(lengths: np.ndarray) -> Patterns:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    sets, numbers = np.ones(int(offsets[-1]), np.uint8), np.arange(len(lengths), dtype=np.int32)
    return Patterns(sets, offsets, numbers, np.zeros(len(lengths), np.uint8))


@pytest.mark.parametrize("costs", [CPU_COSTS, GPU_COSTS])
@pytest.mark.parametrize("length", [20, 50, 150])
def test_many_short_reads_go_to_the_index(costs: MethodCosts, length: int) -> None:
    letters = np.full(110_000, 150)
    patterns = patterns_of(np.full(1000, length))
    assert index_pays(costs, patterns, 0, letters, np.zeros_like(letters), 1)
    # A pair costs what it does even if planes are ready, and the index is not.
    assert index_pays(costs, patterns, 0, letters, np.zeros_like(letters), 1, has_planes=True)


def test_samples_shorter_than_all_patterns_make_no_pairs() -> None:
    short, long = (float(planes_cost(GPU_COSTS, np.array([n]), np.array([0]), PATTERNS)[0]) for n in (4999, 5000))
    assert long - short >= GPU_COSTS.pair * len(PATTERNS)


def measured_methods() -> list[tuple[str, str, int, int, float, float]]:
    """The machine, the set, samples, letters, and seconds of planes and of the index, of each set that was timed."""
    found = []
    for machine in ("h200", "intel-2cores"):
        record = json.loads((RESULTS / f"signatures-{machine}.json").read_text())
        seconds = {(row["set"], row["samples"], row["step"]): row["wall s"] for row in record["steps"]}
        facts = {(row["set"], row["samples"]): row["letters"] for row in record["steps"]}
        found += [
            (machine, name, samples, letters, seconds[name, samples, "planes"], seconds[name, samples, "index"])
            for (name, samples), letters in facts.items()
        ]
    return found


@pytest.mark.parametrize(("machine", "name", "samples", "letters", "planes", "index"), measured_methods())
def test_the_choice_is_at_most_a_fifth_slower_than_the_best(
    machine: str, name: str, samples: int, letters: int, planes: float, index: float
) -> None:
    rng = np.random.default_rng(7)
    size, kind = name.split(", ")
    least, most = SAMPLES[size]
    sizes = rng.integers(least, most, samples)
    sizes = (sizes * (letters / sizes.sum())).astype(np.int64)
    costs = GPU_COSTS if machine == "h200" else CPU_COSTS
    patterns = patterns_of(rng.integers(*SIGNATURES[kind], 1000))
    chosen = index_pays(costs, patterns, 0, sizes, (sizes * N_RATE).astype(np.int64), 1)
    assert (index if chosen else planes) <= 1.2 * min(planes, index)


def test_planes_are_not_prepared_for_a_small_gain(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    # The sample of N would go to the planes, but for the time that it takes to prepare a long pattern.
    sample, sizes = b"N" * 450, [400] * 300 + [400_000]
    assert scanned(engine, monkeypatch, sample, sizes) == [("index", 2)]
    monkeypatch.undo()
    for name in ("CPU_COSTS", "GPU_COSTS"):
        monkeypatch.setattr(device_methods, name, replace(getattr(device_methods, name), step=0, seed=0))
    assert sorted(scanned(engine, monkeypatch, sample, sizes)) == [("index", 1), ("planes", 1)]


EDIT_COSTS = pytest.mark.parametrize("costs", [CPU_EDITS, GPU_EDITS])


def random_patterns(count: int, length: int, n_rate: float = 0.0) -> Patterns:
    rng = np.random.default_rng(count + length)
    letters = [random_letters(rng, length, n_rate, "ACGT") for _ in range(count)]
    return Panel.from_signatures((str(number), text) for number, text in enumerate(letters)).patterns("both")


@EDIT_COSTS
def test_barcodes_go_to_lanes_and_genomes_to_the_index(costs: EditCosts) -> None:
    assert lanes_pay(costs, random_patterns(96, 24), 3, 0.0, 25_000_000)
    assert lanes_pay(costs, random_patterns(1, 40), 3, 0.0, 1_000)
    assert not lanes_pay(costs, random_patterns(1000, 3000), 3, 0.0, 10**9)
    assert not lanes_pay(costs, random_patterns(96, 200), 1, 0.0, 10**9)


@EDIT_COSTS
@pytest.mark.parametrize(("length", "max_edits"), [(20, 1), (24, 3), (33, 6), (64, 6), (500, 50), (1000, 100)])
def test_windows_are_chosen_for_patterns_that_are_long_enough(costs: EditCosts, length: int, max_edits: int) -> None:
    patterns = random_patterns(3, length)
    plan = plan_lanes(costs, patterns, max_edits, np.ones(6, np.bool_))
    assert plan.windows.patterns.tolist() == list(range(6))
    assert plan.each % 2 == 1
    assert (plan.windows.edits < plan.windows.height).all()
    parts = np.bincount(plan.windows.pattern)
    assert (parts * (plan.windows.edits[:: parts[0]] + 1) > max_edits).all()
    assert (plan.cost > 0).all()
    if length < 100:
        assert len(plan.windows) == 6


@EDIT_COSTS
@pytest.mark.parametrize(("length", "max_edits"), [(1, 1), (4, 4), (7, 6), (100, 100), (30, 1000)])
def test_windows_are_not_chosen_where_all_would_match(costs: EditCosts, length: int, max_edits: int) -> None:
    plan = plan_lanes(costs, random_patterns(2, length), max_edits, np.ones(4, np.bool_))
    assert len(plan.windows) == 0
    assert np.isfinite(plan.cost).all()


@EDIT_COSTS
def test_patterns_of_n_are_aligned_everywhere(costs: EditCosts) -> None:
    assert len(plan_lanes(costs, random_patterns(2, 60, 1.0), 3, np.ones(4, np.bool_)).windows) == 0


def test_patterns_that_are_not_asked_for_cost_nothing() -> None:
    plan = plan_lanes(CPU_EDITS, random_patterns(2, 30), 3, np.array([True, False, False, True]))
    assert plan.windows.patterns.tolist() == [0, 3]
    assert (plan.cost > 0).tolist() == [True, False, False, True]


def test_more_edits_cost_more() -> None:
    patterns, every = random_patterns(5, 40), np.ones(10, np.bool_)
    costs = [plan_lanes(CPU_EDITS, patterns, edits, every).cost.sum() for edits in range(1, 13)]
    assert costs == sorted(costs)
    assert costs[0] < costs[-1]
