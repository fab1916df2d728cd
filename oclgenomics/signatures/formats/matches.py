"""Matches as text: the line of the course, tables, BED and lines of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any, Literal, Protocol, get_args

import numpy as np

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.text_rows import rows_of
from oclgenomics.signatures.formats.columns import texts
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.result import ScanPart, match_columns

__all__ = ["COLUMNS", "FORMATS", "Report", "ReportFormat", "check_format", "make_report"]

ReportFormat = Literal["tsv", "course", "bed", "jsonl"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
COLUMNS = (
    "sample", "signature", "strand", "start", "end", "hits", "mismatches", "score", "informative", "sample_ns",
    "signature_ns", "expected_errors", "hash", "sample_number",
)  # fmt: skip
TOP_SCORE = 1000  # of BED


class Report(Protocol):
    """A report is `head()`, then `body(part)` for each part of a scan."""

    def head(self) -> str: ...

    def body(self, part: ScanPart) -> str: ...


def make_report(
    format: ReportFormat, panel: Panel, options: ScanOptions, *, provenance: Mapping[str, Any] | None = None
) -> Report:
    """Return the report of a format.

    Parameters
    ----------
    format : {'tsv', 'course', 'bed', 'jsonl'}
    panel : Panel
    options : ScanOptions
        Those of the scan.
    provenance : mapping, optional
        What made the results, for 'tsv' and 'bed'; the others have no place for it.

    Raises
    ------
    UsageError
        There is no such format, or its lines could not tell what the options ask for.
    """
    check_format(format, options)
    if format == "course":
        return CourseReport(panel)
    if format == "tsv":
        return TsvReport(panel, provenance or {})
    if format == "bed":
        return BedReport(panel, provenance or {})
    return JsonReport(panel)


def check_format(format: str, options: ScanOptions) -> None:
    """Refuse what `make_report` would, before there are signatures.

    Raises
    ------
    UsageError
        See `make_report`.
    """
    if format not in FORMATS:
        raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)
    if format == "course":
        for name, value, only in (("report", options.report, "best"), ("strand", options.strand, "+")):
            if value != only:
                raise ParameterError(
                    name, f"lines of the course tell of `{name}={only}` alone; use `format=tsv`", value
                )


class CourseReport:
    """The line that the course's assignment asks for: `sample: signature (score) [hash]`.

    Raises
    ------
    InputError
        A sample has no qualities, of which score and hash are made (`body`).
    """

    def __init__(self, panel: Panel) -> None:
        self._panel = panel

    def head(self) -> str:
        return ""

    def body(self, part: ScanPart) -> str:
        if not part.samples.has_qualities.all():
            source = part.samples.source[~part.samples.has_qualities][0]
            trouble = "is FASTA, which has no qualities for the lines of the course; use `format=tsv`"
            raise InputError(trouble, source=source)
        columns = match_columns(self._panel, part.samples, part.matches)
        shown = [columns[name].tolist() for name in ("sample", "signature", "score", "hash")]
        return rows_of(shown, "%s: %s (%.3f) [%d]\n")


class TsvReport:
    """A table: lines with '#' that say what made it, a header, a row for each match."""

    def __init__(self, panel: Panel, provenance: Mapping[str, Any]) -> None:
        self._panel, self._provenance = panel, provenance

    def head(self) -> str:
        return provenance_lines(self._provenance) + "\t".join(COLUMNS) + "\n"

    def body(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        known = part.matches.has_qualities
        columns["score"] = texts(columns["score"], "%.3f", known)
        columns["expected_errors"] = texts(columns["expected_errors"], "%.6g", known)
        columns["hash"] = texts(columns["hash"], "%d", known)
        return rows_of([_listed(columns[name]) for name in COLUMNS])


class BedReport:
    """BED of six columns, 0-based and half open: the score is ten times the mean quality, 1000 at most."""

    def __init__(self, panel: Panel, provenance: Mapping[str, Any]) -> None:
        self._panel, self._provenance = panel, provenance

    def head(self) -> str:
        return provenance_lines(self._provenance)

    def body(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        score = np.where(part.matches.has_qualities, columns["score"], 0.0)
        columns["score"] = np.minimum(np.rint(10 * score), TOP_SCORE).astype(np.int64)
        names = ("sample", "start", "end", "signature", "score", "strand")
        return rows_of([columns[name].tolist() for name in names])


class JsonReport:
    """A line of JSON for each match, with the columns of the table; null where nothing is known."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self._form = "{" + ", ".join(f'"{name}": %s' for name in COLUMNS) + "}\n"

    def head(self) -> str:
        return ""

    def body(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        known = part.matches.has_qualities
        for name in ("sample", "signature", "strand"):
            columns[name] = list(map(encode_basestring_ascii, columns[name].tolist()))
        for name in ("score", "expected_errors"):
            columns[name] = texts(columns[name], "%r", known, "null")
        columns["hash"] = texts(columns["hash"], "%d", known, "null")
        return rows_of([_listed(columns[name]) for name in COLUMNS], self._form)


def _listed(column: Any) -> list[Any]:
    return column if isinstance(column, list) else column.tolist()
