"""Compaction and run lengths against the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.products import drawn, examples
from hypothesis import given, settings, strategies as st

from oclgenomics.primitives import compact, reference, run_lengths
from oclgenomics.runtime import Engine


@settings(max_examples=examples(50))
@given(
    size=st.one_of(st.integers(0, 1100), st.sampled_from([511, 512, 513, 65_537])),
    kind=drawn(
        st.sampled_from([(1, np.uint8), (2, np.uint16), (1, np.uint32), (3, np.uint64)]),
        whole=st.tuples(st.integers(1, 3), st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64])),
    ),
    density=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    seed=st.integers(0, 1 << 32),
)
def test_any_compaction(shaped: Engine, size: int, kind: tuple[int, type], density: float, seed: int) -> None:
    (channels, dtype), rng = kind, np.random.default_rng(seed)
    items = rng.integers(0, np.iinfo(dtype).max, (channels, size), dtype, endpoint=True)
    flags = (rng.random(size) < density).astype(np.uint8) * np.uint8(3)
    found = shaped.download(compact(shaped, shaped.upload(items), shaped.upload(flags)))
    np.testing.assert_array_equal(found, reference.compact(items, flags))


@settings(max_examples=examples(50))
@given(
    size=st.one_of(st.integers(0, 1100), st.sampled_from([511, 512, 513, 65_537])),
    kind=drawn(
        st.sampled_from([(1, np.uint32), (1, np.uint64), (3, np.uint64)]),
        whole=st.tuples(st.integers(1, 3), st.sampled_from([np.uint32, np.uint64])),
    ),
    mean=st.sampled_from([1, 2, 50, 10**6]),
    weighted=st.booleans(),
    most=st.sampled_from([1, 255, (1 << 32) - 1, (1 << 64) - 1]),
    seed=st.integers(0, 1 << 32),
)
def test_any_run_lengths(
    shaped: Engine, size: int, kind: tuple[int, type], mean: int, weighted: bool, most: int, seed: int
) -> None:
    (words, dtype), rng = kind, np.random.default_rng(seed)
    run = np.cumsum(rng.random(size) < 1 / mean)
    pool = rng.integers(0, 3, (words, size + 1), dtype)  # neighbouring runs may well be equal, which joins them
    keys = pool[:, run]
    weights = rng.integers(0, 1 << 32, size, np.uint32) if weighted else None
    device_weights = None if weights is None else shaped.upload(weights)
    found = run_lengths(shaped, shaped.upload(keys if words > 1 else keys[0]), device_weights, most=most)
    expected, sums = reference.run_lengths(keys, weights, most)
    assert found.size == len(sums)
    np.testing.assert_array_equal(shaped.download(found.keys).reshape(expected.shape), expected)
    assert shaped.download(found.counts).tolist() == sums
    assert found.counts.dtype == (np.uint64 if most >> 32 else np.uint32)


def test_part_of_an_array(shaped: Engine) -> None:
    items = np.arange(600, dtype=np.uint32)
    flags = np.ones(600, np.uint8)
    found = shaped.download(compact(shaped, shaped.upload(items), shaped.upload(flags), size=77))
    np.testing.assert_array_equal(found, items[:77])
    runs = run_lengths(shaped, shaped.upload(items // 10), size=77)
    assert shaped.download(runs.counts).tolist() == [10] * 7 + [7]


def test_arguments_that_do_not_suit(engine: Engine) -> None:
    keys = engine.upload(np.zeros(4, np.uint64))
    with pytest.raises(ValueError, match="do not suit"):
        compact(engine, keys, engine.upload(np.zeros(3, np.uint8)))
    with pytest.raises(ValueError, match="does not suit"):
        run_lengths(engine, keys, engine.upload(np.zeros(4, np.uint64)))
    with pytest.raises(ValueError, match="does not suit"):
        run_lengths(engine, keys, most=0)
