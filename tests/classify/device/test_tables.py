"""Features on their way into an index: those of a file give the same as those in memory, and damage is noticed."""

from __future__ import annotations

import functools
import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.array_file_damage import check_every_damaged_byte, contents
from helpers.classify_databases import random_database, write_as
from helpers.products import examples, only_whole
from hypothesis import example, given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Database, find_fault
from oclgenomics.classify.database.features import Features, unmix
from oclgenomics.classify.database.file import KIND, PLAIN, open_database, read_database
from oclgenomics.classify.database.packed_file import FeatureSource
from oclgenomics.classify.database.packing import Widths
from oclgenomics.classify.device.tables import Checks, FeatureFilter, FeatureTable, FullError
from oclgenomics.errors import InputError
from oclgenomics.io.array_file import ArrayFile
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.io.siphash import BLOCK_BYTES
from oclgenomics.runtime import Engine


@contextmanager
def loaded(features: int, locations: int) -> Iterator[None]:
    """Take so many features and locations at a time."""
    sizes = {"LOADED_FEATURES": features, "LOADED_LOCATIONS": locations}
    with mock.patch.multiple(plan, **{name: {"cpu": size, "gpu": size} for name, size in sizes.items()}):
        yield


def load(engine: Engine, features: FeatureSource, windows: int, wanted: FeatureFilter | None = None) -> list[list[int]]:
    """What an index has of features."""
    table = FeatureTable(engine, features, windows, wanted)
    found = [engine.download(array).tolist() for array in (table._entries, table._table)]
    lists = engine.download(table.locations).tolist() if features.numbers.in_lists else []
    table.release()
    return [*found, lists]


def alive(features: Features) -> Features:
    """Those that have locations, as others are not in the index of a file with packed features."""
    there = features.counts > 0
    return Features(features.keys[there], features.counts[there], features.locations)


def load_file(engine: Engine, path: Path, wanted: NDArray[np.uint32] | None = None) -> list[list[int]]:
    """What an index has of the features of a file, or of those that pass a filter of some keys."""
    with open_database(path) as (database, features):
        filtered = None if wanted is None else FeatureFilter(engine, [unmix(wanted)], features.numbers)
        return load(engine, features, int(database.targets.windows.sum()), filtered)


def passing(features: Features, wanted: NDArray[np.uint32], bits: int) -> Features:
    """Those with locations whose keys begin with the same bits as one of some keys."""
    of_lists = np.repeat(np.arange(len(features)), features.counts)
    kept = np.isin(features.keys >> np.uint32(32 - bits), wanted >> np.uint32(32 - bits)) & (features.counts > 0)
    return Features(features.keys[kept], features.counts[kept], features.locations[kept[of_lists]])


@functools.cache
def large_database(seed: int, count: int) -> Database:
    """A database with features of several blocks, some of them without locations."""
    rng = np.random.default_rng(seed)
    database = random_database(seed, 3, 0)
    windows = int(database.targets.windows.sum())
    keys = np.unique(rng.integers(0, 1 << 32, count, np.uint64)).astype(np.uint32)
    counts = rng.integers(0, min(4, windows) + 1, len(keys)).astype(np.uint8)
    some = rng.random((len(keys), windows)).argsort(axis=1)[:, :4]
    some[np.arange(some.shape[1]) >= counts[:, None]] = windows  # which is none
    some.sort(axis=1)
    locations = some[some < windows].astype(np.uint32)
    database = replace(database, features=Features(keys, counts, locations))
    assert find_fault(database) is None
    return database


@functools.cache
def large_file(seed: int, count: int, version: int) -> bytes:
    """Such a database as a version of the format."""
    with tempfile.TemporaryDirectory() as folder:
        write_as(Path(folder, "x"), large_database(seed, count), version)
        return Path(folder, "x").read_bytes()


@pytest.fixture(scope="module")
def large() -> Database:
    database = large_database(7, 20_000)
    assert database.features.keys.nbytes > 4 * BLOCK_BYTES
    assert database.features.counts.nbytes > BLOCK_BYTES
    return database


@settings(max_examples=examples(30))
@given(
    count=st.sampled_from([0, 1, 5000, 9000]),
    features=st.sampled_from([1000, 4096, 5001, 1 << 20]),
    locations=st.sampled_from([1000, 4096, 1 << 20]),
    version=st.sampled_from([2, 3, 4]),
)
def test_those_of_a_file_are_those_in_memory(
    tmp_path_factory: pytest.TempPathFactory, shaped: Engine, count: int, features: int, locations: int, version: int
) -> None:
    path, database = tmp_path_factory.mktemp("tables") / "x", large_database(count, count)
    path.write_bytes(large_file(count, count, version))
    windows = int(database.targets.windows.sum())
    expected = database.features if version <= PLAIN else alive(database.features)
    with loaded(features, locations):
        assert load_file(shaped, path) == load(shaped, expected, windows)


