"""The primitives on devices whose work-groups are small."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.sort_keys import random_keys

from oclgenomics.errors import DeviceError
from oclgenomics.primitives import compact, merge, partition, reference, run_lengths, scan, sort
from oclgenomics.runtime import Engine

SIZES = [1, 255, 4097, 20_000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("words", [1, 2])
def test_sort_and_partition(limited: Engine, size: int, words: int) -> None:
    keys = random_keys(np.random.default_rng(size), words, size, np.uint64, 5000)
    held = keys if words > 1 else keys[0]
    values = np.arange(size, dtype=np.uint32)
    found = sort(limited, limited.upload(held), limited.upload(values))
    order = reference.sort(keys)
    np.testing.assert_array_equal(limited.download(found.keys).reshape(keys.shape), keys[:, order])
    np.testing.assert_array_equal(limited.download(found.values), order)
    parts = partition(limited, limited.upload(held), limited.upload(values), bits=11, first_bit=3)
    order, starts = reference.partition(keys, 11, 3, None)
    np.testing.assert_array_equal(limited.download(parts.values), order)
    assert limited.download(parts.starts).tolist() == starts


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_scan_compact_and_run_lengths(limited: Engine, size: int, dtype: type) -> None:
    rng = np.random.default_rng(size)
    items = rng.integers(0, 1 << 30, size, dtype)
    heads = (rng.random(size) < 0.1).astype(np.uint8)
    for flags in (None, heads):
        device_flags = None if flags is None else limited.upload(flags)
        found = scan(limited, limited.upload(items), heads=device_flags, inclusive=True)
        expected = reference.scan(items, flags, inclusive=True)
        np.testing.assert_array_equal(limited.download(found), expected)
    kept = compact(limited, limited.upload(items), limited.upload(heads))
    np.testing.assert_array_equal(limited.download(kept), items[heads != 0])
    ordered = np.sort(items % dtype(97))
    runs = run_lengths(limited, limited.upload(ordered))
    keys, counts = np.unique(ordered, return_counts=True)
    np.testing.assert_array_equal(limited.download(runs.keys), keys)
    np.testing.assert_array_equal(limited.download(runs.counts), counts)


def test_merge(limited: Engine) -> None:
    keys = random_keys(np.random.default_rng(1), 1, 9000, np.uint64, 400)
    keys = np.concatenate([np.sort(keys[:, :4000]), np.sort(keys[:, 4000:])], axis=1)
    found = merge(limited, limited.upload(keys[0]), [4000, 9000])
    np.testing.assert_array_equal(limited.download(found.keys), np.sort(keys[0]))


def test_groups_that_are_too_small(limited: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "device", dataclasses.replace(limited.device, max_work_group=2))
    keys = limited.upload(np.zeros(10, np.uint64))
    with pytest.raises(DeviceError, match="takes 2 work-items a group, too few"):
        sort(limited, keys)
    with pytest.raises(DeviceError, match="takes 2 work-items a group, too few"):
        scan(limited, keys)
