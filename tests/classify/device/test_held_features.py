"""Features that the device holds: counted, checked, packed and cut as those of the host, which gets none of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from helpers.products import examples
from helpers.taxonomies import random_lineages
from hypothesis import given, settings, strategies as st

from oclgenomics.app.run import Run
from oclgenomics.classify import plan
from oclgenomics.classify.database import packing as host_packing
from oclgenomics.classify.database.database import find_fault
from oclgenomics.classify.database.features import Features
from oclgenomics.classify.database.file import write_database
from oclgenomics.classify.database.packing import Widths, key_starts, pack_features
from oclgenomics.classify.database.references import TaxonSources
from oclgenomics.classify.device import held_features, packing
from oclgenomics.classify.device.building import build_database
from oclgenomics.classify.device.clade_counter import count_clades
from oclgenomics.classify.device.held_features import HeldFeatures
from oclgenomics.classify.device.packing import FeaturePacker
from oclgenomics.classify.options import BuildOptions
from oclgenomics.io.workers import Workers
from oclgenomics.runtime import Engine, HostArray

WINDOWS = 50
ARRAYS = ("keys", "counts", "locations")


def held(engine: Engine, features: Features) -> HeldFeatures:
    """The same features in a device's memory."""
    arrays = {name: HostArray(engine, len(getattr(features, name)), getattr(features, name).dtype) for name in ARRAYS}
    for name, array in arrays.items():
        engine.write(array.device, getattr(features, name))
    return HeldFeatures(engine, **arrays)


def made(size: int, most: int, kind: type, seed: int) -> Features:
    """Features in order, with 1 to `most` locations."""
    rng = np.random.default_rng(seed)
    keys = np.sort(rng.choice(1 << 32, size, replace=False)).astype(np.uint32)
    counts = rng.integers(1, most + 1, size).astype(kind)
    locations = [np.sort(rng.choice(WINDOWS, count, replace=False)) for count in counts.tolist()]
    return Features(keys, counts, np.concatenate(locations).astype(np.uint32))


def in_steps(stack: ExitStack, step: int, most: int) -> None:
    """Steps and pieces of a few features."""
    for module in (held_features, packing, host_packing):
        stack.enter_context(mock.patch.object(module, "STEP", step))
    stack.enter_context(mock.patch.object(packing, "TOGETHER", 128))
    sizes = {"cpu": most, "gpu": most}
    stack.enter_context(mock.patch.multiple(plan, LOADED_FEATURES=sizes, LOADED_LOCATIONS=sizes))


@settings(max_examples=examples(30))
@given(
    st.sampled_from([1, 2, 63, 64, 65, 129, 400]), st.sampled_from([(np.uint8, 1), (np.uint8, 4), (np.uint16, 40)]),
    st.sampled_from([1, 5, 64, 4096]), st.sampled_from([1, 30, 1 << 20]), st.integers(0, 99),
)  # fmt: skip
def test_nothing_comes_to_the_host(
    shaped: Engine, size: int, kind: tuple[type, int], step: int, most: int, seed: int
) -> None:
    features = made(size, kind[1], kind[0], seed)
    lineages = random_lineages(20, 9, np.random.default_rng(seed))
    windows = int(lineages.targets.windows.sum())
    features.locations[:] %= windows  # in any order: clades do not care
    with ExitStack() as stack:
        in_steps(stack, step, most)
        there, threads = held(shaped, features), stack.enter_context(Workers(1))
        assert (len(there), there.located, there.counted()) == (size, len(features.locations), features.numbers)
        packed = pack_features(there, windows, threads, FeaturePacker(shaped))
        assert count_clades(shaped, there, lineages).tolist() == count_clades(shaped, features, lineages).tolist()
        assert not vars(there).keys() & set(ARRAYS)
        for name, array in pack_features(features, windows, threads)._asdict().items():
            assert getattr(packed, name).tobytes() == array.tobytes(), name
        cuts = list(there.cuts(most, most))
    ends = np.cumsum(features.counts, dtype=np.int64)
    assert [cut.begin for cut in cuts] == [0, *(cut.end for cut in cuts[:-1])]
    assert cuts[-1].end == size
    for cut in cuts:
        assert cut.end - cut.begin <= max(most, step)
        assert cut.located <= most or cut.end - cut.begin <= step
        assert (cut.before, cut.before + cut.located) == (
            ends[cut.begin] - features.counts[cut.begin],
            ends[cut.end - 1],
        )