@settings(max_examples=examples(45))
@given(
    count=st.sampled_from([9000, 0, 1, 300]),
    share=st.sampled_from([0.2, 0, 0.001, 1]),
    others=st.sampled_from([0, 1, 3000]),
    bits=st.sampled_from([5, 9, 16]),
    pieces=st.sampled_from([(1000, 1000), (4096, 1 << 20), (1 << 20, 1 << 20)]),
)
@example(count=9000, share=0.2, others=3000, bits=32, pieces=(4096, 1 << 20))  # a filter of half a GiB
def test_those_that_pass_a_filter(
    tmp_path_factory: pytest.TempPathFactory,
    shaped: Engine,
    count: int,
    share: float,
    others: int,
    bits: int,
    pieces: tuple[int, int],
) -> None:
    path, database = tmp_path_factory.mktemp("tables") / "x", large_database(count, count)
    path.write_bytes(large_file(count, count, KIND.version))
    features, windows = database.features, int(database.targets.windows.sum())
    rng = np.random.default_rng(1)
    wanted = features.keys[rng.random(len(features)) < share]
    wanted = np.concatenate([wanted, rng.integers(0, 1 << 32, others, np.uint64).astype(np.uint32)])
    expected = passing(features, wanted, bits)
    with loaded(*pieces), mock.patch.multiple(plan, MIN_FILTER=bits, MAX_FILTER=bits, POPULOUS=9):
        entries, table, lists = load_file(shaped, path, wanted)
    told = load(shaped, expected, windows)
    assert [entries[: len(expected) + 1], table, lists[: len(told[2])]] == told


@pytest.mark.parametrize("short", ["features", "in_lists"])
def test_a_filter_that_more_pass_than_there_is_room_for(engine: Engine, tmp_path: Path, short: str) -> None:
    """Nothing is written behind the room for them, and one feature or location too many is noticed."""
    path, database = tmp_path / "x", large_database(3, 3000)
    path.write_bytes(large_file(3, 3000, KIND.version))
    kept = alive(database.features)
    with open_database(path) as (opened, features):
        wanted, windows = FeatureFilter(engine, [unmix(kept.keys)], features.numbers), int(opened.targets.windows.sum())
        for missing in (0, 1, 2):
            exact = plan.FilterSizes(wanted.sizes.bits, len(kept), kept.in_lists)
            wanted.sizes = replace(exact, **{short: getattr(exact, short) - missing})
            with pytest.raises(FullError) if missing else nullcontext():
                load(engine, features, windows, wanted)


@pytest.mark.parametrize(("version", "step"), [(4, 3), (3, 3), (2, 5)])
def test_every_damaged_byte_of_features_is_noticed(engine: Engine, tmp_path: Path, version: int, step: int) -> None:
    write_as(tmp_path / "x", random_database(3, 3, 9), version)
    whole = (tmp_path / "x").read_bytes()
    with ArrayFile(tmp_path / "x", KIND) as file:
        name = "keys" if version <= PLAIN else "dead_keys"
        places = range(file._find(name, "<u4", 1)[1], len(whole), step)
    with loaded(4, 6):
        check_every_damaged_byte(tmp_path / "x", whole, lambda path: load_file(engine, path), places)


