"""Memory decisions of counting, without a device."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import AllocationError
from oclgenomics.kmers.plan import memory as plan
from oclgenomics.kmers.plan.memory import SectionPlan, SortPlan, split_prefixes
from oclgenomics.primitives.keys import MAX_ITEMS
from oclgenomics.runtime import DeviceLimits

CPU = DeviceLimits(budget=8 << 30, max_allocation=4 << 30, compute_units=8, cpu=True)
GPU = DeviceLimits(budget=64 << 30, max_allocation=16 << 30, compute_units=132, cpu=False)

limits = st.builds(
    DeviceLimits,
    budget=st.integers(1 << 18, 1 << 38),
    max_allocation=st.integers(1 << 17, 1 << 36),
    compute_units=st.integers(1, 256),
    cpu=st.booleans(),
)
lengths = st.integers(1, 256)


def test_cpus_count_by_bins_and_gpus_by_sorting() -> None:
    assert (plan.counter_for(CPU), plan.counter_for(GPU)) == ("bins", "sort")


@pytest.mark.parametrize(
    ("budget", "k", "cpu", "expected"),
    [
        (64 * 1_000_000, 32, False, 1_000_000),  # a word
        (64 * 1_000_000, 33, False, 500_000),
        (64 * 1_000_000, 96, True, 1_000_000),  # three words in a bin are as one
        (64 * 1_000_000, 97, True, 500_000),
        (64 << 15, 32, False, 1 << 15),
        ((64 << 15) - 64, 32, False, 1 << 15),  # never less
        (1 << 40, 32, False, 1 << 26),  # never more
    ],
)
def test_blocks_of_text(budget: int, k: int, cpu: bool, expected: int) -> None:
    small = dataclasses.replace(GPU, budget=budget, cpu=cpu)
    assert plan.text_block_bytes(small, k, largest=1 << 26) == expected


@pytest.mark.parametrize(("k", "most"), [(32, 100), (33, 50)])
def test_one_buffer_holds_all_kmers_of_a_range(k: int, most: int) -> None:
    small = dataclasses.replace(GPU, max_allocation=(1 << 16) + 800)
    assert plan.kmers_at_a_time(small, k, room=10**6) == most
    assert plan.kmers_at_a_time(small, k, room=most - 1) == most - 1
    assert plan.kmers_at_a_time(dataclasses.replace(GPU, max_allocation=1 << 50), k, room=1 << 40) == MAX_ITEMS


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, True),
        ({"held": 0, "coming": 10**6, "largest_prefix": 10**6}, True),  # an empty counter takes any stream
        ({"held": 600, "coming": 400, "used": 10**9, "largest_prefix": 600}, True),  # all at once
        ({"held": 600, "coming": 401, "used": 10**9, "largest_prefix": 10}, False),  # beside much else
        ({"used": 500_000}, True),
        ({"used": 500_001}, False),
        ({"held": 31_500, "coming": 500}, True),  # 32 ranges
        ({"held": 31_501, "coming": 500}, False),
        ({"largest_prefix": 500, "coming": 500}, True),  # a prefix is a range at least
        ({"largest_prefix": 501, "coming": 500}, False),
    ],
)
def test_room_for_another_stream(change: dict[str, int], expected: bool) -> None:
    asked = {"used": 0, "held": 5000, "coming": 500, "most": 1000, "largest_prefix": 100, **change}
    assert plan.has_room(dataclasses.replace(GPU, budget=1_000_000), **asked) == expected


@given(
    used=st.integers(0, 1 << 20),
    held=st.integers(1, 4000),
    coming=st.integers(0, 500),
    most=st.integers(0, 500),
    largest_prefix=st.integers(0, 500),
)
def test_prefixes_are_counted_where_they_decide(
    used: int, held: int, coming: int, most: int, largest_prefix: int
) -> None:
    small = dataclasses.replace(GPU, budget=1 << 20)
    asked = {"used": used, "held": held, "coming": coming, "most": most}
    decides = plan.has_room(small, **asked, largest_prefix=0) != plan.has_room(small, **asked, largest_prefix=10**6)
    assert plan.needs_prefixes(small, **asked) or not decides


@given(counts=st.lists(st.integers(0, 50), min_size=1, max_size=60), most=st.integers(50, 120))
def test_ranges_of_prefixes(counts: list[int], most: int) -> None:
    ranges = split_prefixes(np.array(counts, np.uint32), most)
    assert sum(sum(counts[low:high]) for low, high in ranges) == sum(counts)
    assert [low for low, _ in ranges[1:]] == [high for _, high in ranges[:-1]] or 0 in counts
    assert all(0 < sum(counts[low:high]) <= most for low, high in ranges)
    assert all(sum(counts[low : high + 1]) > most for low, high in ranges[:-1])  # none could be longer


def test_one_prefix_that_does_not_fit() -> None:
    with pytest.raises(AllocationError, match="raise max_memory"):
        split_prefixes(np.array([1, 9], np.uint32), 8)


@given(k=lengths, groups=st.integers(0, 1 << 20), free=st.integers(-1000, 1 << 34))
def test_room_to_sort(k: int, groups: int, free: int) -> None:
    room = SortPlan(k, groups).room(free)
    taken = 2 * 8 * -(-k // 32) + 21
    assert room >= 0
    assert room == 0 or room * taken + 8 * groups <= free
    assert (room + 1) * taken + 8 * groups > free


@pytest.mark.parametrize(
    ("budget", "k", "most"), [(1 << 20, 31, 28), (1 << 40, 31, 64), (1, 256, 5), (1 << 40, 256, 40)]
)
def test_runs_that_are_merged_at_a_time(budget: int, k: int, most: int) -> None:
    some = dataclasses.replace(GPU, budget=budget)
    for files, expected in ((None, most), (1024, most), (40, min(most, 10)), (3, 2)):
        assert plan.runs_at_a_time(some, k, files) == expected


@pytest.mark.parametrize("k", [31, 40, 256])
def test_the_device_encodes_where_eight_sections_fit(k: int) -> None:
    words = -(-k // 32)
    section = 65_280 * (8 * words + 4 + 2 * (8 + -(-64 * words // 7)))
    assert SectionPlan(dataclasses.replace(GPU, budget=8 * section), k).worth_encoding
    assert not SectionPlan(dataclasses.replace(GPU, budget=8 * section - 1), k).worth_encoding


@pytest.mark.parametrize(
    ("change", "encoded", "held", "decoded"),
    [
        ({}, 16, 4, 16),  # two for each core
        ({"compute_units": 1}, 16, 4, 16),
        ({"compute_units": 64}, 114, 4, 128),  # 128 MiB of room
        ({"budget": 12 * 3_925_040}, 3, 3, 6),  # a quarter of what fits
        ({"budget": 12 * 3_925_040 - 1}, 2, 2, 6),
        ({"budget": 3_925_040}, 1, 1, 1),
        ({"cpu": False}, 514, 514, 514),  # 256 MiB of keys
        ({"cpu": False, "budget": 40 * 3_656_224 + 32_800}, 10, 10, 18),
        ({"cpu": False, "budget": 40 * 3_656_224 + 32_799}, 9, 9, 18),
    ],
)
def test_sections_at_a_time(change: dict[str, int], encoded: int, held: int, decoded: int) -> None:
    some = SectionPlan(dataclasses.replace(CPU, **change), 31)
    assert (some.encode(), some.held(), some.decode()) == (encoded, held, decoded)


@given(limits=limits, k=lengths, used=st.integers(0, 1 << 30))
def test_sections_fit_beside_what_is_in_use(limits: DeviceLimits, k: int, used: int) -> None:
    some = SectionPlan(limits, k, used)
    key_bytes = 65_280 * (8 * -(-k // 32) + 4)
    try:
        encoded, decoded = some.encode(), some.decode()
    except AllocationError:
        largest = max(some.room_bytes, key_bytes)
        assert limits.budget - used < 3 * (key_bytes + some.room_bytes) or limits.max_allocation < largest
        return
    assert 1 <= some.held() <= encoded
    assert used + encoded * (key_bytes + 2 * some.max_bytes) <= limits.budget
    assert used + decoded * (key_bytes + some.max_bytes) <= limits.budget
    assert max(encoded, decoded) * some.max_bytes <= limits.max_allocation
