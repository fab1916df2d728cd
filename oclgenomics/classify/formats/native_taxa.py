"""How MetaCache's text shows a taxon: `rank:name(taxid)` or part of that, alone or with its lineage."""

from __future__ import annotations

from oclgenomics.classify.formats.native_options import NativeOptions
from oclgenomics.classify.formats.taxon_words import NO_TAXID, TaxonWords
from oclgenomics.classify.formats.text_table import NO_TEXT
from oclgenomics.classify.taxonomy.ranks import RANKS
from oclgenomics.classify.taxonomy.tree import NO_TAXON

__all__ = ["NOTHING", "NativeTaxa"]

NOTHING = "--"


class NativeTaxa:
    """Columns of taxa.

    Parameters
    ----------
    words : TaxonWords
    options : NativeOptions
    lowest, highest : str
        Ranks between which lineages are shown.
    """

    def __init__(self, words: TaxonWords, options: NativeOptions, lowest: str, highest: str) -> None:
        self._words, self._options = words, options
        self._slots = range(RANKS.index(lowest), RANKS.index(highest) + 1)

    def heading(self, before: str = "") -> str:
        """What the columns are called, with `before` before each word."""
        options = self._options
        ranks = [RANKS[slot] for slot in self._slots] if options.lineage else ["rank"]
        return self._joined([self._cell(f"{before}{rank}", f"{before}taxname", f"{before}taxid") for rank in ranks])

    def text(self, number: int) -> str:
        """A taxon or target by its number in `Lineages`; `NO_TEXT` for an unclassified read."""
        options = self._options
        if number == NO_TEXT:
            return self._nothing()
        if not options.lineage:
            return self._cell_of(number, self._words.rank(number))
        lowest = self._words.slot(number)
        return self._joined(
            [self._cell_of(self._words.at_rank(number, slot), RANKS[slot]) for slot in range(lowest, self._slots.stop)]
        )

    def truth_text(self, number: int) -> str:
        """The taxon that a read is of in truth, or the first one above it between the ranks that are shown."""
        if number == NO_TEXT:
            return self._nothing()
        lineage = [self._words.at_rank(number, slot) for slot in self._slots]
        return self.text(next((one for one in lineage if one != NO_TAXON), NO_TEXT))

    def _nothing(self) -> str:
        options = self._options
        if not options.separate_cols:
            return str(NO_TAXID) if options.taxids_only and options.omit_ranks else NOTHING
        cell = self._cell(NOTHING, NOTHING, str(NO_TAXID))
        return self._joined([cell] * (len(self._slots) if options.lineage else 1))

    def _cell_of(self, number: int, rank: str) -> str:
        if number == NO_TAXON:
            return self._cell(rank, NOTHING, str(NO_TAXID))
        taxa = self._words.taxa
        taxid = taxa - number - 1 if number >= taxa else self._words.taxid(number)  # of targets -1, -2 and so on
        return self._cell(rank, self._words.name(number), str(taxid))

    def _cell(self, rank: str, name: str, taxid: str) -> str:
        options = self._options
        words = [taxid] if options.taxids_only else [name, taxid] if options.taxids else [name]
        if options.separate_cols:
            return options.separator.join(words if options.omit_ranks else [rank, *words])
        shown = words[0] if len(words) == 1 else f"{words[0]}({words[1]})"
        return shown if options.omit_ranks else f"{rank}:{shown}"

    def _joined(self, cells: list[str]) -> str:
        return (self._options.separator if self._options.separate_cols else ",").join(cells)
