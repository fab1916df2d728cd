"""MetaCache's text: a line for each read, and how many were classified."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import Candidates
from oclgenomics.classify.formats.all_hits import all_hits_column
from oclgenomics.classify.formats.candidate_columns import CandidateColumns
from oclgenomics.classify.formats.header_truth import HeaderTruth
from oclgenomics.classify.formats.lines import Column, LineJoiner, NameColumn, NumberColumn, TextColumn, clean_names
from oclgenomics.classify.formats.native_options import NativeOptions
from oclgenomics.classify.formats.native_taxa import NativeTaxa
from oclgenomics.classify.formats.precision import PrecisionTally, precision_text
from oclgenomics.classify.formats.summary import summary_text
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.taxon_words import TaxonWords
from oclgenomics.classify.formats.text_table import NO_TEXT, TextTable, one_field
from oclgenomics.classify.options import QueryOptions, SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import ParameterError

__all__ = ["NativeReport"]


class NativeReport:
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
    """

    def __init__(
        self, lineages: Lineages, query: QueryOptions, sketch: SketchOptions, options: NativeOptions, joiner: LineJoiner
    ) -> None:
        self._options, self._joiner, self._lowest = options, joiner, query.lowest
        self._words = TaxonWords(lineages)
        self._tally = Tally(lineages)
        self._truth = HeaderTruth(lineages) if options.needs_truth else None
        self._precision = PrecisionTally(lineages)
        self._source: str | None = None
        taxa = NativeTaxa(self._words, options, query.lowest, query.highest)
        self._heading, self._truth_heading = taxa.heading(), taxa.heading("truth_")
        separator = options.separator
        self._calls = TextTable(self._words.count, lambda number: f"{separator}{taxa.text(number)}\n")
        self._truths = TextTable(self._words.count, lambda number: f"{separator}{taxa.truth_text(number)}")
        self._separators = TextTable(0, lambda _: separator)
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
        self._tally.add(part)
        truth = None if self._truth is None else self._truth.of(part)
        if truth is not None:
            self._precision.add(part, truth)
        comment = b""
        if part.reads.source != self._source:
            self._source = part.reads.source
            comment = f"{self._options.comment}{one_field(self._source)}\n".encode("utf-8", "replace")
        if self._options.no_map:
            return comment
        lines = self._lines(part, truth)
        return comment + lines if comment else lines

    def _lines(self, part: ClassifiedReads, truth: NDArray[np.int32] | None) -> memoryview:
        options, candidates = self._options, part.candidates
        kept = np.flatnonzero(part.calls.taxon != NO_TAXON) if options.mapped_only else None
        columns: list[Column] = []
        number = part.reads.number + 1 + (np.arange(len(part)) if kept is None else kept)
        if options.queryids:
            separators = self._separators.places(np.full(len(number), NO_TEXT))
            columns += [NumberColumn(number.astype(np.uint64)), TextColumn(self._separators, separators)]
        columns.append(NameColumn(clean_names(part.reads.names), kept))
        if options.ground_truth and truth is not None:
            columns.append(TextColumn(self._truths, self._truths.places(truth if kept is None else truth[kept])))
        if options.allhits:
            if part.located is None:
                raise ParameterError("allhits", "the query has to be asked for all hits")
            every = all_hits_column(part.located, self._words, self._lowest, options.separator)
            columns.append(NameColumn(every.names, kept))
        if options.shows_candidates:
            shown = candidates if kept is None else _of(candidates, kept)
            columns += self._candidates.hits(shown)
            if options.locations:
                columns += self._candidates.locations(shown)
        calls = part.calls.taxon if kept is None else part.calls.taxon[kept]
        columns.append(TextColumn(self._calls, self._calls.places(calls)))
        return self._joiner.join(len(number), columns)

    def tail(self) -> bytes:
        """Write the summary, and how many calls are right."""
        options = self._options
        text = summary_text(self._tally, options.comment) if options.summary else ""
        return (text + (precision_text(self._precision, options.comment) if options.precision else "")).encode()


def _of(candidates: Candidates, reads: NDArray[np.intp]) -> Candidates:
    names = ("targets", "hits", "first", "last", "located")
    return Candidates(*(getattr(candidates, name)[reads] for name in names))
