"""Figures of scans: omega along one alignment, several chromosomes end to end, or replicates summarised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import (
    BLUE,
    EN_DASH,
    GREY,
    INK,
    ORANGE,
    SKY,
    STYLE,
    number_text,
    position_unit,
    round_ticks,
    short_text,
)
from oclgenomics.app.tracks import Track, end_to_end, quantiles_along
from oclgenomics.errors import check_choice
from oclgenomics.lazy_names import late
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.peaks import best_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ticker = late("matplotlib.ticker")


Layout = Literal["auto", "chromosomes", "replicates"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

TOP_WINDOWS = 3
SECOND_PEAK = 0.2  # a lesser window is labelled from this share of the largest omega
LABEL_WIDTH, LABEL_HEIGHT = 0.22, 0.14  # of a window's label, as shares of the axes
THRESHOLD_LABEL = 28.0  # height of a threshold's label in points
LEGEND_SHIFT = 1.12  # right end of the legend above them, as a share of the axes
LETTER = 0.011  # of a character in bold, as a share of the axis
FEW_CHROMOSOMES = 5  # so many have room for positions on the axis
FEW_REPLICATES = 5  # fewer than this are drawn one by one; quantiles would say little


def peak_windows(scan: Scan, count: int = TOP_WINDOWS, least: float = 0.0) -> list[int]:
    """Indices of the grid positions with the largest omega, at least `least`, whose windows are apart; best first."""
    known = replace(scan, omega=np.where(scan.valid & (scan.omega >= least), scan.omega, 0.0))
    return [index for _, index in best_positions([known], count)]


def plot_scans(
    scans: Sequence[Scan], *, title: str = "", layout: Layout = "auto", thresholds: Sequence[tuple[float, str]] = ()
) -> Figure:
    """Draw scans.

    One scan is drawn as omega along its positions with the best windows shaded. Chromosomes are drawn end to end. Of
    replicates, the figure shows the median, the middle 90 % and the maximum of each.

    Parameters
    ----------
    scans : sequence of Scan
    title : str
        What was scanned, for the line above the figure.
    layout : str
        'chromosomes', 'replicates', or 'auto', which takes scans named by their running number for replicates.
    thresholds : sequence of (float, str)
        Omegas at which a line is drawn, and what to call them.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `save_plot` or changed further; no display is needed.

    Raises
    ------
    UsageError
        `layout` is unknown.
    """
    check_choice("layout", layout, LAYOUTS)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    layout = layout_of(scans, layout)
    shown = [scan for scan in scans if scan.best is not None]
    with rc_context(STYLE):
        figure = Figure(figsize=(10, 4.6), layout="constrained")
        axes = figure.add_subplot()
        if not shown:
            _draw_nothing(axes, len(scans))
        elif len(scans) == 1:
            _draw_one(axes, shown[0], title)
        elif layout == "replicates":
            _draw_replicates(axes, shown, len(scans), title)
        else:
            _draw_chromosomes(axes, shown, title)
        if shown:
            _draw_thresholds(axes, thresholds)
    return figure


def layout_of(scans: Sequence[Scan], layout: Layout) -> Layout:
    """Return a layout, or the one that 'auto' comes to."""
    if layout != "auto":
        return layout
    return "replicates" if all(scan.name == str(scan.replicate) for scan in scans) else "chromosomes"


def _draw_nothing(axes: Axes, count: int) -> None:
    axes.set_axis_off()
    what = "no alignment" if not count else "no window with enough sites"
    axes.text(0.5, 0.5, f"Nothing to draw: {what}", ha="center", va="center", transform=axes.transAxes, color=GREY)


def _draw_one(axes: Axes, scan: Scan, title: str) -> None:
    """Omega along one alignment."""
    _draw_line(axes, scan.positions, scan, BLUE)
    set_omega_axis(axes, scan.omega[scan.valid])
    _set_position_axis(axes, scan.positions)
    for rank, index in enumerate(_labelled(scan)):
        _mark_window(axes, scan, index, 0.0, best=rank == 0)
    _set_title(axes, headline(scan), title, f"{scan.haplotypes:,} haplotypes, {scan.sites:,} sites")


def _draw_chromosomes(axes: Axes, scans: list[Scan], title: str) -> None:
    """Omega along all chromosomes, end to end in the order of the input."""
    spans = np.array([scan.positions[-1] - scan.positions[0] for scan in scans])
    offsets, gap = end_to_end([scan.positions for scan in scans])
    starts = np.array([scan.positions[0] + offset for scan, offset in zip(scans, offsets, strict=True)])
    for number, (scan, offset) in enumerate(zip(scans, offsets, strict=True)):
        _draw_line(axes, scan.positions + offset, scan, (BLUE, SKY)[number % 2])
    set_omega_axis(axes, np.concatenate([scan.omega[scan.valid] for scan in scans]))
    axes.set_xlim(starts[0] - gap, starts[-1] + spans[-1] + gap)
    _name_chromosomes(axes, scans, starts, spans)
    chosen = _labelled_chromosomes(axes, scans, offsets.tolist())
    for number in chosen:
        scan, best = scans[number], scans[number].best
        if best is not None:
            _mark_window(axes, scan, best, offsets[number], best=number == chosen[0], named=True)
    top = scans[chosen[0]]
    sites = sum(scan.sites for scan in scans)
    _set_title(axes, headline(top, named=True), title, f"{len(scans)} chromosomes, {sites:,} sites")


def _draw_replicates(axes: Axes, scans: list[Scan], count: int, title: str) -> None:
    """Median and middle 90 % of omega over the replicates (each one, if they are few), and each one's maximum."""
    best = [(scan, scan.best) for scan in scans if scan.best is not None]
    peaks = np.array([scan.positions[index] for scan, index in best])
    heights = np.array([scan.omega[index] for scan, index in best])
    if len(scans) < FEW_REPLICATES:
        for number, scan in enumerate(scans):
            _draw_line(axes, scan.positions, scan, (BLUE, SKY)[number % 2], label="" if number else "a replicate")
        drawn = np.concatenate([scan.omega[scan.valid] for scan in scans])
    else:
        at, low, middle, high = omega_quantiles(scans)
        axes.fill_between(at, low, high, color=SKY, alpha=0.35, linewidth=0, label="middle 90 % of replicates")
        axes.plot(at, middle, color=BLUE, linewidth=1.8, label="median")
        drawn = np.concatenate([low, middle, heights])
    axes.scatter(peaks, heights, s=30, color=ORANGE, edgecolor="white", linewidth=0.6, zorder=4,
                 label="largest of each", clip_on=False)  # fmt: skip
    set_omega_axis(axes, drawn)
    _set_position_axis(axes, np.concatenate([scan.positions[[0, -1]] for scan in scans]))
    axes.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2, fontsize=10)
    headline = f"Largest ω of {count:,} replicates: {number_text(float(np.median(heights)))} (median)"
    scale, unit = position_unit(peaks)
    _set_title(axes, headline, title, f"at {np.median(peaks) / scale:,.{HEADLINE_DIGITS[unit]}f} {unit} (median)")


