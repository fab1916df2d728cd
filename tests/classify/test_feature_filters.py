"""Features that lose their locations."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.database import features as feature_filters
from oclgenomics.classify.database.features import Features, emptied, is_ambiguous, is_overpopulated

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
