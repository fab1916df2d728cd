"""MetaCache's lists: taxa and their reads, and the reads that hit each target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.native import NOTHING, NativeOptions, NativeTaxa
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import NO_TAXID, TaxonWords
from oclgenomics.classify.options import SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.abundances import Abundances, abundances, percent_text, reads_text
from oclgenomics.classify.taxonomy.calls import NO_TARGET
from oclgenomics.classify.taxonomy.lineages import Lineages


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


class TargetHits:
    """The candidates of all reads that have as many hits as the read needs, by targets.

    A line holds the target, its windows, and for each read its number, the first window, how many more there are up to
    the last one, and the hits. Targets come in the order of the database, reads by the first window. All candidates are
    held in memory, 20 bytes each.

    Parameters
    ----------
    lineages : Lineages
    highest : str
        The rank up to which lineages are shown.
    sketch : SketchOptions
        Those of the database.
    options : NativeOptions
        How targets are shown.
    """

    def __init__(
        self, lineages: Lineages, highest: str, sketch: SketchOptions, options: NativeOptions | None = None
    ) -> None:
        self._lineages, self._sketch = lineages, sketch
        self._options = options or NativeOptions()
        self._taxa = NativeTaxa(TaxonWords(lineages), self._options, "sequence", highest)
        self._found: list[tuple[NDArray[np.int64], ...]] = []

    def add(self, part: ClassifiedReads) -> None:
        """Keep the candidates of a part."""
        candidates, needed = part.candidates, part.calls.hitmin[:, np.newaxis]
        read, place = np.nonzero((candidates.targets != NO_TARGET) & (candidates.hits >= needed))
        arrays = (candidates.targets, candidates.first, candidates.last, candidates.hits)
        self._found.append((part.reads.number + read, *(array[read, place].astype(np.int64) for array in arrays)))

    def text(self) -> str:
        """Write the list."""
        options, separator = self._options, self._options.separator
        headings = ("sequence", "windows_in_sequence")
        layout = separator.join([f" {name} " for name in headings]) + separator
        lines = [
            f"{options.comment}--- list of hits for each reference sequence ---\n",
            f"{options.comment}window start position within sequence = window_index * window_stride"
            f"(={self._sketch.winstride})\n",
            f"{options.comment}TABLE_LAYOUT: {layout}queryid/first_window_index+additional_windows:hits,queryid/...\n",
        ]
        if not self._found:
            return "".join(lines)
        reads, targets, first, last, hits = (np.concatenate(columns) for columns in zip(*self._found, strict=True))
        order = np.lexsort((reads, first, targets))
        rows = zip(*(column[order].tolist() for column in (reads + 1, first, last - first, hits)), strict=True)
        texts = [f"{read}/{begin}+{more}:{count}" for read, begin, more, count in rows]
        hit, begins, counts = np.unique(targets[order], return_index=True, return_counts=True)
        windows = self._lineages.targets.windows
        for target, begin, end in zip(hit.tolist(), begins.tolist(), (begins + counts).tolist(), strict=True):
            name = self._taxa.text(len(self._lineages.taxonomy) + target)
            lines.append(separator.join([name, f"{windows[target]}", ",".join(texts[begin:end])]) + "\n")
        return "".join(lines)
