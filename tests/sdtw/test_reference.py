"""The oracle of alignments against the algorithms as the paper prints them, and against results by hand."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.products import examples
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from oclgenomics.sdtw import CRESCENT, SQUIGGLEFILTER
from oclgenomics.sdtw.options import ARITHMETICS, BONUSES, COSTS, NORMS, AlignOptions
from oclgenomics.sdtw.reference import (
    BLOCK,
    align,
    costs,
    dwells,
    last_row,
    normalised_levels,
    normalised_samples,
    rows_of,
)

LEVELS = st.lists(st.integers(0, 256), min_size=1, max_size=14)
CHOICES = [
    AlignOptions(cost=cost, bonus=bonus, arithmetic=arithmetic, step=step)
    for cost in COSTS
    for bonus in BONUSES
    for arithmetic in ARITHMETICS
    for step in (1, 3, 16)
    if (bonus == "none" and step == 1) or (bonus != "none" and arithmetic != "float32")
]
MOST = {1: 10, 3: 3, 16: 1}  # rows that a bonus counts, by the step
UNLIMITED = AlignOptions(cost="absolute", arithmetic="int32", step=1)


def numbers(values: list[int], options: AlignOptions) -> NDArray[Any]:
    """Levels of the oracle's type, within what the options give."""
    if options.is_float:
        return np.array(values, np.float32) / np.float32(7) - np.float32(16)
    return np.array(values, np.int64) % (1 << options.level_bits)


def by_columns(query: list[Any], reference: list[Any], options: AlignOptions) -> list[Any]:
    """Algorithm 1 of the paper, column by column with the counters of a column; without a bonus, Algorithm 2."""

    def cost(i: int, j: int) -> Any:
        difference = query[i] - reference[j]
        if options.cost == "absolute":
            return abs(difference)
        return difference * difference if options.is_float else difference * difference // 2**options.shift

    def kept(score: Any) -> Any:
        return min(score, 65_535) if options.arithmetic == "uint16" else score

    rows, bonus, most = len(query), 0 if options.bonus == "none" else 10, MOST[options.row_samples]
    left = [cost(0, 0)]
    left_counter = [0] * rows  # as printed; counted along the samples, the first column has counters, too
    for i in range(1, rows):
        left.append(kept(left[i - 1] + cost(i, 0)))
        left_counter[i] = min(most, i) if options.bonus == "dwell" else 0
    last = [left[-1]]
    for j in range(1, len(reference)):
        own, counter = [type(left[0])(0)], [0] * rows
        for i in range(1, rows):
            come = left[i - 1] - bonus * left_counter[i - 1] if bonus else left[i - 1]
            if options.arithmetic == "uint16":
                come = 65_535 if left[i - 1] == 65_535 else max(come, 0)
            if come < own[i - 1]:
                own.append(kept(come + cost(i, j)))
            else:
                own.append(kept(own[i - 1] + cost(i, j)))
                counter[i] = min(most, (counter[i - 1] if options.bonus == "dwell" else left_counter[i]) + 1)
        left, left_counter = own, counter
        last.append(own[-1])
    return last


@pytest.mark.parametrize("options", CHOICES, ids=str)
@settings(max_examples=examples(50))
@given(query=LEVELS, reference=LEVELS)
def test_the_algorithms_of_the_paper(options: AlignOptions, query: list[int], reference: list[int]) -> None:
    samples, levels = numbers(query, options), numbers(reference, options)
    plain = [list(levels) if options.is_float else levels.tolist() for levels in (samples, levels)]
    assert last_row(samples, levels, options).tolist() == by_columns(*plain, options)


@pytest.mark.parametrize("options", [choice for choice in CHOICES if choice.arithmetic == "uint16"], ids=str)
def test_the_algorithms_of_the_paper_where_scores_saturate(options: AlignOptions) -> None:
    rng = np.random.default_rng(1)
    query, reference = (rng.choice([0, (1 << options.level_bits) - 1], size) for size in (1200, 6))
    found = last_row(query, reference, options)
    assert found.max() == 65_535
    assert found.tolist() == by_columns(query.tolist(), reference.tolist(), options)


@pytest.mark.parametrize("bonus", ["dwell", "published"])
@pytest.mark.parametrize("cost", COSTS)
@settings(max_examples=examples(60))
@given(
    query=st.lists(st.sampled_from([0, 1, 254, 255]), min_size=17, max_size=300),
    reference=st.lists(st.sampled_from([0, 3, 255]), min_size=1, max_size=5),
    repeats=st.sampled_from([1, 5]),
)  # fmt: skip
def test_scores_below_the_largest_are_those_of_an_alignment(
    cost: Any, bonus: Any, query: list[int], reference: list[int], repeats: int
) -> None:
    """None comes of a score that was cut off: the moves that give it cost as much in whole numbers."""
    options = AlignOptions(cost=cost, bonus=bonus, step=1)
    samples, levels = np.repeat(query, repeats), np.array(reference)
    rows = list(rows_of(samples, levels, options))
    dwell = [np.zeros(len(levels), np.int64)]
    for _, moves in rows[1:]:
        dwell.append(dwells(moves, dwell[-1], options))
    for end in range(len(levels)):
        column, path = end, [end]
        for _, moves in reversed(rows):
            column -= int(moves[column])
            path.append(column)
        path = path[-2::-1]  # the column of each row
        score = int(costs(samples[0], levels, options)[0]) if path[0] == 0 else 0
        highest = score
        for row in range(1, len(samples)):
            bonus_there = 10 * int(dwell[row - 1][path[row - 1]]) if path[row] > path[row - 1] else 0
            score = max(0, score - bonus_there) + int(costs(samples[row], levels, options)[path[row]])
            highest = max(highest, score)
        found = int(rows[-1][0][end])
        assert found == score if found < 65_535 else highest >= 65_535


