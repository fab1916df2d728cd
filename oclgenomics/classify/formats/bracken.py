"""Abundances at one rank in the columns of Bracken, out of this package's own estimate.

Bracken deals the reads of higher taxa out by the k-mers that genomes share, which it takes from a database of Kraken.
Here the estimate is that of `Tally.estimate`, which may also be below the reads that were called a taxon.
"""

from __future__ import annotations

from oclgenomics.classify.formats.kreport import RANK_LETTERS
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.errors import ParameterError

__all__ = ["bracken_table"]

COLUMNS = (
    "name", "taxonomy_id", "taxonomy_lvl", "kraken_assigned_reads", "added_reads", "new_est_reads",
    "fraction_total_reads",
)  # fmt: skip


def bracken_table(tally: Tally, rank: str = "species") -> str:
    """Write a line for each taxon of a rank that reads were called, or that is estimated to have one at least.

    `kraken_assigned_reads` are those of its clade, `new_est_reads` the estimate as a whole number, `added_reads` the
    difference, and `fraction_total_reads` is of all reads that are estimated to be of taxa of the rank.

    Parameters
    ----------
    tally : Tally
    rank : str
        One that has a letter: domain, kingdom, phylum, class, order, family, genus or species.

    Raises
    ------
    UsageError
        There is no letter for the rank.
    """
    letters = {RANKS[slot]: letter for slot, letter in RANK_LETTERS.items() if letter != "R"}
    if rank not in letters:
        raise ParameterError("rank", f"choose one of {', '.join(letters)}", rank)
    words = TaxonWords(tally.lineages)
    assigned = dict(zip(*(array.tolist() for array in tally.at_rank(rank)), strict=True))
    estimate = tally.estimate(rank)
    reads = dict(zip(estimate.taxon.tolist(), (round(count) for count in estimate.reads.tolist()), strict=True))
    at_rank = tally.lineages.at_rank[:, RANKS.index(rank)]
    there = assigned.keys() | {taxon for taxon, count in reads.items() if count and at_rank[taxon] == taxon}
    rows = {taxon: reads.get(taxon, 0) for taxon in sorted(there)}
    total = max(sum(rows.values()), 1)
    lines = ["\t".join(COLUMNS) + "\n"]
    for taxon, count in rows.items():
        called = assigned.get(taxon, 0)
        numbers = f"{called}\t{count - called}\t{count}\t{count / total:.5f}"
        lines.append(f"{words.name(taxon)}\t{words.taxid(taxon)}\t{letters[rank]}\t{numbers}\n")
    return "".join(lines)
