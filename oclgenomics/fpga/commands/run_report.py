"""The reports of `oclgenomics fpga run`: a summary, a table of the grid positions, and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hls_model.cli.tables import table
from hls_model.clock import asked_text, clock_record
from oclgenomics.app.provenance import provenance_lines
from oclgenomics.fpga import RUN_COLUMNS, AlignmentRun, ScanRun
from oclgenomics.omega.result import COMPAT_DIGITS

__all__ = ["run_record", "run_table", "run_text"]

SHOWN = 30  # alignments; the table has all
MATRIX_TEXT = {
    "float32": "M by the recurrence of Eq. 3 in float32, so errors are those of M and of the lanes together",
    "exact": "M summed in float64 and rounded once to float32, so errors are those of the lanes alone",
}
HEADER = (
    "alignment", "positions", "omegas", "median error", "largest error", "other windows", "ties", "greatest loss",
    "top kept", "same peak",
)  # fmt: skip


def run_text(found: ScanRun) -> str:
    """Return what the comparison comes to, as text."""
    whole, config = found.summary(), found.config
    share = f"{whole['omegas'] - whole['software_omegas']:,} by {config.lanes} lanes"
    head = f"{_scanned(found.alignments)}, {whole['omegas']:,} omegas ({share}, {whole['software_omegas']:,} remainder)"
    rows = [_cells(one.scan.name, one.summary()) for one in found.alignments[:SHOWN]]
    if len(found.alignments) > SHOWN:
        rows.append((f"... {len(found.alignments) - SHOWN:,} more", *[""] * (len(HEADER) - 1)))
    if len(found.alignments) > 1:
        rows.append(_cells("all", whole))
    parts = [f"{head}\n{config.name}: {MATRIX_TEXT[found.matrix]}", table(HEADER, rows)]
    clock = f"{asked_text(config)}; no clock changes an omega"
    return "\n\n".join([*parts, "\n".join([*_sentences(whole), clock])])


def run_record(found: ScanRun, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same for JSON: 'provenance', 'design', 'matrix', 'summary', 'alignments' and 'positions'."""
    return {
        "provenance": dict(provenance),
        "design": found.config.name,
        "lanes": found.config.lanes,
        **clock_record(found.config),
        "matrix": found.matrix,
        "summary": found.summary(),
        "alignments": [one.summary() for one in found.alignments],
        "positions": found.records(),
    }


def run_table(found: ScanRun, provenance: Mapping[str, Any]) -> str:
    """Return a row for each grid position under `RUN_COLUMNS`, after '#' lines that say what made them; NA is none."""
    rows = ("\t".join(_field(name, record[name]) for name in RUN_COLUMNS) + "\n" for record in found.records())
    return provenance_lines(provenance) + "\t".join(RUN_COLUMNS) + "\n" + "".join(rows)


def _field(name: str, value: Any) -> str:
    if value is None:
        return "NA"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if name == "position":
            return f"{value:.2f}"
        return f"{value:.{COMPAT_DIGITS if name.endswith('omega') else 3}g}"
    return " ".join(str(value).split())


def _scanned(runs: Sequence[AlignmentRun]) -> str:
    positions = sum(len(one.omega) for one in runs)
    if len(runs) == 1:
        scan = runs[0].scan
        return f"{scan.name}: {scan.sites:,} sites, {scan.haplotypes:,} haplotypes, {positions:,} positions"
    return f"{len(runs):,} alignments, {sum(one.scan.sites for one in runs):,} sites, {positions:,} positions"


def _cells(name: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name,
        f"{found['positions']:,}",
        f"{found['omegas']:,}",
        _error(found["median_error"]),
        _error(found["largest_error"]),
        f"{found['other_windows']:,}",
        f"{found['ties']:,}",
        _error(found["greatest_loss"]),
        f"{found['top_kept']} of {found['top']}",
        "yes" if found["same_peak"] else "no",
    )


def _sentences(found: Mapping[str, Any]) -> list[str]:
    lines = []
    if found["largest_error_at"] is not None:
        lines.append(f"largest error at {_place(found['largest_error_at'])}")
    if found["greatest_loss_at"] is not None:
        lines.append(
            f"greatest loss at {_place(found['greatest_loss_at'])}: omega in float64 of the hardware's window is "
            f"{_error(found['greatest_loss'])} below the scan's maximum"
        )
    window = found["largest_window_error"]
    lines.append(
        f"against float64 sums of the same windows the hardware is off by {_error(window)} at most; the scan holds "
        "seven digits (1.5e-07)"
    )
    lines.append(f"{found['from_remainder']:,} of {found['positions']:,} maxima come from the remainder")
    return lines


def _place(place: tuple[str, int, float]) -> str:
    name, _, at = place
    return f"{name}:{at:,.0f}"


def _error(value: float) -> str:
    return "0" if value == 0 else f"{value:.1e}"
