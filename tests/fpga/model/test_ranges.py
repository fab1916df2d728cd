"""Ranges: their order is checked, and sums and multiples keep every value that they should hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from hls_model.errors import ModelError
from hls_model.ranges import Range

values = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).map(sorted)


@given(values, values, st.floats(0, 1), st.floats(0, 1))
def test_a_sum_holds_the_sum_of_what_its_parts_hold(one, two, at_one, at_two):
    inside = [low + (high - low) * at for (low, _, high), at in ((one, at_one), (two, at_two))]
    total = Range(*one) + Range(*two)
    assert total.low - 1e-6 <= sum(inside) <= total.high + 1e-6
    assert total.likely == one[1] + two[1]


@given(values, st.floats(0, 1e3))
def test_a_multiple_keeps_the_order(three, factor):
    found = Range(*three).times(factor)
    assert (found.low, found.likely, found.high) == tuple(factor * value for value in three)


@pytest.mark.parametrize("three", [(2, 1, 3), (1, 3, 2), (math.nan, 1, 2), (0, 1, math.inf)])
def test_what_is_no_range(three):
    with pytest.raises(ModelError, match="low <= likely <= high"):
        Range(*three)


def test_a_negative_factor_is_refused():
    with pytest.raises(ModelError, match="0 or more"):
        Range(1, 2, 3).times(-1)


def test_bounds_belong_to_it():
    found = Range(1, 2, 3)
    assert [found.holds(value) for value in (0.9, 1, 2, 3, 3.1)] == [False, True, True, True, False]
    assert Range.exactly(4.0) == Range(4.0, 4.0, 4.0)
    assert found.record() == {"low": 1, "likely": 2, "high": 3}
