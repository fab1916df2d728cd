"""Features that a device packs: the same words as those of the host."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.devices import gpu_shape
from helpers.products import examples
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.classify.database import packing as host
from oclgenomics.classify.database.features import Features
from oclgenomics.classify.database.packing import HostPacker
from oclgenomics.classify.device import packing
from oclgenomics.classify.device.packing import FeaturePacker
from oclgenomics.io.array_layout import KEY
from oclgenomics.io.siphash import BLOCK_BYTES, block_sums
from oclgenomics.io.workers import Workers
from oclgenomics.runtime import Device, Engine

NOTHING = np.empty(0, np.uint32)
SIZES = [0, 1, 2, 63, 64, 65, 127, 128, 129, 200, 600]


def only(keys: NDArray[np.uint32] = NOTHING, counts: Any = NOTHING) -> Features:
    return Features(keys, counts, NOTHING)


@settings(max_examples=30)
@given(st.sampled_from(SIZES), st.integers(1, 32), st.sampled_from([64, 128, 1 << 22]), st.integers(0, 99))
def test_keys(shaped: Engine, size: int, width: int, together: int, seed: int) -> None:
    keys = np.random.default_rng(seed).integers(0, 1 << 32, size, np.uint64).astype(np.uint32)
    with mock.patch.object(packing, "TOGETHER", together), Workers(1) as threads:
        expected = HostPacker(threads).keys(only(keys=keys), width)
        assert FeaturePacker(shaped).keys(only(keys=keys), width).tolist() == expected.tolist()


@settings(max_examples=examples(30))
@given(
    st.sampled_from(SIZES), st.sampled_from([2, 17, 31, 32, 33]), st.sampled_from([64, 128, 1 << 22]),
    st.sampled_from([1, 5, 64, 4096]), st.sampled_from([(np.uint8, 2), (np.uint8, 255), (np.uint16, 3000)]),
    st.integers(0, 99),
)  # fmt: skip
def test_locations(
    shaped: Engine, size: int, width: int, together: int, step: int, kind: tuple[type, int], seed: int
) -> None:
    rng, (dtype, most) = np.random.default_rng(seed), kind
    counts = rng.integers(1, most + 1, size).astype(dtype)
    counts[: size // 2] = np.minimum(counts[: size // 2], 3)
    locations = rng.integers(0, 1 << 32, int(counts.sum(dtype=np.int64)), np.uint64).astype(np.uint32)
    with ExitStack() as stack:
        stack.enter_context(mock.patch.multiple(packing, TOGETHER=together, STEP=step))
        stack.enter_context(mock.patch.object(host, "STEP", step))
        threads = stack.enter_context(Workers(1))
        features = Features(np.arange(size, dtype=np.uint32), counts, locations)
        before = HostPacker(threads).located_before(features, np.append(np.arange(0, size, step), size))
        expected = HostPacker(threads).locations(features, before, width)
        assert FeaturePacker(shaped).locations(features, before, width).tolist() == expected.tolist()


@pytest.mark.parametrize("most", [1, 64 * packing.NUMBER_BYTES - 1, 128 * packing.NUMBER_BYTES])
def test_little_memory_changes_nothing(engine: Engine, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = only(keys=np.arange(1000, dtype=np.uint32))
    expected = FeaturePacker(engine).keys(keys, 11)
    monkeypatch.setattr(Engine, "max_allocation", most)
    pieces = FeaturePacker(engine)._pieces(1000)
    assert pieces[0] == (0, 128 if most > 64 * packing.NUMBER_BYTES else 64)
    assert FeaturePacker(engine).keys(keys, 11).tolist() == expected.tolist()


@settings(max_examples=30)
@given(
    st.lists(st.integers(0, 5), max_size=40), st.data(), st.sampled_from([1, 3, 64, 1 << 14]),
    st.sampled_from([np.uint8, np.uint16]),
)  # fmt: skip
def test_locations_before_features(
    shaped: Engine, counts: list[int], data: st.DataObject, together: int, kind: type
) -> None:
    places = np.array(sorted([0, *data.draw(st.lists(st.integers(0, len(counts)))), len(counts)]))
    held = only(counts=np.array(counts, kind))
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(host, "SUMMED", together))
        stack.enter_context(mock.patch.object(FeaturePacker, "_together", together))
        packers = HostPacker(stack.enter_context(Workers(1))), FeaturePacker(shaped)
        found = [packer.located_before(held, places).tolist() for packer in packers]
    assert found == [[sum(counts[:place]) for place in places.tolist()]] * 2


@pytest.mark.parametrize(("together", "made"), [(1 << 17, True), (1 << 22, True), (1 << 16, False)])
def test_checksums_of_blocks(device: Device, together: int, made: bool) -> None:
    """Those of whole blocks, where pieces begin with blocks, on devices with memory of their own."""
    size = 300_001
    counts, keys = np.ones(size, np.uint8), np.arange(size, dtype=np.uint32) * 7
    features = Features(keys, counts, keys[::-1].copy())
    with mock.patch.object(packing, "TOGETHER", together), Engine(device, tuning=gpu_shape(device)) as engine:
        packer = FeaturePacker(engine)
        before = np.append(np.arange(0, size, host.STEP), size)
        words = {"keys": packer.keys(features, 21), "locations": packer.locations(features, before, 33)}
        for name, packed in words.items():
            data = packed.view(np.uint8)
            whole = data[: len(data) // BLOCK_BYTES * BLOCK_BYTES]
            assert (name in packer.sums) is made
            assert packer.sums.get(name, block_sums(KEY, whole)).tolist() == block_sums(KEY, whole).tolist()
        if made:
            packer.keys(only(keys=keys[:5]), 21)
            assert len(packer.sums["keys"]) == 0  # of what was packed last
        with mock.patch.object(packing, "TOGETHER", 64):
            packer.keys(only(keys=keys[:5]), 21)
        assert "keys" not in packer.sums


def test_threads_make_checksums_where_memory_is_shared(engine: Engine) -> None:
    packer = FeaturePacker(engine)
    packer.keys(only(keys=np.arange(70_000, dtype=np.uint32)), 32)
    assert (packer.sums == {}) is engine.tuning.shares_memory
