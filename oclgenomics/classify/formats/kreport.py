"""The report of a sample as Kraken 2 writes it: a tree of taxa, each with the reads of its clade.

| column | what it holds |
|---|---|
| 1 | share of all reads in the clade, in percent |
| 2 | reads in the clade: called the taxon or one below it |
| 3 | reads that were called the taxon itself |
| 4 | rank: U(nclassified), R(oot), D(omain), K(ingdom), P(hylum), C(lass), O(rder), F(amily), G(enus), S(pecies); |
|   | a taxon of any other rank has the letter of the next one above it, and how far below that it is |
| 5 | taxid |
| 6 | name, two spaces before it for each level of the tree |

Each taxon comes before those below it; of neighbours the one with more reads comes first. A pair counts as one read.
Reads that were called a target count for its taxon, or, where it has none, for the root: they are classified, and that
is all that is known of their place in the tree. The root is always there, even where the database has no taxonomy,
since programs that read such reports look for it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.classify.taxonomy.tree import ROOT_TAXID, Taxonomy

__all__ = ["RANK_LETTERS", "kreport", "walk"]

RANK_LETTERS = {
    RANKS.index(rank): letter
    for rank, letter in (
        ("root", "R"), ("domain", "D"), ("kingdom", "K"), ("phylum", "P"), ("class", "C"), ("order", "O"),
        ("family", "F"), ("genus", "G"), ("species", "S"),
    )
}  # fmt: skip


def kreport(tally: Tally) -> str:
    """Write the report.

    Parameters
    ----------
    tally : Tally
    """
    taxonomy, words = tally.lineages.taxonomy, TaxonWords(tally.lineages)
    direct, clades, total = tally.of_taxa(), tally.of_clades(), max(tally.reads, 1)
    lines = []
    if none := tally.unclassified:
        lines.append(f"{100 * none / total:6.2f}\t{none}\t{none}\tU\t0\tunclassified\n")
    if not len(taxonomy):
        found = tally.without_taxon
        lines.append(f"{100 * found / total:6.2f}\t{found}\t{found}\tR\t{ROOT_TAXID}\troot\n")
    codes: list[tuple[str, int]] = []  # of the taxa above: the letter, and how far below it they are
    for taxon, depth in walk(taxonomy, clades):
        letter = "R" if not depth else RANK_LETTERS.get(int(taxonomy.ranks[taxon]))
        code = (codes[depth - 1][0], codes[depth - 1][1] + 1) if letter is None else (letter, 0)
        codes[depth:] = [code]
        count, rank = int(clades[taxon]), f"{code[0]}{code[1] or ''}"
        numbers = f"{100 * count / total:6.2f}\t{count}\t{direct[taxon]}\t{rank}\t{words.taxid(taxon)}"
        lines.append(f"{numbers}\t{'  ' * depth}{words.name(taxon)}\n")
    return "".join(lines)


def walk(taxonomy: Taxonomy, clades: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the taxa whose clades have reads, and the root, each before those below it, and how far below the root.

    Parameters
    ----------
    taxonomy : Taxonomy
    clades : ndarray, int64 (taxa,)
        Reads of clades; of neighbours, the one with most comes first, then the one with the lowest identifier.
    """
    numbers = np.arange(len(taxonomy))
    is_root = taxonomy.parents == numbers
    seen = np.flatnonzero((clades > 0) & ~is_root)
    order = seen[np.lexsort((-seen, clades[seen]))]  # the last one is to be the first
    below: dict[int, list[int]] = {}
    for taxon, parent in zip(order.tolist(), taxonomy.parents[order].tolist(), strict=True):
        below.setdefault(parent, []).append(taxon)
    waiting = [(root, 0) for root in numbers[is_root].tolist()]
    while waiting:
        taxon, depth = waiting.pop()
        yield taxon, depth
        waiting += [(child, depth + 1) for child in below.get(taxon, ())]
