"""Calls against the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from helpers.taxonomies import random_candidates, random_lineages, targets_of, taxonomy_of
from hypothesis import given, strategies as st

from oclgenomics.classify.options import METACACHE, RANKS, QueryOptions
from oclgenomics.classify.reference import call_read
from oclgenomics.classify.taxonomy.calls import (
    NO_TARGET,
    Caller,
    Candidate,
    Candidates,
    covered_windows,
    merged,
    well_covered,
    without_targets,
)
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON


@given(
    seed=st.integers(0, 1 << 32),
    taxa=st.integers(1, 30),
    targets=st.integers(1, 10),
    maxcand=st.sampled_from([1, 2, 2, 3, 6]),
    reads=st.sampled_from([0, 1, 2, 60]),
    hitdiff=st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]),
    ranks=st.tuples(st.integers(0, len(RANKS) - 1), st.integers(0, len(RANKS) - 1)),
    leads=st.booleans(),
)
def test_oracle(
    seed: int, taxa: int, targets: int, maxcand: int, reads: int, hitdiff: float, ranks: tuple[int, int], leads: bool
) -> None:
    rng = np.random.default_rng(seed)
    lineages = random_lineages(taxa, targets, rng)
    candidates = random_candidates(reads, maxcand, targets, rng)
    options = QueryOptions(hitdiff=hitdiff, maxcand=maxcand, lowest=RANKS[min(ranks)], highest=RANKS[max(ranks)])
    hitmin = rng.integers(1, 12, reads).astype(np.uint32)
    lead = rng.integers(1, 20, reads).astype(np.uint32) if leads else None
    calls = Caller(lineages, options).call(candidates, hitmin, lead)
    least = hitmin if lead is None else lead
    rows = [[None if one == NO_TAXON else one for one in row] for row in lineages.at_rank[taxa:].tolist()]
    expected = [
        call_read(candidates.of(read), rows, options, int(hitmin[read]), int(least[read])) for read in range(reads)
    ]
    assert calls.taxon.tolist() == [NO_TAXON if one is None else one for one in expected]
    assert calls.taxon.dtype == np.int32
    assert calls.hitmin is hitmin


def candidates_of(*rows: list[tuple[int, int]]) -> Candidates:
    """Targets and hits, as many of each read."""
    table = np.array(rows, np.uint32)
    none = np.zeros(table.shape[:2], np.uint32)
    return Candidates(table[:, :, 0], table[:, :, 1], none, none, none[:, 0])


TREE = taxonomy_of(
    {1: 1, 2: 1, 10: 2, 11: 2, 20: 10, 21: 10, 22: 11},
    {1: "root", 2: "domain", 10: "genus", 11: "genus", 20: "species", 21: "species", 22: "species"},
)
LINEAGES = Lineages.of(TREE, targets_of([4, 5, 6, NO_TAXON, 2]))


def taxa_called(*rows: list[tuple[int, int]], hitmin: int = 5, **options: object) -> list[int]:
    calls = Caller(LINEAGES, replace(METACACHE, **options)).call(
        candidates_of(*rows), np.full(len(rows), hitmin, np.uint32)
    )
    return [int(TREE.taxids[one]) if 0 <= one < len(TREE) else int(one) for one in calls.taxon]


def test_threshold_is_what_the_best_has_above_hitmin() -> None:
    assert taxa_called([(0, 10), (1, 5)], [(0, 10), (1, 6)], [(0, 5), (1, 1)]) == [7, 10, 10]


def test_lead() -> None:
    candidates = candidates_of([(0, 10), (1, 7)], [(0, 10), (1, 8)], [(0, 3), (1, 1)])
    hits, lead = np.full(3, 2, np.uint32), np.array([3, 3, 9], np.uint32)
    calls = Caller(LINEAGES, QueryOptions(lowest="species")).call(candidates, hits, lead)
    assert TREE.taxids[calls.taxon].tolist() == [20, 10, 10]


def test_fewer_hits_than_needed() -> None:
    assert taxa_called([(0, 4), (1, 4)], [(0, 5), (1, 0)]) == [NO_TAXON, 7]


def test_ranks_in_common() -> None:
    assert taxa_called([(0, 9), (1, 9)], [(0, 9), (2, 9)], [(0, 9), (4, 9)]) == [10, 2, 10]
    assert taxa_called([(0, 9), (2, 9)], highest="genus") == [NO_TAXON]
    assert taxa_called([(0, 9), (1, 1)], lowest="genus") == [10]


def test_targets_without_taxon() -> None:
    assert taxa_called([(3, 9), (0, 1)], [(3, 9), (0, 9)]) == [10, NO_TAXON]


def test_root_is_a_call_only_where_it_is_asked_for() -> None:
    tree = taxonomy_of({1: 1, 2: 1, 3: 1}, {1: "root", 2: "domain", 3: "domain"})
    lineages = Lineages.of(tree, targets_of([1, 2]))
    apart = candidates_of([(0, 9), (1, 9)])
    hitmin = np.array([5], np.uint32)
    assert Caller(lineages, QueryOptions()).call(apart, hitmin).taxon.tolist() == [NO_TAXON]
    assert Caller(lineages, QueryOptions(highest="root")).call(apart, hitmin).taxon.tolist() == [0]


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
def test_coverage_oracle(seed: int, reads: int, targets: int, maxcand: int, share: float) -> None:
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
