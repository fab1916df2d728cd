"""What methods are expected to take, and which of them is taken."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.signature_samples import SampleRecord, random_letters, sample_letters

from oclgenomics.runtime import Engine
from oclgenomics.signatures import Panel, ScanOptions
from oclgenomics.signatures.device import methods as device_methods
from oclgenomics.signatures.device.methods import Methods
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.plan import CPU_COSTS, GPU_COSTS, MethodCosts, expected_candidates, index_cost, planes_cost

LETTERS = np.array([1_000_000])
PATTERNS = np.full(100, 5000)


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
