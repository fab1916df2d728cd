"""Bit planes against the oracle."""

from __future__ import annotations

import pytest
from helpers.signature_cases import SPECIAL, Case, cases, check_case
from hypothesis import given, settings
from hypothesis import strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.planes import PlanesMatcher

ANY_CASE = given(cases(), st.sampled_from([20, 1 << 20]), st.sampled_from([50, 1 << 20]))


def any_case(shaped: Engine, case: Case, max_pairs: int, max_starts: int) -> None:
    check_case(case, shaped, PlanesMatcher, max_pairs=max_pairs, max_starts=max_starts)


test_any_case = pytest.mark.one_cpu(settings(max_examples=100)(ANY_CASE(any_case)))
test_some_cases = pytest.mark.other_cpus(settings(max_examples=25)(ANY_CASE(any_case)))


@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(shaped: Engine, name: str) -> None:
    check_case(SPECIAL[name], shaped, PlanesMatcher)


@given(cases(), st.lists(st.integers(0, 1), min_size=1), st.lists(st.booleans(), min_size=1))
@settings(max_examples=10)
def test_some_patterns_and_some_pieces(engine: Engine, case: Case, which: list[int], wanted: list[bool]) -> None:
    check_case(case, engine, PlanesMatcher, which, wanted)


@pytest.mark.parametrize("most", [1, 2, 7])
def test_rounds_of_any_size(shaped: Engine, most: int) -> None:
    check_case(SPECIAL["repeats"], shaped, PlanesMatcher, max_pairs=most, max_starts=most)


def test_sums_that_need_64_bits(shaped: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.signatures.device.planes.sum_type", lambda longest: "ulong")
    check_case(SPECIAL["filters refuse N"], shaped, PlanesMatcher)
    check_case(SPECIAL["edges"], shaped, PlanesMatcher)
