"""Where alignments start: the oracle by its definition, and the device by the oracle."""

from __future__ import annotations

import bisect
import functools
from typing import Any

import numpy as np
import pytest
from helpers.products import only_whole
from helpers.sdtw_oracle import OracleAligner, small_squiggle
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sdtw import Squiggle
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.device.steps import finished
from oclgenomics.sdtw.options import AlignOptions, Bonus
from oclgenomics.sdtw.reference import SATURATED, Row, costs, last_row, normalised_levels, normalised_samples, start_of


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


OPTIONS = [
    AlignOptions(),
    AlignOptions(cost="absolute", arithmetic="int32", step=1),
    AlignOptions(arithmetic="float32", step=4),
    AlignOptions(bonus="dwell"),
    AlignOptions(bonus="dwell", arithmetic="int32", cost="absolute"),
    AlignOptions(bonus="published", step=1),
    AlignOptions(norm="blocks", bonus="published", arithmetic="int32", cost="absolute"),
]


TWO = (
    small_squiggle("a", 80 + 12 * np.random.default_rng(1).standard_normal(230), cuts=[3, 90]),
    small_squiggle("b", 80 + 12 * np.random.default_rng(2).standard_normal(9), molecule="rna"),
)


@functools.cache
def ended_anywhere(options: AlignOptions, prefix: int) -> tuple[list[NDArray[Any]], list[int]]:
    """Return samples, first samples, references and last columns of alignments; and where the oracle starts them."""
    rng = np.random.default_rng(prefix)
    count = 40
    first = np.sort(rng.integers(0, 500, count))
    stretch = np.repeat(TWO[0].levels, 3) + rng.standard_normal(3 * len(TWO[0]))
    samples = (8 * stretch[: 500 + prefix]).astype(np.int16)
    which = rng.integers(0, 2, count)
    column = np.array([rng.integers(-1, len(TWO[number])) for number in which])
    expected = []
    for begin, reference, last in zip(first, [TWO[number] for number in which], column.tolist(), strict=True):
        if last < 0:
            expected.append(-1)
            continue
        track, end = (int(reference.tracks[np.searchsorted(reference.tracks, last, "right") - n]) for n in (1, 0))
        levels = normalised_levels(reference.levels, reference.column_strand, options)
        query = normalised_samples(samples[begin : begin + prefix], options)
        expected.append(track + start_of(query, levels[track:end], last - track, options))
    return [samples, first, which, column], expected


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("prefix", [4, *only_whole(29), 130])
def test_starts_on_the_device(shaped: Engine, options: AlignOptions, prefix: int) -> None:
    """Start and cost of alignments that end anywhere, also near the begin of a track, are those of the oracle."""
    (samples, first, which, column), expected = ended_anywhere(options, prefix)
    found = finished(StartFinder(shaped, TWO, options).find(samples, first, prefix, which, column))
    assert found.tolist() == expected


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_costs_to_starts_are_those_of_alignments(shaped: Engine, options: AlignOptions) -> None:
    """The window before an end gives the same cost as the whole reference."""
    rng = np.random.default_rng(3)
    reference = small_squiggle("a", 80 + 12 * rng.standard_normal(400))
    stretch = np.repeat(reference.levels, 2) + 3 * rng.standard_normal(2 * len(reference))
    samples = (8 * stretch).astype(np.int16)
    first = np.arange(0, 1400, 60)
    best = OracleAligner([reference], options).align(samples, first, 100)
    finder = StartFinder(shaped, [reference], options)
    there = best.column[:, 0] >= 0
    starts, cost = finished(finder._found(samples, first[there], 100, best.column[there, 0]))
    assert there.any()
    np.testing.assert_array_equal(cost, best.cost[there, 0])
    assert (starts <= best.column[there, 0]).all()


DEAR = small_squiggle("a", np.resize([90.0] * 19 + [9e5], 60))
ALTERNATING = np.resize(np.array([-900, 900], np.int16), 4000)


def levels_of(reference: Squiggle, options: AlignOptions) -> Row:
    """Return the levels of the first strand."""
    return normalised_levels(reference.levels, reference.column_strand, options)[: len(reference) // 2]


@functools.cache
def ends(prefix: int, options: AlignOptions) -> Row:
    """Return the oracle's costs, which are the same for all engines."""
    return last_row(normalised_samples(ALTERNATING[:prefix], options), levels_of(DEAR, options), options)


@pytest.mark.parametrize("bonus", ["dwell", "published"])
def test_starts_where_scores_saturate(shaped: Engine, bonus: Bonus) -> None:
    """No bonus is subtracted from a score that is saturated, so costs to starts are those of alignments here, too."""
    options = AlignOptions(cost="absolute", bonus=bonus, step=1)
    finder = StartFinder(shaped, [DEAR], options)
    longest = bisect.bisect_left(
        range(4000), True, key=lambda prefix: prefix > 6 and ends(prefix, options).min() >= SATURATED
    )
    for prefix in (longest - 1, longest - 4):
        score, rows = ends(prefix, options), normalised_samples(ALTERNATING[:prefix], options)
        assert score.min() < SATURATED
        column = np.flatnonzero(score < SATURATED)
        starts, cost = finished(finder._found(ALTERNATING, np.zeros(len(column), np.int64), prefix, column))
        assert cost.tolist() == score[column].tolist()
        assert starts[-1] == start_of(rows, levels_of(DEAR, options), int(column[-1]), options)


def test_no_alignments_have_no_starts(engine: Engine) -> None:
    """Nothing to find needs no launch."""
    finder = StartFinder(engine, [small_squiggle("a", np.arange(30.0))], AlignOptions())
    none = np.empty(0, np.int64)
    assert finished(finder.find(np.empty(0, np.int16), none, 10, none, none)).shape == (0,)
    zero = np.zeros(1, np.int64)
    some = finished(finder.find(np.zeros(10, np.int16), zero, 10, zero, np.full(1, -1)))
    assert some.tolist() == [-1]
