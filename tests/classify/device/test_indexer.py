"""Features of sketches: against the oracle, however much is sorted at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from helpers.products import only_whole
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.classify.database.features import NO_FEATURE, Features, mix, unmix
from oclgenomics.classify.device.indexer import PADDING, Indexer, features_of_pairs
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.runtime import Engine

Windows = Sequence[Sequence[int]]  # the features of each
SIZE = 4
OPTIONS = BuildOptions(SketchOptions(sketchlen=SIZE, winlen=127), max_locations=3)
FEATURES = [0, 1, 2, 3, 5, 8, (1 << 31) - 1, 1 << 31, NO_FEATURE - 1, 77, 78]

windows_of = st.lists(st.sets(st.sampled_from(FEATURES), max_size=SIZE).map(sorted), max_size=40)
# Features with the largest and the smallest keys, and those around the padding's.
FEATURES += unmix(np.array([0, 1, (1 << 32) - 1, PADDING - 1, PADDING + 1], np.uint32)).tolist()


def expected(windows: Windows, most: int) -> Features:
    found: dict[int, list[int]] = {}
    for window, features in enumerate(windows):
        for feature in features:
            found.setdefault(feature, []).append(window)
    keys = dict(zip(mix(np.array([*found], np.uint32)).tolist(), found.values(), strict=True))
    lists = [keys[key][:most] for key in sorted(keys)]
    return Features(
        np.array(sorted(keys), np.uint32),
        np.array([len(each) for each in lists], np.uint8 if most < 256 else np.uint16),
        np.array([window for each in lists for window in each], np.uint32),
    )


def sketches_of(engine: Engine, windows: Windows, size: int = SIZE) -> Sketches:
    rows = np.full((len(windows) + 2, size), NO_FEATURE, np.uint32)  # rows behind the windows may be anything
    rows[len(windows) :] = 12345
    for row, features in zip(rows, windows, strict=False):
        row[: len(features)] = features
    return Sketches(engine.upload(rows), len(windows))


def assert_equal(found: Features, wanted: Features) -> None:
    for name in ("keys", "counts", "locations"):
        theirs, ours = getattr(wanted, name), getattr(found, name)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(windows_of, st.sampled_from([7, 12, 16, 64, 1000]), st.integers(1, 20), st.sampled_from([1, 2, 3, 300]))
def test_features_do_not_depend_on_runs_or_blocks(
    shaped: Engine, windows: Windows, capacity: int, block: int, most: int
) -> None:
    options = BuildOptions(OPTIONS.sketch, most)
    indexer = Indexer(shaped, options, max(capacity, 1000 if most == 300 else 0))
    for begin in range(0, len(windows), block):
        indexer.add(sketches_of(shaped, windows[begin : begin + block]))
    assert indexer.windows == len(windows)
    assert_equal(indexer.finish(), expected(windows, most))


@pytest.mark.parametrize("old", [2, *only_whole(0)])
def test_hundreds_of_runs_with_one_feature_in_all(engine: Engine, old: int) -> None:
    """All of them together have more locations of it than are sorted at once, so they are merged in rounds."""
    windows = [[1, 2 + number % 7] for number in range(600)]
    indexer = Indexer(engine, OPTIONS, 2 * SIZE, expected(windows[:old], 3) if old else None, old)
    for begin in range(old, len(windows), 2):
        indexer.add(sketches_of(engine, windows[begin : begin + 2]))
    assert len(indexer._runs) > 258
    assert_equal(indexer.finish(), expected(windows, 3))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(windows_of, windows_of, st.sampled_from([64, 1000]))
def test_features_are_added_to_others(shaped: Engine, old: Windows, new: Windows, capacity: int) -> None:
    before = expected(old, 3)
    indexer = Indexer(shaped, OPTIONS, capacity, before, len(old))
    indexer.add(sketches_of(shaped, new))
    assert_equal(indexer.finish(), expected([*old, *new], 3))


def test_features_without_locations_keep_none(shaped: Engine) -> None:
    old, new = [[1, 2], [2, 3]], [[2, 5], [3], [78]]
    before = expected(old, 3)
    dead = before.keys == int(mix(np.array([2], np.uint32))[0])
    counts = before.counts.copy()
    counts[dead] = 0
    before = Features(before.keys, counts, before.locations[np.repeat(~dead, before.counts)])
    indexer = Indexer(shaped, OPTIONS, 64, before, len(old))
    indexer.add(sketches_of(shaped, new))
    found, all_of = indexer.finish(), expected([*old, *new], 3)
    dead = all_of.keys == int(mix(np.array([2], np.uint32))[0])
    counts = np.where(dead, np.uint8(0), all_of.counts)
    assert_equal(found, Features(all_of.keys, counts, all_of.locations[np.repeat(~dead, all_of.counts)]))


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 511, 512, 513, 5000])
def test_long_runs_cross_tiles(shaped: Engine, size: int) -> None:
    """One feature has nearly all locations, so runs go over many tiles."""
    random = np.random.default_rng(size)
    windows = [[1] if random.random() < 0.9 else [1, int(random.integers(2, 99))] for _ in range(size)]
    for most in (1, 100, 254, 255, 256, 1000):
        indexer = Indexer(shaped, BuildOptions(OPTIONS.sketch, most), 4 * size + 4)
        indexer.add(sketches_of(shaped, windows))
        assert_equal(indexer.finish(), expected(windows, most))


def test_nothing_gives_nothing(shaped: Engine) -> None:
    assert len(Indexer(shaped, OPTIONS, 100).finish()) == 0
    assert len(features_of_pairs(shaped, shaped.empty(1, np.uint64), 0, 3)) == 0
