"""What `project` says: a row for each alignment and design, phases, totals by both accountings, the measurement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hls_model.choices import ACCOUNTINGS, Accounting
from hls_model.ranges import Range
from hls_model.text import bytes_text, count_text, joules_text, percent, range_text, seconds_text
from oclgenomics.fpga.commands.common import table, table_of
from oclgenomics.fpga.commands.resources import fits_text, room_text
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.phases import Phase
    from hls_model.project import Projection
    from hls_model.uncertainty import Contribution
    from oclgenomics.fpga import Measured, ScanProjection

    Columns = dict[str, Callable[[Projection], str]]

clock = late("hls_model.clock")
phases_model = late("hls_model.phases")
project = late("hls_model.project")
resources = late("hls_model.resources")
result = late("hls_model.timing.result")
table3 = late("hls_model.paper.table3")

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
    ranges = {name: project.total_ranges(list(scans))["seconds"] for name, scans in found.projections.items()}
    times = {name: measured.times(seconds) for name, seconds in ranges.items()}
    return {name: None if one is None else one.record() for name, one in times.items()}


def _made_of(found: ScanProjection) -> dict[str, object] | None:
    """What the ranges of a single scan are made of; it would take many timings for each of several."""
    designs = list(found.projections.values())
    return made_of_record([scans[0] for scans in designs]) if len(designs[0]) == 1 else None


def _totals_record(found: ScanProjection, name: str) -> dict[str, Any]:
    ranges = project.total_ranges(list(found.projections[name])) if found.uncertain else {}
    return {**found.totals(name), "range": {key: values.record() for key, values in ranges.items()} or None}


def _result_columns(accounting: Accounting) -> Columns:
    """The columns of omega, LD, both totals and energy, of projections by an accounting."""
    total, other = total_headers(accounting)
    return {
        "omega": lambda one: range_text(one.omega_range),
        "M omega/s": lambda one: range_text(one.rate_range.times(1e-6), ""),
        "LD": lambda one: "-" if one.ld_range is None else range_text(one.ld_range),
        total: lambda one: range_text(one.total),
        other: lambda one: other_total([one]),
        "energy": lambda one: joules_text(one.energy),
    }


def _design_text(name: str, projections: Sequence[Projection]) -> str:
    """A row for each alignment, and the total."""
    columns: Columns = {
        "alignment": lambda one: one.timing.workload.name,
        "sites": lambda one: f"{one.timing.workload.snps:,}",
        "haplotypes": lambda one: f"{one.timing.workload.samples:,}",
        "omegas": lambda one: f"{one.timing.workload.omegas:,}",
        **_result_columns(projections[0].accounting),
        "longest phase": lambda one: "-" if one.scan_bottleneck is None else one.scan_bottleneck.phase.name,
    }
    whole, ranges = project.totals(list(projections)), project.total_ranges(list(projections))
    omega = ranges["omega_seconds"]
    rates = [whole["omegas"] / seconds / 1e6 if seconds else 0.0 for seconds in (omega.high, omega.likely, omega.low)]
    last = (
        "total", "", "", f"{whole['omegas']:,}", range_text(omega), range_text(Range(*rates), ""),
        range_text(ranges["ld_seconds"]), range_text(ranges["seconds"]),
        other_total(projections), joules_text(ranges["joules"]), "",
    )  # fmt: skip
    shown = projections[:SHOWN]
    return f"{name}\n" + table_of(shown, columns, more=len(projections) - len(shown), last=last)


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
        projected = project.total_ranges(list(found.projections[name]))["seconds"]
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


NAMED = 4  # parameters that are named as what a range is made of; --json has all

BOUNDS = {"exact": "", "at most": "<= ", "about": "~ "}  # by `Timing.bound`


def summary_text(projections: list[Projection]) -> str:
    """Return a row of times and rates for each design, and what bounds it."""
    columns: Columns = {
        "design": lambda one: one.timing.config.name,
        "pipelines": lambda one: BOUNDS[one.timing.bound] + seconds_text(one.timing.hardware_seconds),
        "remainder": lambda one: seconds_text(one.timing.software_seconds),
        "host link": lambda one: seconds_text(one.timing.transfer_seconds),
        **_result_columns(projections[0].accounting),
    }
    found = [(one.timing.config.name, one.bottleneck) for one in projections]
    bounds = [f"{name}: {b.word}: {b.sentence}; what helps: {b.advice}" for name, b in found if b is not None]
    return table_of(projections, columns) + "\n\n" + "\n".join(bounds)


def placement_text(projections: Sequence[Projection]) -> str:
    """Return a line for each design: where on its board it goes, how much of the room it takes, and its clock."""
    found = [resources.estimate(one.timing.config) for one in projections]
    rooms = dict.fromkeys(f"{one.board.name}: {room_text(one.board)}" for one in found)
    clocks = (clock.clock_text(one.timing.config) for one in projections)
    return "\n".join([*map(fits_text, found), *rooms, *clocks])


def made_of_text(projections: list[Projection]) -> str:
    """Return a line for each design: the parameters that do most to its range, each alone; empty without ranges."""
    lines = []
    for one in projections:
        if one.band is not None:
            parts = [part for part in one.made_of if part.width > 0][:NAMED]
            named = "; ".join(map(_part_text, parts)) or (
                "what is open changes nothing" if one.made_of else "nothing is open"
            )
            lines.append(f"{one.timing.config.name}: range of omega, by one parameter alone: {named}")
    return "\n".join(lines)


def made_of_record(projections: Sequence[Projection]) -> dict[str, object]:
    """Return what the range of each design is made of, by its name, for JSON."""
    return {one.timing.config.name: [part.record() for part in one.made_of] for one in projections}


def _part_text(part: Contribution) -> str:
    """A parameter with its ends in the order of time, and the change of time at each."""
    unknown, seconds = part.unknown, part.seconds
    ends = f"{unknown.fast:g} to {unknown.slow:g} {unknown.unit}".strip()
    changes = f"{_change(seconds.low - seconds.likely)} to {_change(seconds.high - seconds.likely)}"
    return f"{unknown.name} ({ends}) {changes}"


def _change(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}" if seconds else "0"


def phases_text(projections: list[Projection]) -> str:
    """Return the cycles of the pipelines by phase, for each design."""
    rows = []
    for one in projections:
        counts = [int(one.timing.phases[name].sum()) for name in result.PHASES]
        total = max(sum(counts), 1)
        rows.append(
            (one.timing.config.name, f"{one.timing.cycles:,}", *(percent(count / total, 1) for count in counts))
        )
    return table(("design", "cycles", *result.PHASES), rows)


TITLES: dict[Accounting, str] = {"design": "as designed", "paper": "as the paper counts"}


def other_accounting(accounting: Accounting) -> Accounting:
    """Return the accounting that a projection does not count by."""
    return "design" if accounting == "paper" else "paper"


def total_headers(accounting: Accounting) -> tuple[str, str]:
    """Return the heads of the columns of totals: that of the accounting, and that of the other one."""
    return "total", TITLES[other_accounting(accounting)]


def other_total(scans: Sequence[Projection]) -> str:
    """Return the total of the scans of one design, as text, by the accounting that they are not counted by."""
    seconds = project.total_ranges(list(scans)).get(f"seconds_{other_accounting(scans[0].accounting)}")
    return "does not fit" if seconds is None else range_text(seconds)


def totals_note(designs: Sequence[Sequence[Projection]]) -> str:
    """Return what the two totals count, and where the paper has the same scan how its own total lies to them.

    Parameters
    ----------
    designs : sequence of sequences of Projection
        Of each design, the scans that it does.
    """
    accounting = designs[0][0].accounting
    other = other_accounting(accounting)
    lines = [
        f"{TITLES[accounting]} (total): {ACCOUNTINGS[accounting]}",
        f"{TITLES[other]} (--accounting {other} shows its phases): {ACCOUNTINGS[other]}",
    ]
    return "\n".join([*lines, *(_beside_the_paper(one) for scans in designs for one in scans if _published(one))])


def _published(one: Projection) -> float | None:
    given = one.timing.config if one.given is None else one.given
    seconds: float | None = table3.published_seconds(one.timing.workload, given)
    return seconds


def _beside_the_paper(one: Projection) -> str:
    """Where the paper's total lies in the ranges; said for its own design and data sets alone."""
    published = _published(one)
    assert published is not None
    parts = [
        f"{'within' if seconds.holds(published) else 'outside'} {range_text(seconds)} {TITLES[name]}"
        for name, seconds in one.totals.items()
    ]
    return (
        f"{one.timing.config.name}: the rates of Table III of the paper make {seconds_text(published)} of this data "
        f"set, {' and '.join(parts)}"
    )


UNBUILT = " *"  # behind the name of a phase


def scan_text(scans: Sequence[Projection]) -> str:
    """Return the phases of the scans that one design does, their total, and what takes most of it."""
    phases = phases_model.added(one.phases for one in scans)
    seconds = phases_model.total(phases)
    columns: dict[str, Callable[[Phase], str]] = {
        "phase": lambda phase: phase.name + UNBUILT * bool(phase.unbuilt),
        "where": lambda phase: phase.where,
        "seconds": lambda phase: range_text(phase.seconds),
        "share": lambda phase: percent(phase.seconds.likely / seconds.likely, 1) if seconds.likely else "-",
        "moved": lambda phase: bytes_text(phase.bytes) if phase.bytes else "-",
        "computed": lambda phase: count_text(phase.operations, phase.of) if phase.operations else "-",
        "during": lambda phase: phase.beside or "",
    }
    name = scans[0].timing.config.name
    lines = [f"{name}: the whole scan in {range_text(seconds)}", table_of(phases, columns)] if phases else []
    lines += [*_unbuilt(phases), *map(_stretches, filter(_is_cut, scans))]
    found = phases_model.find_scan_bottleneck(phases, scans[0].bottleneck)
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
