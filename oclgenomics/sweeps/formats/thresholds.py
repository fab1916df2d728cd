"""Peaks as BED, table and JSON; what neutral replicates say of statistics as table and JSON, read back."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.reports import cell, table_text
from oclgenomics.app.significance import known_numbers
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.json_text import is_signed, json_text, load_fields, signed_text
from oclgenomics.io.text_file import read_text
from oclgenomics.sweeps.options import STATISTICS
from oclgenomics.sweeps.significance.combined import COMBINED, Combination, Reference
from oclgenomics.sweeps.significance.peaks import Peaks
from oclgenomics.sweeps.significance.thresholds import NullFacts, Significance, SweepThreshold, sign_of
from oclgenomics.variation.bed import bed_name

KIND = "sweeps thresholds"
COLUMNS = ("record", "statistic", "name", "value", "position", "p_value", "fpr", "rate")
BED_COLUMNS = ("chrom", "chromStart", "chromEnd", "name", "score", "strand", "value", "position", "pValue", "qValue")
BED_MORE = {
    "fine_position": "finePosition",
    "fine_value": "fineValue",
    "genes": "genes",
    "nearest_gene": "nearestGene",
    "gene_distance": "geneDistance",
}
PeakFormat = Literal["bed", "tsv", "json"]
PEAK_FORMATS: tuple[PeakFormat, ...] = get_args(PeakFormat)
TOP_SCORE = 1000  # of the peak that is most like a sweep
NOT_THRESHOLDS = "is no threshold; give a number, or a file that `sweeps threshold --json -o FILE` wrote"


def write_peaks(found: Peaks, format: PeakFormat, provenance: Mapping[str, Any]) -> str:
    """Return peaks in a format ('bed', 'tsv' or 'json'), sorted by chromosome (by its bytes) and start.

    Raises
    ------
    UsageError
        For an unknown format.
    """
    records = found.records()
    head = {**provenance, "statistic": found.statistic, "threshold": found.threshold}
    if found.compared is not None:
        head["compared"] = found.compared
    if format == "json":
        known = {"statistic": found.statistic, "threshold": found.threshold, "fpr": found.fpr}
        whole = {"provenance": dict(provenance), **known, "compared": found.compared, "peaks": records}
        return json_text(whole, indent=1) + "\n"
    if format == "tsv":
        local = list(dict.fromkeys(name for record in records for name in record["local_p"] or ()))
        rows = [
            [*(cell(record[name]) for name in found.columns), *(cell(record["local_p"][name]) for name in local)]
            for record in records
        ]
        return table_text(head, [*found.columns, *(f"p_{name}" for name in local)], rows)
    if format == "bed":
        ranks = {record["name"]: int(record["name"].removeprefix("peak")) for record in records}
        lines = [
            [
                *_bed_row(record, TOP_SCORE - min(ranks[record["name"]] - 1, TOP_SCORE)),
                *(cell(record[name]) for name in found.more_columns),
            ]
            for record in records
        ]
        more = map(BED_MORE.__getitem__, found.more_columns)
        return table_text(head, [f"#{BED_COLUMNS[0]}", *BED_COLUMNS[1:], *more], lines)
    raise ParameterError("format", f"choose one of {', '.join(PEAK_FORMATS)}", format)


def _bed_row(record: Mapping[str, Any], score: int) -> list[str]:
    """0-based, half open."""
    place = [bed_name(record["chromosome"]), str(record["start"] - 1), str(record["end"])]
    values = (cell(record[name]) for name in ("value", "position", "p_value", "q_value"))
    return [*place, record["name"], str(score), ".", *values]


def as_tsv(found: Significance, peaks: list[dict[str, Any]], provenance: Mapping[str, Any]) -> str:
    """Return all results as one table, of which the column `record` says what a row is."""
    rows: list[dict[str, Any]] = [
        {"record": "threshold", "statistic": one.statistic, "value": one.value, "fpr": one.fpr,
         "rate": one.expected_fpr}
        for one in found.thresholds
    ]  # fmt: skip
    rows += [{"record": "peak", **one} for one in peaks]
    for name, values in found.extremes.items():
        pairs = zip(values.tolist(), found.positions[name].tolist(), strict=True)
        rows += [
            {"record": "replicate", "statistic": name, "name": str(number), "value": value, "position": place}
            for number, (value, place) in enumerate(pairs, start=1)
        ]
    return table_text(provenance, COLUMNS, [[cell(row.get(name)) for name in COLUMNS] for row in rows])


def as_json(found: Significance, peaks: list[dict[str, Any]], provenance: Mapping[str, Any]) -> str:
    """Return all results as one JSON object; null where there is no value."""
    record: dict[str, Any] = {
        "kind": KIND,
        "provenance": dict(provenance),
        "scan": dict(found.scan),
        "length": found.length,
        "data": vars(found.data),
        "replicates": len(found),
        "thresholds": found.records(),
        "extremes": {
            name: {"value": _plain(values), "position": _plain(found.positions[name])}
            for name, values in found.extremes.items()
        },
        "combined": None if found.combination is None else _combination(found.combination),
        "backgrounds": {
            family: {name: values.tolist() for name, values in one.items()} for family, one in found.backgrounds.items()
        },
        "peaks": peaks,
    }
    return signed_text(record)


def _combination(found: Combination) -> dict[str, Any]:
    references = {
        name: {"scores": one.scores.tolist(), "counts": one.counts.tolist(), "total": one.total}
        for name, one in found.references.items()
    }
    return {"reach": found.reach, "references": references}


def _read_combination(record: Mapping[str, Any]) -> Combination:
    """The combination of a file.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is none.
    """
    references = {}
    for name, one in record["references"].items():
        scores, counts = known_numbers(one["scores"]), known_numbers(one["counts"])
        rising = (np.diff(scores) > 0).all() and (np.diff(counts) < 0).all()
        if not rising or scores.shape != counts.shape or not len(scores) or name not in STATISTICS:
            raise ValueError
        references[str(name)] = Reference(scores, counts.astype(np.int64), int(one["total"]))
    return Combination(references, float(record["reach"]))


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def read_thresholds(path: str | os.PathLike[str]) -> Significance:
    """Read what `sweeps threshold --json -o FILE` wrote.

    Raises
    ------
    InputError
        The file cannot be read, is something else, or was changed.
    """
    text, name = read_text(path)
    if not text.lstrip().startswith("{"):
        raise InputError(NOT_THRESHOLDS, source=name)
    record = load_fields(text, name, "; write the file again").values
    if record.get("kind") == KIND and not is_signed(record):
        raise InputError("was changed after it was written; make it again with `sweeps threshold --json`", source=name)
    try:
        if record["kind"] != KIND:
            raise ValueError
        extremes = {one: known_numbers(columns["value"]) for one, columns in record["extremes"].items()}
        places = {one: known_numbers(columns["position"]) for one, columns in record["extremes"].items()}
        found = tuple(_threshold(one) for one in record["thresholds"])
        data = NullFacts(**record["data"])
        combined = record.get("combined")
        combination = None if combined is None else _read_combination(combined)
        known = set(STATISTICS) if combination is None else {*STATISTICS, COMBINED}
        if not extremes or not set(extremes) <= known or not found or (combination and COMBINED not in extremes):
            raise ValueError
        backgrounds = {
            str(family): {str(one): known_numbers(values) for one, values in parts.items()}
            for family, parts in record.get("backgrounds", {}).items()
        }
        return Significance(
            dict(record["scan"]), record["length"], data, extremes, places, found, combination, backgrounds,
            source=name, history=history_of(record.get("provenance", {}).get("parameters", {})),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(NOT_THRESHOLDS, source=name) from None


def history_of(parameters: Mapping[str, Any]) -> str:
    """Return what the replicates are of, by the options of `sweeps threshold`; empty if they do not say."""
    for name in ("input", "demes"):
        if parameters.get(name):
            return os.path.basename(str(parameters[name])) if parameters[name] != "-" else ""
    if "demes" not in parameters:
        return ""
    return "exponential growth" if parameters.get("growth_rate") else "constant size"


def _threshold(one: Mapping[str, Any]) -> SweepThreshold:
    """A threshold of a file, whose value is null where a replicate had none.

    Raises
    ------
    KeyError, TypeError, ValueError
        It is none.
    """
    statistic = str(one["statistic"])
    value = -sign_of(statistic) * math.inf if one["value"] is None else float(one["value"])
    return SweepThreshold(statistic, float(one["fpr"]), value, int(one["rank"]), int(one["replicates"]))
