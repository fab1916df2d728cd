"""The formats of CAMI: reads in bins by taxon (0.9.0), and profiles of samples (0.9.1).

Percentages of a profile are shares of all reads of the sample, not of genomes; what has no taxon of a rank is missing
there, so that those of a rank sum to 100 at most.
"""

from __future__ import annotations

import re

import numpy as np

from oclgenomics.app.reports import Report
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import TaxonWords
from oclgenomics.classify.options import RANKS
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.sequence.joined_lines import NO_TEXT, Column, LineJoiner, NameColumn, TextTable, clean_names

PROFILED = {
    "domain": "superkingdom", "phylum": "phylum", "class": "class", "order": "order", "family": "family",
    "genus": "genus", "species": "species",
}  # fmt: skip  # the ranks of a profile by their names here
DIGITS = 6  # of percentages; they are rounded down


def _sample_id(sample: str) -> str:
    """The name of a sample in the characters that the formats allow."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", sample)


class CamiBinning(Report[ClassifiedReads]):
    """A line for each read that has a taxon: its name and the taxid. A read called a target has that of its taxon.

    Parameters
    ----------
    lineages : Lineages
    sample : str
        Characters other than ASCII letters, digits, dots, dashes and underscores become underscores.
    joiner : LineJoiner
    """

    def __init__(self, lineages: Lineages, sample: str, joiner: LineJoiner) -> None:
        words = TaxonWords(lineages)
        self._sample, self._joiner = _sample_id(sample), joiner
        placed = lineages.targets.taxon != NO_TAXON
        self._placed = np.concatenate([np.ones(words.taxa, np.bool_), placed, [False]])  # the last one is for NO_TAXON
        self._calls = TextTable(words.count, lambda number: "" if number == NO_TEXT else f"\t{words.taxid(number)}\n")

    def head(self) -> bytes:
        """Say what it is of."""
        return f"@Version:0.9.0\n@SampleID:{self._sample}\n@@SEQUENCEID\tTAXID\n".encode()

    def body(self, part: ClassifiedReads) -> memoryview:
        """Write the reads of a part."""
        placed = np.flatnonzero(self._placed[part.calls.taxon])
        calls = self._calls.column(part.calls.taxon[placed])
        columns: list[Column] = [NameColumn(clean_names(part.reads.names), placed), calls]
        return self._joiner.join(len(placed), columns)


def cami_profile(tally: Tally, sample: str) -> str:
    """Write the shares of taxa at each rank.

    Parameters
    ----------
    tally : Tally
    sample : str
        See `CamiBinning`.
    """
    words, total = TaxonWords(tally.lineages), max(tally.reads, 1)
    slots = [RANKS.index(rank) for rank in PROFILED]
    lines = [
        f"@Version:0.9.1\n@SampleID:{_sample_id(sample)}\n@Ranks:{'|'.join(PROFILED.values())}\n",
        "@@TAXID\tRANK\tTAXPATH\tTAXPATHSN\tPERCENTAGE\n",
    ]
    for level, (rank, shown) in enumerate(PROFILED.items()):
        taxa, reads = tally.at_rank(rank)
        for place in np.lexsort((taxa, -reads)).tolist():
            path = [words.at_rank(int(taxa[place]), slot) for slot in slots[: level + 1]]
            taxids = "|".join("" if taxon == NO_TAXON else f"{words.taxid(taxon)}" for taxon in path)
            names = "|".join("" if taxon == NO_TAXON else words.name(taxon).replace("|", "_") for taxon in path)
            scaled = 100 * 10**DIGITS * int(reads[place]) // total
            percent = f"{scaled // 10**DIGITS}.{scaled % 10**DIGITS:0{DIGITS}d}"
            lines.append(f"{words.taxid(int(taxa[place]))}\t{shown}\t{taxids}\t{names}\t{percent}\n")
    return "".join(lines)
