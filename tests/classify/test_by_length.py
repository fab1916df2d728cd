"""Values worked out once for each length."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oclgenomics.classify.plan import by_length


@given(st.lists(st.integers(0, 40), max_size=60) | st.lists(st.integers(0, (1 << 32) - 1), max_size=5))
def test_is_what_the_lengths_themselves_give(lengths: list[int]) -> None:
    def halves(values: NDArray[np.int64]) -> NDArray[np.float64]:
        return values / 2

    for dtype in (np.uint32, np.int64):
        found = by_length(halves, np.array(lengths, dtype))
        assert found.dtype == np.float64
        assert found.tolist() == [length / 2 for length in lengths]


def test_many_reads_take_few_values() -> None:
    asked = []

    def values(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        asked.append(len(lengths))
        return lengths

    by_length(values, np.full(1000, 100, np.uint32))
    assert asked == [101]
