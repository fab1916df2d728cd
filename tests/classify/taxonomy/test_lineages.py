"""Lineages: which taxon fills which rank."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.taxonomies import random_taxonomy, targets_of, taxonomy_of

from oclgenomics.classify.options import NO_RANK, RANK_SLOTS, RANKS, SEQUENCE
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy


def row_of(taxonomy: Taxonomy, taxon: int) -> list[int]:
    """The lineage of a taxon, step by step."""
    row = [NO_TAXON] * len(RANKS)
    while True:
        if taxonomy.ranks[taxon] != NO_RANK:
            row[taxonomy.ranks[taxon]] = taxon
        if taxonomy.parents[taxon] == taxon:
            return row
        taxon = int(taxonomy.parents[taxon])


@pytest.mark.parametrize("taxa", [1, 2, 3, 50, 400])
def test_every_taxon(taxa: int) -> None:
    taxonomy = random_taxonomy(taxa, np.random.default_rng(taxa))
    targets = targets_of([NO_TAXON, taxa - 1, 0])
    at_rank = Lineages.of(taxonomy, targets).at_rank
    assert at_rank[:taxa].tolist() == [row_of(taxonomy, taxon) for taxon in range(taxa)]
    assert at_rank[taxa:, SEQUENCE].tolist() == [taxa, taxa + 1, taxa + 2]
    assert at_rank[taxa:, 1:].tolist() == [[NO_TAXON] * 20, row_of(taxonomy, taxa - 1)[1:], row_of(taxonomy, 0)[1:]]


def test_highest_taxon_of_a_rank() -> None:
    ranks = {1: "root", 10: "genus", 11: "subgenus", 12: "subgenus", 13: "subgenus", 20: "species"}
    lineages = Lineages.of(taxonomy_of({1: 1, 10: 1, 11: 10, 12: 11, 13: 12, 20: 13}, ranks), targets_of([5]))
    assert lineages.at_rank[6, RANKS.index("subgenus")] == 2


def test_deep_tree() -> None:
    deep = 300_000
    taxonomy = Taxonomy(
        np.arange(1, deep + 1),
        np.maximum(np.arange(-1, deep - 1), 0).astype(np.int32),
        np.full(deep, NO_RANK, np.int8),
        ("",) * deep,
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
    )
    taxonomy.ranks[0] = RANKS.index("root")
    assert (Lineages.of(taxonomy, targets_of([])).at_rank[:, -1] == 0).all()


def test_no_taxonomy() -> None:
    assert Lineages.of(taxonomy_of({}), targets_of([NO_TAXON] * 2)).at_rank[:, SEQUENCE].tolist() == [0, 1]


def test_groups() -> None:
    ranks = {1: "root", 2: "domain", 10: "genus", 20: "species"}
    lineages = Lineages.of(taxonomy_of({1: 1, 2: 1, 10: 2, 20: 10}, ranks), targets_of([3, 2, 1, NO_TAXON]))
    assert lineages.groups("sequence").tolist() == [4, 5, 6, 7]
    assert lineages.groups("species").tolist() == [3, 2, 1, NO_TAXON]
    assert lineages.groups("domain").tolist() == [1, 1, 1, NO_TAXON]


def test_names_of_ranks() -> None:
    assert [RANKS[RANK_SLOTS[name]] for name in ("superkingdom", "species group", "division", "infraorder")] == [
        "domain", "subgenus", "phylum", "suborder",
    ]  # fmt: skip
    assert not {"no rank", "clade", "strain"} & set(RANK_SLOTS)
