"""Candidates on the device against the oracle."""

from __future__ import annotations

import functools
import random
from unittest import mock

import numpy as np
import pytest
from helpers.classify_index import Case, random_case
from helpers.devices import narrow_shape
from helpers.products import examples
from hypothesis import given, settings, strategies as st

from oclgenomics.classify import plan, reference
from oclgenomics.classify.database import features as parts_module
from oclgenomics.classify.database.features import NO_FEATURE, feature_parts, unmix
from oclgenomics.classify.device import looked_up as repeat_dropper
from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.classify.taxonomy.calls import merged
from oclgenomics.errors import AllocationError
from oclgenomics.runtime import Device, DeviceLimits, Engine

CASES = st.builds(
    random_case,
    st.integers(0, 1 << 32),
    features=st.sampled_from([0, 1, 5, 40, 300]),
    windows=st.sampled_from([1, 3, 70, 500]),
    longest=st.sampled_from([1, 3, 30]),
    reads=st.sampled_from([0, 1, 7, 70]),
    most=st.sampled_from([1, 3, 8]),
    width=st.sampled_from([2, 5, 1000]),
    repeats=st.booleans(),
)
MAXCANDS = (1, 2, 3, 64)


def check(engine: Engine, case: Case, *maxcands: int) -> None:
    """Compare candidates and hits with the oracle's."""
    sketches, first, widths = case.sketches(engine)
    for maxcand in maxcands:
        with FeatureIndex(engine, case.features, case.targets, case.group_array, maxcand) as index:
            found = index.candidates(sketches, first, widths, repeats=case.repeats)
            case.check(found, maxcand)
            if maxcand == maxcands[-1]:
                case.check_hits(index.hits(sketches, first, repeats=case.repeats))
                case.check_shared(index.shared_features(sketches, first, found, repeats=case.repeats), maxcand)


@settings(max_examples=examples(50))
@given(case=CASES, maxcand=st.sampled_from(MAXCANDS))
def test_any_candidates_and_hits(shaped: Engine, case: Case, maxcand: int) -> None:
    check(shaped, case, maxcand)


@settings(max_examples=examples(15))
@given(case=CASES, room=st.sampled_from([1, 200, 4000]), loaded=st.sampled_from([1, 7]))
def test_batches_change_nothing(shaped: Engine, case: Case, room: int, loaded: int) -> None:
    with (
        mock.patch.object(plan, "batch_bytes", return_value=room),
        mock.patch.object(plan, "LOADED_FEATURES", {"cpu": loaded, "gpu": loaded}),
        mock.patch.object(plan, "LOADED_LOCATIONS", {"cpu": room, "gpu": room}),
        mock.patch.object(plan, "TABLE_SLOTS", 64),
    ):
        check(shaped, case, 2)


def test_features_that_reads_repeat(shaped: Engine) -> None:
    """Within a read's row of windows, and in as many windows as go to a table in global memory."""
    lists = {feature: [feature % 7, 20 + feature % 5] for feature in range(1, 3000)}
    once = [list(range(begin, begin + 16)) for begin in range(1, 2000, 16)]
    reads = [once[:1], once[:1] * 2, once[:2] * 3, once[:16] * 2, once[:17] * 2, once * 3, [[], *once[:40], [5]], []]
    for repeats in (False, True):
        case = Case(lists, [40], [0], reads, [3] * len(reads), 16, repeats)
        assert len(case.hit(5)) == 2 * 16 * len(once) * (3 if repeats else 1)
        check(shaped, case, 2)


@pytest.mark.parametrize("key", [1, 0xFFFFFFFF, 1 << 26 | 1])
def test_features_that_crowd_in_a_table(shaped: Engine, key: int) -> None:
    """Small numbers go to the first slots with these keys, great ones to the last, and from there to the first ones."""
    rows = [[number + 16 * row for number in range(16)] for row in range(40)]
    great = [[NO_FEATURE - 1 - one for one in reversed(row)] for row in rows]
    lists = {feature: [feature % 50] for row in rows + great for feature in row}
    reads = [rows[:20] + great[:3] + rows[:20], (rows + great) * 2, great[:9] * 3]
    with mock.patch.object(repeat_dropper, "KEY", key):
        check(shaped, Case(lists, [50], [0], reads, [4] * 3, 16), 2)


