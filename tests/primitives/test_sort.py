"""Sorting and merging against the oracle."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from helpers.products import examples
from helpers.sort_keys import KINDS, random_keys
from hypothesis import given, settings, strategies as st

from oclgenomics.primitives import merge, reference, sort
from oclgenomics.primitives.radix import radix_passes
from oclgenomics.runtime import Device, Engine
from oclgenomics.runtime.tuning import tuning_for

BORDERS = [0, 1, 2, 255, 256, 257, 2815, 2816, 2817, 4095, 4097, 8193, 22_528, 22_529]


def without_high_bits(keys: np.ndarray, bits: int) -> np.ndarray:
    width = keys.dtype.itemsize * 8
    masks = [(1 << min(max(bits - width * w, 0), width)) - 1 for w in range(len(keys))]
    return keys & np.array(masks, keys.dtype)[:, None]


def check(engine: Engine, keys: np.ndarray, value_type: type | None, bits: int | None = None, first: int = 0) -> None:
    size = keys.shape[1]
    values = None if value_type is None else np.arange(size).astype(value_type)
    device_values = None if values is None else engine.upload(values)
    device_keys = engine.upload(keys if len(keys) > 1 else keys[0])
    found = sort(engine, device_keys, device_values, bits=bits, first_bit=first)
    order = reference.sort(keys, bits, first)
    np.testing.assert_array_equal(engine.download(found.keys).reshape(keys.shape), keys[:, order])
    if values is not None:
        assert found.values is not None
        np.testing.assert_array_equal(engine.download(found.values), values[order])


@pytest.mark.parametrize("size", BORDERS)
@pytest.mark.parametrize("value_type", [None, np.uint32])
def test_sizes_around_every_border(shaped: Engine, size: int, value_type: type | None) -> None:
    check(shaped, random_keys(np.random.default_rng(size), 1, size, np.uint64, max(size, 1)), value_type)


def test_large_and_skewed_keys(engine: Engine) -> None:
    rng = np.random.default_rng(5)
    keys = np.minimum(rng.integers(0, 1 << 42, 200_000, np.uint64), rng.integers(0, 1 << 42, 200_000, np.uint64))
    keys[::3] = 7
    found = engine.download(sort(engine, engine.upload(keys), bits=42).keys)
    np.testing.assert_array_equal(found, np.sort(keys))


@settings(max_examples=examples(30))
@given(
    size=st.integers(0, 2000),
    kind=KINDS,
    distinct=st.sampled_from([1, 3, 5000]),
    seed=st.integers(0, 1 << 32),
    data=st.data(),
)
def test_any_sort(
    shaped: Engine,
    size: int,
    kind: tuple[int, type, type | None],
    distinct: int,
    seed: int,
    data: st.DataObject,
) -> None:
    words, dtype, value_type = kind
    width = words * np.dtype(dtype).itemsize * 8
    first = data.draw(st.integers(0, width), "first bit")
    bits = data.draw(st.one_of(st.none(), st.integers(0, width - first)), "bits")
    keys = random_keys(np.random.default_rng(seed), words, size, dtype, distinct)
    keys = without_high_bits(keys, width if bits is None else first + bits)
    check(shaped, keys, value_type, width - first if bits is None else bits, first)


def test_a_cpu_device_with_memory_of_its_own(device: Device) -> None:
    keys = np.random.default_rng(6).integers(0, 1 << 64, 9000, np.uint64)
    with Engine(device, tuning=dataclasses.replace(tuning_for(device), shares_memory=False)) as engine:
        np.testing.assert_array_equal(engine.download(sort(engine, engine.upload(keys)).keys), np.sort(keys))


def test_digits_do_not_pass_a_word() -> None:
    assert radix_passes(64, 0, 20) == [(0, 0, 7), (0, 7, 7), (0, 14, 6)]
    assert radix_passes(64, 2, 62) == [
        (0, 2, 8),
        (0, 10, 8),
        (0, 18, 8),
        (0, 26, 8),
        (0, 34, 8),
        (0, 42, 8),
        (0, 50, 7),
        (0, 57, 7),
    ]
    assert radix_passes(32, 29, 7) == [(0, 29, 3), (1, 0, 4)]


@settings(max_examples=examples(30))
@given(
    sizes=st.lists(st.one_of(st.integers(0, 40), st.integers(4000, 4200)), max_size=9),
    kind=KINDS,
    distinct=st.sampled_from([2, 9000]),
    seed=st.integers(0, 1 << 32),
)
def test_any_merge(
    shaped: Engine, sizes: list[int], kind: tuple[int, type, type | None], distinct: int, seed: int
) -> None:
    words, dtype, value_type = kind
    rng = np.random.default_rng(seed)
    keys = random_keys(rng, words, sum(sizes), dtype, distinct)  # the runs have keys in common
    ends = np.cumsum(sizes, dtype=int).tolist()
    for begin, end in pairwise([0, *ends]):
        keys[:, begin:end] = keys[:, begin + reference.sort(keys[:, begin:end])]
    values = None if value_type is None else np.arange(keys.shape[1]).astype(value_type)
    device_values = None if values is None else shaped.upload(values)
    found = merge(shaped, shaped.upload(keys), ends, device_values)
    order = reference.merge(keys, ends)
    np.testing.assert_array_equal(shaped.download(found.keys), keys[:, order])
    if values is not None:
        assert found.values is not None
        np.testing.assert_array_equal(shaped.download(found.values), values[order])


def test_arguments_that_do_not_suit(engine: Engine) -> None:
    keys = engine.upload(np.zeros(4, np.uint64))
    with pytest.raises(ValueError, match="not unsigned integers"):
        sort(engine, engine.upload(np.zeros(4, np.int64)))
    with pytest.raises(ValueError, match="not all in keys of 64 bits"):
        sort(engine, keys, bits=33, first_bit=32)
    with pytest.raises(ValueError, match="5 of 4 keys"):
        sort(engine, keys, size=5)
    with pytest.raises(ValueError, match="with a value each"):
        sort(engine, keys, engine.upload(np.zeros(3, np.uint32)))
    with pytest.raises(ValueError, match="not in ascending order"):
        merge(engine, keys, [3, 1, 4])