def omega_quantiles(scans: Sequence[Scan]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return positions, and 5 %, 50 % and 95 % of omega over the replicates there; each of them has its own grid."""
    return quantiles_along(
        [Track(scan.name, scan.positions, np.where(scan.valid, scan.omega, np.nan)) for scan in scans]
    )


def _draw_thresholds(axes: Axes, thresholds: Sequence[tuple[float, str]]) -> None:
    """Dashed lines across, labelled in the right margin, where no window's label can be; the axis reaches them."""
    low, high = axes.get_ylim()
    highest = max((omega for omega, _ in thresholds), default=0.0)
    linear = axes.get_yscale() == "linear"
    axes.set_ylim(low, max(high, highest * (1.12 if linear else 1.8)))
    legend = axes.get_legend()
    if thresholds and legend is not None:  # the labels take width from the axes, above which the legend lies
        legend.set_bbox_to_anchor((LEGEND_SHIFT, 1), transform=axes.transAxes)
    free = -np.inf  # height of the next label, in points
    for omega, label in sorted(thresholds):
        if not linear and omega <= 0:
            continue
        axes.axhline(omega, color=INK, linewidth=1.0, linestyle=(0, (5, 3)), zorder=3)
        height = float(axes.transData.transform((0, omega))[1]) * 72 / axes.get_figure().dpi  # type: ignore[union-attr]
        shift = max(0.0, free - height)
        free = height + shift + THRESHOLD_LABEL
        axes.annotate(
            f"ω {number_text(omega)}\n{label}", (1, omega), xycoords=("axes fraction", "data"), xytext=(6, shift),
            textcoords="offset points", va="center", fontsize=9.5, linespacing=1.2,
        )  # fmt: skip


def _draw_line(axes: Axes, x: NDArray[np.float64], scan: Scan, colour: str, label: str = "") -> None:
    """Omega as a line that breaks where no window holds enough sites; dots where a position stands alone."""
    y = np.where(scan.valid, scan.omega, np.nan)
    axes.plot(x, y, color=colour, linewidth=1.1, solid_joinstyle="round", label=label)
    padded = np.concatenate([[False], scan.valid, [False]])
    alone = scan.valid & ~padded[:-2] & ~padded[2:]
    axes.plot(x[alone], y[alone], ".", color=colour, markersize=3)


def _mark_window(axes: Axes, scan: Scan, index: int, offset: float, *, best: bool, named: bool = False) -> None:
    """Shade a window, mark its omega and say where it is."""
    from matplotlib.patheffects import withStroke

    x, omega = scan.positions[index] + offset, float(scan.omega[index])
    colour = ORANGE if best else GREY
    sites = "" if scan.window_sites is None else f", {scan.window_sites[index]:,} sites"
    axes.axvspan(
        scan.left[index] + offset, scan.right[index] + offset,
        facecolor=colour, edgecolor=colour, alpha=0.22 if best else 0.12, linewidth=0.8, zorder=0.5,
    )  # fmt: skip
    axes.plot([x], [omega], "o", color=colour, markersize=7 if best else 5, zorder=5, clip_on=False)
    low, high = axes.get_xlim()
    leftward = x > low + (1 - 1.2 * LABEL_WIDTH) * (high - low)
    name = f"{short_text(scan.name, LONGEST_NAME)}: " if named else ""
    axes.annotate(
        f"{name}ω {number_text(omega)}{sites}\n{window_text(scan, index)}",
        (x, omega),
        xytext=(-10 if leftward else 10, 0),
        textcoords="offset points",
        ha="right" if leftward else "left",
        va="center",
        fontsize=11 if best else 9.5,
        color=colour,
        fontweight="bold" if best else "normal",
        linespacing=1.25,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    ).set_in_layout(False)


def _labelled(scan: Scan) -> list[int]:
    """Peaks high enough to be named and far enough apart for their labels."""
    apart = LABEL_WIDTH * (scan.positions[-1] - scan.positions[0])
    chosen: list[int] = []
    for index in peak_windows(scan, len(scan.positions), SECOND_PEAK * _largest(scan)):
        if len(chosen) == TOP_WINDOWS:
            break
        if all(abs(scan.positions[index] - scan.positions[other]) > apart for other in chosen):
            chosen.append(index)
    return chosen


def _labelled_chromosomes(axes: Axes, scans: list[Scan], offsets: list[float]) -> list[int]:
    """Chromosomes with the largest omegas, as far as their labels have room on the axes."""
    chosen: list[int] = []
    places: list[tuple[float, float]] = []
    for number in sorted(range(len(scans)), key=lambda number: -_largest(scans[number])):
        scan, best = scans[number], scans[number].best
        if best is None or len(chosen) == TOP_WINDOWS:
            break
        if chosen and _largest(scan) < SECOND_PEAK * _largest(scans[chosen[0]]):
            break
        point = axes.transData.transform((scan.positions[best] + offsets[number], scan.omega[best]))
        x, y = axes.transAxes.inverted().transform(point).tolist()
        if all(abs(x - other_x) > 2 * LABEL_WIDTH or abs(y - other_y) > LABEL_HEIGHT for other_x, other_y in places):
            chosen.append(number)
            places.append((x, y))
    return chosen


def _set_position_axis(axes: Axes, positions: NDArray[np.float64]) -> None:
    """From the first to the last position, in the largest unit that suits."""
    scale, unit = position_unit(positions)
    first, last = float(positions.min()), float(positions.max())
    axes.set_xlim(first, last if last > first else first + 1)
    ticks = round_ticks(first / scale, last / scale, MAX_TICKS)
    axes.set_xticks(ticks * scale, [f"{tick:,.10g}" for tick in ticks])
    axes.set_xlabel(f"Position ({unit})")


def _name_chromosomes(axes: Axes, scans: list[Scan], starts: NDArray[np.float64], spans: NDArray[np.float64]) -> None:
    """Names under the middles of those long enough for one, and positions if there are few."""
    total = starts[-1] + spans[-1]
    prefix = "chr" if all(scan.name.startswith("chr") and len(scan.name) > 3 for scan in scans) else ""
    names = [
        short_text(scan.name, LONGEST_NAME)
        if len(scans) <= FEW_CHROMOSOMES
        else short_text(scan.name.removeprefix(prefix), LONGEST_NAME)
        for scan in scans
    ]
    if len(scans) <= FEW_CHROMOSOMES:
        scale, unit = position_unit(np.concatenate([scan.positions for scan in scans]))
        _position_ticks(axes, scans, starts, spans / total, scale)
        for name, centre, share in zip(names, starts + spans / 2, spans / total, strict=True):
            if share < LETTER * len(name):
                continue
            axes.annotate(name, (centre, 0), (0, -22), xycoords=("data", "axes fraction"), textcoords="offset points",
                          ha="center", va="top", fontweight="bold")  # fmt: skip
        axes.set_xlabel(f"Chromosome and position ({unit})", labelpad=20)
        return
    room = [span / total > 0.004 * len(name) + 0.002 for name, span in zip(names, spans, strict=True)]
    shown = [number for number, fits in enumerate(room) if fits]
    axes.set_xticks(starts[shown] + spans[shown] / 2, [names[number] for number in shown])
    axes.tick_params(axis="x", length=0, labelsize=9.5 if len(shown) > 12 else 11)
    axes.set_xlabel("Chromosome")


def _position_ticks(
    axes: Axes, scans: list[Scan], starts: NDArray[np.float64], shares: NDArray[np.float64], scale: float
) -> None:
    """Ticks that count along each chromosome from its own beginning."""
    places: list[float] = []
    labels: list[str] = []
    for scan, start, share in zip(scans, starts, shares, strict=True):
        first, last = float(scan.positions[0]), float(scan.positions[-1])
        if share < 1 / MAX_TICKS:
            continue
        ticks = round_ticks(first / scale, last / scale, int(MAX_TICKS * share))
        places += (ticks * scale - first + start).tolist()
        labels += [f"{tick:,.10g}" for tick in ticks]
    axes.set_xticks(places, labels)


def _set_title(axes: Axes, headline: str, title: str, detail: str) -> None:
    axes.set_title(headline, loc="left", fontsize=15, fontweight="bold", pad=26)
    below = ", ".join(part for part in (short_text(title, LONGEST_TITLE), detail) if part)
    axes.annotate(below, (0, 1), xytext=(0, 10), xycoords="axes fraction", textcoords="offset points", color=GREY)


def headline(scan: Scan, *, named: bool = False) -> str:
    """Say where the largest omega of a scan is; empty where there is none."""
    index = scan.best
    if index is None:
        return ""
    scale, unit = position_unit(scan.positions)
    where = f"on {short_text(scan.name, LONGEST_NAME)} " if named else ""
    at = f"{scan.positions[index] / scale:,.{HEADLINE_DIGITS[unit]}f} {unit}"
    return f"Largest ω {number_text(float(scan.omega[index]))} {where}at {at}"


def window_text(scan: Scan, index: int) -> str:
    """Write the borders of the window of a grid position."""
    scale, unit = position_unit(scan.positions)
    return range_text(float(scan.left[index]), float(scan.right[index]), scale, unit)


def _largest(scan: Scan) -> float:
    return 0.0 if scan.best is None else float(scan.omega[scan.best])


HEADLINE_DIGITS = {"Mb": 3, "kb": 1, "bp": 0}
WIDE_RANGE = 40.0  # largest over median omega from which a linear axis would flatten all but one peak
MAX_TICKS = 8  # along the positions
LONGEST_NAME, LONGEST_TITLE = 18, 50  # characters shown


def is_wide(omega: NDArray[np.float64]) -> bool:
    """Whether one peak would flatten everything else on a linear axis."""
    positive = omega[np.isfinite(omega) & (omega > 0)]
    return len(positive) > 0 and float(positive.max()) > WIDE_RANGE * float(np.median(positive))


def set_omega_axis(axes: Axes, omega: NDArray[np.float64]) -> None:
    """Start at 0; a logarithmic axis where one peak would flatten everything else."""
    positive = omega[np.isfinite(omega) & (omega > 0)]
    top = float(positive.max()) if len(positive) else 1.0
    if is_wide(omega):
        axes.set_yscale("log")
        axes.set_ylim(max(float(positive.min()), 0.5) / 1.3, top * 1.8)
        axes.set_ylabel("Omega (ω), logarithmic")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
        axes.yaxis.set_minor_locator(ticker.NullLocator())
    else:
        axes.set_ylim(0, top * 1.12)
        axes.set_ylabel("Omega (ω)")


def range_text(left: float, right: float, scale: float, unit: str) -> str:
    """Write two positions in bp, with as many decimals as tell them apart by two digits of their distance."""
    digits = round(np.log10(scale))
    if right > left:
        digits = min(max(int(np.ceil(-np.log10((right - left) / scale))) + 1, 0), digits)
    return f"{left / scale:,.{digits}f}{EN_DASH}{right / scale:,.{digits}f} {unit}"
