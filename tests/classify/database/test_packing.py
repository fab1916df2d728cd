"""Packed features: bit by bit as the page of the format says, and those that are sought among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.classify_databases import packed_database, random_database, write_as
from hypothesis import given, settings, strategies as st

from oclgenomics.classify.database import packed_file, packing
from oclgenomics.classify.database.features import Features
from oclgenomics.classify.database.file import KIND, open_database
from oclgenomics.classify.database.packing import SPARE, Widths, pack, pack_features, unpack
from oclgenomics.errors import InputError
from oclgenomics.io.array_file import BlockReader
from oclgenomics.io.workers import Workers


def as_number(words: np.ndarray) -> int:
    """All bits, the first one lowest."""
    return int.from_bytes(words.astype("<u8").tobytes(), "little")


@settings(max_examples=60)
@given(st.data(), st.integers(1, 57), st.sampled_from([0, 1, 2, 63, 64, 65, 127, 128, 200]), st.integers(0, 99))
def test_numbers_are_packed_one_behind_the_other(data: st.DataObject, width: int, size: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 1 << 64, size, np.uint64)  # what is above the width is left out
    with mock.patch.object(packing, "TOGETHER", 64), Workers(data.draw(st.sampled_from([1, 2]))) as threads:
        words = pack(lambda begin, end: values[begin:end], size, width, threads)
    kept = [int(value) & (1 << width) - 1 for value in values]
    assert len(words) == -(-size * width // 64)
    assert as_number(words) == sum(value << place * width for place, value in enumerate(kept))
    places = np.array(data.draw(st.lists(st.integers(0, size - 1)) if size else st.just([])), np.int64)
    found = unpack(np.append(words.view(np.uint8), np.full(SPARE, 255, np.uint8)), places * width, width)
    assert found.tolist() == [kept[place] for place in places]


def unpacked(features: packing.PackedFeatures, widths: Widths) -> list[tuple[int, list[int]]]:
    """Keys and windows, as the page says where they are."""
    keys, locations, found = as_number(features.keys), as_number(features.locations), []
    for bucket in range(widths.buckets):
        place = int(features.location_starts[bucket])
        for number in range(int(features.key_starts[bucket]), int(features.key_starts[bucket + 1])):
            key = bucket << widths.key | keys >> number * widths.key & (1 << widths.key) - 1
            windows = []
            while not windows or not windows[-1] & 1:
                assert place < features.location_starts[bucket + 1]
                windows.append(locations >> place * widths.location & (1 << widths.location) - 1)
                place += 1
            found.append((key, [window >> 1 for window in windows]))
        assert place == features.location_starts[bucket + 1]
    return sorted(found + [(int(key), []) for key in features.dead_keys])


@settings(max_examples=25)
@given(st.integers(0, 99), st.sampled_from([0, 1, 63, 127, 128, 129, 255, 256, 600]), st.sampled_from([1, 5, 64]))
def test_features_are_packed_as_the_page_says(seed: int, count: int, step: int) -> None:
    database = random_database(seed, 4, count)
    features, windows = database.features, int(database.targets.windows.sum())
    with mock.patch.multiple(packing, STEP=step, BUCKETS_TOGETHER=3, SUMMED=7, TOGETHER=64), Workers(1) as threads:
        packed = pack_features(features, windows, threads)
    widths = Widths.of(features.numbers.alive, windows)
    alive = features.numbers.alive
    assert widths.bucket == (0 if alive < 128 else int(np.log2(alive / 64)))
    assert 1 << widths.location - 1 >= windows > (1 << widths.location - 1) // 2 or windows < 2
    lists = np.split(features.locations, features.starts[1:-1]) if len(features) else []
    expected = [(int(key), each.tolist()) for key, each in zip(features.keys, lists, strict=True)]
    assert unpacked(packed, widths) == expected


@pytest.mark.parametrize(
    ("features", "windows", "widths"),
    [(0, 0, (0, 1)), (1, 1, (0, 1)), (1, 2, (0, 2)), (128, 3, (1, 3)), (1 << 31, (1 << 32) - 1, (25, 33))],
)
def test_widths(features: int, windows: int, widths: tuple[int, int]) -> None:
    found = Widths.of(features, windows)
    assert (found.bucket, found.location) == widths
    assert found.key + found.bucket == 32


@settings(max_examples=40)
@given(
    seed=st.integers(0, 99), count=st.sampled_from([0, 1, 100, 300, 600]), share=st.sampled_from([0, 0.01, 0.5, 1]),
    buckets=st.sampled_from([1, 3, 1000]), room=st.sampled_from([1, 100, 1000]),
)  # fmt: skip
def test_features_that_are_sought(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, share: float, buckets: int, room: int
) -> None:
    path, database = tmp_path_factory.mktemp("database") / "x", random_database(seed, 4, count)
    write_as(path, database, KIND.version)
    features, rng = database.features, np.random.default_rng(seed)
    some = features.keys[rng.random(len(features)) < share]
    keys = np.unique(np.concatenate([some, some + np.uint32(1), np.array([0, (1 << 32) - 1], np.uint32)]))
    with (
        mock.patch.multiple(packed_file, BUCKETS=buckets, FEATURES=room, LOCATIONS=room),
        open_database(path) as (_, store),
    ):
        assert store.packed is not None
        found, none = store.packed.sought(keys), store.packed.sought(keys[:0])
    there = np.isin(features.keys, keys) & (features.counts > 0)
    expected = Features(
        features.keys[there], features.counts[there], features.locations[np.repeat(there, features.counts)]
    )
    for name in ("keys", "counts", "locations"):
        assert getattr(found, name).dtype == getattr(expected, name).dtype
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert not len(none)


def test_few_blocks_are_read_for_few_features(tmp_path_factory: pytest.TempPathFactory) -> None:
    path, database = tmp_path_factory.mktemp("database") / "x", packed_database()
    write_as(path, database, KIND.version)
    taken: list[Any] = []
    take = BlockReader.take

    def noted(*args: Any) -> Any:
        taken.append(args)
        return take(*args)

    with (
        mock.patch.object(BlockReader, "take", noted),
        open_database(path) as (_, store),
    ):
        assert store.packed is not None
        assert not taken
        store.packed.sought(database.features.keys[:1])
    assert len(taken) == 4
    assert sum(int((ends - begins).sum()) for _, begins, ends, *_ in taken) < 2000


def test_what_contradicts_itself_is_an_error_when_it_is_sought(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Under right checksums: a wrong place, or windows that do not ascend, in the bucket that is sought."""
    path, database = tmp_path_factory.mktemp("database") / "x", packed_database()
    features = database.features
    locations = features.locations.copy()
    locations[:2] = locations[1::-1]
    wrong = Features(features.keys, features.counts, locations)
    write_as(path, replace(database, features=wrong), KIND.version)
    with open_database(path) as (_, store):
        assert store.packed is not None
        with pytest.raises(InputError, match="it has locations of a feature that are out of order; build it again"):
            store.packed.sought(features.keys[:1])
        assert store.packed.sought(features.keys[-1:]).counts.tolist() == features.counts[-1:].tolist()
