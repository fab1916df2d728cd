"""The phases of whole scans as text, for `project` here and in `oclgenomics`."""

from __future__ import annotations

from collections.abc import Sequence

from hls_model.cli.tables import table
from hls_model.phases import Phase, added, find_scan_bottleneck, total
from hls_model.project import Projection
from hls_model.text import percent, range_text

__all__ = ["scan_text"]

UNBUILT = " *"  # behind the name of a phase
FEW = 10_000
LARGE = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))


def scan_text(scans: Sequence[Projection]) -> str:
    """Return the phases of the scans that one design does, their total, and what takes most of it."""
    phases = added(one.phases for one in scans)
    seconds = total(phases)
    rows = [_cells(phase, seconds.likely) for phase in phases]
    header = ("phase", "where", "seconds", "share", "moved", "computed", "beside")
    name = scans[0].timing.config.name
    lines = [f"{name}: the whole scan in {range_text(seconds)}", table(header, rows)] if rows else []
    lines += _unbuilt(phases)
    found = find_scan_bottleneck(phases, scans[0].bottleneck)
    if found is not None:
        lines.append(f"{found.sentence}; what helps: {found.advice}")
    return "\n".join(lines) or f"{name}: nothing to do"


def _unbuilt(phases: Sequence[Phase]) -> list[str]:
    """Lines that name the phases on hardware that nobody has built; none where there is no such phase."""
    named = [f"  {phase.name}: {phase.unbuilt}" for phase in phases if phase.unbuilt]
    head = f"{UNBUILT.strip()} rests on hardware that nobody has built, and its upper bound says so:"
    return [head, *named] if named else []


def _cells(phase: Phase, whole: float) -> tuple[str, ...]:
    return (
        phase.name + UNBUILT * bool(phase.unbuilt),
        phase.where,
        range_text(phase.seconds),
        percent(phase.seconds.likely / whole, 1) if whole else "-",
        _count(phase.bytes, "B") if phase.bytes else "-",
        _count(phase.operations, phase.of) if phase.operations else "-",
        phase.beside or "",
    )


def _count(value: int, unit: str) -> str:
    """A count with three digits or all of a few, such as 38.6 GB, 4.82 G omegas or 988 starts."""
    if value < FEW:
        return f"{value:,} {unit}"
    prefix, scale = next(entry for entry in LARGE if value >= entry[1])
    number = f"{value / scale:.3g}"
    return f"{number} {prefix}{unit}" if unit == "B" else f"{number} {prefix} {unit}".replace("  ", " ")
