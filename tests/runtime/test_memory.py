"""The planner of what fits."""

import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import AllocationError
from oclgenomics.runtime import BufferNeed, chunks, items_that_fit

NEEDS = st.lists(
    st.builds(
        BufferNeed,
        name=st.just("sites"),
        fixed=st.integers(0, 1000),
        per_item=st.integers(0, 100),
        copies=st.integers(1, 3),
    ),
    min_size=1,
    max_size=4,
)


@given(needs=NEEDS, budget=st.integers(0, 10_000), largest=st.integers(0, 5_000))
def test_the_answer_fits_and_one_more_does_not(needs: list[BufferNeed], budget: int, largest: int) -> None:
    def fits(count: int) -> bool:
        sizes = [need.fixed + count * need.per_item for need in needs]
        return sum(s * need.copies for s, need in zip(sizes, needs, strict=True)) <= budget and max(sizes) <= largest

    try:
        count = items_that_fit(needs, budget=budget, max_allocation=largest)
    except AllocationError:
        assert not fits(1)
        return
    assert fits(count)
    if any(need.per_item for need in needs):
        assert not fits(count + 1)


def test_what_the_error_says() -> None:
    needs = [BufferNeed("packed sites", per_item=1 << 20), BufferNeed("sums", fixed=4096)]
    with pytest.raises(
        AllocationError, match=r"3 sites would take 3.0 MiB for all buffers .* limit is 1.0 MiB \(max_memory"
    ) as e:
        items_that_fit(needs, budget=1 << 20, max_allocation=1 << 30, minimum=3, item="site")
    assert e.value.exit_code == 4
    with pytest.raises(
        AllocationError, match=r"1.0 MiB for the buffer of packed sites.*limit is 512 KiB \(largest buffer"
    ):
        items_that_fit(needs, budget=1 << 30, max_allocation=1 << 19)


def test_chunks() -> None:
    assert list(chunks(7, 3)) == [(0, 3), (3, 6), (6, 7)]
    assert list(chunks(0, 3)) == []
