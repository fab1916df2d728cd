"""Matches gathered into pairs, against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.signatures.device import pairs as pair_tally
from oclgenomics.signatures.device.pairs import PairTally

MATCHES = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 9), st.integers(0, 2), st.integers(0, 3))


@given(parts=st.lists(st.lists(MATCHES, max_size=30), max_size=6), rows=st.sampled_from([0, 10, 1000]))
def test_pairs_of_matches(parts: list[list[tuple[int, int, int, int, int]]], rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_tally, "LEAST_ROWS", rows)
        tally = PairTally(5)
        for part in parts:
            piece, pattern, start, mismatches, sums = np.array(part, np.uint32).reshape(-1, 5).T
            tally.add(piece, pattern, start, mismatches, sums.astype(np.uint64))
        found = tally.pairs()
    pairs: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for piece, pattern, start, mismatches, total in (match for part in parts for match in part):
        pairs.setdefault((piece, pattern), []).append((mismatches, -total, start))
    expected = [
        (*pair, len(every), min(match[2] for match in every), min(every)[2]) for pair, every in sorted(pairs.items())
    ]
    columns = (found.piece, found.pattern, found.hits, found.first, found.best)
    assert [tuple(row) for row in np.array(columns).T.tolist()] == expected


def test_large_sums_do_not_pass_for_mismatches() -> None:
    tally = PairTally(1)
    zero = np.zeros(2, np.uint32)
    sums = np.array([(1 << 40) + 5, 0], np.uint64)
    tally.add(zero, zero, np.array([3, 8], np.uint32), np.array([1, 0], np.uint32), sums)
    assert tally.pairs().best.tolist() == [8]
