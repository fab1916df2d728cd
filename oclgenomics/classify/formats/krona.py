"""Reads and lineages as Krona's ktImportText takes them."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.formats.kreport import walk
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["krona_text"]


def krona_text(tally: Tally) -> str:
    """Write a line for each taxon with reads of its own: their number, then the taxa from below the root down to it.

    Reads that were called a target count for its taxon; where it has none, the target itself stands below the root.
    Reads that were called nothing are `Unclassified`.

    Parameters
    ----------
    tally : Tally
    """
    words, direct, taxa = TaxonWords(tally.lineages), tally.of_taxa(rootless=False), len(tally.lineages.taxonomy)
    lines: list[str] = []
    names: list[str] = []  # from the root down
    for taxon, depth in walk(tally.lineages.taxonomy, tally.of_clades()):
        names[depth:] = [words.name(taxon)]
        if direct[taxon]:
            lines.append("\t".join([f"{direct[taxon]}", *names[1:]]) + "\n")
    for target in np.flatnonzero(tally.lineages.targets.taxon == NO_TAXON).tolist():
        if reads := int(tally.counts[taxa + target]):
            lines.append(f"{reads}\t{words.name(taxa + target)}\n")
    if none := tally.unclassified:
        lines.append(f"{none}\tUnclassified\n")
    return "".join(lines)
