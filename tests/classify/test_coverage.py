"""Coverage of targets, against sets of windows."""

from __future__ import annotations

import numpy as np
from helpers.taxonomies import random_candidates, targets_of
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.taxonomy.calls import Candidate, Candidates, covered_windows, well_covered, without_targets


def covered(candidates: Candidates, hitmin: list[int], targets: int) -> list[int]:
    """Windows that are covered, one by one."""
    windows: list[set[int]] = [set() for _ in range(targets)]
    for read, needed in enumerate(hitmin):
        for one in candidates.of(read):
            if one.hits >= needed:
                windows[one.target].update(range(one.first, one.last + 1))
    return [len(found) for found in windows]


def counting(found: list[int], windows: list[int], share: float) -> list[bool]:
    """Targets that count, left out one by one."""
    coverage = {target: count / windows[target] for target, count in enumerate(found) if count}
    order = sorted(coverage, key=lambda target: (coverage[target], target))
    left, cumulated, total = set(coverage), 0.0, 0.0
    for target in order:
        total += coverage[target]
    for target in order:
        cumulated += coverage[target]
        if cumulated > share * total:
            break
        left.remove(target)
    return [target in left for target in range(len(found))]


@given(
    seed=st.integers(0, 1 << 32),
    reads=st.sampled_from([0, 1, 3, 50]),
    targets=st.integers(1, 8),
    maxcand=st.integers(1, 5),
    share=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
)
def test_oracle(seed: int, reads: int, targets: int, maxcand: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    candidates = random_candidates(reads, maxcand, targets, rng)
    windows = rng.integers(9, 30, targets).tolist()
    hitmin = rng.integers(1, 12, reads).astype(np.uint32)
    database = targets_of([0] * targets, windows)
    found = covered_windows(candidates, hitmin, database)
    assert found.tolist() == covered(candidates, hitmin.tolist(), targets)
    kept = well_covered(candidates, hitmin, database, share)
    assert kept.tolist() == counting(found.tolist(), windows, share)
    left = without_targets(candidates, kept)
    for read in range(reads):
        assert left.of(read) == [one for one in candidates.of(read) if kept[one.target]]
    assert left.hits.shape == candidates.hits.shape
    assert (left.hits[left.targets == 0xFFFFFFFF] == 0).all()
    assert left.located is candidates.located


def test_shares() -> None:
    rows = np.array([[[0, 9, 0, 0], [1, 9, 0, 4]], [[0, 9, 1, 1], [2, 3, 0, 8]]], np.uint32)
    candidates = Candidates(*np.moveaxis(rows, 2, 0), np.zeros(2, np.uint32))
    targets, hitmin = targets_of([0, 0, 0], [10, 10, 10]), np.array([5, 5], np.uint32)
    assert covered_windows(candidates, hitmin, targets).tolist() == [2, 5, 0]
    assert well_covered(candidates, hitmin, targets, 0.0).tolist() == [True, True, False]
    assert well_covered(candidates, hitmin, targets, 0.28).tolist() == [True, True, False]
    assert well_covered(candidates, hitmin, targets, 0.29).tolist() == [False, True, False]
    assert not well_covered(candidates, hitmin, targets, 1.0).any()
    kept = without_targets(candidates, np.array([False, True, False]))
    assert [kept.of(0), kept.of(1)] == [[Candidate(1, 9, 0, 4)], []]
