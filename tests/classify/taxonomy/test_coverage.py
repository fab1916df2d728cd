"""Distinct features of clades against the oracle, and what follows for calls."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from helpers.classify_index import features_of
from helpers.taxonomies import random_lineages, targets_of, taxonomy_of
from hypothesis import given, strategies as st

from oclgenomics.classify import reference
from oclgenomics.classify.options import QueryOptions
from oclgenomics.classify.taxonomy import coverage as coverage_module
from oclgenomics.classify.taxonomy.coverage import Clades, Coverage, CoverageCounter, known_features, lifted, supported
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON

WORLDS = st.builds(
    lambda seed, taxa, targets: random_lineages(taxa, targets, np.random.default_rng(seed)),
    st.integers(0, 1 << 32), st.integers(1, 20), st.integers(1, 9),
)  # fmt: skip


def above_of(lineages: Lineages) -> list[int | None]:
    """The parent of each taxon and target."""
    parents = lineages.taxonomy.parents.tolist()
    taxa = [None if parent == taxon else parent for taxon, parent in enumerate(parents)]
    return taxa + [None if taxon == NO_TAXON else taxon for taxon in lineages.targets.taxon.tolist()]


@given(lineages=WORLDS, seed=st.integers(0, 1 << 32), held=st.sampled_from([1, 1 << 22]))
def test_features_of_reads(lineages: Lineages, seed: int, held: int) -> None:
    rng, above = np.random.default_rng(seed), above_of(lineages)
    counter, pairs = CoverageCounter(lineages), list[tuple[int, int]]()
    with mock.patch.object(coverage_module, "HELD", held):
        for _ in range(3):
            called = rng.integers(NO_TAXON, len(above), rng.integers(0, 6)).astype(np.int32)
            counts = rng.integers(0, 5, len(called))
            features = rng.integers(0, 7, counts.sum()).astype(np.uint32) * np.uint32(0x24924924)
            counter.add(called, counts, features)
            owner = np.repeat(called, counts).tolist()
            pairs += [pair for pair in zip(owner, features.tolist(), strict=True) if pair[0] != NO_TAXON]
    found = counter.coverage()
    hits, distinct = reference.cover_clades(pairs, above)
    assert (found.hits.tolist(), found.distinct.tolist()) == (hits, distinct)
    assert found.distinct_of_all == len({feature for _, feature in pairs})
    assert counter.coverage().distinct.tolist() == distinct


@given(lineages=WORLDS, seed=st.integers(0, 1 << 32), most=st.sampled_from([1, 5, 1 << 20]))
def test_features_of_a_database(lineages: Lineages, seed: int, most: int) -> None:
    rng, taxa = np.random.default_rng(seed), len(lineages.taxonomy)
    windows = int(lineages.targets.windows.sum())
    lists = {}
    for feature in rng.choice(1 << 31, rng.integers(0, 12), replace=False).tolist():
        lists[feature] = np.sort(rng.choice(windows, rng.integers(0, min(windows, 6) + 1), replace=False)).tolist()
    first = lineages.targets.first_window
    pairs = [
        (taxa + int(np.searchsorted(first, window, "right")) - 1, feature)
        for feature, places in lists.items()
        for window in places
    ]
    with mock.patch.object(coverage_module, "LOCATIONS", most):
        known = known_features(features_of(lists), lineages)
    assert known.tolist() == reference.cover_clades(pairs, above_of(lineages))[1]


@given(lineages=WORLDS, seed=st.integers(0, 1 << 32), highest=st.sampled_from(["genus", "domain", "root"]))
def test_calls_of_taxa_that_are_not_covered(lineages: Lineages, seed: int, highest: str) -> None:
    rng, above = np.random.default_rng(seed), above_of(lineages)
    distinct = rng.integers(0, 9, len(above))
    hits, known = distinct + rng.integers(0, 20, len(above)), distinct + rng.integers(0, 20, len(above))
    covered = Coverage(hits, distinct, 0, known)
    options = QueryOptions(min_distinct=int(rng.integers(0, 5)), min_coverage=rng.random() / 2, min_evenness=0.3)
    expected = [reference.expected_features(*pair) for pair in zip(known.tolist(), hits.tolist(), strict=True)]
    assert covered.expected == pytest.approx(expected)
    enough = [
        d >= max(options.min_distinct, 1) and d / max(k, 1) >= options.min_coverage and d / max(e, 1e-300) >= 0.3
        for d, k, e in zip(distinct.tolist(), known.tolist(), expected, strict=True)
    ]
    calls = np.arange(NO_TAXON, len(above), dtype=np.int32)
    rows = [[None if taxon == NO_TAXON else taxon for taxon in row] for row in lineages.at_rank.tolist()]
    found = lifted(calls, supported(covered, lineages, options), lineages, highest).tolist()
    for called, got in zip(calls.tolist(), found, strict=True):
        is_none = called == NO_TAXON
        wanted = reference.lift_call(None if is_none else called, enough, above, rows, highest)
        assert got == (NO_TAXON if wanted is None else wanted), called


def test_a_clade_is_a_range_of_places() -> None:
    tree = taxonomy_of({1: 1, 2: 1, 10: 2, 11: 2, 20: 10, 21: 10, 22: 11}, {1: "root"})
    clades = Clades(Lineages.of(tree, targets_of([4, 4, 5, NO_TAXON])))
    assert sorted(clades.place.tolist()) == list(range(12))
    sizes = clades.summed(np.ones(12, np.int64))
    for node in range(12):
        inside = {int(one) for one in clades.node_at[clades.place[node] : clades.place[node] + sizes[node]]}
        below = [one for one in range(12) if node in _path(one, clades)]
        assert inside == set(below)
    assert clades.meeting(np.array([7, 7, 9, 10, 3]), np.array([8, 9, 6, 9, 3])).tolist() == [4, 2, 1, 11, 3]


def _path(node: int, clades: Clades) -> list[int]:
    path = [node]
    while path[-1] != clades.parents[path[-1]]:
        path.append(int(clades.parents[path[-1]]))
    return path


def test_reads_from_one_place_are_expected_to_differ() -> None:
    """A hundred hits of ten features are few of the thousand that a taxon has; nine of a taxon of ten are not."""
    covered = Coverage(np.array([100, 20, 0, 5]), np.array([10, 9, 0, 1]), 0, np.array([1000, 10, 10, 1]))
    assert covered.expected[0] == pytest.approx(95.2, abs=0.1)
    assert covered.evenness[0] < 0.11 < 1 < covered.evenness[1] < 1.03
    assert covered.coverage.tolist() == [0.01, 0.9, 0, 1]
    assert (covered.expected[2], covered.expected[3]) == (0, 1)
