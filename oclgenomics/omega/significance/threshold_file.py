"""Thresholds, maxima of replicates, peaks and detection rates as tsv and JSON, and the JSON read back."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oclgenomics.commandkit.plain_json import json_text
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.text_file import read_text
from oclgenomics.omega.peaks import Peak
from oclgenomics.omega.reports.reading import OmegaReport, load_json
from oclgenomics.omega.significance.thresholds import Detection, Localisation, Maxima, Threshold, p_values
from oclgenomics.variation.base_pairs import MAX_BP

__all__ = [
    "COLUMNS",
    "Significance",
    "SweepResults",
    "ThresholdFile",
    "as_json",
    "as_tsv",
    "check_comparable",
    "comparison_warnings",
    "read_thresholds",
]

KIND = "omega thresholds"
COLUMNS = (
    "record", "name", "omega", "position", "left", "right", "p_value", "distance", "fpr", "rate", "rate_within",
)  # fmt: skip
MUST_AGREE = ("minwin", "maxwin", "minsnps", "border", "ld")  # with any other value omega is another statistic
SHOULD_AGREE = ("maf", "no_singletons", "precision")
LIKE_SPACING = 1.5  # between grids whose maxima can be compared
LIKE_LENGTH = 1.2


@dataclass
class SweepResults:
    """What was found in replicates with a sweep at a known site."""

    maxima: Maxima
    site: int
    detection: list[Detection]
    localisation: Localisation


@dataclass
class Significance:
    """All that `omega threshold` finds.

    Attributes
    ----------
    scan : dict of str to object
        Options of the scan by name.
    length : int or None
        Of a replicate, bp, if it is known.
    haplotypes : int
    mean_sites : float
        Sites used per replicate.
    maxima : Maxima
        Of the neutral replicates.
    thresholds : list of Threshold
    peaks : list of Peak, optional
        Of a scan whose significance is asked for.
    sweeps : SweepResults, optional
    """

    scan: dict[str, Any]
    length: int | None
    haplotypes: int
    mean_sites: float
    maxima: Maxima
    thresholds: list[Threshold]
    peaks: list[Peak] | None = None
    sweeps: SweepResults | None = None


@dataclass
class ThresholdFile:
    """What `omega threshold --json` wrote, as far as other commands use it.

    Attributes
    ----------
    source : str
    thresholds : list of Threshold
    maxima : Maxima
    scan : dict of str to object
        Options of the replicates' scan by name.
    length : int or None
        Of a replicate, bp.
    """

    source: str
    thresholds: list[Threshold]
    maxima: Maxima
    scan: dict[str, Any] = field(default_factory=dict)
    length: int | None = None


def as_json(found: Significance, provenance: Mapping[str, Any]) -> str:
    """All results as one JSON object; null where there is no value."""
    record: dict[str, Any] = {
        "kind": KIND,
        "provenance": dict(provenance),
        "scan": found.scan,
        "length": found.length,
        "haplotypes": found.haplotypes,
        "mean_sites": found.mean_sites,
        "replicates": len(found.maxima),
        "thresholds": [
            {
                "fpr": threshold.fpr, "omega": _plain(threshold.omega), "rank": threshold.rank,
                "expected_fpr": threshold.expected_fpr, "fpr_error": threshold.fpr_error,
            }
            for threshold in found.thresholds
        ],
        "maxima": _maxima_record(found.maxima),
        "peaks": None if found.peaks is None else [_peak_record(peak, found.maxima) for peak in found.peaks],
        "sweeps": None if found.sweeps is None else _sweep_record(found.sweeps),
    }  # fmt: skip
    return json_text(record, indent=1) + "\n"


def as_tsv(found: Significance, provenance: Mapping[str, Any], head: str) -> str:
    """All results as one table, of which the column `record` says what a row is; `head` comes before."""
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
    lines = ["\t".join(_cell(name, row.get(name)) for name in COLUMNS) for row in rows]
    return head + "\n".join(["\t".join(COLUMNS), *lines, ""])


def read_thresholds(path: str | os.PathLike[str]) -> ThresholdFile:
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
    try:
        if record["kind"] != KIND:
            raise ValueError
        maxima = Maxima(*(_numbers(record["maxima"], column) for column in ("omega", "position")))
        found = [_threshold(one, len(maxima)) for one in record["thresholds"]]
        length = None if record["length"] is None else _whole(record["length"], 1, MAX_BP)
        scan = dict(record["scan"].items())
        if scan.get("grid") is not None:
            scan["grid"] = _whole(scan["grid"], 2, MAX_BP)
        if not found or not len(maxima) or len(maxima.omega) != len(maxima.position):
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(wrong, source=name) from None
    return ThresholdFile(name, found, maxima, scan, length)


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


def check_comparable(given: ThresholdFile, parameters: Mapping[str, Any], what: str, option: str) -> None:
    """Refuse to compare omegas of different windows or LD measures.

    Parameters
    ----------
    given : ThresholdFile
    parameters : mapping
        Those of the scan; what is not known is not compared.
    what : str
        Name of the scan in the message.
    option : str
        The option with the thresholds.

    Raises
    ------
    UsageError
        The thresholds belong to a scan with other parameters.
    """
    for name in MUST_AGREE:
        ours, theirs = parameters.get(name), given.scan.get(name)
        if ours is not None and theirs is not None and str(ours) != str(theirs):
            raise UsageError(
                f"{option}: its replicates were scanned with --{name} {theirs}, and {what} with --{name} {ours}; "
                "scan both with the same options"
            )


def comparison_warnings(given: ThresholdFile, report: OmegaReport) -> list[str]:
    """What makes the omegas of a report differ from those of neutral replicates, or a rate mean something else."""
    said = []
    for name in SHOULD_AGREE:
        ours, theirs = report.parameters.get(name), given.scan.get(name)
        if ours is not None and theirs is not None and str(ours) != str(theirs):
            said.append(f"the replicates were scanned with {name} {theirs}, {report.source} with {ours}")
    longest = max(report.tracks, key=_span, default=None)
    grid = given.scan.get("grid")
    if longest is None or len(longest.positions) < 2 or given.length is None or grid is None:
        return said
    ours, theirs = _span(longest) / (len(longest.positions) - 1), given.length / (int(grid) - 1)
    if ours and not 1 / LIKE_SPACING < ours / theirs < LIKE_SPACING:
        said.append(
            f"grid positions are {ours:,.0f} bp apart in {report.source} and {theirs:,.0f} bp in the replicates; "
            "a denser grid finds larger maxima"
        )
    total = sum(_span(track) for track in report.tracks)
    if total > LIKE_LENGTH * given.length:
        said.append(
            f"rates and p-values are those of a stretch of {given.length:,} bp; {report.source} holds about "
            f"{total / given.length:,.1f} of them"
        )
    return said


def _span(track: Any) -> float:
    return float(track.positions[-1] - track.positions[0]) if len(track.positions) else 0.0


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _maxima_record(maxima: Maxima) -> dict[str, Any]:
    return {name: [_plain(v) for v in getattr(maxima, name).tolist()] for name in ("omega", "position")}


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
        "detection": [
            {
                "fpr": one.threshold.fpr, "omega": _plain(one.threshold.omega), "detected": one.detected,
                "rate": one.rate, "detected_within": one.detected_within, "rate_within": one.rate_within,
            }
            for one in sweeps.detection
        ],
        "distance": {
            "found": at.found, "mean": at.mean, "median": at.median,
            "quantiles": {f"{share:g}": value for share, value in at.quantiles.items()},
            "limit": at.limit, "within": at.within,
        },
        "maxima": _maxima_record(sweeps.maxima),
    }  # fmt: skip


def _sweep_rows(sweeps: SweepResults, neutral: Maxima) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "record": "detection", "omega": one.threshold.omega, "fpr": one.threshold.fpr, "rate": one.rate,
            "rate_within": one.rate_within,
        }
        for one in sweeps.detection
    ]  # fmt: skip
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


def _cell(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "NA"
    if name in ("position", "distance"):
        return f"{value:.2f}"
    return f"{value:.9g}" if isinstance(value, float) else " ".join(str(value).split())


def _numbers(columns: Mapping[str, Sequence[float | None]], name: str) -> Any:
    numbers = np.array([math.nan if value is None else value for value in columns[name]])
    if numbers.ndim != 1 or numbers.dtype.kind not in "iuf" or np.isinf(numbers).any():
        raise ValueError
    return numbers.astype(np.float64)
