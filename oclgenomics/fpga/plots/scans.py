"""Where the time goes: the phases of projected scans and of the pipelines, and Fig. 14 with the model's FPGA."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hls_model.paper.table3 import Row, Seconds
from hls_model.phases import Phase, added, total
from hls_model.project import Projection
from hls_model.ranges import Range
from hls_model.text import range_text, seconds_text
from hls_model.timing.result import PHASES
from oclgenomics.app.figures import BLUE, GREEN, GREY, INK, ORANGE, SKY
from oclgenomics.fpga.plots.shared import PALE, PHASE_COLOURS, PURPLE, YELLOW, new_figure, note, set_titles

LONGEST = 250.0  # percent of the likely time that the axis shows at most; a bound beyond it is an arrow
VISIBLE = 4e-3  # of the axis, for a place in the legend
LINK, HOST = "#8C6D46", GREY
SCAN_COLOURS = {  # what is done on the card has a colour of its own; the host is grey, the link brown
    "LD": GREEN,
    "build M": YELLOW,
    "repack blocks of M": ORANGE,
    "shift columns": PURPLE,
    "permute for blocked lanes": PURPLE,
    "omega pipelines": BLUE,
    "remainder": SKY,
}
Scans = Sequence[Projection]


def plot_phases(designs: Sequence[Scans]) -> Figure:
    """Draw the phases of each design, all its scans together, in percent of its likely total.

    Parameters
    ----------
    designs : sequence of sequences of Projection
        Of each design, the scans that it does.
    """
    figure, (whole, pipelines) = new_figure(2, 1, size=(11, 4.4 + 1.3 * len(designs)))
    names = [scans[0].timing.config.name for scans in designs]
    phases = [added(one.phases for one in scans) for scans in designs]
    _draw_scans(whole, names, phases)
    _draw_pipelines(pipelines, names, designs)
    scan = designs[0]
    positions, omegas = (sum(values) for values in zip(*map(_sizes, scan), strict=True))
    name = scan[0].timing.workload.name if len(scan) == 1 else f"{len(scan):,} alignments"
    fastest = min(range(len(designs)), key=lambda place: total(phases[place]).likely)
    set_titles(
        whole,
        f"{names[fastest]}: the whole scan in {range_text(total(phases[fastest]))}",
        f"{name}: {positions:,} positions, {omegas:,} omegas; black lines bound the total; * nobody has built that",
    )
    return figure


def _sizes(one: Projection) -> tuple[int, int]:
    return len(one.timing.workload.left), one.timing.workload.omegas


def _draw_scans(axes: Axes, names: list[str], designs: list[tuple[Phase, ...]]) -> None:
    """A bar of the phases in turn, thin ones beneath it of what runs at the same time, and the total's bounds."""
    totals = [total(phases) for phases in designs]
    end = max((100 * seconds.high / seconds.likely for seconds in totals if seconds.likely), default=100.0)
    end = min(end, LONGEST)
    seen: dict[str, str] = {}
    for place, (phases, seconds) in enumerate(zip(designs, totals, strict=True)):
        scale = 100 / seconds.likely if seconds.likely else 0.0
        for name, colour in _draw_scan(axes, place, phases, scale):
            seen.setdefault(name, colour)
        _draw_total(axes, place, seconds, scale, end)
    _finish(axes, names, end)
    axes.set_xlabel("Percent of the whole scan's likely time")
    _legend(axes, seen)


def _draw_scan(axes: Axes, place: int, phases: Sequence[Phase], scale: float) -> list[tuple[str, str]]:
    """Draw one design; the names and colours of what can be seen."""
    start, seen = 0.0, []
    names = {phase.name for phase in phases}
    for phase in phases:
        if phase.beside in names:
            continue
        beside = [other for other in phases if other.beside == phase.name]
        longest = scale * max(one.seconds.likely for one in (phase, *beside))
        for row, one in enumerate((phase, *sorted(beside, key=lambda other: -other.seconds.likely))):
            share = scale * one.seconds.likely
            height, top = (0.34, place - 0.17) if row == 0 else (0.09, place + 0.10 + 0.10 * row)
            axes.barh(top + height / 2, share, height, left=start, color=phase_colour(one), linewidth=0)
            if share > 100 * VISIBLE:
                seen.append((phase_label(one), phase_colour(one)))
        start += longest
    return seen


def _off_card(phase: Phase) -> tuple[str, str] | None:
    """The name and colour of what the link and the host do; None for all else, which has its own."""
    if phase.where == "link":
        return "host link", LINK
    return ("host", HOST) if phase.where == "host" and phase.name != "remainder" else None


def phase_colour(phase: Phase) -> str:
    """Return the colour of a phase: grey of the host, brown of the link, its own on the card."""
    off_card = _off_card(phase)
    return off_card[1] if off_card else SCAN_COLOURS[phase.name]


def phase_label(phase: Phase) -> str:
    """Return what the legend calls a phase."""
    if off_card := _off_card(phase):
        return off_card[0]
    if phase.beside:
        return f"{phase.name} (in parallel)"
    return f"{phase.name} *" if phase.unbuilt else phase.name


