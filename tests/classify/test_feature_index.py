"""Candidates on the device against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.classify_index import Case, random_case
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.runtime import Engine


def check(engine: Engine, case: Case, maxcand: int) -> None:
    groups = np.array(case.groups, np.int32)
    with FeatureIndex(engine, case.features, case.targets, groups, maxcand) as index:
        case.check(index.candidates(*case.sketches(engine)), maxcand)


@given(
    seed=st.integers(0, 1 << 32),
    features=st.sampled_from([0, 1, 5, 40, 300]),
    windows=st.sampled_from([1, 3, 70, 500]),
    longest=st.sampled_from([1, 3, 30]),
    reads=st.sampled_from([0, 1, 7, 90]),
    most=st.sampled_from([1, 4, 20]),
    width=st.sampled_from([2, 5, 1000]),
    maxcand=st.sampled_from([1, 2, 3, 64]),
)
def test_any_candidates(
    shaped: Engine,
    seed: int,
    features: int,
    windows: int,
    longest: int,
    reads: int,
    most: int,
    width: int,
    maxcand: int,
) -> None:
    case = random_case(seed, features=features, windows=windows, longest=longest, reads=reads, most=most, width=width)
    check(shaped, case, maxcand)


SIZES = (0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1025, 8191, 8192, 8193, 20_000)


@pytest.mark.parametrize("maxcand", [1, 2, 64])
@pytest.mark.parametrize("each", [1, 254])
def test_reads_at_the_borders_of_classes(shaped: Engine, each: int, maxcand: int) -> None:
    rng = np.random.default_rng(each)
    windows = rng.integers(0, 2000, 40).tolist()
    total = sum(windows)
    lists, reads = {}, []
    for size in SIZES:
        cuts = [*range(0, size, each), size]
        numbers = [len(lists) + i for i in range(len(cuts) - 1)]
        for number, begin, end in zip(numbers, cuts, cuts[1:], strict=False):
            near = min(total, 4 * each) if number % 3 else total
            lists[number] = np.sort(rng.choice(near, end - begin, replace=False)).tolist()
        reads.append([numbers[i : i + 16] for i in range(0, len(numbers), 16)])
    case = Case(lists, windows, rng.integers(-1, 9, 40).tolist(), reads, [7] * len(reads), 16)
    assert [len(case.hit(read)) for read in range(len(reads))] == list(SIZES)
    check(shaped, case, maxcand)
