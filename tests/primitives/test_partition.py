"""Partitions against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.products import examples
from helpers.sort_keys import KINDS, random_keys
from hypothesis import given, settings, strategies as st

from oclgenomics.primitives import partition, reference
from oclgenomics.primitives.partitioning import MAX_BITS
from oclgenomics.runtime import Engine

BORDERS = [0, 1, 2, 255, 256, 257, 2815, 2816, 2817, 4095, 4097, 8193, 22_528, 22_529]


def in_order(keys: np.ndarray) -> np.ndarray:
    return keys[:, reference.sort(keys)]


def check(
    engine: Engine,
    keys: np.ndarray,
    value_type: type | None,
    bits: int | None = None,
    first_bit: int = 0,
    splitters: np.ndarray | None = None,
) -> None:
    def upload(array: np.ndarray) -> object:
        return engine.upload(array if len(array) > 1 else array[0])

    values = None if value_type is None else np.arange(keys.shape[1]).astype(value_type)
    found = partition(
        engine,
        upload(keys),
        None if values is None else engine.upload(values),
        bits=bits,
        first_bit=first_bit,
        splitters=None if splitters is None else upload(splitters),
    )
    order, starts = reference.partition(keys, bits, first_bit, splitters)
    np.testing.assert_array_equal(engine.download(found.keys).reshape(keys.shape), keys[:, order])
    assert engine.download(found.starts).tolist() == starts
    if values is not None:
        assert found.values is not None
        np.testing.assert_array_equal(engine.download(found.values), values[order])


@pytest.mark.pairwise
@pytest.mark.parametrize("size", BORDERS)
@pytest.mark.parametrize("value_type", [None, np.uint32])
@pytest.mark.parametrize("parts", [2, 256, 300])
def test_sizes_around_every_border(shaped: Engine, size: int, value_type: type | None, parts: int) -> None:
    rng = np.random.default_rng(size)
    keys = random_keys(rng, 1, size, np.uint64, max(size, 1))
    check(shaped, keys, value_type, bits=(parts - 1).bit_length(), first_bit=20)
    splitters = in_order(random_keys(rng, 1, parts - 1, np.uint64, 1 << 20))
    check(shaped, keys, value_type, splitters=splitters)


@settings(max_examples=examples(30))
@given(
    size=st.integers(0, 2000),
    kind=KINDS,
    distinct=st.sampled_from([1, 3, 5000]),
    seed=st.integers(0, 1 << 32),
    data=st.data(),
)
def test_any_digit(
    shaped: Engine,
    size: int,
    kind: tuple[int, type, type | None],
    distinct: int,
    seed: int,
    data: st.DataObject,
) -> None:
    words, dtype, value_type = kind
    width = words * np.dtype(dtype).itemsize * 8
    bits = data.draw(st.integers(1, 12), "bits")
    first = data.draw(st.integers(0, width - bits), "first bit")
    check(shaped, random_keys(np.random.default_rng(seed), words, size, dtype, distinct), value_type, bits, first)


@settings(max_examples=examples(30))
@given(
    size=st.integers(0, 2000),
    kind=KINDS,
    distinct=st.sampled_from([1, 3, 5000]),
    parts=st.one_of(st.integers(1, 20), st.sampled_from([255, 256, 257, 1000])),
    of_keys=st.booleans(),
    seed=st.integers(0, 1 << 32),
)
def test_any_splitters(
    shaped: Engine,
    size: int,
    kind: tuple[int, type, type | None],
    distinct: int,
    parts: int,
    of_keys: bool,
    seed: int,
) -> None:
    words, dtype, value_type = kind
    rng = np.random.default_rng(seed)
    keys = random_keys(rng, words, size, dtype, distinct)
    keys[1:] %= dtype(3)  # words often alike, so that lower ones decide
    splitters = random_keys(rng, words, parts - 1, dtype, 5000)
    splitters[1:] %= dtype(3)
    if of_keys and size:
        splitters = keys[:, rng.integers(0, size, parts - 1)]
    check(shaped, keys, value_type, splitters=in_order(splitters))


def test_the_last_splitter_and_the_largest_key(shaped: Engine) -> None:
    largest = np.uint64((1 << 64) - 1)
    keys = np.array([[largest, 0, largest - np.uint64(1)]], np.uint64)
    check(shaped, keys, np.uint32, splitters=np.array([[0, largest]], np.uint64))


def test_many_parts_and_part_of_an_array(engine: Engine) -> None:
    keys = np.random.default_rng(1).integers(0, 1 << 32, 5000, np.uint32)
    found = partition(engine, engine.upload(keys), size=3000, bits=17, first_bit=3)
    digits = keys[:3000] >> np.uint32(3) & np.uint32((1 << 17) - 1)
    np.testing.assert_array_equal(engine.download(found.keys, 3000), keys[:3000][np.argsort(digits, kind="stable")])
    expected = np.concatenate([[0], np.cumsum(np.bincount(digits, minlength=1 << 17))])
    np.testing.assert_array_equal(engine.download(found.starts), expected)


def test_arguments_that_do_not_suit(engine: Engine) -> None:
    keys = engine.upload(np.zeros(4, np.uint64))
    with pytest.raises(ValueError, match="either bits or splitters"):
        partition(engine, keys)
    with pytest.raises(ValueError, match="either bits or splitters"):
        partition(engine, keys, bits=3, splitters=keys)
    with pytest.raises(ValueError, match="keys of 64 bits"):
        partition(engine, keys, bits=8, first_bit=57)
    with pytest.raises(ValueError, match=f"1 to {MAX_BITS}"):
        partition(engine, keys, bits=MAX_BITS + 1)
    with pytest.raises(ValueError, match="does not suit"):
        partition(engine, keys, splitters=engine.upload(np.zeros(4, np.uint32)))
    with pytest.raises(ValueError, match="does not suit"):
        partition(engine, keys, splitters=engine.upload(np.zeros((1, 4), np.uint64)))
    with pytest.raises(ValueError, match="5 of 4 keys"):
        partition(engine, keys, size=5, bits=1)