def _draw_total(axes: Axes, place: int, seconds: Range, scale: float, end: float) -> None:
    """The bounds of the total as a line over the bar, and the total in words at the right."""
    height, (low, likely, high) = place - 0.26, (scale * bound for bound in (seconds.low, seconds.likely, seconds.high))
    axes.plot([low, min(high, end)], [height, height], color=INK, linewidth=1.4, solid_capstyle="butt")
    for bound in (low, high):
        if bound <= end:
            axes.plot([bound, bound], [height - 0.05, height + 0.05], color=INK, linewidth=1.4)
        else:
            axes.plot([end], [height], marker=">", markersize=6, color=INK)
    axes.plot([likely], [height], marker="o", markersize=4, color=INK)
    note(axes, range_text(seconds), (end, place), (8, 0), va="center", fontweight="bold")


def _draw_pipelines(axes: Axes, names: list[str], designs: Sequence[Scans]) -> None:
    """The pipelines' time alone, by what they do in it."""
    shares = []
    for place, scans in enumerate(designs):
        time = cycle_seconds(scans)
        seconds, start = sum(time.values()), 0.0
        shares.append({phase: 100 * time[phase] / (seconds or 1.0) for phase in PHASES})
        for phase, share in shares[-1].items():
            axes.barh(place, share, 0.4, left=start, color=PHASE_COLOURS[phase], linewidth=0)
            start += share
        note(axes, _rate(scans, seconds), (100, place), (8, 0), va="center", fontweight="bold")
    _finish(axes, names, 100)
    axes.set_xlabel("Percent of the omega pipelines' time")
    seen = [phase for phase in PHASES if max(share[phase] for share in shares) > 100 * VISIBLE]
    _legend(axes, {phase: PHASE_COLOURS[phase] for phase in seen})


def _rate(scans: Scans, seconds: float) -> str:
    omegas = sum(one.timing.hardware_omegas for one in scans)
    return f"{seconds_text(seconds)}, {omegas / seconds / 1e6:,.0f} M omega/s" if seconds else "nothing to do"


def cycle_seconds(scans: Scans) -> dict[str, float]:
    """Return the seconds of the pipelines by phase of their cycles."""
    hertz = scans[0].timing.config.clock_mhz * 1e6
    return {name: sum(int(one.timing.phases[name].sum()) for one in scans) / hertz for name in PHASES}


def _finish(axes: Axes, names: list[str], end: float) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 1.02 * end)
    axes.grid(axis="x", color=PALE, linewidth=0.8)
    axes.set_axisbelow(True)


def _legend(axes: Axes, colours: dict[str, str]) -> None:
    for name, colour in colours.items():
        axes.bar(0, 0, color=colour, label=name)
    if colours:
        axes.legend(
            frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.2), ncols=len(colours), columnspacing=1.0,
            handlelength=1.2, fontsize=10,
        )  # fmt: skip


KINDS = {"50/50": "Balanced", "90/10": "High omega", "10/90": "High LD"}


def plot_platforms(rows: list[Row], *, uncertainty: bool = True) -> Figure:
    """Draw a panel for each data set, with a stacked bar for each platform.

    The model's FPGA gets the range that the board's memory and all else that is not known leave, if asked for.
    """
    figure, panels = new_figure(1, len(rows), size=(11, 4.6))
    for panel, row in zip(panels, rows, strict=True):
        _draw_panel(panel, row, uncertainty)
    panels[0].set_ylabel("Seconds")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].legend(handles, labels, frameon=False, loc="upper right", fontsize=10.5)
    return figure


def _draw_panel(axes: Axes, row: Row, uncertainty: bool) -> None:
    bars: dict[str, Seconds] = {"CPU": row.cpu, "GPU": row.gpu, "FPGA": row.fpga, "FPGA,\nmodel": row.model}
    ld = [bar.ld for bar in bars.values()]
    omega = [bar.omega for bar in bars.values()]
    places = range(len(bars))
    axes.bar(places, ld, color=SKY, width=0.66, label="LD")
    axes.bar(places, omega, bottom=ld, color=BLUE, width=0.66, label="omega")
    for place, bar in zip(places, bars.values(), strict=True):
        bounds = row.board_seconds if uncertainty and bar is row.model else (bar.total, bar.total)
        if bounds[0] < bounds[1]:
            axes.vlines(place, *bounds, color=ORANGE, linewidth=4, zorder=5)
        between = f"\n({bounds[0]:.1f}-{bounds[1]:.1f})" if bounds[0] < bounds[1] else ""
        speedup = "" if place == 0 else f"\n{row.cpu.total / bar.total:.1f}x"
        note(
            axes, f"{bar.total:.1f} s{between}{speedup}", (place, max(bar.total, bounds[1])), (0, 4), ha="center",
            va="bottom", fontsize=10, linespacing=1.2,
        )  # fmt: skip
    axes.set_xticks(list(places), list(bars))
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, row.cpu.total * 1.1)
    axes.spines["bottom"].set_color(GREY)
    mix = row.mix
    set_titles(axes, KINDS[mix.name], f"{mix.snps:,} SNPs, {mix.samples:,} sequences")
