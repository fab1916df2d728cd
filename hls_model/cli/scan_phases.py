"""The phases of whole scans as text, for `project` here and in `oclgenomics`."""

from __future__ import annotations

from collections.abc import Sequence

from hls_model.cli.tables import table
from hls_model.phases import Phase, added, find_scan_bottleneck, total
from hls_model.project import Projection
from hls_model.text import bytes_text, count_text, percent, range_text

__all__ = ["scan_text"]

UNBUILT = " *"  # behind the name of a phase


def scan_text(scans: Sequence[Projection]) -> str:
    """Return the phases of the scans that one design does, their total, and what takes most of it."""
    phases = added(one.phases for one in scans)
    seconds = total(phases)
    rows = [_cells(phase, seconds.likely) for phase in phases]
    header = ("phase", "where", "seconds", "share", "moved", "computed", "beside")
    name = scans[0].timing.config.name
    lines = [f"{name}: the whole scan in {range_text(seconds)}", table(header, rows)] if rows else []
    lines += [*_unbuilt(phases), *map(_stretches, filter(_is_cut, scans))]
    found = find_scan_bottleneck(phases, scans[0].bottleneck)
    if found is not None:
        lines.append(f"{found.sentence}; what helps: {found.advice}")
    return "\n".join(lines) or f"{name}: nothing to do"


def _unbuilt(phases: Sequence[Phase]) -> list[str]:
    """Lines that name the phases on hardware that nobody has built; none where there is no such phase."""
    named = [f"  {phase.name}: {phase.unbuilt}" for phase in phases if phase.unbuilt]
    head = f"{UNBUILT.strip()} rests on hardware that nobody has built, and its upper bound says so:"
    return [head, *named] if named else []


def _is_cut(one: Projection) -> bool:
    return len(one.memory.stretches) > 1


def _stretches(one: Projection) -> str:
    """That a scan does not fit the card's memory, how it is done, and what that costs."""
    memory, pairs = one.memory, one.timing.workload.window_pairs
    config = one.timing.config
    return (
        f"{one.timing.workload.name}: {bytes_text(memory.needed)} do not fit the {bytes_text(memory.capacity)} of "
        f"memory.banks={config.memory.banks}: done in {len(memory.stretches):,} stretches of positions, which compute "
        f"{memory.pairs / pairs:,.3g} times the pairs, because their windows overlap"
    )


def _cells(phase: Phase, whole: float) -> tuple[str, ...]:
    return (
        phase.name + UNBUILT * bool(phase.unbuilt),
        phase.where,
        range_text(phase.seconds),
        percent(phase.seconds.likely / whole, 1) if whole else "-",
        bytes_text(phase.bytes) if phase.bytes else "-",
        count_text(phase.operations, phase.of) if phase.operations else "-",
        phase.beside or "",
    )
