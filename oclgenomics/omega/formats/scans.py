"""Reports of scans as text, in pieces, so that a report can be written while the scan goes on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.provenance import provenance_lines
from oclgenomics.errors import ParameterError
from oclgenomics.io.plain_json import json_text
from oclgenomics.omega.result import SCAN_COLUMNS, Scan

__all__ = [
    "FACTS_MARK",
    "FORMATS",
    "JsonReport",
    "OmegaPlusReport",
    "Report",
    "ReportFormat",
    "TsvReport",
    "make_report",
    "scan_record",
    "summary_line",
    "write_report",
]

ReportFormat = Literal["tsv", "omegaplus", "json"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
FACTS_MARK = "# data: "  # of the line before an alignment's rows


class Report(Protocol):
    """A report is `head()`, then `body(scan)` for each alignment, then `tail()`."""

    def head(self) -> str: ...

    def body(self, scan: Scan) -> str: ...

    def tail(self) -> str: ...


class OmegaPlusReport:
    """The report OmegaPlus 3.0.3 writes, byte for byte.

    Parameters
    ----------
    all_columns : bool
        Write the window's borders and 1 (0 where no window holds enough sites) after position and omega, as its `-all`
        does; where `-b` permits no window, the borders are the first site.
    separator : bool
        Write "//" and the alignment's number before its rows; False is its `-noSeparator`.
    """

    def __init__(self, *, all_columns: bool = False, separator: bool = True) -> None:
        self.all_columns = all_columns
        self.separator = separator

    def head(self) -> str:
        return ""

    def body(self, scan: Scan) -> str:
        title = f"\n//{scan.replicate}\n" if self.separator else "\n"
        valid = scan.valid if scan.enough_sites is None else scan.enough_sites
        columns = [scan.positions.tolist(), np.where(valid, scan.omega, 0.0).tolist()]
        if not self.all_columns:
            return title + "".join([f"{at:.4f}\t{omega:f}\n" for at, omega in zip(*columns, strict=True)])
        for border in (scan.left, scan.right, np.ones(len(valid), np.int64)):
            columns.append(np.where(valid, border, 0).tolist())
        rows = zip(*columns, strict=True)
        return title + "".join(
            [f"{at:.4f}\t{omega:f}\t{left}\t{right}\t{valid}\n" for at, omega, left, right, valid in rows]
        )

    def tail(self) -> str:
        return ""


class TsvReport:
    """A table for `pandas.read_csv(path, sep="\\t", comment="#")` or R's `read.delim(path, comment.char="#")`.

    One header line names the columns, and every row holds all of them; a position without a window (none holds enough
    sites, or `--border` permits none) has NA for omega and the window, and one at which every omega is 0 has NA for the
    window. Omega has the digits that hold (`Scan.digits`). `window_sites` counts the sites from the left to the right
    border. Lines with '#' before the header say what made the table, and those before the rows of an alignment what was
    scanned of it (`DataFacts`).

    Parameters
    ----------
    provenance : mapping, optional
        Written as '# name: value' lines.
    """

    def __init__(self, provenance: Mapping[str, Any] | None = None) -> None:
        self.provenance = provenance or {}

    def head(self) -> str:
        return provenance_lines(self.provenance) + "\t".join(SCAN_COLUMNS) + "\n"

    def body(self, scan: Scan) -> str:
        label = f"{_one_field(scan.name)}\t{scan.replicate}"
        columns = [scan.positions, scan.omega, scan.left, scan.right, _window_sites(scan), scan.valid]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return _facts_line(scan) + "".join(
            [
                f"{label}\t{at:.2f}\t{omega:.{scan.digits}g}\t{left}\t{right}\t{sites if sites >= 0 else 'NA'}\n"
                if valid and omega > 0
                else f"{label}\t{at:.2f}\t0\tNA\tNA\tNA\n"
                if valid
                else f"{label}\t{at:.2f}\tNA\tNA\tNA\tNA\n"
                for at, omega, left, right, sites, valid in rows
            ]
        )

    def tail(self) -> str:
        return ""


class JsonReport:
    """One JSON object: 'provenance', and 'alignments' with a summary and arrays each; null where there is no window.

    Parameters
    ----------
    provenance : mapping, optional
        Written under 'provenance'.
    """

    def __init__(self, provenance: Mapping[str, Any] | None = None) -> None:
        self.provenance = dict(provenance or {})
        self._written = 0

    def head(self) -> str:
        return f'{{"provenance": {_json(self.provenance)},\n "alignments": ['

    def body(self, scan: Scan) -> str:
        self._written += 1
        return ("," if self._written > 1 else "") + "\n  " + _json(scan_record(scan))

    def tail(self) -> str:
        return "\n ]\n}\n"


def scan_record(scan: Scan) -> dict[str, Any]:
    """A scan as plain values: positions in bp, None where there is no window, nothing that differs from run to run."""
    sites = _window_sites(scan)
    found = scan.valid & (scan.omega > 0)

    def shown(values: NDArray[Any], known: NDArray[np.bool_]) -> list[Any]:
        return [value if there else None for value, there in zip(values.tolist(), known.tolist(), strict=True)]

    best = scan.best
    omega = np.array([_rounded(value, scan.digits) for value in scan.omega.tolist()])
    return {
        "chromosome": scan.name,
        "replicate": scan.replicate,
        "haplotypes": scan.haplotypes,
        "sites": scan.sites,
        **({} if scan.data is None else scan.data.record()),
        "discarded": dict(scan.discarded),
        "possible": scan.possible,
        "maxwin": scan.maxwin,
        "maximum": None
        if best is None or not found[best]
        else {
            "omega": float(omega[best]) if np.isfinite(omega[best]) else None,
            "position": float(scan.positions[best]),
            "left": int(scan.left[best]),
            "right": int(scan.right[best]),
            "window_sites": int(sites[best]) if sites[best] >= 0 else None,
        },
        "positions": scan.positions.tolist(),
        "omega": shown(omega, scan.valid & np.isfinite(scan.omega)),
        "left": shown(scan.left, found),
        "right": shown(scan.right, found),
        "window_sites": shown(sites, found & (sites >= 0)),
    }


def make_report(
    format: ReportFormat = "tsv",
    *,
    provenance: Mapping[str, Any] | None = None,
    all_columns: bool = False,
    separator: bool = True,
) -> Report:
    """Return the report of a format.

    Parameters
    ----------
    format : str
        'tsv', 'omegaplus' or 'json'.
    provenance : mapping, optional
        What made the results; left out of 'omegaplus', which has no place for it.
    all_columns, separator : bool
        See `OmegaPlusReport`; without effect on the other formats, which always hold all columns.

    Raises
    ------
    UsageError
        For an unknown format.
    """
    if format == "omegaplus":
        return OmegaPlusReport(all_columns=all_columns, separator=separator)
    if format == "tsv":
        return TsvReport(provenance)
    if format == "json":
        return JsonReport(provenance)
    raise ParameterError("format", f"choose one of {', '.join(FORMATS)}", format)


def write_report(scans: Iterable[Scan], stream: IO[str], report: Report) -> int:
    """Write scans to a text stream as they come, and return how many there were."""
    stream.write(report.head())
    count = 0
    for scan in scans:
        stream.write(report.body(scan))
        count += 1
    stream.write(report.tail())
    return count


def summary_line(scan: Scan) -> str:
    """One line for a person: sites, what was left out and why, the largest omega, where, and its window."""
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in scan.discarded.items() if count)
    line = f"{scan.name}: {scan.haplotypes:,} haplotypes, {scan.sites:,} sites"
    line += f" (left out: {left_out})" if left_out else ""
    best = scan.best
    if not scan.possible:
        return f"{line}; not possible, at least 4 sites are needed"
    if best is None and scan.enough_sites is not None and scan.enough_sites.any():
        return f"{line}; --border permits no window at any position (a larger one, or -1 for all)"
    if best is None:
        return f"{line}; no window holds enough sites at any position (larger --maxwin, smaller --minsnps)"
    if not scan.omega[best] > 0:
        return f"{line}; omega is 0 at every position"
    window = f"{scan.left[best]:,}-{scan.right[best]:,}"
    return f"{line}; largest omega {scan.omega[best]:,.6g} at {scan.positions[best]:,.0f} bp, window {window}"


def _facts_line(scan: Scan) -> str:
    """What was scanned, as a line that readers of tables pass over; it holds no tab, as all rows do."""
    if scan.data is None:
        return ""
    words = " ".join(f"{name}={str(value).lower()}" for name, value in scan.data.record().items())
    return f"{FACTS_MARK}{words} chromosome={_one_field(scan.name)}\n"


def _window_sites(scan: Scan) -> NDArray[np.int64]:
    """Sites in each window; -1 where they were not counted."""
    if scan.window_sites is None:
        return np.full(len(scan.positions), -1, np.int64)
    return scan.window_sites


def _rounded(omega: float, digits: int) -> float:
    return float(f"{omega:.{digits}g}")


def _one_field(name: str) -> str:
    return name.replace("\t", " ").replace("\n", " ")


def _json(value: Any) -> str:
    return json_text(value)
