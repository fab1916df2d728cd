"""Reports of a scan, written part by part: its matches in several formats, its samples, and how sure matches are."""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np

from oclgenomics.app.multiqc import Content
from oclgenomics.app.reports import MISSING
from oclgenomics.errors import InputError, ParameterError, check_choice
from oclgenomics.signatures.formats.aligned import PafReport, SamReport
from oclgenomics.signatures.formats.report_lines import ScanReport, rows, texts, words
from oclgenomics.signatures.matches.certainty import (
    MAY_BE_CHANCE,
    certainty,
    informative_share,
    log10_chance,
    log10_chance_of_edits,
)
from oclgenomics.signatures.matches.totals import ScanTotals, may_be_phred64
from oclgenomics.signatures.options import FORMATS, ReportFormat, ScanOptions
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import ScanPart, match_columns

SHOWN_SIGNATURES = 3
COLUMNS = (
    "sample", "signature", "strand", "start", "end", "hits", "mismatches", "score", "informative", "sample_ns",
    "signature_ns", "expected_errors", "hash", "sample_number",
)  # fmt: skip
OUTSIDE_COLUMNS = ("outside",)  # where signatures may run past the ends of samples
RIVAL_COLUMNS = ("ties", "next_mismatches")  # where one match of each sample is reported
SUMMARY_COLUMNS = (
    "sample", "file", "letters", "n_share", "ambiguous_share", "mean_quality", "least_quality", "hash", "signatures",
    "warnings", "sample_number",
)  # fmt: skip
CERTAINTY_COLUMNS = (
    "sample", "sample_letters", "signature", "signature_letters", "strand", "start", "end", "hits", "mismatches",
    "informative", "informative_share", "score", "expected_errors", "certainty", "log10_chance", "note",
    "sample_number",
)  # fmt: skip
TOP_SCORE = 1000  # of BED
ALIGNED_FORMATS = ("paf", "sam")
ONE_FIELD = {ord(character): " " for character in "\t\n\r"}  # of names of files, which may hold anything


def make_report(
    format: ReportFormat, panel: Panel, options: ScanOptions, *, provenance: Mapping[str, Any] | None = None
) -> ScanReport:
    """Return the report of the matches in a format.

    Parameters
    ----------
    format : {'tsv', 'course', 'bed', 'jsonl', 'paf', 'sam'}
        PAF and SAM need parts with alignments.
    panel : Panel
    options : ScanOptions
        Those of the scan.
    provenance : mapping, optional
        What made the results, for 'tsv', 'bed' and 'sam'; the others have no place for it.

    Raises
    ------
    UsageError
        There is no such format, or its lines could not tell what the options ask for.
    """
    check_format(format, options)
    if format == "course":
        return CourseReport(panel)
    if format == "paf":
        return PafReport(panel)
    if format == "sam":
        return SamReport(panel, provenance)
    if format == "bed":
        return BedReport(panel, provenance)
    return JsonReport(panel, options) if format == "jsonl" else TsvReport(panel, options, provenance)


def check_format(format: str, options: ScanOptions) -> None:
    """Refuse what `make_report` would, before there are signatures.

    Raises
    ------
    UsageError
        See `make_report`.
    """
    check_choice("format", format, FORMATS)
    if format == "course":
        for name, value, only in (("report", options.report, "best"), ("strand", options.strand, "+")):
            if value != only:
                text = f"lines of the course tell of `{name}={only}` alone; use `format=tsv`"
                raise ParameterError(name, text, value)
    if format in ALIGNED_FORMATS and not options.alignments:
        raise ParameterError("alignments", f"`format={format}` writes alignments; scan with `alignments=True`")


class CourseReport(ScanReport):
    """The line that the course's assignment asks for: `sample: signature (score) [hash]`.

    Raises
    ------
    InputError
        A sample has no qualities, of which score and hash are made (`body`).
    """

    def _lines(self, part: ScanPart) -> str:
        if not part.samples.has_qualities.all():
            source = part.samples.source[~part.samples.has_qualities][0]
            trouble = "is FASTA, which has no qualities for the lines of the course; use `format=tsv`"
            raise InputError(trouble, source=source)
        columns = match_columns(self._panel, part.samples, part.matches)
        return rows(columns, ("sample", "signature", "score", "hash"), "%s: %s (%.3f) [%d]\n")