@pytest.mark.parametrize("step", [3, 4096])
def test_order(shaped: Engine, step: int) -> None:
    features = made(10, 4, np.uint8, 1)
    several = int(np.flatnonzero(features.counts > 1)[-1])
    first = int(features.counts[:several].sum())
    faults = {
        "keys": [(0, features.keys[1]), (3, features.keys[4]), (9, 0)],
        "locations": [(0, WINDOWS), (first, features.locations[first + 1]), (first + 1, 0)],
    }
    with mock.patch.object(held_features, "STEP", step):
        assert held(shaped, features).in_order(WINDOWS)
        assert not held(shaped, features).in_order(int(features.locations.max()))
        for name, places in faults.items():
            for place, value in places:
                arrays = {other: getattr(features, other).copy() for other in ARRAYS}
                arrays[name][place] = value
                assert not held(shaped, Features(**arrays)).in_order(WINDOWS), (name, place)


def test_features_of_the_host(shaped: Engine) -> None:
    features = made(100, 4, np.uint8, 2)
    used = shaped.memory.used
    there = held(shaped, features)
    assert there.keys.tolist() == features.keys.tolist()
    whole = there.whole()
    assert type(whole) is Features
    assert shaped.memory.used == used
    for name in ARRAYS:
        assert getattr(whole, name).tolist() == getattr(features, name).tolist()


def test_a_build_writes_the_same_file(shaped: Engine, tmp_path: Path) -> None:
    """Also where the device has no room for the features while they are counted."""
    rng = np.random.default_rng(3)
    for name in ("a", "b"):
        letters = rng.choice(np.frombuffer(b"ACGT", np.uint8), 30_000).tobytes().decode()
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{letters}\n")
    how = [str(tmp_path / name) for name in ("a.fa", "b.fa")], BuildOptions(), TaxonSources(), Run()
    database = build_database(shaped, *how)
    there = database.features
    assert isinstance(there, HeldFeatures)
    assert find_fault(database) is None
    write_database(tmp_path / "held", database, packer=FeaturePacker(shaped))
    assert not vars(there).keys() & set(ARRAYS)
    with mock.patch.object(HeldFeatures, "fit", return_value=False):
        other = build_database(shaped, *how)
    assert type(other.features) is Features
    write_database(tmp_path / "host", other)
    assert (tmp_path / "held").read_bytes() == (tmp_path / "host").read_bytes()


def test_they_stay_only_where_there_is_room(engine: Engine) -> None:
    there = held(engine, made(100, 4, np.uint8, 4))
    need = plan.counting_bytes(engine.tuning.shape, held_features.STEP * 4, 50, 3)
    for room, fits in ((need, True), (need - 1, False)):
        with mock.patch.object(Engine, "budget", engine.memory.used + room):
            assert there.fit(50, 3) is fits


@pytest.mark.parametrize("bucket", [0, 1, 3])
def test_buckets_begin_with_their_least_key(shaped: Engine, bucket: int) -> None:
    """Keys at, before and behind the first of a bucket, and no key in some buckets."""
    widths = Widths(bucket, 33)
    bounds = np.arange(0, 1 << 32, 1 << widths.key).tolist()
    keys = np.array(sorted({each + more for each in bounds for more in (-1, 0, 1)} - {-1} | {5}), np.uint32)
    features = Features(keys, np.ones(len(keys), np.uint8), np.arange(len(keys), dtype=np.uint32))
    with Workers(1) as threads:
        expected = key_starts(keys, widths, threads)
    assert held(shaped, features).bucket_starts(widths).tolist() == expected.tolist()
