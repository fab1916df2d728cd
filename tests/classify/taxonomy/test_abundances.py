"""Reads of taxa, and estimates at a rank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.taxonomies import random_lineages, targets_of, taxonomy_of
from hypothesis import given, strategies as st

from oclgenomics.classify.options import RANKS
from oclgenomics.classify.taxonomy.abundances import (
    abundances,
    count_calls,
    estimated_abundances,
    percent_text,
    reads_text,
)
from oclgenomics.classify.taxonomy.calls import Calls
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import UsageError

RANK_OF = {1: "root", 2: "domain", 10: "genus", 11: "genus", 20: "species", 21: "species", 22: "species"}
TREE = taxonomy_of({1: 1, 2: 1, 10: 2, 11: 2, 20: 10, 21: 10, 22: 11}, RANK_OF)
LINEAGES = Lineages.of(TREE, targets_of([4, 4, 5, NO_TAXON]))


def counts_of(**reads: int) -> np.ndarray:
    """Reads by taxid ("t20"), by target ("target1"), and unclassified ones."""
    counts = np.zeros(len(LINEAGES.at_rank) + 1, np.int64)
    for name, count in reads.items():
        place = len(TREE) + int(name[6:]) if name.startswith("target") else -1
        counts[np.searchsorted(TREE.taxids, int(name[1:])) if name[0] == "t" and name[1].isdigit() else place] = count
    return counts


def listed(table: object) -> list[tuple[int, float]]:
    rows = zip(table.taxon.tolist(), table.reads.tolist(), strict=True)  # type: ignore[attr-defined]
    return [(int(TREE.taxids[one]) if one < len(TREE) else len(TREE) - one - 1, reads) for one, reads in rows]


def test_counts() -> None:
    calls = Calls(np.array([0, 3, NO_TAXON, 8, 3, NO_TAXON], np.int32), np.zeros(6, np.uint32))
    counts = count_calls(calls, LINEAGES)
    assert counts.tolist() == [1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 2]
    none = replace(calls, taxon=calls.taxon[:0])
    assert count_calls(none, LINEAGES).tolist() == [0] * 12


def test_order_and_shares() -> None:
    table = abundances(counts_of(target0=1, target2=3, t10=2, t21=1, t20=1, t2=4, unclassified=8), LINEAGES)
    assert listed(table) == [(2, 4), (10, 2), (20, 1), (21, 1), (-3, 3), (-1, 1)]
    assert table.share.tolist() == [0.2, 0.1, 0.05, 0.05, 0.15, 0.05]
    assert (table.unclassified, table.total, len(table)) == (8, 20, 6)
    assert abundances(counts_of(t20=1), LINEAGES).share.tolist() == [1]
    assert abundances(counts_of(), LINEAGES).share.tolist() == []


def test_estimates() -> None:
    counts = counts_of(t20=3, t22=1, target2=1, t2=10, unclassified=5)
    assert listed(estimated_abundances(counts, LINEAGES, "species")) == [(20, 9), (21, 3), (22, 3)]
    assert listed(estimated_abundances(counts, LINEAGES, "genus")) == [(10, 12), (11, 3)]
    assert listed(estimated_abundances(counts, LINEAGES, "sequence")) == [(20, 9), (22, 3), (-3, 3)]


def test_what_has_no_taxon_at_the_rank() -> None:
    counts = counts_of(target3=2, t10=4, t2=1)
    assert listed(estimated_abundances(counts, LINEAGES, "species")) == [(10, 5), (-4, 2)]
    assert listed(estimated_abundances(counts, LINEAGES, "family")) == [(2, 5), (-4, 2)]
    with pytest.raises(UsageError, match="choose one of"):
        estimated_abundances(counts, LINEAGES, "clan")


@given(seed=st.integers(0, 1 << 32), taxa=st.integers(1, 30), targets=st.integers(0, 8), rank=st.sampled_from(RANKS))
def test_no_read_is_lost(seed: int, taxa: int, targets: int, rank: str) -> None:
    rng = np.random.default_rng(seed)
    lineages = random_lineages(taxa, targets, rng, ordered=True)
    counts = np.zeros(taxa + targets + 1, np.int64)
    seen = np.unique(lineages.at_rank[taxa:])
    counts[seen] = rng.integers(0, 50, len(seen)) * (rng.random(len(seen)) < 0.7)
    table = estimated_abundances(counts, lineages, rank)
    assert np.isclose(table.reads.sum(), counts[:-1].sum(), rtol=1e-12)
    assert table.unclassified == counts[-1]
    found = set(table.taxon.tolist())
    for taxon in found:
        assert not found & set(lineages.at_rank[taxon].tolist()) - {taxon}


def test_no_reads() -> None:
    table = abundances(counts_of(), LINEAGES)
    assert (len(table), table.total) == (0, 0)
    assert len(estimated_abundances(counts_of(unclassified=3), LINEAGES, "genus")) == 0


def test_texts() -> None:
    assert [reads_text(reads) for reads in (1443.0, 12345678.0, 1444.274561761112)] == [
        "1443",
        "12345678",
        "1444.27456176111",
    ]
    assert [percent_text(share) for share in (0.07215, 1 / 3, 0.0, 1.0)] == ["7.215", "33.3333", "0", "100"]
