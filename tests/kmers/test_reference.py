"""The oracle against published counts, and k-mers as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, A
from hypothesis import given, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.kmers import reference
from oclgenomics.kmers.database.keys import key_words, keys_of, letters_of
from oclgenomics.kmers.options import CountOptions


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_published_counts(text: bytes, k: int, canonical: bool, expected: str) -> None:
    found = reference.count([text], CountOptions(k, canonical=canonical))
    assert " ".join(f"{kmer}{times}" for kmer, times in found.items()) == expected


def test_numbers_of_golden_a() -> None:
    keys = keys_of(list(reference.count([A], CountOptions(5))))
    assert keys.tolist() == [[55, 72, 78, 222, 236, 241, 492, 572, 944]]


@given(k=st.integers(1, 256), seed=st.integers(0, 1 << 32))
def test_numbers_sort_as_text(k: int, seed: int) -> None:
    letters = np.frombuffer(b"ACGT", np.uint8)[np.random.default_rng(seed).integers(0, 4, (20, k))]
    kmers = [row.tobytes().decode() for row in letters]
    keys = keys_of(kmers)
    assert keys.shape == (key_words(k), 20)
    np.testing.assert_array_equal(letters_of(keys, k), letters)
    assert [kmers[i] for i in np.lexsort(keys)] == sorted(kmers)


def test_filters_come_before_the_counters_end() -> None:
    text = b">x\n" + b"A" * 300 + b"C\n"
    assert reference.count([text], CountOptions(5, counter_max=255)) == {"AAAAA": 255, "AAAAC": 1}
    assert reference.count([text], CountOptions(5, min_count=256, counter_max=255)) == {"AAAAA": 255}


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"k": 257},
        {"k": 5, "min_count": 0},
        {"k": 5, "min_count": 3, "max_count": 2},
        {"k": 5, "counter_max": 0},
        {"k": 5, "counter_max": 1 << 32},
        {"k": 5, "min_count": 1 << 32, "max_count": 1 << 32},
    ],
)
def test_options_outside_their_range(options: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        CountOptions(**options)


def test_the_largest_count_that_counters_hold() -> None:
    largest = (1 << 32) - 1
    assert CountOptions(5, min_count=largest, max_count=largest, counter_max=largest).min_count == largest


@pytest.mark.parametrize("kmers", [[], ["A", "AC"], [""], ["ACGN"]])
def test_kmers_that_are_none(kmers: list[str]) -> None:
    with pytest.raises(UsageError):
        keys_of(kmers)
