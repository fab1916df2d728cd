"""Reports by the names of their formats, and reads as they stand in the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from oclgenomics.app.multiqc import Content
from oclgenomics.app.reports import Report
from oclgenomics.classify.formats.cami import CamiBinning, cami_profile
from oclgenomics.classify.formats.kraken import KrakenReport, bracken_table, kreport, krona_text
from oclgenomics.classify.formats.native import NativeOptions, NativeReport
from oclgenomics.classify.formats.native_lists import abundance_lists
from oclgenomics.classify.formats.tables import BOOTSTRAP, JsonReport, TsvReport, evidence_table, shares_table
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import LineReport
from oclgenomics.classify.options import QueryOptions, SketchOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.errors import check_choice
from oclgenomics.runtime import Engine
from oclgenomics.sequence.joined_lines import DeviceJoiner, HostJoiner, LaterJoiner, LineJoiner
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.record_texts import whole_lines

ReportFormat = Literal["native", "kraken", "tsv", "json", "cami"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
SHOWN_TAXA = 10
SUMMARIES = ("kreport", "abundances", "krona", "bracken", "cami-profile", "evidence", "shares")

Mates = Literal["both", "first", "second"]


@dataclass(frozen=True)
class LineForm:
    """Which lines the pieces of a query bring along.

    Attributes
    ----------
    format : {'native', 'kraken', 'tsv', 'json'}
    native : NativeOptions
        For 'native'.
    alone : bool
        Nothing else of single reads is asked for.
    """

    format: ReportFormat
    native: NativeOptions
    alone: bool = False

    @property
    def name(self) -> str:
        """What tells such lines from others; see `LineReport`."""
        if self.format != "native":
            return self.format
        same = replace(self.native, comment="", summary=True, precision=False)  # are about other lines
        return "" if self.native.queryids else repr(same)  # which count the reads of all parts


def make_report(
    format: ReportFormat,
    lineages: Lineages,
    query: QueryOptions,
    sketch: SketchOptions,
    *,
    native: NativeOptions | None = None,
    sample: str = "sample",
    engine: Engine | Callable[[], Engine | None] | None = None,
    tally: Tally | None = None,
) -> Report[ClassifiedReads]:
    """Return the report of a format.

    Parameters
    ----------
    format : {'native', 'kraken', 'tsv', 'json', 'cami'}
    lineages : Lineages
        Of the database.
    query : QueryOptions
        Those of the query.
    sketch : SketchOptions
        Those of the database.
    native : NativeOptions, optional
        For 'native': what its lines show.
    sample : str
        For 'cami': the name of the sample.
    engine : Engine or callable, optional
        Joins the lines of all formats but 'json' on its device; without one, the host does. A callable returns it, or
        None, when there are lines.
    tally : Tally, optional
        For 'native': see `NativeReport`.

    Raises
    ------
    UsageError
        There is no such format.
    """
    check_choice("format", format, FORMATS)
    joiner = _joiner(engine)
    if format == "cami":
        return CamiBinning(lineages, sample, joiner)
    return line_report(LineForm(format, native or NativeOptions()), lineages, query, sketch, joiner, tally)


def line_report(
    lines: LineForm,
    lineages: Lineages,
    query: QueryOptions,
    sketch: SketchOptions,
    joiner: LineJoiner,
    tally: Tally | None = None,
) -> LineReport:
    """Return the report of some lines; parameters as of `make_report`."""
    report: LineReport
    query = query.for_taxa(len(lineages.taxonomy))
    if lines.format == "kraken":
        report = KrakenReport(lineages, query.lowest, joiner)
    elif lines.format == "tsv":
        report = TsvReport(lineages, sketch, joiner)
    elif lines.format == "json":
        report = JsonReport(lineages, sketch)
    else:
        report = NativeReport(lineages, query, sketch, lines.native, joiner, tally)
    report.form = lines.name
    return report


def _joiner(engine: Engine | Callable[[], Engine | None] | None) -> LineJoiner:
    if engine is None:
        return HostJoiner()
    return LaterJoiner(engine) if callable(engine) else DeviceJoiner(engine)


def make_summary(
    name: str,
    tally: Tally,
    *,
    per: str | None = None,
    native: NativeOptions | None = None,
    sample: str = "sample",
    per_genome: bool = False,
    bootstrap: int = BOOTSTRAP,
) -> str:
    """Return a report of all reads together, one of `SUMMARIES`.

    Parameters
    ----------
    name : str
    tally : Tally
    per : str, optional
        For 'abundances': see `abundance_lists`.
    native : NativeOptions, optional
        For 'abundances': how its lines look.
    sample : str
        For 'cami-profile': the name of the sample.
    per_genome : bool
        For 'shares': of genomes, not of reads.
    bootstrap : int
        For 'shares': rounds for intervals.
    """
    if name == "shares":
        return shares_table(tally, per_genome=per_genome, rounds=bootstrap)
    if name == "abundances":
        return abundance_lists(tally, per, native)
    if name == "cami-profile":
        return cami_profile(tally, sample)
    texts = {"kreport": kreport, "krona": krona_text, "bracken": bracken_table, "evidence": evidence_table}
    return texts[name](tally)


def taxa_content(sample: str, tally: Tally) -> Content:
    """Return the species with the most reads for MultiQC, or the targets where the database has no taxonomy."""
    lineages = tally.lineages
    if len(lineages.taxonomy):
        taxa, reads = tally.at_rank("species")
        known, what = [lineages.taxonomy.names[taxon] or f"taxon {taxon}" for taxon in taxa.tolist()], "species"
    else:
        called = np.flatnonzero(tally.counts[:-1])
        known, what = [lineages.targets.names[target] for target in called.tolist()], "targets"
        reads = tally.counts[called]
    most = np.argsort(-reads, kind="stable")[:SHOWN_TAXA]
    named = {known[place]: int(reads[place]) for place in most.tolist()}
    others = tally.reads - tally.unclassified - sum(named.values())
    counts = {"Unclassified": tally.unclassified, "Other calls": others, **named}
    description = f"Reads (pairs count as one) of the {SHOWN_TAXA} {what} with the most of them, by `classify query`."
    title = f"Classified reads by {what}"
    return Content(f"classify_{what}", title, description, "bargraph", {sample: counts}, {"ylab": "Reads"})


class ReadTexts(Report[ClassifiedReads]):
    """The records of reads, unchanged. Of a query whose parts have texts; see `Wanted`.

    Parameters
    ----------
    classified : bool
        Classified reads; else the others.
    mates : {'both', 'first', 'second'}
        Of pairs both mates in turn, or one of them. Single reads are first ones.
    """

    def __init__(self, *, classified: bool, mates: Mates) -> None:
        self._classified, self._mates = classified, mates

    def body(self, part: ClassifiedReads) -> bytes | memoryview:
        """Write the records of a part."""
        wanted = np.flatnonzero((part.calls.taxon != NO_TAXON) == self._classified)
        texts = part.texts
        if self._mates != "both":
            texts = texts[:1] if self._mates == "first" else texts[1:2]
        if not texts or not len(wanted):
            return b""
        if len(texts) == 1:
            return whole_lines(texts[0].take(wanted))
        both = NameList.joined(texts)
        return whole_lines(both.take(np.stack([wanted, wanted + len(part)], axis=1).ravel()))