@pytest.mark.parametrize(
    ("query", "bonus", "arithmetic", "expected"),
    [
        ([1, 2], "none", "int32", [1, 0, 7]),
        ([1, 1, 1, 2, 9], "none", "int32", [9, 7, 0]),
        ([1, 1, 1, 2, 9], "dwell", "int32", [9, -22, -20]),
        ([1, 1, 1, 2, 9], "dwell", "uint16", [9, 7, 0]),
        ([1, 1, 1, 2, 9], "published", "int32", [9, 7, 0]),
        ([4], "none", "int32", [3, 0, 0]),
        ([4], "published", "uint16", [3, 0, 0]),
    ],
)
def test_scores_by_hand(query: list[int], bonus: Any, arithmetic: Any, expected: list[int]) -> None:
    options = AlignOptions(cost="absolute", bonus=bonus, arithmetic=arithmetic, step=1)
    assert last_row(np.array(query), np.array([1, 2, 9]), options).tolist() == expected


# Invariants


@given(query=LEVELS, reference=LEVELS)
def test_costs_grow_with_the_prefix(query: list[int], reference: list[int]) -> None:
    levels = np.array(reference)
    costs = [last_row(np.array(query[:rows]), levels, UNLIMITED).min() for rows in range(1, len(query) + 1)]
    assert costs == sorted(costs)


@given(reference=LEVELS, begin=st.integers(0, 13), dwell=st.lists(st.integers(1, 4), min_size=14, max_size=14))
def test_a_copy_costs_nothing(reference: list[int], begin: int, dwell: list[int]) -> None:
    levels = np.array(reference)
    query = np.repeat(levels, dwell[: len(levels)])[min(begin, len(levels) - 1) :]
    assert last_row(query, levels, UNLIMITED).min() == 0


@given(options=st.sampled_from(CHOICES), query=LEVELS, reference=LEVELS, offset=st.integers(-40, 40))
def test_only_differences_matter(options: AlignOptions, query: list[int], reference: list[int], offset: int) -> None:
    if options.is_float:
        offset = 0 if offset < 0 else 4  # exact in single precision
        query, reference = [level * 7 for level in query], [level * 7 for level in reference]
    samples, levels = numbers(query, options), numbers(reference, options)
    moved = last_row(samples + levels.dtype.type(offset), levels + levels.dtype.type(offset), options)
    np.testing.assert_array_equal(moved, last_row(samples, levels, options))


@pytest.mark.parametrize("bonus", BONUSES)
@given(query=st.lists(st.integers(0, 255), min_size=1, max_size=4), cut=st.integers(0, 30), seed=st.integers(0, 99))
def test_scores_depend_on_few_columns(bonus: Any, query: list[int], cut: int, seed: int) -> None:
    """On as many to the left as there are rows; as published, on eleven times as many."""
    options = AlignOptions(cost="absolute", bonus=bonus, arithmetic="int32", step=1)
    samples, levels = np.array(query), np.random.default_rng(seed).integers(0, 256, 100)
    reach = len(query) * (11 if bonus == "published" else 1)
    whole, part = last_row(samples, levels, options), last_row(samples, levels[cut:], options)
    np.testing.assert_array_equal(part[reach:], whole[cut + reach :])


@pytest.mark.parametrize("cost", COSTS)
def test_saturated_scores_are_exact_ones_cut_off(cost: Any) -> None:
    rng = np.random.default_rng(2)
    query, reference = rng.integers(0, 50, 900), np.repeat([255, 1], 20)  # the first half costs more
    exact = last_row(query, reference, AlignOptions(cost=cost, arithmetic="int32", bits=8))
    found = last_row(query, reference, AlignOptions(cost=cost, arithmetic="uint16", bits=8))
    assert exact.min() < 65_535 < exact.max()
    np.testing.assert_array_equal(found, np.minimum(exact, 65_535))


# Tracks


