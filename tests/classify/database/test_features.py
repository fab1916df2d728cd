"""Features that lose their locations."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.classify.database import database as checks, features as feature_filters
from oclgenomics.classify.database.features import (
    MAX_KEY,
    STEP,
    FeatureList,
    Features,
    cut_features,
    cut_ranges,
    emptied,
    is_ambiguous,
    is_overpopulated,
)
from oclgenomics.errors import AllocationError

FIRST = np.array([0, 3, 3, 7, 8, 20], np.int64)  # windows before each of five targets, of which one has none
windows_of = st.lists(st.sets(st.integers(0, 19), max_size=8).map(sorted), max_size=12)


def features_of(lists: list[list[int]]) -> Features:
    counts = np.array([len(each) for each in lists], np.uint8)
    locations = np.array([window for each in lists for window in each], np.uint32)
    return Features(np.arange(len(lists), dtype=np.uint32), counts, locations)


@given(
    windows_of, st.lists(st.integers(-1, 2), min_size=5, max_size=5), st.integers(1, 4), st.sampled_from([1, 5, 1000])
)
def test_ambiguous(lists: list[list[int]], taxa: list[int], most: int, at_a_time: int) -> None:
    target_of = [target for target in range(5) for _ in range(int(FIRST[target + 1] - FIRST[target]))]
    wanted = [len({taxa[target_of[window]] for window in each}) > most for each in lists]
    with mock.patch.object(feature_filters, "LOOKED_THROUGH", at_a_time):
        found = is_ambiguous(features_of(lists), np.array(taxa, np.int32), FIRST, most)
    assert found.tolist() == wanted


@given(windows_of, st.data())
def test_emptied(lists: list[list[int]], data: st.DataObject) -> None:
    remove = data.draw(st.lists(st.booleans(), min_size=len(lists), max_size=len(lists)))
    found = emptied(features_of(lists), np.array(remove, np.bool_))
    wanted = features_of([[] if gone else each for each, gone in zip(lists, remove, strict=True)])
    assert found.counts.dtype == np.uint8
    for name in ("keys", "counts", "locations"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_overpopulated(most: int) -> None:
    features = features_of([[], [1], [1, 2], [1, 2, 3]])
    assert is_overpopulated(features, most).tolist() == [count >= most for count in range(4)]


keys_of = st.sets(st.integers(0, MAX_KEY - 1) | st.integers(0, 9) | st.integers(MAX_KEY - 9, MAX_KEY - 1), max_size=50)


def features_with(keys: set[int], random: np.random.Generator) -> Features:
    counts = random.integers(0, 4, len(keys)).astype(np.uint8)
    return Features(np.array(sorted(keys), np.uint32), counts, np.arange(counts.sum(), dtype=np.uint32))


@given(st.lists(keys_of, min_size=1, max_size=3), st.integers(9, 40), st.integers(0, 99))
def test_ranges_hold_all_and_fit(lists: list[set[int]], most: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    features = [features_with(keys, random) for keys in lists]
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


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 60))
def test_pieces_have_all_features_and_few_locations(sizes: list[int], most: int) -> None:
    counts = np.array(sizes, np.uint8)
    cut = list(cut_features(counts, most))
    assert [place for piece, _ in cut for place in range(len(counts))[piece]] == list(range(len(counts)))
    for piece, located in cut:
        assert located == sum(sizes[piece])
        assert located <= most or piece.stop - piece.start == 1
    assert len(cut) <= 1 or sum(sizes) > most


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=30), st.integers(0, 60), st.sampled_from([1, 4, 1000])
)
def test_lists_that_do_not_ascend_are_found(lists: list[list[int]], single: int, few: int) -> None:
    """Among many features of one location, too, of which nothing is looked at."""
    lists = [*lists[:3], *[[5]] * single, *lists[3:]]
    features, ascend = features_of(lists), all(one == sorted(set(one)) for one in lists)
    with mock.patch.object(checks, "FEW_LISTS", few):
        fault = checks.piece_fault(features, -1, 10)
    assert fault == (None if ascend else "locations of a feature that are out of order")
