"""Ranges of keys that fit, and what features have in them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.database.features import MAX_KEY, STEP, FeatureList, Features, cut_ranges
from oclgenomics.errors import AllocationError

keys_of = st.sets(st.integers(0, MAX_KEY - 1) | st.integers(0, 9) | st.integers(MAX_KEY - 9, MAX_KEY - 1), max_size=50)


def features_of(keys: set[int], random: np.random.Generator) -> Features:
    counts = random.integers(0, 4, len(keys)).astype(np.uint8)
    return Features(np.array(sorted(keys), np.uint32), counts, np.arange(counts.sum(), dtype=np.uint32))


@given(st.lists(keys_of, min_size=1, max_size=3), st.integers(9, 40), st.integers(0, 99))
def test_ranges_hold_all_and_fit(lists: list[set[int]], most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    features = [features_of(keys, random) for keys in lists]
    cuts = [FeatureList(each) for each in features]
    ranges = cut_ranges(cuts, most)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == MAX_KEY
    assert [low for low, _ in ranges[1:]] == [high for _, high in ranges[:-1]]
    parts = [[each.cut(low, high) for low, high in ranges] for each in cuts]
    for number in range(len(ranges)):
        assert sum(len(each[number].locations) for each in parts) <= most
    for whole, cut in zip(features, parts, strict=True):
        for name in ("keys", "counts", "locations"):
            np.testing.assert_array_equal(np.concatenate([getattr(part, name) for part in cut]), getattr(whole, name))


@pytest.mark.parametrize("size", [0, 1, STEP - 1, STEP, STEP + 1, 3 * STEP + 7])
def test_places_are_those_of_sums(size: int) -> None:
    random = np.random.default_rng(size)
    counts = random.integers(0, 255, size).astype(np.uint8)
    each = FeatureList(Features(np.arange(size, dtype=np.uint32) * 3, counts, np.empty(0, np.uint32)))
    before = np.append(0, np.cumsum(counts, dtype=np.int64))
    for feature in {0, 1, size // 2, STEP - 1, STEP, STEP + 1, size} & set(range(size + 1)):
        assert each.place(3 * feature) == (feature, before[feature])
    assert each.place(MAX_KEY) == (size, before[-1])


def test_one_feature_too_many_locations() -> None:
    one = Features(np.array([7], np.uint32), np.array([20], np.uint8), np.arange(20, dtype=np.uint32))
    with pytest.raises(AllocationError, match=r"40 locations.*max_memory"):
        cut_ranges([FeatureList(one), FeatureList(one)], 39)
    assert len(cut_ranges([FeatureList(one), FeatureList(one)], 40)) == 1
