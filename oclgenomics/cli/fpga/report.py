"""The table of `oclgenomics fpga project`: a row for each alignment and design, totals, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hls_model.cli.project import phases_text, summary_text
from hls_model.cli.tables import table
from hls_model.project import Projection, totals
from hls_model.text import seconds_text
from oclgenomics.fpga import Measured, ScanProjection

__all__ = ["projection_record", "projection_text"]

SHOWN = 30  # alignments; --json has all


def projection_text(found: ScanProjection) -> str:
    """Return the projections of every design, and the measurement, as text."""
    rows = found.projections
    first = next(iter(rows.values()))
    if len(first) == 1:
        workload = first[0].timing.workload
        single = [projections[0] for projections in rows.values()]
        sizes = f"{workload.snps:,} sites" + (f", {workload.samples:,} haplotypes" if workload.samples else "")
        head = f"{workload.name}: {sizes}, {len(workload.left):,} positions, {workload.omegas:,} omegas"
        parts = [head, summary_text(single), phases_text(single)]
    else:
        parts = [_design_text(name, projections) for name, projections in rows.items()]
    if found.measured is not None:
        parts.append(_measured_text(found, found.measured))
    return "\n\n".join(parts)


def projection_record(found: ScanProjection, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same for JSON: 'provenance', 'projections', 'totals' by design, and 'measured' (or None)."""
    measured = found.measured
    return {
        "provenance": dict(provenance),
        "projections": found.records(),
        "totals": {name: found.totals(name) for name in found.projections},
        "measured": measured
        and {"device": measured.device, "seconds": list(measured.seconds), "total": measured.total},
    }


def _design_text(name: str, projections: Sequence[Projection]) -> str:
    """A row for each alignment, and the total."""
    lines = [_cells(one) for one in projections[:SHOWN]]
    if len(projections) > SHOWN:
        lines.append((f"... {len(projections) - SHOWN:,} more", *[""] * 8))
    whole = totals(list(projections))
    rate = whole["omegas"] / whole["omega_seconds"] / 1e6 if whole["omega_seconds"] else 0.0
    lines.append(
        ("total", "", "", f"{whole['omegas']:,}", seconds_text(whole["omega_seconds"]), f"{rate:,.0f}",
         seconds_text(whole["ld_seconds"]), seconds_text(whole["seconds"]), "")
    )  # fmt: skip
    header = ("alignment", "sites", "haplotypes", "omegas", "omega", "M omega/s", "LD", "total", "bounded by")
    return f"{name}\n" + table(header, lines)


def _cells(one: Projection) -> tuple[str, ...]:
    workload = one.timing.workload
    return (
        workload.name,
        f"{workload.snps:,}",
        f"{workload.samples:,}",
        f"{workload.omegas:,}",
        seconds_text(one.omega_seconds),
        f"{one.timing.rate / 1e6:,.0f}",
        "-" if one.ld_seconds is None else seconds_text(one.ld_seconds),
        seconds_text(one.seconds),
        "-" if one.bottleneck is None else one.bottleneck.word,
    )


def _measured_text(found: ScanProjection, measured: Measured) -> str:
    """What this machine took, and what the designs would take of it."""
    seconds = measured.total
    omegas = found.totals(next(iter(found.projections)))["omegas"]
    rate = omegas / seconds / 1e6 if seconds else 0.0
    text = f"measured on {measured.device}: LD and omega in {seconds_text(seconds)} at best ({rate:,.0f} M omega/s)"
    for name in found.projections:
        projected = found.totals(name)["seconds"]
        times = f", {projected / seconds:.2f} times the measured time" if seconds else ""
        text += f"\n{name}: LD and omega in {seconds_text(projected)}{times}"
    return text
