"""Scans against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.primitives import reference, scan
from oclgenomics.runtime import Engine

BORDERS = [0, 1, 2, 3, 4, 63, 64, 255, 256, 257, 511, 512, 513, 1023, 1025, 4097, 65_537, 131_073]


def check(engine: Engine, items: np.ndarray, heads: np.ndarray | None, maximum: bool, inclusive: bool) -> None:
    flags = None if heads is None else engine.upload(heads)
    found = engine.download(scan(engine, engine.upload(items), heads=flags, maximum=maximum, inclusive=inclusive))
    np.testing.assert_array_equal(found, reference.scan(items, heads, maximum=maximum, inclusive=inclusive))


@pytest.mark.parametrize("size", BORDERS)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_sizes_around_every_border(shaped: Engine, dtype: type, size: int) -> None:
    rng = np.random.default_rng(size)
    items = rng.integers(0, np.iinfo(dtype).max, size, dtype, endpoint=True)
    check(shaped, items, None, False, False)
    check(shaped, items, (rng.random(size) < 0.01).astype(np.uint8), False, True)


@settings(max_examples=50)
@given(
    size=st.integers(0, 3000),
    dtype=st.sampled_from([np.uint32, np.uint64]),
    density=st.sampled_from([None, 0.0, 0.001, 0.1, 1.0]),
    maximum=st.booleans(),
    inclusive=st.booleans(),
    seed=st.integers(0, 1 << 32),
)
def test_any_scan(
    shaped: Engine, size: int, dtype: type, density: float | None, maximum: bool, inclusive: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    items = rng.integers(0, np.iinfo(dtype).max, size, dtype, endpoint=True)
    heads = None if density is None else (rng.random(size) < density) * rng.integers(1, 255, dtype=np.uint8)
    check(shaped, items, heads, maximum, inclusive)


def test_in_place_and_in_part(shaped: Engine) -> None:
    items = np.arange(1000, dtype=np.uint32)
    array = shaped.upload(items)
    assert scan(shaped, array, size=600, out=array) is array
    expected = np.concatenate([reference.scan(items[:600]), items[600:]])
    np.testing.assert_array_equal(shaped.download(array), expected)


def test_arrays_that_do_not_suit(engine: Engine) -> None:
    wrong, right = engine.upload(np.zeros(4, np.float32)), engine.upload(np.zeros(4, np.uint32))
    with pytest.raises(ValueError, match="does not suit"):
        scan(engine, wrong)
    with pytest.raises(ValueError, match="does not suit"):
        scan(engine, right, size=5)
    with pytest.raises(ValueError, match="does not suit"):
        scan(engine, right, heads=engine.upload(np.zeros(3, np.uint8)))
