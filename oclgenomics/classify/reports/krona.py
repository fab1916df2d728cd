"""Reads and lineages as Krona's ktImportText takes them."""

from __future__ import annotations

from oclgenomics.classify.reports.kreport import walk
from oclgenomics.classify.reports.tally import Tally
from oclgenomics.classify.reports.taxon_words import TaxonWords

__all__ = ["krona_text"]


def krona_text(tally: Tally) -> str:
    """Write a line for each taxon with reads of its own: their number, then the taxa from below the root down to it.

    Reads that were called a target count for its taxon; those without a taxon are `Unclassified`.

    Parameters
    ----------
    tally : Tally
    """
    words, direct = TaxonWords(tally.lineages), tally.of_taxa()
    lines: list[str] = []
    names: list[str] = []  # from the root down
    for taxon, depth in walk(tally.lineages.taxonomy, tally.of_clades()):
        names[depth:] = [words.name(taxon)]
        if direct[taxon]:
            lines.append("\t".join([f"{direct[taxon]}", *names[1:]]) + "\n")
    if unplaced := tally.unplaced:
        lines.append(f"{unplaced}\tUnclassified\n")
    return "".join(lines)
