"""Parts of trees, and trees made one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.taxonomies import random_taxonomy, taxonomy_of
from hypothesis import given, strategies as st

from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy, pruned, united
from oclgenomics.errors import InputError


def paths(tree: Taxonomy) -> dict[int, tuple[int, int, str]]:
    """Of each taxid, its parent's, its rank and its name."""
    parents = tree.taxids[tree.parents]
    rows = zip(parents.tolist(), tree.ranks.tolist(), tree.names, strict=True)
    return dict(zip(tree.taxids.tolist(), rows, strict=True))


def ancestors(tree: Taxonomy, taxon: int) -> set[int]:
    found = {taxon}
    while tree.parents[taxon] != taxon:
        taxon = int(tree.parents[taxon])
        found.add(taxon)
    return found


@given(seed=st.integers(0, 1 << 32), taxa=st.integers(1, 40), given_taxa=st.integers(0, 10))
def test_part_of_a_tree(seed: int, taxa: int, given_taxa: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_taxonomy(taxa, rng)
    merged = np.sort(rng.choice(np.arange(1000, 2000), 5, replace=False))
    tree = replace(tree, merged_from=merged, merged_to=rng.choice(tree.taxids, 5))
    wanted = rng.integers(NO_TAXON, taxa, given_taxa).astype(np.int32)
    part, numbers = pruned(tree, wanted)
    above = set().union({0}, *(ancestors(tree, int(taxon)) for taxon in wanted if taxon != NO_TAXON))
    assert part.taxids.tolist() == tree.taxids[sorted(above)].tolist()
    assert paths(part).items() <= paths(tree).items()
    old = np.where(wanted == NO_TAXON, 0, tree.taxids[wanted])
    assert np.where(numbers == NO_TAXON, 0, part.taxids[numbers]).tolist() == old.tolist()
    assert numbers.dtype == np.int32
    leads = np.isin(tree.merged_to, part.taxids)
    assert part.merged_from.tolist() == merged[leads].tolist()
    assert part.merged_to.tolist() == tree.merged_to[leads].tolist()


@given(seed=st.integers(0, 1 << 32), taxa=st.integers(1, 40))
def test_parts_of_one_tree(seed: int, taxa: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_taxonomy(taxa, rng)
    tree = replace(tree, merged_from=np.array([9990, 9991]), merged_to=rng.choice(tree.taxids, 2))
    wanted = [rng.integers(0, taxa, 4).astype(np.int32) for _ in range(2)]
    (first, _), (second, _) = (pruned(tree, one) for one in wanted)
    whole, *numbers = united(first, second)
    expected, _ = pruned(tree, np.concatenate(wanted))
    assert paths(whole) == paths(expected)
    assert whole.merged_from.tolist() == expected.merged_from.tolist()
    for one, places in zip((first, second), numbers, strict=True):
        assert whole.taxids[places].tolist() == one.taxids.tolist()


def test_no_taxa() -> None:
    empty, tree = taxonomy_of({}), taxonomy_of({1: 1, 2: 1})
    assert len(pruned(empty, np.array([NO_TAXON, NO_TAXON], np.int32))[0]) == 0
    assert pruned(empty, np.array([NO_TAXON], np.int32))[1].tolist() == [NO_TAXON]
    assert united(empty, tree)[0] is tree
    assert united(tree, empty)[1].tolist() == [0, 1]


def test_names_of_both() -> None:
    first, second = taxonomy_of({1: 1, 2: 1, 5: 1}), taxonomy_of({1: 1, 2: 1, 9: 2})
    named = replace(first, names=("", "here", "five")), replace(second, names=("root", "there", "nine"))
    assert united(*named)[0].names == ("root", "here", "five", "nine")


TREE = taxonomy_of({1: 1, 2: 1, 3: 2, 4: 2}, {1: "root", 2: "genus", 3: "species"})


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (taxonomy_of({1: 1, 3: 1}, {1: "root", 3: "species"}),
         "taxid 3 (taxon 3) lies below taxid 2 in the database and below taxid 1 in the added taxonomy"),
        (taxonomy_of({1: 1, 2: 1}, {1: "root", 2: "tribe"}),
         "taxid 2 (taxon 2) has the rank genus in the database and tribe in the added taxonomy"),
        (taxonomy_of({7: 7, 8: 7}, {7: "root"}), "the two taxonomies have other roots, taxids 1 and 7"),
        (replace(TREE, merged_from=np.array([50]), merged_to=np.array([3])), "taxid 50 was merged into taxid 3 in"),
        (replace(TREE, merged_from=np.array([60]), merged_to=np.array([3])), "taxid 60 was merged into taxid 3 in"),
    ],
)  # fmt: skip
def test_conflicts(other: Taxonomy, message: str) -> None:
    tree = replace(
        taxonomy_of({1: 1, 2: 1, 3: 2, 4: 2, 60: 2}, {1: "root", 2: "genus", 3: "species"}),
        merged_from=np.array([50]),
        merged_to=np.array([4]),
    )
    with pytest.raises(InputError) as error:
        united(tree, other)
    assert message in str(error.value)
