"""Peaks as BED, table and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oclgenomics.commandkit.plain_json import json_text
from oclgenomics.errors import UsageError
from oclgenomics.omega.peaks import Peak
from oclgenomics.omega.reports.scans import provenance_lines
from oclgenomics.omega.significance.thresholds import Maxima, p_values
from oclgenomics.variation.bed import bed_name

__all__ = ["BED_COLUMNS", "TSV_COLUMNS", "PeakReport", "write_peaks"]

BED_COLUMNS = (
    "chrom", "chromStart", "chromEnd", "name", "score", "strand", "thickStart", "thickEnd", "omega", "position",
    "pValue",
)  # fmt: skip
TSV_COLUMNS = (
    "name", "chromosome", "replicate", "start", "end", "position", "omega", "left", "right", "positions", "p_value",
)  # fmt: skip
TOP_SCORE = 1000


@dataclass
class PeakReport:
    """Peaks and what they were told by.

    Attributes
    ----------
    peaks : list of Peak
    threshold : float
        Omega that their positions exceed.
    maxima : Maxima, optional
        Of neutral replicates, for p-values.
    fpr : float, optional
        False-positive rate of the threshold.
    """

    peaks: list[Peak]
    threshold: float
    maxima: Maxima | None = None
    fpr: float | None = None


def write_peaks(report: PeakReport, format: str, provenance: Mapping[str, Any]) -> str:
    """Peaks in a format ('bed', 'tsv' or 'json'), sorted by chromosome (by its bytes) and start.

    Raises
    ------
    UsageError
        For an unknown format.
    """
    records = _records(report)
    if format == "json":
        whole = {
            "provenance": dict(provenance), "threshold": report.threshold, "fpr": report.fpr,
            "peaks": [{n: v for n, v in record.items() if n != "score"} for record in records],
        }  # fmt: skip
        return json_text(whole, indent=1) + "\n"
    if format == "bed":
        rows = [_bed_row(record) for record in records]
        return provenance_lines(provenance) + _table(f"#{BED_COLUMNS[0]}", BED_COLUMNS[1:], rows)
    if format == "tsv":
        rows = [[_cell(name, record[name]) for name in TSV_COLUMNS] for record in records]
        return provenance_lines(provenance) + _table(TSV_COLUMNS[0], TSV_COLUMNS[1:], rows)
    raise UsageError(f"--format {format}: choose one of bed, tsv, json")


def _records(report: PeakReport) -> list[dict[str, Any]]:
    """Peaks with name (peak1 is the highest), score and p-value, in order."""
    omega = np.array([peak.omega for peak in report.peaks], np.float64)
    rank = np.argsort(np.argsort(-omega, kind="stable"), kind="stable") + 1
    score = np.rint(TOP_SCORE * omega / omega.max(initial=1e-300)).astype(np.int64)
    p = [None] * len(omega) if report.maxima is None else p_values(omega, report.maxima.omega).tolist()
    records = [
        {"name": f"peak{place}", **asdict(peak), "score": shown, "p_value": value}
        for place, peak, shown, value in zip(rank.tolist(), report.peaks, score.tolist(), p, strict=True)
    ]
    return sorted(records, key=lambda one: (one["chromosome"].encode(), one["start"], one["end"], one["replicate"]))


def _bed_row(record: dict[str, Any]) -> list[str]:
    """0-based, half open; the thick part is the best window."""
    values = [
        bed_name(record["chromosome"]), max(record["start"] - 1, 0), record["end"], record["name"], record["score"],
        ".", max(record["left"] - 1, 0), record["right"],
    ]  # fmt: skip
    return [*map(str, values), *(_cell(name, record[name]) for name in ("omega", "position", "p_value"))]


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "NA"
    if name == "position":
        return f"{value:.2f}"
    return f"{value:.9g}" if isinstance(value, float) else " ".join(str(value).split())


def _table(first: str, others: Sequence[str], rows: list[list[str]]) -> str:
    return "".join(["\t".join(row) + "\n" for row in ([first, *others], *rows)])
