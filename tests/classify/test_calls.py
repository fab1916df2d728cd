"""Calls against the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from helpers.taxonomies import random_candidates, random_lineages, targets_of, taxonomy_of
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.options import METACACHE, RANKS, QueryOptions
from oclgenomics.classify.reference import call_read
from oclgenomics.classify.taxonomy.calls import Caller, Candidates, call_reads
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
    calls = call_reads(candidates, lineages, options, hitmin, lead)
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
    assert call_reads(apart, lineages, QueryOptions(), hitmin).taxon.tolist() == [NO_TAXON]
    assert call_reads(apart, lineages, QueryOptions(highest="root"), hitmin).taxon.tolist() == [0]
