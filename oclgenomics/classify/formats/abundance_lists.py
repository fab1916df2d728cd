"""MetaCache's list of taxa and their reads, and of estimates at a rank."""

from __future__ import annotations

from oclgenomics.classify.calling.abundances import (
    Abundances,
    abundances,
    percent_text,
    reads_text,
)
from oclgenomics.classify.formats.native_options import NativeOptions
from oclgenomics.classify.formats.native_taxa import NOTHING
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.taxon_words import NO_TAXID, TaxonWords

__all__ = ["abundance_lists"]


def abundance_lists(tally: Tally, per: str | None = None, options: NativeOptions | None = None) -> str:
    """List the taxa that reads were called, and with `per` an estimate for the taxa of a rank.

    Parameters
    ----------
    tally : Tally
    per : str, optional
        The rank of the estimate; see `Tally.estimate`.
    options : NativeOptions, optional
        `separator`, `comment` and `separate_cols` count.
    """
    options, words = options or NativeOptions(), TaxonWords(tally.lineages)
    counted = abundances(tally.counts, tally.lineages)
    text = _listed("query summary: number of queries mapped per taxon", counted, words, options)
    if per is not None:
        title = f"estimated abundance (number of queries) per {per}"
        text += _listed(title, tally.estimate(per), words, options)
    return text


def _listed(title: str, listed: Abundances, words: TaxonWords, options: NativeOptions) -> str:
    between = options.separator if options.separate_cols else ":"
    headings = (f"rank{between}name", "taxid", "number of reads", "abundance")
    rows = [
        (f"{words.rank(taxon)}{between}{words.name(taxon)}", f"{words.taxid(taxon)}", reads_text(reads), share)
        for taxon, reads, share in zip(listed.taxon.tolist(), listed.reads.tolist(), listed.share.tolist(), strict=True)
    ]
    text = f"{options.comment}{title}\n{options.comment}{options.separator.join(headings)}\n"
    unclassified = listed.unclassified / max(listed.total, 1)
    last = ("unclassified", NOTHING, f"{NO_TAXID}", f"{listed.unclassified}", f"{percent_text(unclassified)}%")
    for *cells, share in rows:
        text += options.separator.join([*cells, f"{percent_text(share)}%"]) + "\n"
    return text + options.separator.join(last) + "\n"