@pytest.mark.parametrize("each", [1, 9, 200])
def test_a_feature_in_neighbouring_windows(shaped: Engine, each: int) -> None:
    """Of a feature's locations in `width` windows one counts, but each target has its own."""
    windows = [30, 3, 0, 1, 300]
    dense = {1: list(range(334)), 2: list(range(0, 334, 2)), 3: [29, 30, 32, 33, 34], 4: [0, 1, 3, 4, 8], 5: [333]}
    dense |= {6: [40, 60, 80, 100, 120, 121, 200], 7: [40, 60, 80, 100, 101, 150], 8: [40, 60, 80, 100, 120, 140, 141]}
    more = {10 + number: [number, number + 1, number + 100] for number in range(each)}
    numbers = [*dense, *more]
    reads = [[[number]] for number in dense] + [[numbers[i : i + 8] for i in range(0, len(numbers), 8)]] * 4
    widths = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 7, 1 << 31]
    for repeats in (False, True):
        case = Case(dense | more, windows, [0, 1, 2, 3, 4], reads, widths, 8, repeats)
        check(shaped, case, 1, 5)


def test_locations_that_count() -> None:
    places = [(0, 1), (0, 2), (0, 4), (0, 5), (1, 5), (1, 6), (2, 0), (2, 3)]
    assert reference.counting(places, 0) == places
    assert reference.counting(places, 1) == places
    assert reference.counting(places, 2) == [(0, 1), (0, 4), (1, 5), (2, 0), (2, 3)]
    assert reference.counting(places, 3) == [(0, 1), (0, 4), (1, 5), (2, 0), (2, 3)]
    assert reference.counting(places, 4) == [(0, 1), (0, 5), (1, 5), (2, 0)]


@settings(max_examples=30)
@given(case=CASES, share=st.floats(0, 1), cells=st.sampled_from([4, 1 << 22]), maxcand=st.sampled_from(MAXCANDS))
def test_parts_of_features_change_nothing(engine: Engine, case: Case, share: float, cells: int, maxcand: int) -> None:
    features, targets, groups = case.features, case.targets, case.group_array
    sizes = plan.IndexSizes(len(features), int(targets.windows.sum()), len(targets))
    least, most = (sizes.need(n).all for n in (0, len(features.locations)))
    limits = DeviceLimits(int(least + share * (most - least)), 1 << 40)
    found = []
    with mock.patch.object(parts_module, "CELLS", cells), mock.patch.object(parts_module, "FEATURES", 7):
        try:
            parts = list(feature_parts(features, targets, limits))
        except AllocationError:
            return
    assert sum(len(part.locations) for part in parts) == len(features.locations)
    for part in parts:
        with FeatureIndex(engine, part, targets, groups, maxcand) as index:
            found.append(index.candidates(*case.sketches(engine), repeats=case.repeats))
    case.check(merged(found, groups, maxcand), maxcand)


SIZES = (0, 1, 2, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1025, 8191, 8192, 8193, 20_000)


@functools.cache
def border_case(each: int) -> Case:
    """Reads with so many locations, from features with `each` of them."""
    rng, places = np.random.default_rng(each), random.Random(each)
    windows = rng.integers(0, 2000, 40).tolist()
    total = sum(windows)
    lists: dict[int, list[int]] = {}
    reads = []
    for size in SIZES:
        cuts = [*range(0, size, each), size]
        numbers = [len(lists) + i for i in range(len(cuts) - 1)]
        for number, begin, end in zip(numbers, cuts, cuts[1:], strict=False):
            near = min(total, 4 * each) if number % 3 else total
            lists[number] = sorted(places.sample(range(near), end - begin))
        reads.append([numbers[i : i + 16] for i in range(0, len(numbers), 16)])
    return Case(lists, windows, rng.integers(-1, 9, 40).tolist(), reads, [7] * len(reads), 16)


