"""All grid positions of all alignments are dealt out exactly once, and pieces cost about the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.app.alignment_jobs import Dealer, PositionRange
from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.plan import shards
from oclgenomics.omega.plan.shards import least_range, position_costs
from oclgenomics.omega.plan.windows import find_windows

alignments_costs = st.lists(st.lists(st.integers(1, 1000), max_size=60), max_size=30)


def dealt(costs: list[list[int]], pieces: int, least: int) -> list[list[PositionRange]]:
    dealer = Dealer(pieces)
    return [dealer.deal(np.array(one, np.int64), least) for one in costs]


@given(costs=alignments_costs, pieces=st.integers(1, 9), least=st.integers(1, 5000))
def test_each_position_is_dealt_out_once(costs: list[list[int]], pieces: int, least: int) -> None:
    found = dealt(costs, pieces, least)
    for one, ranges in zip(costs, found, strict=True):
        assert ranges[0].begin == 0
        assert ranges[-1].end == len(one)
        assert [a.end for a in ranges[:-1]] == [b.begin for b in ranges[1:]]
        assert all(a.begin < a.end for a in ranges) or not one
        assert all(1 <= a.piece <= pieces for a in ranges)
        assert len(ranges) <= pieces
    assert found == dealt(costs, pieces, least)


@given(costs=alignments_costs, pieces=st.integers(1, 9), least=st.integers(1, 5000))
def test_pieces_cost_about_the_same(costs: list[list[int]], pieces: int, least: int) -> None:
    """None costs more than the least one by more than the largest range, and ranges of an alignment are alike."""
    total, largest = [0] * pieces, 0
    for one, ranges in zip(costs, dealt(costs, pieces, least), strict=True):
        sums = [sum(one[a.begin : a.end]) for a in ranges]
        for a, cost in zip(ranges, sums, strict=True):
            total[a.piece - 1] += cost + 1
            largest = max(largest, cost + 1)
        if len(ranges) > 1:
            assert max(sums) <= sum(one) / len(ranges) + 2 * max(one) or len(ranges) < min(pieces, sum(one) // least)
    assert max(total) - min(total) <= largest


def test_a_large_alignment_is_cut_for_all_pieces_and_a_small_one_is_not() -> None:
    dealer = Dealer(4)
    assert dealer.deal(np.full(100, 10), least=200) == [(1, 0, 25), (2, 25, 50), (3, 50, 75), (4, 75, 100)]
    assert dealer.deal(np.full(100, 10), least=501) == [(1, 0, 100)]


def test_equal_alignments_go_round() -> None:
    dealer = Dealer(3)
    assert [dealer.deal(np.full(10, 1), least=20)[0].piece for _ in range(7)] == [1, 2, 3, 1, 2, 3, 1]


def test_decisions_show_in_the_checksum() -> None:
    one, other = Dealer(3), Dealer(3)
    for _ in range(2):
        one.deal(np.full(10, 1))
        assert one.decided != other.decided
    for _ in range(2):
        other.deal(np.full(10, 1))
    assert one.decided == other.decided
    other.deal(np.full(11, 1))
    one.deal(np.full(10, 1))
    assert one.decided != other.decided


@pytest.mark.parametrize("border", [-1, 2])
def test_costs_are_omegas_and_new_pairs(border: int) -> None:
    positions = np.concatenate([np.arange(1, 400, 7), np.arange(5000, 5300, 3)]).astype(np.int64)
    windows = find_windows(positions, ScanOptions(grid=40, minwin=20, maxwin=150, minsnps=2))
    costs = position_costs(windows, border)
    seen: set[int] = set()
    for place in range(40):
        rows = set(range(windows.first[place], windows.last[place] + 1)) - seen if windows.valid[place] else set()
        pairs = len(rows) * (windows.last[place] - windows.first[place]) if rows else 0
        assert costs[place] == 1 + windows.scores(border)[place] + pairs
        seen |= rows


def test_a_range_costs_more_than_what_both_sides_of_a_cut_do(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = find_windows(np.arange(1, 1001), ScanOptions(grid=10, minwin=10, maxwin=300))
    assert least_range(windows) == shards.GRAIN
    monkeypatch.setattr(shards, "GRAIN", 10)
    assert least_range(windows) == windows.span**2
