"""Reports of a scan, written part by part: its matches in several formats, its samples, and how sure matches are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.multiqc import Content
from oclgenomics.app.provenance import provenance_lines
from oclgenomics.app.reports import MISSING
from oclgenomics.errors import InputError, ParameterError, check_choice
from oclgenomics.io.text_file import rows_of
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
ONE_FIELD = {ord(character): " " for character in "\t\n\r"}  # of names of files, which may hold anything


class ScanReport(ABC):
    """An `oclgenomics.app.reports.Report` of the parts of a scan.

    Parameters
    ----------
    panel : Panel
    provenance : mapping, optional
        What made the results.
    """

    HEADER: tuple[str, ...] = ()

    def __init__(self, panel: Panel, provenance: Mapping[str, Any] | None = None) -> None:
        self._panel, self._provenance = panel, provenance or {}

    def head(self) -> bytes:
        header = "\t".join(self.HEADER) + "\n" if self.HEADER else ""
        return _encoded(provenance_lines(self._provenance) + header)

    def body(self, part: ScanPart) -> bytes:
        return _encoded(self._lines(part))

    def tail(self) -> bytes:
        return b""

    @abstractmethod
    def _lines(self, part: ScanPart) -> str: ...


def make_report(
    format: ReportFormat, panel: Panel, options: ScanOptions, *, provenance: Mapping[str, Any] | None = None
) -> ScanReport:
    """Return the report of the matches in a format.

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
    if format == "jsonl":
        return JsonReport(panel)
    return (TsvReport if format == "tsv" else BedReport)(panel, provenance)


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
        return _rows(columns, ("sample", "signature", "score", "hash"), "%s: %s (%.3f) [%d]\n")


class TsvReport(ScanReport):
    """A table: lines with '#' that say what made it, a header, a row for each match."""

    HEADER = COLUMNS

    def _lines(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        for name, form in (("score", "%.3f"), ("expected_errors", "%.6g"), ("hash", "%d")):
            columns[name] = _texts(columns[name], form, part.matches.has_qualities)
        return _rows(columns, COLUMNS)


class BedReport(ScanReport):
    """BED of six columns, 0-based and half open: the score is ten times the mean quality, 1000 at most."""

    def _lines(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        score = np.where(part.matches.has_qualities, columns["score"], 0.0)
        columns["score"] = np.minimum(np.rint(10 * score), TOP_SCORE).astype(np.int64)
        return _rows(columns, ("sample", "start", "end", "signature", "score", "strand"))


class JsonReport(ScanReport):
    """A line of JSON for each match, with the columns of the table; null where nothing is known."""

    FORM = "{" + ", ".join(f'"{name}": %s' for name in COLUMNS) + "}\n"

    def _lines(self, part: ScanPart) -> str:
        columns: dict[str, Any] = match_columns(self._panel, part.samples, part.matches)
        for name in ("sample", "signature", "strand"):
            columns[name] = list(map(encode_basestring_ascii, columns[name].tolist()))
        for name, form in (("score", "%r"), ("expected_errors", "%r"), ("hash", "%d")):
            columns[name] = _texts(columns[name], form, part.matches.has_qualities, "null")
        return _rows(columns, COLUMNS, self.FORM)


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
            "n_share": _texts(samples.ns / letters, "%.6g", some),
            "ambiguous_share": _texts(samples.ambiguous / letters, "%.6g", some),
            "mean_quality": _texts(samples.mean_quality, "%.3f", samples.has_qualities & some),
            "least_quality": _texts(samples.least_quality, "%d", samples.has_qualities & some),
            "hash": _texts(samples.hash, "%d", samples.has_qualities),
            "signatures": samples.pairs,
            "warnings": _words((short, "shorter_than_any_signature"), (may_be_phred64(samples), "may_be_phred64")),
            "sample_number": samples.number + 1,
        }
        return _rows(columns, SUMMARY_COLUMNS)


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
        chance = self._chance(letters, length, matches.informative, matches.mismatches)
        order = np.lexsort((matches.start, chance, matches.sample))
        matches, letters, length, chance = matches.take(order), letters[order], length[order], chance[order]
        columns = match_columns(self._panel, part.samples, matches) | {
            "sample_letters": letters,
            "signature_letters": length,
            "informative_share": _texts(informative_share(matches), "%.6g"),
            "score": _texts(matches.score, "%.3f", matches.has_qualities),
            "expected_errors": _texts(matches.expected_errors, "%.6g", matches.has_qualities),
            "certainty": _texts(certainty(matches), "%.6g"),
            "log10_chance": _texts(chance, "%.2f"),
            "note": _words((chance > MAY_BE_CHANCE, "may_be_chance"), (matches.mismatches > 0, "mismatches")),
        }
        return _rows(columns, CERTAINTY_COLUMNS)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")  # names of files may be anything


def _rows(columns: Mapping[str, Any], names: Sequence[str], form: str | None = None) -> str:
    lists = (columns[name] for name in names)
    return rows_of([column if isinstance(column, list) else column.tolist() for column in lists], form)


def _texts(
    values: NDArray[Any], form: str, known: NDArray[np.bool_] | None = None, missing: str = MISSING
) -> list[str]:
    """Write each value as `form`, or `missing` where it is not known: a list comprehension, and no call for a field."""
    if known is None or known.all():
        return [form % value for value in values.tolist()]
    if not known.any():
        return [missing] * len(values)
    return [form % value if there else missing for value, there in zip(values.tolist(), known.tolist(), strict=True)]


def _words(*conditions: tuple[NDArray[np.bool_], str]) -> list[str]:
    """Write for each row the words whose conditions hold, with commas between them; there is at least one condition."""
    lists = [[word if true else "" for true in holds.tolist()] for holds, word in conditions]
    return [",".join([word for word in row if word]) or MISSING for row in zip(*lists, strict=True)]


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
