"""The table of `oclgenomics fpga project`: a row for each alignment and design, totals, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hls_model.cli.project import made_of_record, made_of_text, phases_text, placement_text, summary_text
from hls_model.cli.scan_phases import scan_text
from hls_model.cli.tables import table
from hls_model.cli.totals import other_total, total_headers, totals_note
from hls_model.project import Projection, total_ranges, totals
from hls_model.ranges import Range
from hls_model.text import joules_text, percent, range_text, seconds_text
from oclgenomics.fpga import Measured, ScanProjection

__all__ = ["busy_text", "projection_record", "projection_text"]

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
        scans = (scan_text([one]) for one in single)
        note = totals_note([[one] for one in single])
        shown = (
            head, summary_text(single), note, placement_text(single), made_of_text(single), *scans, phases_text(single),
        )  # fmt: skip
        parts = [part for part in shown if part]
    else:
        designs = placement_text([scans[0] for scans in rows.values()])
        parts = [f"{_design_text(name, scans)}\n\n{scan_text(scans)}" for name, scans in rows.items()]
        parts += [totals_note(list(rows.values())), designs]
    if found.measured is not None:
        parts.append(_measured_text(found, found.measured))
    return "\n\n".join(parts)


def projection_record(found: ScanProjection, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same for JSON.

    These are 'provenance', 'projections', 'totals' by design, 'made_of' by design (None for several alignments) and
    'measured' (or None).
    """
    measured = found.measured
    return {
        "provenance": dict(provenance),
        "projections": found.records(),
        "made_of": _made_of(found),
        "totals": {name: _totals_record(found, name) for name in found.projections},
        "measured": measured and {**measured.record(), "times": _times_record(found, measured)},
    }


def _times_record(found: ScanProjection, measured: Measured) -> dict[str, Any]:
    """Each design's time over the measured one; None where the measured time has no bounds."""
    ranges = {name: total_ranges(list(scans))["seconds"] for name, scans in found.projections.items()}
    times = {name: measured.times(seconds) for name, seconds in ranges.items()}
    return {name: None if one is None else one.record() for name, one in times.items()}


def _made_of(found: ScanProjection) -> dict[str, object] | None:
    """What the ranges of a single scan are made of; it would take many timings for each of several."""
    designs = list(found.projections.values())
    return made_of_record([scans[0] for scans in designs]) if len(designs[0]) == 1 else None


def _totals_record(found: ScanProjection, name: str) -> dict[str, Any]:
    ranges = total_ranges(list(found.projections[name])) if found.uncertain else {}
    return {**found.totals(name), "range": {key: values.record() for key, values in ranges.items()} or None}


def _design_text(name: str, projections: Sequence[Projection]) -> str:
    """A row for each alignment, and the total."""
    lines = [_cells(one) for one in projections[:SHOWN]]
    if len(projections) > SHOWN:
        lines.append((f"... {len(projections) - SHOWN:,} more", *[""] * 10))
    whole, ranges = totals(list(projections)), total_ranges(list(projections))
    omega = ranges["omega_seconds"]
    rates = [whole["omegas"] / seconds / 1e6 if seconds else 0.0 for seconds in (omega.high, omega.likely, omega.low)]
    lines.append(
        ("total", "", "", f"{whole['omegas']:,}", range_text(omega), range_text(Range(*rates), ""),
         range_text(ranges["ld_seconds"]), range_text(ranges["seconds"]),
         other_total(projections), joules_text(ranges["joules"]), "")
    )  # fmt: skip
    header = (
        "alignment", "sites", "haplotypes", "omegas", "omega", "M omega/s", "LD",
        *total_headers(projections[0].accounting), "energy", "longest phase",
    )  # fmt: skip
    return f"{name}\n" + table(header, lines)


def _cells(one: Projection) -> tuple[str, ...]:
    workload = one.timing.workload
    return (
        workload.name,
        f"{workload.snps:,}",
        f"{workload.samples:,}",
        f"{workload.omegas:,}",
        range_text(one.omega_range),
        range_text(one.rate_range.times(1e-6), ""),
        "-" if one.ld_range is None else range_text(one.ld_range),
        range_text(one.total),
        other_total([one]),
        joules_text(one.energy),
        "-" if one.scan_bottleneck is None else one.scan_bottleneck.phase.name,
    )


def _measured_text(found: ScanProjection, measured: Measured) -> str:
    """What this machine took, and what the designs would take of it as far as the spread bears a comparison."""
    seconds = measured.total
    omegas = found.totals(next(iter(found.projections)))["omegas"]
    rate = omegas / seconds / 1e6 if seconds else 0.0
    cores = f" on {measured.cores} cores" if measured.cores else ""
    runs = f"{measured.runs} runs of up to {seconds_text(measured.slowest)}"
    cpu = f"{seconds_text(measured.cpu_seconds)} of CPU time{cores}"
    took = f"{seconds_text(seconds)} at best ({runs}; {cpu}; {rate:,.0f} M omega/s)"
    lines = [f"measured on {measured.device}: LD and omega in {took}"]
    if measured.busy:
        lines.append(f"{busy_text(measured)}: {_alone(measured)}")
    for name in found.projections:
        projected = total_ranges(list(found.projections[name]))["seconds"]
        lines.append(f"{name}: the whole scan in {range_text(projected)}, {_verdict(measured, projected)}")
    return "\n".join(lines)


def busy_text(measured: Measured) -> str:
    """Return that other programs made a measurement too long."""
    return f"other programs took {percent(measured.others or 0.0)} of this machine's CPUs during the measurement"


def _alone(measured: Measured) -> str:
    if measured.range is None:
        return "the measured time is too long, and nothing says by how much"
    return f"with the machine alone, between {seconds_text(measured.range.low)} and {seconds_text(measured.range.high)}"


def _verdict(measured: Measured, projected: Range) -> str:
    """A projected time over the measured one, and which is shorter where the ranges of both bear that."""
    times = measured.times(projected)
    if times is None:
        return "not compared: the measured time has no bounds" if measured.total else "nothing was measured"
    if times.low > 1:
        said = "longer"
    elif times.high < 1:
        said = "shorter"
    else:
        said = "the ranges do not say which is shorter"
    if measured.busy:  # the best run says little then
        return f"{times.low:.3g} to {times.high:.3g} times the measured time: {said}"
    return f"{range_text(times, 'times')} the measured time: {said}"
