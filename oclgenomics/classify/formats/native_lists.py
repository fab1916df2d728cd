"""MetaCache's words for how many reads were classified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.native import NOTHING, NativeOptions, NativeTaxa
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import NO_TAXID, TaxonWords
from oclgenomics.classify.options import RANKS, SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.abundances import (
    Abundances,
    abundances,
    percent_text,
    reads_text,
)
from oclgenomics.classify.taxonomy.calls import NO_TARGET
from oclgenomics.classify.taxonomy.identifiers import header_taxids, raw_id, without_version
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError
from oclgenomics.sequence.name_list import NEWLINE, NameList

__all__ = [
    "MAIN_RANKS",
    "HeaderTruth",
    "PrecisionTally",
    "TargetHits",
    "abundance_lists",
    "precision_text",
    "summary_text",
]

MAIN_RANKS = (
    "sequence", "subspecies", "species", "genus", "family", "order", "class", "phylum", "kingdom", "domain", "root",
)  # fmt: skip


def summary_text(tally: Tally, comment: str = "# ") -> str:
    """Say how many reads were classified at each rank or below; shares are of reads, or of pairs.

    Parameters
    ----------
    tally : Tally
    comment : str
        Starts each line.
    """
    lines = [f"queries: {tally.sequences}"]
    reads, unclassified = tally.reads, tally.unclassified
    if reads and unclassified == reads:
        lines.append("None of the input sequences could be classified.")
    elif unclassified:
        lines.append(f"unclassified: {percent_text(unclassified / reads)}% ({unclassified})")
    if unclassified < reads:
        lines.append("classified:")
        for rank in MAIN_RANKS:
            if count := tally.at_or_below(rank):
                lines.append(f"  {rank:<11}{percent_text(count / reads)}% ({count})")
    return "".join([f"{comment}{line}\n" for line in lines])


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


class PrecisionTally:
    """Counts calls that are right, part by part, as MetaCache counts them.

    A call is right at a rank if it and the true taxon have a taxon of that rank, or of a lower one, in common. A read
    whose true taxon is of a higher rank than its call can be right at that rank and above.

    Parameters
    ----------
    lineages : Lineages

    Attributes
    ----------
    reads : int
        Those without a known taxon as well.
    called : ndarray, int64 (ranks,)
        Reads that are called a taxon of each rank.
    known : ndarray, int64 (ranks,)
        Reads whose true taxon is known and is of each rank.
    called_known : ndarray, int64 (ranks,)
        Those of them that are called a taxon of each rank.
    right : ndarray, int64 (ranks,)
        Those for which each rank is the lowest one at which both lineages agree.
    """

    def __init__(self, lineages: Lineages) -> None:
        self._at_rank = lineages.at_rank
        filled = lineages.at_rank != NO_TAXON
        self._slots = np.where(filled.any(axis=1), filled.argmax(axis=1), RANKS.index("root"))
        self.reads = 0
        self.called, self.known, self.called_known, self.right = (np.zeros(len(RANKS), np.int64) for _ in range(4))

    def add(self, part: ClassifiedReads, truth: NDArray[np.int32]) -> None:
        """Count the reads of a part.

        Parameters
        ----------
        part : ClassifiedReads
        truth : ndarray, int32 (reads,)
            The true taxon of each read, a number in `Lineages`; `NO_TAXON` if it is not known.
        """
        calls = part.calls.taxon
        called, known = calls != NO_TAXON, truth != NO_TAXON
        both = called & known
        self.reads += len(part)
        self.called += self._counted(calls[called])
        self.known += self._counted(truth[known])
        self.called_known += self._counted(calls[both])
        ours, true = self._at_rank[calls[both]], self._at_rank[truth[both]]
        same = (ours == true) & (ours != NO_TAXON)
        agreed = same.argmax(axis=1)[same.any(axis=1)]
        self.right += np.bincount(agreed, minlength=len(RANKS))

    def _counted(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        return np.bincount(self._slots[numbers], minlength=len(RANKS))


def precision_text(tally: PrecisionTally, comment: str = "# ") -> str:
    """Say how many reads are right at each rank or below; ranks start with the lowest one of any call.

    Precision is the share of those that are called anything there and whose true taxon is known; sensitivity is the
    share of all reads whose true taxon is known there. If none is known, that is all that is said, where MetaCache says
    nothing.

    Parameters
    ----------
    tally : PrecisionTally
    comment : str
        Starts each line.
    """
    called, known, called_known, right = (
        np.cumsum(counts) for counts in (tally.called, tally.known, tally.called_known, tally.right)
    )
    if not known[-1]:
        return f"{comment}ground truth unknown: 100% ({tally.reads})\n" if tally.reads else ""
    ranks = [(rank, RANKS.index(rank)) for rank in MAIN_RANKS if called[RANKS.index(rank)]]
    lines = []
    if unknown := tally.reads - int(known[-1]):
        lines.append(f"ground truth unknown: {percent_text(unknown / tally.reads)}% ({unknown})")
    lines.append("ground truth known:")
    lines += [f"  {rank:<11}{_percent(known[at], tally.reads)} ({known[at]})" for rank, at in ranks]
    lines.append("correctly classified:")
    lines += [f"  {rank:<11}{right[at]}" for rank, at in ranks]
    lines.append("precision (correctly classified / classified) if ground truth known:")
    lines += [f"  {rank:<11}{_percent(right[at], called_known[at])}" for rank, at in ranks]
    lines.append("sensitivity (correctly classified / all) if ground truth known:")
    lines += [f"  {rank:<11}{_percent(right[at], known[at])}" for rank, at in ranks]
    return "".join([f"{comment}{line}\n" for line in lines])


def _percent(part: np.int64, whole: np.int64 | int) -> str:
    return f"{percent_text(int(part) / max(int(whole), 1))}%"


class HeaderTruth:
    """Finds the true taxa of reads: the target whose accession is in the header, else the taxid behind "taxid|".

    Of an accession that no target has, one with another version or none does. A taxon that fills no rank stands for
    the first one above it that does. Headers are read one by one on the host, so this is slow.

    Parameters
    ----------
    lineages : Lineages
        Of the database: taxa that it does not hold are not known.
    """

    def __init__(self, lineages: Lineages) -> None:
        self._lineages = lineages
        taxa, names = len(lineages.taxonomy), lineages.targets.names
        self._targets = {name: taxa + target for target, name in enumerate(names)}
        for target, name in enumerate(names):
            self._targets.setdefault(without_version(name), taxa + target)
        rows = lineages.at_rank
        self._ranked = np.append(rows[np.arange(len(rows)), (rows != NO_TAXON).argmax(axis=1)], np.int32(NO_TAXON))

    def of(self, part: ClassifiedReads) -> NDArray[np.int32]:
        """Return the true taxa of the reads of a part, of pairs by the first mates.

        Returns
        -------
        ndarray, int32 (reads,)
            Numbers in `Lineages`; `NO_TAXON` where the header does not tell.

        Raises
        ------
        UsageError
            The part does not have the records.
        """
        if not len(part):
            return np.zeros(0, np.int32)
        if not part.texts:
            raise ParameterError("ground_truth", "the query has to be asked for texts")
        headers = _headers(part.texts[0])
        by_taxid = self._lineages.taxonomy.find(header_taxids(headers))
        found = [
            self._target(raw_id(header, "ncbi"), taxon)
            for header, taxon in zip(headers, by_taxid.tolist(), strict=True)
        ]
        return self._ranked[found]

    def _target(self, accession: str, otherwise: int) -> int:
        named = self._targets.get(accession)
        return self._targets.get(without_version(accession), otherwise) if named is None else named


def _headers(texts: NameList) -> list[str]:
    """The first lines of records, without what marks them."""
    letters = texts.letters
    newlines = np.append(np.flatnonzero(letters == NEWLINE), len(letters))
    begins = texts.starts[:-1]
    ends = np.minimum(newlines[np.searchsorted(newlines, begins)], texts.starts[1:])
    data = letters.tobytes()
    return [
        data[begin + 1 : end].decode("utf-8", "replace").rstrip("\r")
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
