"""Peaks as BED, table and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from oclgenomics.app.reports import MISSING, cell, table_text
from oclgenomics.errors import ParameterError
from oclgenomics.io.json_text import json_text
from oclgenomics.omega.significance.thresholds import PEAK_COLUMNS, Peaks
from oclgenomics.variation.bed import bed_name

BED_COLUMNS = (
    "chrom", "chromStart", "chromEnd", "name", "score", "strand", "thickStart", "thickEnd", "omega", "position",
    "pValue",
)  # fmt: skip
PeakFormat = Literal["bed", "tsv", "json"]
FORMATS: tuple[PeakFormat, ...] = get_args(PeakFormat)
TOP_SCORE = 1000  # of the highest omega


def write_peaks(found: Peaks, format: PeakFormat, provenance: Mapping[str, Any]) -> str:
    """Peaks in a format ('bed', 'tsv' or 'json'), sorted by chromosome (by its bytes) and start.

    Raises
    ------
    UsageError
        For an unknown format.
    """
    records = found.records()
    head = {**provenance, **({} if found.compared is None else {"compared": str(found.compared)})}
    if format == "json":
        whole = {
            "provenance": dict(provenance), "threshold": found.threshold, "fpr": found.fpr,
            "compared": None if found.compared is None else found.compared.record(), "peaks": records,
        }  # fmt: skip
        return json_text(whole, indent=1) + "\n"
    if format == "bed":
        highest = max([1e-300, *(record["omega"] for record in records)])
        rows = [_bed_row(record, int(np.rint(TOP_SCORE * record["omega"] / highest))) for record in records]
        return table_text(head, [f"#{BED_COLUMNS[0]}", *BED_COLUMNS[1:]], rows)
    if format == "tsv":
        rows = [[named_cell(name, record[name]) for name in PEAK_COLUMNS] for record in records]
        return table_text(head, PEAK_COLUMNS, rows)
    raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)


def _bed_row(record: dict[str, Any], score: int) -> list[str]:
    """0-based, half open; the thick part is the best window."""
    values = [
        bed_name(record["chromosome"]), max(record["start"] - 1, 0), record["end"], record["name"], score,
        ".", max(record["left"] - 1, 0), record["right"],
    ]  # fmt: skip
    return [*map(str, values), *(named_cell(name, record[name]) for name in ("omega", "position", "p_value"))]


def named_cell(name: str, value: Any) -> str:
    """Return a value as it stands in a table, by the name of its column."""
    shown = cell(value)
    return f"{value:.2f}" if name in ("position", "distance") and shown != MISSING else shown
