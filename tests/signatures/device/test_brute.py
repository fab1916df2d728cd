"""Brute force against the oracle."""

from __future__ import annotations

import pytest
from helpers.products import examples
from helpers.signature_cases import SPECIAL, Case, cases, check_case
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.brute import BruteMatcher


@given(cases(), st.booleans(), st.booleans(), st.sampled_from([20, 1 << 20]), st.sampled_from([50, 1 << 20]))
@settings(max_examples=examples(30))
def test_any_case(shaped: Engine, case: Case, prefix_sums: bool, flat: bool, max_pairs: int, max_starts: int) -> None:
    rounds = {"max_pairs": max_pairs, "max_starts": max_starts}
    check_case(case, shaped, BruteMatcher, prefix_sums=prefix_sums, flat=flat, **rounds)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(engine: Engine, name: str) -> None:
    check_case(SPECIAL[name], engine, BruteMatcher)


@given(cases(), st.lists(st.integers(0, 1), min_size=1), st.lists(st.booleans(), min_size=1))
@settings(max_examples=10)
def test_some_patterns_and_some_pieces(engine: Engine, case: Case, which: list[int], wanted: list[bool]) -> None:
    check_case(case, engine, BruteMatcher, which, wanted)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_rounds_of_any_size(engine: Engine, most: int) -> None:
    check_case(SPECIAL["repeats"], engine, BruteMatcher, max_pairs=most, max_starts=most)


def test_sums_that_need_64_bits(shaped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.signatures.device.pairs.sum_type", lambda longest: "ulong")
    check_case(SPECIAL["filters refuse N"], shaped, BruteMatcher)
    check_case(SPECIAL["edges"], shaped, BruteMatcher)
