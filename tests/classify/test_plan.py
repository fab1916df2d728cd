"""What is decided before a device does anything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify import plan
from oclgenomics.errors import AllocationError
from oclgenomics.runtime import DeviceLimits


@pytest.mark.parametrize(
    ("features", "bits"),
    [(0, 16), (1, 16), (1 << 18, 16), ((1 << 18) + 1, 17), (5_000_000, 21), (1 << 28, 26), (1 << 31, 26)],
)
def test_prefixes_hold_a_few_keys_each(features: int, bits: int) -> None:
    assert plan.prefix_bits(features) == bits


@given(needs=st.lists(st.integers(0, 9)), room=st.integers(1, 20))
def test_batches_are_as_large_as_fits(needs: list[int], room: int) -> None:
    found = list(plan.batches(np.cumsum(needs, dtype=np.int64), room))
    assert [item for begin, end in found for item in range(begin, end)] == list(range(len(needs)))
    for begin, end in found:
        assert end == begin + 1 or sum(needs[begin:end]) <= room
        assert end == len(needs) or sum(needs[begin : end + 1]) > room


def test_powers_of_two() -> None:
    sizes = np.array([n for k in range(31) for n in ((1 << k) - 1, 1 << k, (1 << k) + 1) if n], np.uint32)
    assert plan.powers_of_two(sizes).tolist() == [1 << (n - 1).bit_length() for n in sizes.tolist()]


@pytest.mark.parametrize("shape", ["cpu", "gpu"])
def test_batches_take_a_share_of_the_memory(shape: str) -> None:
    most = plan.MAX_ROOM[shape]
    assert plan.batch_bytes(1 << 40, shape) == most
    assert plan.batch_bytes(4 * most, shape) == 4 * most // plan.ROOM_SHARE
    assert plan.batch_bytes(-5, shape) == plan.MIN_ROOM


def test_an_index_takes_what_its_buffers_take() -> None:
    need = plan.IndexNeed.of(5_000_000, 6_000_000, 325_000, 36)
    assert need.largest == 8 * 5_000_001
    loading = 14 * (1 << 21) + 4 * 6_000_000
    assert need.all == need.largest + 4 * 6_000_000 + 4 * ((1 << 21) + 1) + 4 * 5080 + 8 * 37 + loading
    assert plan.IndexNeed.of(10, 1 << 30, 0, 0).largest == 1 << 32


SIZES = plan.IndexSizes(1 << 20, 1000, 9)


def limits_for(locations: int) -> DeviceLimits:
    """Limits that a part with so many locations, and no larger one, is within."""
    return DeviceLimits(plan.IndexNeed.of(locations, locations, SIZES.windows, SIZES.targets).all, 1 << 40)


@given(counts=st.lists(st.integers(0, 1000), min_size=1), room=st.integers(500, 3000))
def test_ranges_of_targets_are_as_large_as_fits(counts: list[int], room: int) -> None:
    before = np.append(0, np.cumsum(counts))
    limits, names = limits_for(room), [str(number) for number in range(len(counts))]
    if max(counts) > room:
        with pytest.raises(AllocationError, match=f"target {[count > room for count in counts].index(True)} alone"):
            list(plan.target_ranges(before, before, SIZES, limits, names))
        return
    found = list(plan.target_ranges(before, before, SIZES, limits, names))
    assert [target for begin, end in found for target in range(begin, end)] == list(range(len(counts)))
    for begin, end in found:
        assert sum(counts[begin:end]) <= room
        assert end == len(counts) or sum(counts[begin : end + 1]) > room


def test_a_buffer_may_be_too_large_by_itself() -> None:
    sizes, limits = plan.IndexSizes(1000, 1000, 9), DeviceLimits(1 << 40, 4 * (1 << 16) + 4)
    assert sizes.fit(1 << 16, limits)
    assert not sizes.fit((1 << 16) + 2, limits)
    assert not plan.IndexSizes(10, 10, 10).fit(1 << 32, DeviceLimits(1 << 50, 1 << 50))
