"""The table of `oclgenomics fpga project`: a row for each alignment and design, totals, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.cli.project import phases_text, summary_text
from hls_model.cli.tables import table
from hls_model.project import Projection, totals
from hls_model.text import seconds_text

__all__ = ["Measured", "projection_text"]

SHOWN = 30  # alignments; --json has all


@dataclass(frozen=True)
class Measured:
    """The same scans on this machine.

    Attributes
    ----------
    device : str
        The OpenCL device.
    seconds : list of float
        LD and omega of each scan, sites in memory and kernels compiled; of scans that go together, the share.
    """

    device: str
    seconds: list[float]


def projection_text(rows: dict[str, list[Projection]], measured: Measured | None) -> str:
    """Return the projections of every design, by its name, and the measurement as text."""
    first = next(iter(rows.values()))
    if len(first) == 1:
        workload = first[0].timing.workload
        single = [projections[0] for projections in rows.values()]
        sizes = f"{workload.snps:,} sites" + (f", {workload.samples:,} haplotypes" if workload.samples else "")
        head = f"{workload.name}: {sizes}, {len(workload.left):,} positions, {workload.omegas:,} omegas"
        parts = [head, summary_text(single), phases_text(single)]
    else:
        parts = [_design_text(name, projections) for name, projections in rows.items()]
    if measured is not None:
        parts.append(_measured_text(rows, measured))
    return "\n\n".join(parts)


def _design_text(name: str, projections: list[Projection]) -> str:
    """A row for each alignment, and the total."""
    lines = [_cells(one) for one in projections[:SHOWN]]
    if len(projections) > SHOWN:
        lines.append((f"... {len(projections) - SHOWN:,} more", *[""] * 8))
    whole = totals(projections)
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


def _measured_text(rows: dict[str, list[Projection]], measured: Measured) -> str:
    """What this machine took, and what the designs would take of it."""
    seconds = sum(measured.seconds)
    omegas = totals(next(iter(rows.values())))["omegas"]
    rate = omegas / seconds / 1e6 if seconds else 0.0
    text = f"measured on {measured.device}: LD and omega in {seconds_text(seconds)} at best ({rate:,.0f} M omega/s)"
    for name, projections in rows.items():
        projected = totals(projections)["seconds"]
        times = f", {projected / seconds:.2f} times the measured time" if seconds else ""
        text += f"\n{name}: LD and omega in {seconds_text(projected)}{times}"
    return text
