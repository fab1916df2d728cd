"""Candidates of parts of a database, put together."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates, merged


def candidates(*rows: list[tuple[int, int]], located: int = 9) -> Candidates:
    """Candidates of reads, each by targets and hits, two columns; ranges are told by them."""
    filled = np.array([[*row, (NO_TARGET, 0), (NO_TARGET, 0)][:2] for row in rows], np.uint32).reshape(len(rows), 2, 2)
    targets, hits = filled[..., 0], filled[..., 1]
    there = hits > 0
    return Candidates(targets, hits, hits * 2 * there, targets * 3 * there, np.full(len(rows), located, np.uint32))


def rows(found: Candidates) -> list[list[tuple[int, int]]]:
    """Targets and hits of reads."""
    for read in range(len(found)):
        for one in found.of(read):
            assert (one.first, one.last) == (2 * one.hits, 3 * one.target)
    return [[(one.target, one.hits) for one in found.of(read)] for read in range(len(found))]


GROUPS = np.array([0, 1, 1, 2, 2, 3], np.int32)


def test_the_best_of_each_group_and_of_equal_ones_the_first() -> None:
    one = candidates([(0, 5), (1, 5)], [(1, 7)], [], [(2, 4), (0, 3)])
    two = candidates([(3, 5)], [(5, 8), (4, 6)], [], [(4, 4)])
    assert rows(merged([one, two], GROUPS, 2)) == [[(0, 5), (1, 5)], [(5, 8), (1, 7)], [], [(2, 4), (4, 4)]]
    assert rows(merged([two, one], GROUPS, 1)) == [[(0, 5)], [(5, 8)], [], [(2, 4)]]
    assert rows(merged([one], GROUPS, 2)) == rows(one)


def test_a_group_in_several_parts() -> None:
    one, two = candidates([(1, 5), (3, 4)]), candidates([(2, 6), (4, 4)])
    assert rows(merged([one, two], GROUPS, 2)) == [[(2, 6), (3, 4)]]
    assert merged([one, two], GROUPS, 3).targets.tolist() == [[2, 3, NO_TARGET]]


def test_locations_add_up_to_a_limit() -> None:
    parts = [candidates([], located=located) for located in (5, (1 << 32) - 10, 3)]
    assert merged(parts, GROUPS, 2).located.tolist() == [(1 << 32) - 2]
    assert merged([*parts, *parts], GROUPS, 2).located.tolist() == [(1 << 32) - 1]


def test_no_reads() -> None:
    found = merged([candidates(), candidates()], GROUPS, 2)
    assert found.targets.shape == (0, 2)
    assert found.targets.dtype == found.hits.dtype == found.first.dtype == found.located.dtype == np.uint32
