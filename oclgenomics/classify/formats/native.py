"""MetaCache's text: how it shows a taxon, a line for each read, and how many were classified."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.tally import Tally, summary_text
from oclgenomics.classify.formats.truth import HeaderTruth, PrecisionTally, precision_text
from oclgenomics.classify.formats.words import NO_TAXID, LineReport, TaxonWords, hit_columns, target_range
from oclgenomics.classify.options import RANKS, SEQUENCE, QueryOptions, SketchOptions
from oclgenomics.classify.result import ClassifiedReads, Hits
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError
from oclgenomics.sequence.joined_lines import (
    NO_TEXT,
    Column,
    LineJoiner,
    NameColumn,
    NumberColumn,
    TextTable,
    clean_names,
    one_field,
)
from oclgenomics.sequence.name_list import NameList

NOTHING = "--"


@dataclass(frozen=True)
class NativeOptions:
    """The switches of MetaCache's text; the names are its own.

    Attributes
    ----------
    taxids : bool
        Identifiers of taxa behind their names; those of targets are -1 and below.
    taxids_only : bool
        Identifiers instead of names.
    omit_ranks : bool
        No names of ranks.
    separate_cols : bool
        Rank, name and identifier in columns of their own.
    separator : str
        Between columns.
    comment : str
        At the start of lines that are not about a read.
    lineage : bool
        The taxa at all ranks from that of the call up to the highest one.
    queryids : bool
        A number for each read or pair, from 1 on.
    mapped_only : bool
        No lines for unclassified reads.
    no_map : bool
        No lines for reads at all.
    tophits : bool
        The candidates and their hits; implied by `locations`.
    allhits : bool
        All windows that were hit; the parts of the query have to bring them.
    locations : bool
        Where the candidates' targets were hit.
    summary : bool
        How many reads were classified, by ranks, at the end.
    ground_truth : bool
        The true taxon of each read, as far as its header tells; see `header_truth`. The parts of the query have to
        bring texts.
    precision : bool
        How many calls are right, by ranks, at the end; as `ground_truth`.
    """

    taxids: bool = False
    taxids_only: bool = False
    omit_ranks: bool = False
    separate_cols: bool = False
    separator: str = "\t|\t"
    comment: str = "# "
    lineage: bool = False
    queryids: bool = False
    mapped_only: bool = False
    no_map: bool = False
    tophits: bool = False
    allhits: bool = False
    locations: bool = False
    summary: bool = True
    ground_truth: bool = False
    precision: bool = False

    @property
    def shows_candidates(self) -> bool:
        """Whether there is a column of candidates."""
        return self.tophits or self.locations

    @property
    def needs_truth(self) -> bool:
        """Whether anything is said of what reads are in truth."""
        return self.ground_truth or self.precision


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


class CandidateColumns:
    """The columns `top_hits` and `candidate_locations`, each with the separator before it.

    Parameters
    ----------
    words : TaxonWords
    sketch : SketchOptions
        Of the database: where its windows are.
    lowest : str
        Candidates are shown as the taxon that they are taken for: targets by their names, others by their identifiers.
    separator : str
    """

    def __init__(self, words: TaxonWords, sketch: SketchOptions, lowest: str, separator: str) -> None:
        self._words, self._sketch = words, sketch
        self._groups = words.lineages.groups(lowest)
        targets = len(words.lineages.targets)
        self._first = TextTable(targets, lambda target: separator + self._label(target, ""))
        self._others = TextTable(targets, lambda target: self._label(target, ","))
        self._begin = TextTable(1, lambda there: separator if there == NO_TEXT else f"{separator}[")
        self._next, self._comma, self._end = (
            TextTable(1, lambda there, text=text: "" if there == NO_TEXT else text)  # type: ignore[misc]
            for text in ("[", ",", "] ")
        )

    def _label(self, target: int, before: str) -> str:
        if target == NO_TEXT:
            return ""
        number = int(self._groups[target])
        sequence = number >= self._words.taxa
        return f"{before}{self._words.name(number) if sequence else self._words.taxid(number)}:"

    def hits(self, candidates: Candidates) -> list[Column]:
        """Candidates and their hits."""
        return hit_columns(candidates, self._first, self._others)

    def locations(self, candidates: Candidates) -> list[Column]:
        """Where in the candidates' targets they were hit, in bases."""
        columns: list[Column] = []
        for place in range(candidates.targets.shape[1]):
            known = candidates.targets[:, place] != NO_TARGET
            numbers = np.where(known, 0, NO_TEXT)
            first, last = target_range(candidates, place, self._sketch.winstride, self._sketch.winlen)
            begin = self._next if place else self._begin
            columns += [
                begin.column(numbers), NumberColumn.of(first, known), self._comma.column(numbers),
                NumberColumn.of(last, known), self._end.column(numbers),
            ]  # fmt: skip
        return columns


def all_hits_column(located: Hits, words: TaxonWords, lowest: str, separator: str) -> NameColumn:
    """Return the column, the separator before it: `target/window:hits,` or `taxon:hits,` for each window.

    A text for each window is made on the host, so this column is slow.

    Parameters
    ----------
    located : Hits
    words : TaxonWords
    lowest : str
        Windows are shown by the taxon of this rank, or by the target where it has none.
    separator : str
    """
    slot = RANKS.index(lowest)
    labels = {target: _label(words, target, slot) for target in np.unique(located.targets).tolist()}
    rows = zip(located.targets.tolist(), located.windows.tolist(), located.hits.tolist(), strict=True)
    if slot == SEQUENCE:
        texts = [f"{labels[target]}/{window}:{hits},".encode() for target, window, hits in rows]
    else:
        texts = [f"{labels[target]}:{hits},".encode() for target, _, hits in rows]
    before = separator.encode()
    ends = np.fromiter(accumulate(map(len, texts), initial=0), np.int64, len(texts) + 1)
    starts = ends[located.offsets] + len(before) * np.arange(len(located.offsets))
    joined = bytearray()
    for begin, end in pairwise(located.offsets.tolist()):
        joined += before
        joined += b"".join(texts[begin:end])
    return NameColumn(NameList(np.frombuffer(bytes(joined), np.uint8), starts))


