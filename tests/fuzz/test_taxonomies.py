"""Damaged taxonomies and maps of accessions: a tree, or taxids, or one error of one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, inputs, limited
from helpers.golden_taxa import EDGE, VIRAL
from helpers.taxonomies import targets_of

from oclgenomics.classify.options import NO_RANK, RANKS
from oclgenomics.classify.taxonomy.assignment import assign_taxa
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import pruned, united
from oclgenomics.errors import InputError

pytestmark = pytest.mark.fuzz

DUMPS = ("nodes.dmp", "names.dmp", "merged.dmp")
FOLDERS = {"edge": EDGE, "viral": VIRAL / "tax"}
MAP = b"accession\taccession.version\ttaxid\tgi\n" + b"".join(
    b"AB%06d\tAB%06d.1\t%d\t%d\n" % (at, at, at + 1, 100 + at) for at in range(40)
)
SUMMARY = b"#   See README\n#assembly_accession\tbioproject\ttaxid\n" + b"".join(
    b"GCF_%06d.1\tP%d\t%d\n" % (at, at, at + 1) for at in range(40)
)


def check_tree(folder: Path) -> None:
    """The tree is one, and lineages, parts and unions of it can be had."""
    tree = read_taxonomy(folder)
    assert (np.diff(tree.taxids) > 0).all()
    assert 1 <= tree.taxids[0] <= tree.taxids[-1] < 1 << 31
    assert len(tree) == len(tree.parents) == len(tree.ranks) == len(tree.names)
    assert 0 <= tree.parents.min() <= tree.parents.max() < len(tree)
    assert NO_RANK <= tree.ranks.min() <= tree.ranks.max() < len(RANKS)
    assert all("\n" not in name for name in tree.names)
    assert (tree.find(tree.merged_from) >= 0).all()
    at_rank = Lineages.of(tree, targets_of([0, len(tree) - 1])).at_rank
    assert (at_rank[: len(tree), -1] == np.flatnonzero(tree.parents == np.arange(len(tree)))).all()
    part, _ = pruned(tree, np.array([len(tree) - 1], np.int32))
    assert united(part, tree)[0].taxids.tolist() == tree.taxids.tolist()


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("dump", DUMPS)
def test_dumps(tmp_path: Path, name: str, dump: str) -> None:
    samples = {one: (FOLDERS[name] / one).read_bytes() for one in DUMPS}
    for one, data in samples.items():
        (tmp_path / one).write_bytes(data)
    check_tree(tmp_path)
    refused = 0
    for number, data in inputs(samples, dump, SECONDS / 6):
        (tmp_path / dump).write_bytes(data)
        with limited(data, f"{dump} of {name}, number {number}"):
            refused += refuses(check_tree, tmp_path)
    assert refused


def check_taxids(path: Path) -> None:
    """Names that are in the file get a taxid that can be one."""
    names = ["AB000000.1", "AB000039", "GCF_000007.1", "GCF_000008", "120", "none"]
    taxids = assign_taxa(names, np.zeros(6, np.int64), ["x.fna"] * 6, None, maps=[path])
    assert 0 <= taxids.min() <= taxids.max() < 1 << 31


@pytest.mark.parametrize("name", ["map", "summary"])
def test_maps(tmp_path: Path, name: str) -> None:
    samples, refused = {"map": MAP, "summary": SUMMARY}, 0
    for number, data in inputs(samples, name, SECONDS / 6, each=0.003):
        (tmp_path / "x").write_bytes(data)
        with limited(data, f"{name} of accessions, number {number}"):
            refused += refuses(check_taxids, tmp_path / "x")
    assert refused


def refuses(read: Callable[[Path], None], path: Path) -> bool:
    """Whether a reader refuses a file, which it does in one line."""
    try:
        read(path)
    except InputError as error:
        refusal = str(error)
    else:
        return False
    assert "\n" not in refusal
    return True