def test_damage_in_any_block_is_noticed(engine: Engine, tmp_path: Path) -> None:
    """That of the zeros behind an array, too; and the message is the one of a file that is read on the host."""
    sizes = itertools.cycle([(1 << 20, 1 << 20), (5000, 3000), (4096, 1 << 20)])
    path, whole = tmp_path / "x", large_file(7, 20_000, PLAIN)
    path.write_bytes(whole)
    with ArrayFile(path, KIND) as file:
        first = {name: file._find(name, "<u4", 1) for name in ("keys", "locations")}
    for name, (section, start) in first.items():
        steps = range(0, section.filled_bytes, BLOCK_BYTES // 2 + 4)
        for place in (*steps, section.bytes - 1, section.filled_bytes - 1):
            path.write_bytes(whole[: start + place] + bytes([whole[start + place] ^ 1]) + whole[start + place + 1 :])
            with loaded(*next(sizes)), pytest.raises(InputError, match=f"section '{name}' is damaged") as caught:
                load_file(engine, path)
            with pytest.raises(InputError) as expected:
                read_database(path)
            assert str(caught.value) == str(expected.value)


def out_of_order(features: Features, windows: int, place: int) -> list[tuple[str, Features]]:
    """Features with one thing wrong at a place, and what that is."""
    several = np.flatnonzero(features.counts > 1)
    feature = int(several[place % len(several)])
    begin, end = features.starts[feature : feature + 2].tolist()
    at = 1 + place % (len(features) - 1)
    keys = [features.keys.copy() for _ in range(2)]
    keys[0][[at - 1, at]] = keys[0][[at, at - 1]]
    keys[1][at] = keys[1][at - 1]
    high, level = features.locations.copy(), features.locations.copy()
    high[end - 1] = windows
    level[begin + 1] = level[begin]
    return [
        *(("features that are out of order", replace(features, keys=each)) for each in keys),
        ("a location behind the last window", replace(features, locations=high)),
        ("locations of a feature that are out of order", replace(features, locations=level)),
    ]


@pytest.mark.parametrize("place", [0, 4095, 4999, 12_345, -1, *only_whole(1, 4094, 4096)])
def test_what_is_out_of_order_is_noticed(engine: Engine, tmp_path: Path, large: Database, place: int) -> None:
    """Under right checksums, within pieces and at their borders, in the words of the host."""
    windows = int(large.targets.windows.sum())
    for fault, features in out_of_order(large.features, windows, place):
        known = np.zeros(len(large.taxonomy) + len(large.targets), np.int64)  # which nobody can count of such features
        database = replace(large, features=features, known=known)
        assert find_fault(database) == fault
        sizes = {PLAIN: [4096, 5000, 1 << 20]}
        kept = alive(features).keys
        buckets = kept >> np.uint32(Widths.of(len(kept), windows).key)
        in_buckets, in_order = bool((buckets[1:] >= buckets[:-1]).all()), bool((kept[1:] > kept[:-1]).all())
        if "features" not in fault or (in_buckets and not in_order):  # else packed features cannot be so
            sizes[KIND.version] = [5000]
        for version, size in [(version, size) for version, each in sizes.items() for size in each]:
            if size == sizes[version][0]:
                write_as(tmp_path / "x", database, version)
            with loaded(size, 1 << 20):
                with pytest.raises(InputError, match=f"contradicts itself: it has {fault}; build it again"):
                    load_file(engine, tmp_path / "x")
                with pytest.raises(ValueError, match="out of order, or behind the last window"):
                    load(engine, features, windows)


@pytest.mark.parametrize("version", [PLAIN, KIND.version])
def test_a_file_that_changes_while_it_is_loaded(engine: Engine, tmp_path: Path, version: int) -> None:
    """It may be right when it is read once more, but what was loaded was not."""
    path = tmp_path / "x"
    path.write_bytes(large_file(7, 20_000, version))
    found = Checks.found
    with (
        open_database(path) as (opened, features),
        mock.patch.object(Checks, "found", lambda checks: found(checks)._replace(in_order=False)),
        pytest.raises(InputError, match="changed while it was read; build it again"),
    ):
        load(engine, features, int(opened.targets.windows.sum()))


def test_locations_that_are_more_than_there_is_room_for(engine: Engine, tmp_path: Path) -> None:
    """No kernel gets them, whatever the file says by then."""
    path, database = tmp_path / "x", large_database(3, 5000)
    write_as(path, database, PLAIN)
    with open_database(path) as (opened, features):
        with ArrayFile(path, KIND) as file:
            start = file._find("counts", "|u1", 1)[1]
        with open(path, "r+b") as changed:
            for place in np.flatnonzero(database.features.counts == 1)[:9].tolist():
                changed.seek(start + place)
                changed.write(b"\2")
        with pytest.raises(InputError, match="changed while it was read; build it again"):
            load(engine, features, int(opened.targets.windows.sum()))


@pytest.mark.parametrize("wanted", [None, np.zeros(1, np.uint32)])
@pytest.mark.parametrize("section", ["key_starts", "location_starts", "keys", "locations", "block_sums"])
def test_damage_in_any_block_of_packed_features_is_noticed(
    engine: Engine, tmp_path: Path, section: str, wanted: NDArray[np.uint32] | None
) -> None:
    path, whole = tmp_path / "x", large_file(7, 20_000, KIND.version)
    path.write_bytes(whole)
    with ArrayFile(path, KIND) as file:
        found, start = file._find(section, file.sections[section].dtype, 1)
    for place in (*range(0, found.filled_bytes, BLOCK_BYTES), found.bytes - 1, found.filled_bytes - 1):
        path.write_bytes(whole[: start + place] + bytes([whole[start + place] ^ 1]) + whole[start + place + 1 :])
        with loaded(5000, 3000), pytest.raises(InputError, match=f"section '{section}' is damaged .*build it again"):
            load_file(engine, path, wanted)


@pytest.mark.parametrize(
    ("features", "filtered"),
    [(what, filtered) for filtered in (False, True) for what in ("none", "one too few", "one too many")]
    + [("more than there is room for", False)],
)
def test_features_that_have_not_just_the_locations_of_their_bucket(
    engine: Engine, tmp_path: Path, features: str, filtered: bool
) -> None:
    """No kernel reads or writes what is not there, whatever the last bits of locations and the numbers say."""
    path, database = tmp_path / "x", large_database(3, 3000)
    write_as(path, database, KIND.version)
    metadata, arrays = contents(path, KIND)
    width = Widths.of(database.features.numbers.alive, int(database.targets.windows.sum())).location
    if features == "none":
        arrays["locations"][:] = 0
    elif features == "more than there is room for":
        metadata["features"]["single"] = metadata["features"]["alive"]
    else:
        last = np.flatnonzero(np.diff(np.cumsum(alive(database.features).counts)) > 1)[5 if "few" in features else 9]
        bit = int(alive(database.features).counts[: last + 1].sum() - ("few" in features)) * width
        arrays["locations"][bit // 64] ^= np.uint64(1 << bit % 64)
    write_arrays(path, KIND, "1", metadata, arrays)
    with pytest.raises(InputError, match=r"contradicts itself: it has (buckets of features|numbers of features other)"):
        load_file(engine, path, np.zeros(1, np.uint32) if filtered else None)
