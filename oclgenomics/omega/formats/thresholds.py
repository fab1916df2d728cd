"""Peaks as BED, table and JSON; what neutral replicates say of omegas (`Significance`) as tsv and JSON, read back."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from oclgenomics.app.reports import MISSING, cell, table_text
from oclgenomics.app.significance import known_numbers
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.json_text import is_signed, json_text, signed_text
from oclgenomics.io.text_file import read_text
from oclgenomics.omega.formats.scans import load_json
from oclgenomics.omega.significance.facts import NullFacts
from oclgenomics.omega.significance.peaks import Peak
from oclgenomics.omega.significance.thresholds import (
    PEAK_COLUMNS,
    Maxima,
    Peaks,
    Significance,
    SweepResults,
    Threshold,
    p_values,
)
from oclgenomics.variation.bed import MAX_BP, bed_name

KIND = "omega thresholds"
COLUMNS = (
    "record", "name", "omega", "position", "left", "right", "p_value", "distance", "fpr", "rate", "rate_within",
)  # fmt: skip
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


def as_json(found: Significance, provenance: Mapping[str, Any]) -> str:
    """All results as one JSON object; null where there is no value."""
    record: dict[str, Any] = {
        "kind": KIND,
        "provenance": dict(provenance),
        "scan": dict(found.scan),
        "length": found.length,
        "haplotypes": found.haplotypes,
        "mean_sites": found.mean_sites,
        "data": None if found.data is None else found.data.record(),
        "compared": None if found.compared is None else found.compared.record(),
        "replicates": len(found.maxima),
        "thresholds": [
            {name: value for name, value in one.record().items() if name != "replicates"} for one in found.thresholds
        ],
        "maxima": _maxima_record(found.maxima),
        "peaks": None if found.peaks is None else [_peak_record(peak, found.maxima) for peak in found.peaks],
        "sweeps": None if found.sweeps is None else _sweep_record(found.sweeps),
    }  # fmt: skip
    return signed_text(record)


def as_tsv(found: Significance, provenance: Mapping[str, Any]) -> str:
    """All results as one table, of which the column `record` says what a row is, below '#' lines of provenance."""
    rows: list[dict[str, Any]] = [
        {"record": "threshold", "omega": threshold.omega, "fpr": threshold.fpr, "rate": threshold.expected_fpr}
        for threshold in found.thresholds
    ]
    if found.sweeps is not None:
        rows += _sweep_rows(found.sweeps, found.maxima)
    for peak in found.peaks or []:
        record = _peak_record(peak, found.maxima)
        rows.append({"record": "peak", "name": peak.chromosome, **{n: v for n, v in record.items() if n in COLUMNS}})
    rows += _maxima_rows("replicate", found.maxima)
    head = {**provenance, **({} if found.compared is None else {"compared": str(found.compared)})}
    return table_text(head, COLUMNS, [[named_cell(name, row.get(name)) for name in COLUMNS] for row in rows])


def read_thresholds(path: str | os.PathLike[str]) -> Significance:
    """Read what `omega threshold --json -o FILE` wrote.

    Raises
    ------
    InputError
        The file cannot be read, or is something else.
    """
    text, name = read_text(path)
    wrong = "is no threshold; give a number, or a file that `omega threshold --json -o FILE` wrote"
    if not text.lstrip().startswith("{"):
        raise InputError(wrong, source=name)
    record = load_json(text, name)
    if record.get("kind") == KIND and not is_signed(record):
        changed = "was changed after it was written, or by a version without checksums; make it again"
        raise InputError(f"{changed} with `omega threshold --json`", source=name)
    try:
        if record["kind"] != KIND:
            raise ValueError
        data = None if record["data"] is None else NullFacts.read(record["data"])
        maxima = Maxima(*(known_numbers(record["maxima"][column]) for column in ("omega", "position")))
        found = tuple(_threshold(one, len(maxima)) for one in record["thresholds"])
        length = None if record["length"] is None else _whole(record["length"], 1, MAX_BP)
        scan = dict(record["scan"].items())
        if scan.get("grid") is not None:
            scan["grid"] = _whole(scan["grid"], 2, MAX_BP)
        if not found or not len(maxima) or len(maxima.omega) != len(maxima.position):
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(wrong, source=name) from None
    haplotypes, mean_sites = record.get("haplotypes"), record.get("mean_sites")
    return Significance(
        scan, length, haplotypes if type(haplotypes) is int else None,
        float(mean_sites) if isinstance(mean_sites, (int, float)) else None, maxima, found, source=name, data=data,
    )  # fmt: skip


def _threshold(one: Mapping[str, Any], replicates: int) -> Threshold:
    """A threshold of a file.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is none.
    """
    fpr, omega = one["fpr"], one["omega"]
    if not all(type(number) in (int, float) for number in (fpr, omega)) or not (0 < fpr < 1 and 0 <= omega < math.inf):
        raise ValueError
    return Threshold(float(fpr), float(omega), _whole(one["rank"], 0, replicates), replicates)


def _whole(value: object, least: int, most: int) -> int:
    """The same number.

    Raises
    ------
    ValueError
        It is no whole number, or out of range.
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError
    return value


def _maxima_record(maxima: Maxima) -> dict[str, Any]:
    return {"omega": maxima.omega.tolist(), "position": maxima.position.tolist()}


def _peak_record(peak: Peak, maxima: Maxima) -> dict[str, Any]:
    return {
        "chromosome": peak.chromosome, "replicate": peak.replicate, "position": peak.position, "omega": peak.omega,
        "left": peak.left, "right": peak.right, "p_value": float(p_values(peak.omega, maxima.omega)),
    }  # fmt: skip


def _sweep_record(sweeps: SweepResults) -> dict[str, Any]:
    at = sweeps.localisation
    return {
        "site": sweeps.site,
        "replicates": len(sweeps.maxima),
        "detection": [one.record() for one in sweeps.detection],
        "distance": {
            "found": at.found, "mean": at.mean, "median": at.median,
            "quantiles": {f"{share:g}": value for share, value in at.quantiles.items()},
            "limit": at.limit, "within": at.within,
        },
        "maxima": _maxima_record(sweeps.maxima),
    }  # fmt: skip


def _sweep_rows(sweeps: SweepResults, neutral: Maxima) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"record": "detection", **one.record()} for one in sweeps.detection]
    at = sweeps.localisation
    distances = {"mean": at.mean, **{f"q{100 * share:02.0f}": value for share, value in at.quantiles.items()}}
    rows += [{"record": "distance", "name": name, "distance": value} for name, value in distances.items()]
    found = _maxima_rows("sweep", sweeps.maxima)
    p = p_values(sweeps.maxima.omega, neutral.omega).tolist()
    for row, value in zip(found, p, strict=True):
        row |= {"p_value": value, "distance": abs(row["position"] - sweeps.site)}
    return rows + found


def _maxima_rows(record: str, maxima: Maxima) -> list[dict[str, Any]]:
    pairs = zip(maxima.omega.tolist(), maxima.position.tolist(), strict=True)
    return [
        {"record": record, "name": str(number), "omega": omega, "position": position}
        for number, (omega, position) in enumerate(pairs, start=1)
    ]
