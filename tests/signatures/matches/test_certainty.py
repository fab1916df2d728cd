"""How sure a match is: against exact fractions, and against what chance really does."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.signature_parts import matches_of
from hypothesis import given, strategies as st

from oclgenomics.signatures import reference
from oclgenomics.signatures.matches.certainty import (
    certainty,
    expected_accuracy,
    informative_share,
    log10_chance,
    log10_chance_of_edits,
)


def chance(letters: int, length: int, informative: int, mismatches: int) -> float:
    columns = (np.array([letters]), np.array([length]), np.array([informative]), np.array([mismatches], np.int32))
    return float(log10_chance(*columns)[0])


def exact_tail(positions: int, mismatches: int) -> Fraction:
    terms = (
        math.comb(positions, k) * Fraction(3, 4) ** k * Fraction(1, 4) ** (positions - k) for k in range(positions + 1)
    )
    return sum([term for k, term in enumerate(terms) if k <= mismatches], Fraction(0))


def log10_of(value: Fraction) -> float:
    """Also of fractions that no float holds."""
    return math.log10(value.numerator) - math.log10(value.denominator)


@given(
    informative=st.integers(0, 400), mismatches=st.integers(0, 7), more=st.integers(0, 50), starts=st.integers(1, 10**6)
)
def test_chance_is_the_expectation_over_random_sequences(informative, mismatches, more, starts):
    length = informative + more
    expected = math.log10(starts) + log10_of(exact_tail(informative, mismatches))
    assert chance(starts + length - 1, length, informative, mismatches) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_long_signatures_do_not_underflow():
    assert chance(200_000, 10_000, 10_000, 0) == pytest.approx(math.log10(190_001) - 10_000 * math.log10(4))
    assert chance(200_000, 10_000, 10_000, 7) > chance(200_000, 10_000, 10_000, 6) > -6021


@pytest.mark.parametrize(("informative", "mismatches"), [(0, 0), (0, 3), (3, 3), (3, 5)])
def test_what_cannot_fail_is_expected_at_every_start(informative, mismatches):
    assert chance(109, 10, informative, mismatches) == 2.0


def test_chance_in_random_sequences():
    """200 random samples: the number of matches is as expected, within four standard deviations."""
    rng = np.random.default_rng(5)
    signature, samples, letters = "ACGTN", 200, 300
    found = 0
    for _ in range(samples):
        sample = "".join(np.array(list("ACGT"))[rng.integers(0, 4, letters)])
        found += len(reference.matches(sample, None, signature, max_mismatches=1))
    expected = samples * 10 ** chance(letters, 5, 4, 1)
    assert abs(found - expected) < 4 * math.sqrt(expected)


def test_support():
    rows = [
        reference.Match("+", 0, 10, 0, 100, 8, 1, 1, reference.error_units(10) * 10),  # an error in ten letters
        reference.Match("+", 0, 10, 0, 900, 10, 0, 0, reference.error_units(90) * 10),
        reference.Match("+", 0, 4, 0, None, 1, 3, 0, None),
    ]
    matches = matches_of(rows)
    assert informative_share(matches).tolist() == [0.8, 1.0, 0.25]
    assert expected_accuracy(matches)[:2] == pytest.approx([0.9, 1.0])
    assert np.isnan(expected_accuracy(matches)[2])
    assert certainty(matches) == pytest.approx([0.72, 1.0, 0.25])


def test_nothing_at_all():
    none = np.zeros(0, np.int64)
    assert log10_chance(none, none, none, none.astype(np.int32)).shape == (0,)
    assert certainty(matches_of([])).shape == (0,)


def test_edits_can_be_placed_in_more_ways_than_substitutions() -> None:
    def chance(edits: int) -> float:
        one = (np.array([value], np.int64) for value in (1000, 30, 28))
        return float(log10_chance_of_edits(*one, np.array([edits], np.int32))[0])

    assert chance(0) == pytest.approx(3 - 28 * math.log10(4))
    assert chance(2) == pytest.approx(3 + math.log10(1 + 91 + 92 * 91 // 2) - 28 * math.log10(4))
    few = [np.array([value]) for value in (1000, 5, 1)]
    assert float(log10_chance_of_edits(*few, np.array([4], np.int32))[0]) == 3.0  # a match at each letter at most
