"""Counts of equal keys against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.devices import gpu_shape
from hypothesis import given, strategies as st

from oclgenomics.primitives import count_equal, equal_keys
from oclgenomics.primitives.equal_keys import key_prefix
from oclgenomics.runtime import Device, Engine

WORDS_AND_BITS = [
    (1, 42),
    (1, 64),
    (2, 66),
    (3, 130),
]  # prefixes in a word, and over two
KINDS = ["equal", "few", "some", "different", "crowded"]


def keys_of(kind: str, words: int, bits: int, size: int) -> np.ndarray:
    """Keys, uint64 (words, size)."""
    rng = np.random.default_rng(size)
    distinct = {"equal": 1, "few": 40, "some": max(1, size // 8)}.get(kind, max(1, size))
    pool = rng.integers(0, 1 << 64, (words, distinct), np.uint64, endpoint=False)
    if kind == "crowded":  # most have the first bits of one, and many differ in others than the last bits alone
        some = slice(distinct // 8, None)
        pool[1:, some] = pool[1:, :1]
        pool[0, some] = pool[0, 0] & ~np.uint64(0xFFFF << 8) | pool[0, some] & np.uint64(0xFFFF << 8)
    pool[-1] &= np.uint64((1 << bits - 64 * (words - 1)) - 1)
    return pool[:, np.arange(size) % distinct if kind == "different" else rng.integers(0, distinct, size)]


def counted(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, whose last words are the first to be compared, and how many there are of each."""
    ordered = keys[:, np.lexsort(keys)]
    begins = np.flatnonzero(np.append(True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)))
    return ordered[:, begins], np.diff(np.append(begins, keys.shape[1]))


def check(engine: Engine, keys: np.ndarray, bits: int) -> None:
    held = [engine.upload(keys)]
    found = count_equal(engine, held, bits=bits)
    distinct, counts = counted(keys)
    assert not held
    assert found.size == len(counts)
    np.testing.assert_array_equal(engine.download(found.keys), distinct)
    np.testing.assert_array_equal(engine.download(found.counts), counts)


@pytest.mark.parametrize(("words", "bits"), WORDS_AND_BITS)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_keys(shaped: Engine, kind: str, words: int, bits: int) -> None:
    lanes, each = equal_keys.tile_shape(shaped, words)
    step = lanes * each - lanes * each // equal_keys.REACH
    for size in (1, 2, 63, step - 1, step, step + 1, lanes * each, lanes * each + 1, 30_000):
        check(shaped, keys_of(kind, words, bits, size), bits)


@pytest.mark.parametrize("kind", KINDS)
def test_small_groups(limited: Engine, kind: str) -> None:
    check(limited, keys_of(kind, 2, 66, 9000), 66)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [1, 2])
def test_memory(device: Device, kind: str, words: int) -> None:
    """No more than `kmers.plan.SortPlan` reckons with."""
    if device.kind == "cpu" and device.family != "intel":
        pytest.skip("the kernels for GPUs run on GPUs, and on Intel's CPU runtime as a check")
    size = 200_000
    with Engine(device, tuning=gpu_shape(device), max_memory=size * (16 * words + 21) + (1 << 16)) as engine:
        check(engine, keys_of(kind, words, 64 * words, size), 64 * words)


@given(size=st.integers(0, (1 << 32) - 1), bits=st.integers(1, 512))
def test_prefixes(size: int, bits: int) -> None:
    prefix = key_prefix(size, bits)
    digits = 1 if prefix is None else prefix.digits
    assert digits == equal_keys.MAX_DIGITS or prefix is None or size < 64 << 8 * digits
    assert digits == 1 or size >= 64 << 8 * (digits - 1)
    if prefix is not None:
        assert prefix.first_bit > 8
        assert [64 * word + shift for word, shift, _ in prefix.passes] == [bits - 8 * d for d in range(digits, 0, -1)]


def test_arguments_that_do_not_suit(engine: Engine) -> None:
    with pytest.raises(ValueError, match="with keys of 65 bits"):
        count_equal(engine, [engine.upload(np.zeros((1, 4), np.uint64))], bits=65)
    with pytest.raises(ValueError, match="no uint64"):
        count_equal(engine, [engine.upload(np.zeros((1, 4), np.uint32))], bits=32)
    with pytest.raises(ValueError, match="no uint64"):
        count_equal(engine, [engine.upload(np.zeros(4, np.uint64))], bits=64)