@pytest.mark.parametrize("each", [1, 7, 254])
def test_reads_at_the_borders_of_classes(shaped: Engine, each: int) -> None:
    case = border_case(each)
    assert [len(case.hit(read)) for read in range(len(SIZES))] == list(SIZES)
    check(shaped, case, 1, 2, 64)


def test_narrow_vectors(device: Device) -> None:
    if device.kind != "cpu":
        pytest.skip("only CPUs have vectors of their own")
    with Engine(device, tuning=narrow_shape(device)) as narrow:
        for each in (1, 7, 254):
            check(narrow, border_case(each), 1, 2, 64)


def test_devices_with_small_groups(limited: Engine) -> None:
    check(limited, border_case(254), 2)


def test_features_with_as_many_locations_as_there_can_be(shaped: Engine) -> None:
    windows = [40_000, 0, 30_000]
    lists = {7: list(range(65_535)), 8: list(range(1000, 66_535)), 9: [69_999]}
    empty: list[list[int]] = [[]] * 7
    reads = [[[7]], [[7, 8, 9], [7]], [[9]], [[8], *empty, [7]]]  # two of them for one work-item of 32
    check(shaped, Case(lists, windows, [0, 1, 2], reads, [2, 1, 3, 1 << 31], 4), 2)


@pytest.mark.parametrize("step", [1, 1 << 20, 1 << 26])
def test_features_that_crowd_behind_one_prefix(shaped: Engine, step: int) -> None:
    keys = (np.arange(3000 if step == 1 else 64, dtype=np.uint32) * np.uint32(step))[::-1] ^ np.uint32(0xFFFFFFFF)
    features = [one for one in unmix(keys).tolist() if one != NO_FEATURE]
    lists = {feature: [number] for number, feature in enumerate(features) if number % 3}
    reads = [[features[i : i + 16]] for i in range(0, len(features), 16)]
    check(shaped, Case(lists, [len(features)], [0], reads, [5] * len(reads), 16), 2)


def test_what_fills_up_a_sketch_is_no_feature(shaped: Engine) -> None:
    check(shaped, Case({NO_FEATURE: [0, 1], 3: [1]}, [2], [0], [[[3]], [[]]], [2, 2], 4), 2)


def test_no_targets(shaped: Engine) -> None:
    check(shaped, Case({}, [], [], [[[1, 2]], [], [[]]], [2, 2, 2], 4), 2)


def test_a_read_with_too_many_locations(shaped: Engine) -> None:
    case = Case({1: [0, 1, 2, 3]}, [4], [0], [[[1]]], [2], 1)
    with (
        mock.patch.object(plan, "MAX_LOCATIONS_OF_READ", 3),
        FeatureIndex(shaped, case.features, case.targets, case.group_array, 2) as index,
    ):
        with pytest.raises(AllocationError, match="more than 3 locations"):
            index.candidates(*case.sketches(shaped))
        with pytest.raises(AllocationError, match="more than 3 locations"):
            index.hits(*case.sketches(shaped)[:2])


def test_memory_as_planned_and_given_back(shaped: Engine) -> None:
    case = border_case(254)
    features, used = case.features, shaped.memory.used
    shaped.memory.peak = used
    index = FeatureIndex(shaped, features, case.targets, case.group_array, 2)
    need = plan.IndexNeed.of(len(features), len(features.locations), sum(case.windows), len(case.windows))
    assert used < shaped.memory.used <= used + need.all
    assert shaped.memory.peak <= used + need.all + (1 << 16)  # totals of scans
    index.candidates(*case.sketches(shaped))
    index.release()
    index.release()
    assert shaped.memory.used == used
