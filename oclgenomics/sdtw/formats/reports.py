"""Columns of arrays as columns of text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import IO, Any, Literal, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.errors import ParameterError
from oclgenomics.io.text_rows import MISSING, rows_of
from oclgenomics.sdtw.decisions.thresholds import WORDS
from oclgenomics.sdtw.result import Alignments, BestPlaces, Classified, Totals, named_places, record_lengths

__all__ = [
    "FORMATS",
    "JsonReport",
    "PafReport",
    "Part",
    "Report",
    "ReportFormat",
    "TsvReport",
    "json_column",
    "make_report",
    "summary_text",
    "table_column",
    "write_report",
]

WHOLE, REAL = "%.0f", "%.9g"  # REAL tells floats of single precision apart


def table_column(column: NDArray[Any], *, whole: bool) -> list[str]:
    """Write the values of a column of a table.

    Parameters
    ----------
    column : ndarray
        Texts, whole numbers from 0 on, or floating-point numbers; an empty text, -1 and NaN stand for nothing.
    whole : bool
        Floating-point numbers are whole numbers.
    """
    values = column.tolist()
    if column.dtype.kind == "f":
        form = WHOLE if whole else REAL
        return [form % value if value == value else MISSING for value in values]
    if column.dtype.kind == "i":
        return [str(value) if value >= 0 else MISSING for value in values]
    return [value or MISSING for value in values]


def json_column(column: NDArray[Any], *, whole: bool) -> list[str]:
    """Write the values of a column as JSON, null for nothing and for infinity; parameters as for `table_column`."""
    values = column.tolist()
    if column.dtype.kind == "f":
        form = WHOLE if whole else REAL
        return [form % value if math.isfinite(value) else "null" for value in values]
    if column.dtype.kind == "i":
        return [str(value) if value >= 0 else "null" for value in values]
    return [encode_basestring_ascii(value) if value else "null" for value in values]


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


FORM = "%%s\t%%s\t0\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\t%%s\ttp:A:P\tco:%s:%%s\trf:Z:%%s"


class PafReport:
    """A line for each read that has a place, of its best reference. Reads without a place are left out, as PAF does.

    Of the read, lengths and places are samples; of the record, letters. Matches are the k-mers that samples were
    aligned with, and the block is their letters. Tags: `co` is the cost, `rf` the name of the reference, `dc` the
    decision.

    Attributes
    ----------
    left_out : int
        Reads without a place so far.
    """

    def __init__(self) -> None:
        self.left_out = 0

    def head(self, part: Alignments | Classified) -> str:
        return ""

    def body(self, part: Alignments | Classified) -> str:
        """Write the places of a part.

        Raises
        ------
        ValueError
            The part has no starts.
        """
        best = BestPlaces.of(part)
        there = best.end >= 0
        self.left_out += int(np.count_nonzero(~there))
        which, start, end = best.reference[there], best.start[there], best.end[there]
        first, last = (named_places(part.references, which, column) for column in (start, end))
        row = part.options.row_samples
        low = np.minimum(first["position"], last["position"])
        letters = np.abs(first["position"] - last["position"]) + np.array([one.k for one in part.references])[which]
        columns = [
            best.names[there], best.samples[there], best.prefix[there] // row * row,
            first["strand"], first["record"], record_lengths(part.references, which, end), low, low + letters,
            end - start + 1, letters, best.quality[there], best.cost[there], first["reference"],
        ]  # fmt: skip
        texts = [table_column(column, whole=not part.options.is_float) for column in columns]
        form = FORM % ("f" if part.options.is_float else "i")
        if best.decision is not None:
            texts.append(best.decision[there].tolist())
            form += "\tdc:Z:%s"
        return rows_of(texts, form + "\n")


PartT = TypeVar("PartT", Alignments, Classified)


def write_report(
    parts: Iterable[PartT],
    stream: IO[str],
    report: Report,
    *,
    on_part: Callable[[PartT], None] = lambda _: None,
) -> None:
    """Write the parts of a result as they come; an input that is refused at once leaves nothing behind.

    Parameters
    ----------
    parts : iterable of Alignments or of Classified
        One at least, if only of no reads.
    stream : text stream
    report : Report
    on_part : callable
        Called with each part before it is written.
    """
    begun = False
    for part in parts:
        on_part(part)
        stream.write(report.body(part) if begun else report.head(part) + report.body(part))
        begun = True


COLUMNS = ("prefix", "came", "accept", "reject", "undecided")


def summary_text(totals: Totals, prefixes: Sequence[int], provenance: Mapping[str, Any] | None = None) -> str:
    """Return a table with a line for each stage: reads that came to it, decisions of those that stopped there.

    Parameters
    ----------
    totals : Totals
    prefixes : sequence of int
        Samples of the stages; a line for 0, reads that came to none, is before them.
    provenance : mapping, optional
    """
    lines = [provenance_lines(provenance or {}), "\t".join(COLUMNS) + "\n"]
    for prefix in (0, *prefixes):
        came = sum(number for (last, _), number in totals.decided.items() if last >= prefix)
        counts = {word: totals.decided[prefix, word] for word in WORDS}
        lines.append(f"{prefix}\t{came}\t" + "\t".join([str(counts[word]) for word in COLUMNS[2:]]) + "\n")
    return "".join(lines)