def _label(words: TaxonWords, target: int, slot: int) -> str:
    number = words.taxa + target
    at_rank = words.at_rank(number, slot)
    return words.name(number if at_rank == NO_TAXON else at_rank)


class NativeReport(LineReport):
    """A comment that names the columns, one for each input, a line for each read and a summary in comments.

    All columns but `allhits` are joined by `joiner`.

    Parameters
    ----------
    lineages : Lineages
    query : QueryOptions
        Those of the query.
    sketch : SketchOptions
        Those of the database.
    options : NativeOptions
    joiner : LineJoiner
    tally : Tally, optional
        Counts each part before it is written, for the summary; if not given, the report counts them.
    """

    def __init__(
        self,
        lineages: Lineages,
        query: QueryOptions,
        sketch: SketchOptions,
        options: NativeOptions,
        joiner: LineJoiner,
        tally: Tally | None = None,
    ) -> None:
        self._options, self._joiner, self._lowest = options, joiner, query.lowest
        self._words = TaxonWords(lineages)
        self._tally, self._counts = tally or Tally(lineages), tally is None
        self._truth = HeaderTruth(lineages) if options.needs_truth else None
        self._precision = PrecisionTally(lineages)
        self._source: str | None = None
        taxa = NativeTaxa(self._words, options, query.lowest, query.highest)
        self._heading, self._truth_heading = taxa.heading(), taxa.heading("truth_")
        separator = options.separator
        self._calls = TextTable(self._words.count, lambda number: f"{separator}{taxa.text(number)}\n")
        self._truths = TextTable(self._words.count, lambda number: f"{separator}{taxa.truth_text(number)}")
        self._separators = TextTable.same(separator)
        self._candidates = CandidateColumns(self._words, sketch, query.lowest, separator)

    def head(self) -> bytes:
        """Name the columns."""
        options = self._options
        if options.no_map:
            return b""
        shown = (
            (options.queryids, "query_id"),
            (True, "query_header"),
            (options.ground_truth, self._truth_heading),
            (options.allhits, "all_hits"),
            (options.shows_candidates, "top_hits"),
            (options.locations, "candidate_locations"),
            (True, self._heading),
        )
        columns = options.separator.join(name for there, name in shown if there)
        return f"{options.comment}TABLE_LAYOUT: {columns}\n".encode()

    def body(self, part: ClassifiedReads) -> bytes | memoryview:
        """Write the reads of a part.

        Raises
        ------
        UsageError
            All hits or the truth are asked for, and the part has none, or no texts.
        """
        if self._counts:
            self._tally.add(part)
        lines = self.brought(part)
        truth = self._truth_of(part) if lines is None or self._options.precision else None
        if truth is not None:
            self._precision.add(part, truth)
        comment = b""
        if part.reads.source != self._source:
            self._source = part.reads.source
            comment = f"{self._options.comment}{one_field(self._source)}\n".encode("utf-8", "replace")
        if lines is None:
            lines = self._lines(part, truth)
        return comment + lines if comment else lines

    def lines(self, part: ClassifiedReads) -> memoryview:
        """Make the lines of a part; errors are those of `body`."""
        return self._lines(part, self._truth_of(part) if self._options.ground_truth else None)

    def _truth_of(self, part: ClassifiedReads) -> NDArray[np.int32] | None:
        return None if self._truth is None else self._truth.of(part)

    def _lines(self, part: ClassifiedReads, truth: NDArray[np.int32] | None) -> memoryview:
        options, candidates = self._options, part.candidates
        if options.no_map:
            return memoryview(b"")
        kept = np.flatnonzero(part.calls.taxon != NO_TAXON) if options.mapped_only else None
        columns: list[Column] = []
        lines = len(part) if kept is None else len(kept)
        if options.queryids:
            number = part.reads.number + 1 + (np.arange(lines) if kept is None else kept)
            columns += [NumberColumn.of(number), self._separators.repeated(lines)]
        columns.append(NameColumn(clean_names(part.reads.names), kept))
        if options.ground_truth and truth is not None:
            columns.append(self._truths.column(truth if kept is None else truth[kept]))
        if options.allhits:
            if part.located is None:
                raise ParameterError("allhits", "the query has to be asked for all hits")
            every = all_hits_column(part.located, self._words, self._lowest, options.separator)
            columns.append(NameColumn(every.names, kept))
        if options.shows_candidates:
            shown = candidates if kept is None else candidates.take(kept)
            columns += self._candidates.hits(shown)
            if options.locations:
                columns += self._candidates.locations(shown)
        calls = part.calls.taxon if kept is None else part.calls.taxon[kept]
        columns.append(self._calls.column(calls))
        return self._joiner.join(lines, columns)

    def tail(self) -> bytes:
        """Write the summary, and how many calls are right."""
        options = self._options
        text = summary_text(self._tally, options.comment) if options.summary else ""
        return (text + (precision_text(self._precision, options.comment) if options.precision else "")).encode()