@given(reference=st.lists(st.integers(0, 255), min_size=3, max_size=14), seed=st.integers(0, 99))
def test_no_alignment_leads_from_track_to_track(reference: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels, samples = np.array(reference), rng.integers(300, 700, 9).astype(np.int16)
    border = int(rng.integers(1, len(levels)))
    cost, column = align(samples, levels, np.array([0, border, len(levels)]), UNLIMITED)
    query = normalised_samples(samples, UNLIMITED).tolist()
    scores = by_columns(query, reference[:border], UNLIMITED) + by_columns(query, reference[border:], UNLIMITED)
    assert (cost, column) == (min(scores), scores.index(min(scores)))


def test_no_place_where_the_cost_is_saturated() -> None:
    samples, levels = np.resize(np.array([0, 1000], np.int16), 9000), np.array([0])
    options = AlignOptions(cost="absolute", step=1)
    assert align(samples, levels, np.array([0, 1]), options) == (65_535, -1)
    assert align(samples[:90], levels, np.array([0, 1]), options)[1] == 0


# Normalisation


def test_published_levels_by_hand() -> None:
    def levels(samples: list[int], cost: Any = "absolute") -> list[int]:
        options = AlignOptions(norm="blocks", cost=cost, arithmetic="int32")
        return normalised_samples(np.array(samples, np.int16), options).tolist()

    assert levels([0, 10, 20, 30]) == [80, 112, 144, 176]  # mean 15, deviation 10
    assert levels([-1, -2]) == [128, 96]  # mean -1.5, which is cut to -1; deviation 0.5, which is at least 1
    assert levels([7, 7, 7]) == [128] * 3
    assert levels([0] * 99 + [100]) == [96] * 99 + [256]  # mean 1, deviation 1.98; cut off at 4 deviations
    assert levels([0] * 99 + [100], "squared") == [96] * 99 + [256]
    assert levels([0] * 99 + [-100]) == [160] * 99 + [0]


def test_blocks_are_normalised_by_all_samples_so_far() -> None:
    first, second = np.resize(np.array([0, 20], np.int16), BLOCK), np.full(250, 70, np.int16)
    for options in (CRESCENT, SQUIGGLEFILTER):
        found = normalised_samples(np.concatenate([first, second]), options).tolist()
        assert found == [96, 160] * 250 + [177] * 250  # mean 10, deviation 10; then 30, and 26 of 80 / 3
        assert normalised_samples(first, options).tolist() == found[:BLOCK]


@settings(max_examples=examples(300))
@given(
    step=st.sampled_from([1, 3, 4, 7]), bits=st.integers(5, 8),
    samples=st.lists(st.integers(-8000, 8000), min_size=7, max_size=60),
)  # fmt: skip
def test_standard_scores(step: int, bits: int, samples: list[int]) -> None:
    """By exact fractions; levels beside a border may fall on either side."""
    rows = [statistics.median(samples[i : i + min(step, 3)]) for i in range(0, len(samples) - step + 1, step)]
    mean = Fraction(sum(rows), len(rows))
    variance = sum((row - mean) ** 2 for row in rows) / len(rows)
    exact = [float(row - mean) / math.sqrt(variance) if variance else -4.0 for row in rows]
    largest = max(abs(row) for row in rows) / math.sqrt(variance) if variance else 0.0
    rounding = 2.0**-21 * (1 + largest)
    read = np.array(samples, np.int16)
    z = normalised_samples(read, AlignOptions(arithmetic="float32", step=step))
    np.testing.assert_allclose(z, np.clip(exact, -4, 4), rtol=0, atol=rounding)
    levels = normalised_samples(read, AlignOptions(arithmetic="int32", step=step, bits=bits))
    lowest, highest = (
        [min(max(math.floor((value + 4 + error) * 2**bits / 8), 0), 2**bits - 1) for value in exact]
        for error in (-rounding, rounding)
    )
    assert all(low <= level <= high for low, level, high in zip(lowest, levels.tolist(), highest, strict=True))


@pytest.mark.parametrize("bits", [5, 6, 7, 8])
def test_standard_scores_are_cut_off(bits: int) -> None:
    outlier = np.array([0] * 99 + [100], np.int16)
    integers, scores = AlignOptions(bits=bits, step=1), AlignOptions(arithmetic="float32", step=1)
    assert normalised_samples(outlier, integers)[-1] == 2**bits - 1
    assert normalised_samples(-outlier, integers)[-1] == 0
    assert normalised_samples(outlier, scores)[-1] == 4
    assert normalised_samples(-outlier, scores)[-1] == -4


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("arithmetic", ["int32", "float32"])
def test_strands_are_normalised_each_by_itself(norm: Any, arithmetic: Any) -> None:
    rng = np.random.default_rng(3)
    options = AlignOptions(norm=norm, arithmetic=arithmetic)
    levels, strand = rng.normal(90, 12, 400), rng.integers(0, 2, 400).astype(np.uint8)
    levels[strand == 1] += 30
    found = normalised_levels(levels, strand, options)
    for which in (0, 1):
        own = levels[strand == which]
        deviation = np.abs(own - own.mean()).mean() if norm == "blocks" else own.std()
        z = (own - own.mean()) / deviation
        per_unit, offset, error = (1, 0, 0.005) if options.is_float else (2**options.level_bits / 8, 4, 1.2)
        np.testing.assert_allclose(found[strand == which], (z + offset) * per_unit, rtol=0, atol=error)
    alike = normalised_levels(np.full(5, 80.0), np.zeros(5, np.uint8), options)
    assert alike.tolist() == [0.0 if options.is_float else 2 ** (options.level_bits - 1)] * 5
