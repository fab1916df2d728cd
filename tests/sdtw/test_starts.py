"""Where alignments start: the oracle by its definition, and the device by the oracle."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.reference import Row, costs, last_row, start_of


def anchored_costs(samples: Row, levels: Row, column: int, options: AlignOptions) -> NDArray[np.int64]:
    """The cost of the best alignment, without a bonus, from each column to the one at which it ends."""
    none = 1 << 40
    cost = np.full(column + 2, none, np.int64)  # of the samples from one on, and of a column behind the end
    cost[column] = 0 if len(samples) == 1 else costs(samples[-1], levels, options)[column]
    for sample in samples[len(samples) - 2 : 0 : -1]:
        cost[:-1] = np.minimum(np.minimum(cost[:-1], cost[1:]) + costs(sample, levels, options)[: column + 1], none)
    if len(samples) > 1:
        cost[:-1] = np.minimum(cost[:-1], cost[1:])  # the first sample is free
    cost[0] += costs(samples[0], levels, options)[0]  # but in the first column
    return cost[:-1]


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 15), st.sampled_from(["absolute", "squared"]))
@settings(max_examples=100)
def test_no_other_start_costs_less(seed: int, rows: int, columns: int, cost: str) -> None:
    """From the start of the oracle the end is reached at the cost that it gives, and from no other at a lower one."""
    options = AlignOptions(cost=cost, arithmetic="int32")  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    samples, levels = rng.integers(0, 9, rows), rng.integers(0, 9, columns)
    best = last_row(samples, levels, options)
    for column in range(columns):
        anchored = anchored_costs(samples, levels, column, options)
        assert anchored.min() == best[column]
        assert anchored[start_of(samples, levels, column, options)] == best[column]


def test_samples_stay_where_it_costs_the_same() -> None:
    """Of several best alignments the one of the later start is meant where all samples may stay."""
    levels, options = np.full(5, 3), AlignOptions(arithmetic="int32")
    assert start_of(np.full(4, 3), levels, 2, options) == 2
    assert start_of(np.array([9, 3, 3]), np.array([0, 9, 3]), 2, options) == 2
    assert start_of(np.array([5, 9, 3, 3]), np.array([0, 9, 3]), 2, options) == 1