class TsvReport(ScanReport):
    """A table: lines with '#' that say what made it, a header, a row for each match."""

    def __init__(self, panel: Panel, options: ScanOptions, provenance: Mapping[str, Any] | None = None) -> None:
        super().__init__(panel, provenance)
        self.HEADER = columns_of(options)

    def _lines(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        for name, form in (("score", "%.3f"), ("expected_errors", "%.6g"), ("hash", "%d")):
            columns[name] = texts(columns[name], form, part.matches.has_qualities)
        return rows(columns | _further_columns(part), self.HEADER)


class BedReport(ScanReport):
    """BED of six columns, 0-based and half open: the score is ten times the mean quality, 1000 at most."""

    def _lines(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        score = np.where(part.matches.has_qualities, columns["score"], 0.0)
        columns["score"] = np.minimum(np.rint(10 * score), TOP_SCORE).astype(np.int64)
        return rows(columns, ("sample", "start", "end", "signature", "score", "strand"))


class JsonReport(ScanReport):
    """A line of JSON for each match, with the columns of the table; null where nothing is known."""

    def __init__(self, panel: Panel, options: ScanOptions) -> None:
        super().__init__(panel)
        self._columns = columns_of(options)
        self._form = "{" + ", ".join(f'"{name}": %s' for name in self._columns) + "}\n"

    def _lines(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        for name in ("sample", "signature", "strand"):
            columns[name] = list(map(encode_basestring_ascii, columns[name].tolist()))
        for name, form in (("score", "%r"), ("expected_errors", "%r"), ("hash", "%d")):
            columns[name] = texts(columns[name], form, part.matches.has_qualities, "null")
        return rows(columns | _further_columns(part, "null"), self._columns, self._form)


def columns_of(options: ScanOptions) -> tuple[str, ...]:
    """Return the columns of the table of matches, which lines of JSON have, too."""
    outside = OUTSIDE_COLUMNS if options.overhang else ()
    return COLUMNS + outside + (RIVAL_COLUMNS if options.report == "read" else ())


def _further_columns(part: ScanPart, missing: str = MISSING) -> dict[str, Any]:
    columns: dict[str, Any] = {"outside": part.matches.outside}
    if part.rivals is None:
        return columns
    least = part.rivals.next_mismatches
    return columns | {"ties": part.rivals.ties, "next_mismatches": texts(least, "%d", least >= 0, missing)}


class SummaryReport(ScanReport):
    """A line for each sample, with or without matches."""

    HEADER = SUMMARY_COLUMNS

    def _lines(self, part: ScanPart) -> str:
        samples = part.samples.ended
        some = samples.letters > 0
        letters = np.maximum(samples.letters, 1)
        short = samples.letters < int(self._panel.lengths.min())
        columns = {
            "sample": samples.name,
            "file": [source.translate(ONE_FIELD) for source in samples.source.tolist()],
            "letters": samples.letters,
            "n_share": texts(samples.ns / letters, "%.6g", some),
            "ambiguous_share": texts(samples.ambiguous / letters, "%.6g", some),
            "mean_quality": texts(samples.mean_quality, "%.3f", samples.has_qualities & some),
            "least_quality": texts(samples.least_quality, "%d", samples.has_qualities & some),
            "hash": texts(samples.hash, "%d", samples.has_qualities),
            "signatures": samples.pairs,
            "warnings": words((short, "shorter_than_any_signature"), (may_be_phred64(samples), "may_be_phred64")),
            "sample_number": samples.number + 1,
        }
        return rows(columns, SUMMARY_COLUMNS)


def check_certainty(options: ScanOptions) -> None:
    """Refuse options with which nobody can tell how sure matches are.

    Raises
    ------
    UsageError
        All matches are reported: these come before the length of their sample is known.
    """
    if options.report == "all":
        text = "`sample_report` has a line for each signature of a sample; use `report=best` or `report=first`"
        raise ParameterError("report", text, options.report)


class CertaintyReport(ScanReport):
    """A line for each match: how much of the signature is informative, how sure the match is, and where it lies.

    The matches of a sample come with those first that chance explains least.

    Raises
    ------
    UsageError
        See `check_certainty`.
    """

    HEADER = CERTAINTY_COLUMNS

    def __init__(self, panel: Panel, options: ScanOptions, provenance: Mapping[str, Any] | None = None) -> None:
        check_certainty(options)
        super().__init__(panel, provenance)
        self._chance = log10_chance_of_edits if options.max_edits else log10_chance

    def _lines(self, part: ScanPart) -> str:
        matches = part.matches
        if not len(matches):
            return ""
        letters = part.samples.letters[matches.sample - part.samples.number[0]]
        length = self._panel.lengths[matches.signature]
        chance = self._chance(letters + 2 * matches.outside, length, matches.informative, matches.mismatches)
        order = np.lexsort((matches.start, chance, matches.sample))
        matches, letters, length, chance = matches.take(order), letters[order], length[order], chance[order]
        columns = match_columns(self._panel, part.samples, matches) | {
            "sample_letters": letters,
            "signature_letters": length,
            "informative_share": texts(informative_share(matches), "%.6g"),
            "score": texts(matches.score, "%.3f", matches.has_qualities),
            "expected_errors": texts(matches.expected_errors, "%.6g", matches.has_qualities),
            "certainty": texts(certainty(matches), "%.6g"),
            "log10_chance": texts(chance, "%.2f"),
            "note": words(
                (chance > MAY_BE_CHANCE, "may_be_chance"),
                (matches.mismatches > 0, "mismatches"),
                (matches.outside > 0, "overhang"),
            ),
        }
        return rows(columns, CERTAINTY_COLUMNS)


def totals_content(sample: str, totals: ScanTotals) -> Content:
    """Return the totals of a scan for MultiQC, and which signatures have the most matches."""
    columns = {
        "samples": ("Sequences", "Records of the input", totals.samples),
        "bases": ("Bases", "Bases of the input", totals.letters),
        "matching": ("With matches", "Sequences in which any signature matches", totals.matching_samples),
        "signatures": ("Signatures", "Signatures that match anywhere", totals.signatures),
        "matches": ("Matches", "Matches of all signatures", totals.hits),
    }
    headers: dict[str, Any] = {
        name: {"title": title, "description": text, "format": "{:,.0f}"} for name, (title, text, _) in columns.items()
    }
    headers["most"] = {"title": "Most frequent", "description": f"The {SHOWN_SIGNATURES} signatures with most matches"}
    row: dict[str, Any] = {name: number for name, (_, _, number) in columns.items()}
    row["most"] = "; ".join(f"{name} ({hits:,})" for name, hits in totals.most_frequent(SHOWN_SIGNATURES)) or "none"
    description = "Matches of signatures in sequences, by `signatures scan`."
    return Content("signatures", "Signatures", description, "table", {sample: row}, columns=headers)
