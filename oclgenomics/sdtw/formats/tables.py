"""Alignments and classified reads as tables and as lines of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, get_args

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.errors import ParameterError
from oclgenomics.io.text_rows import rows_of
from oclgenomics.sdtw.classified import Classified
from oclgenomics.sdtw.formats.paf import PafReport
from oclgenomics.sdtw.formats.rows import json_column, table_column
from oclgenomics.sdtw.result import Alignments

__all__ = ["FORMATS", "JsonReport", "Part", "Report", "ReportFormat", "TsvReport", "make_report"]

Part = Alignments | Classified
ReportFormat = Literal["tsv", "jsonl", "paf"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)


class Report(Protocol):
    """A report is `head(part)` of any part, then `body(part)` for each."""

    def head(self, part: Part) -> str: ...

    def body(self, part: Part) -> str: ...


def make_report(format: ReportFormat, *, provenance: Mapping[str, Any] | None = None) -> Report:
    """Return the report of a format.

    Parameters
    ----------
    format : {'tsv', 'jsonl', 'paf'}
        PAF needs parts with starts.
    provenance : mapping, optional
        What made the results, for 'tsv'; the others have no place for it.

    Raises
    ------
    ParameterError
        There is no such format.
    """
    if format == "tsv":
        return TsvReport(provenance or {})
    if format == "jsonl":
        return JsonReport()
    if format == "paf":
        return PafReport()
    raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)


class TsvReport:
    """A table: lines with '#' that say what made it, a header, and the rows of `columns` of each part."""

    def __init__(self, provenance: Mapping[str, Any]) -> None:
        self._provenance = provenance

    def head(self, part: Part) -> str:
        return provenance_lines(self._provenance) + "\t".join(part.columns()) + "\n"

    def body(self, part: Part) -> str:
        columns = part.columns()
        texts = [table_column(column, whole=not part.options.is_float) for column in columns.values()]
        return rows_of(texts, "\t".join(["%s"] * len(columns)) + "\n")


class JsonReport:
    """A line of JSON for each row of `columns`; null where there is nothing, and for what is infinite."""

    def head(self, part: Part) -> str:
        return ""

    def body(self, part: Part) -> str:
        columns = part.columns()
        texts = [json_column(column, whole=not part.options.is_float) for column in columns.values()]
        return rows_of(texts, "{" + ", ".join(f'"{name}": %s' for name in columns) + "}\n")
