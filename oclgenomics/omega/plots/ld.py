"""The figure of linkage disequilibrium around a peak: omega above, the triangle of all pairs of sites below, the window
outlined in both.

From top to bottom: omega along the region, the sites where they lie, lines from there to the sites' columns, and the
triangle, in which the pair of two sites is the diamond where their diagonals meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    STYLE,
    TONES,
    number_text,
    position_unit,
    round_ticks,
    short_text,
)
from oclgenomics.omega.ld.map import MAX_PIXELS, BinnedLd
from oclgenomics.omega.ld.region import GridPoint, LdPart, LdRegion
from oclgenomics.omega.plots.scans import HEADLINE_DIGITS, LONGEST_TITLE, MAX_TICKS, range_text, set_omega_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


RASTER = 2_400  # pixels along the triangle's side, about

WIDTH, MARGIN = 10.0, 0.9  # inches
TRIANGLE_WIDTH = WIDTH - 2 * MARGIN
HEAD, TRACK, TICKS, LINKS, FOOT = 0.75, 1.15, 0.55, 0.55, 0.15  # heights in inches, from the top
RUG = 0.16  # of the links' height
MAX_LINKS = 120
SOLID_SITES = 300  # so many ticks of sites are drawn black, more of them paler
ROOM = {"left": 0.16, "right": 0.16, "across": 0.13}  # a part whose side has this share of all sites holds its label
PART_NAMES = {"left": "LS", "right": "RS", "across": "X"}


def plot_ld(
    region: LdRegion, picture: BinnedLd, parts: Sequence[LdPart], *, title: str = "", label: str = ""
) -> Figure:
    """Draw linkage disequilibrium between all sites of a region.

    Parameters
    ----------
    region : LdRegion
        Its window, if it has one, is outlined.
    picture : BinnedLd
        r2 of all pairs of the region's sites, `MAX_PIXELS` along a side at most.
    parts : sequence of LdPart
        What the legend names, with its mean r2.
    title : str
        What was scanned, for the line above the figure.
    label : str
        Name of the chromosome or replicate.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `save_plot` or changed further.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        point = region.point
        track = TRACK if point is not None else 0.0
        height = HEAD + TICKS + track + LINKS + TRIANGLE_WIDTH / 2 + FOOT
        figure = Figure(figsize=(WIDTH, height))

        def axes(bottom: float, tall: float) -> Axes:
            return figure.add_axes((MARGIN / WIDTH, bottom / height, TRIANGLE_WIDTH / WIDTH, tall / height))

        triangle = axes(FOOT, TRIANGLE_WIDTH / 2)
        links = axes(FOOT + TRIANGLE_WIDTH / 2, LINKS)
        top = axes(FOOT + TRIANGLE_WIDTH / 2 + LINKS, track) if point is not None else links
        _draw_triangle(triangle, region, picture, parts)
        _draw_links(links, region)
        if point is not None:
            _draw_track(top, region, point)
        _draw_positions(top, region)
        _draw_title(figure, height, region, title, label)
    return figure


# The triangle


def _draw_triangle(axes: Axes, region: LdRegion, picture: BinnedLd, parts: Sequence[LdPart]) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Polygon

    sites = region.alignment.sites
    colours = LinearSegmentedColormap.from_list("white to navy", TONES)
    averaged = picture.bins < sites
    axes.set_axis_off()
    axes.set(xlim=(0, sites), ylim=(sites / 2, 0))
    image = _raster(picture.means() ** _power(averaged), colours)
    axes.imshow(image, extent=(0, sites, sites / 2, 0), aspect="auto", interpolation_stage="rgba")
    corners = [(0, 0), (sites, 0), (sites / 2, sites / 2)]
    axes.add_patch(Polygon(corners, facecolor="none", edgecolor=GREY, linewidth=0.6))
    window = [part for part in parts if part.name in PART_NAMES]
    for part in window:
        _outline(axes, part)
    for part in window:
        _name_inside(axes, part, sites)
    _draw_legend(axes, region, picture, parts)
    _draw_colour_bar(axes, colours, averaged)


def _raster(means: NDArray[np.float64], colours: Colormap) -> NDArray[np.float64]:
    """The triangle as an image, float64 (rows, 2 rows, 4): each pair a diamond of whole pixels, nothing elsewhere."""
    bins = len(means)
    scale = 2 * max(1, round(RASTER / (2 * bins)))  # pixels along a diamond's diagonal
    row, column = np.ogrid[: bins * scale // 2, : bins * scale]
    earlier, later = (column - row) // scale, (column + row + 1) // scale
    inside = (earlier >= 0) & (later < bins)
    values = means[np.where(inside, earlier, 0), np.where(inside, later, 0)]
    image = colours(np.clip(values, 0, 1))
    image[..., 3] = inside & ~np.isnan(values)
    return np.asarray(image, np.float64)


def _corners(part: LdPart) -> list[tuple[float, float]]:
    """The outline of a part: a triangle with its base on the axis, or a rectangle that stands on a corner."""
    (a, b), (c, d) = part.rows, part.columns
    if part.rows == part.columns:
        return [(a, 0), (b + 1, 0), ((a + b + 1) / 2, (b + 1 - a) / 2)]
    lines = [(b + 1, c), (b + 1, d + 1), (a, d + 1), (a, c)]  # where two sites' diagonals meet
    return [((first + second) / 2, (second - first) / 2) for first, second in lines]


def _colour(part: LdPart) -> str:
    return INK if part.name == "across" else ORANGE


def _outline(axes: Axes, part: LdPart) -> None:
    from matplotlib.patches import Polygon
    from matplotlib.patheffects import Normal, withStroke

    axes.add_patch(
        Polygon(
            _corners(part), facecolor="none", edgecolor=_colour(part), linewidth=1.8, joinstyle="round",
            clip_on=False, zorder=3 if part.name == "across" else 4,
            path_effects=[withStroke(linewidth=3.2, foreground="white"), Normal()],
        )
    )  # fmt: skip


def _name_inside(axes: Axes, part: LdPart, sites: int) -> None:
    """The part's name and mean where it has room for them."""
    if min(last - first + 1 for first, last in (part.rows, part.columns)) < ROOM[part.name] * sites:
        return
    x, y = np.mean(_corners(part), axis=0).tolist()
    axes.text(
        x, y, f"{PART_NAMES[part.name]} {_mean(part)}", ha="center", va="center", color=_colour(part),
        fontweight="bold", zorder=6, bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "linewidth": 0},
    )  # fmt: skip


def _draw_legend(axes: Axes, region: LdRegion, picture: BinnedLd, parts: Sequence[LdPart]) -> None:
    """Means of the parts in the free corner on the left."""
    rows = [("Mean r²", "", INK)]
    for part in parts:
        name = {"left": "LS, left of ω", "right": "RS, right of ω", "across": "X, across"}.get(part.name, "all pairs")
        rows.append((name, _mean(part), _colour(part) if region.parts and part.name in PART_NAMES else GREY))
    for number, (name, value, colour) in enumerate(rows):
        y = 0.10 + 0.055 * (len(rows) - 1 - number)
        weight = "bold" if not number else "normal"
        axes.text(0.0, y, name, transform=axes.transAxes, color=colour, fontweight=weight)
        axes.text(0.235, y, value, transform=axes.transAxes, color=colour, ha="right", fontweight="bold")
    if picture.bins < region.alignment.sites:
        each = -(-region.alignment.sites // picture.bins)
        note = f"means over up to {each} by {each} sites"
        axes.text(0.0, 0.02, note, transform=axes.transAxes, color=GREY, fontsize=9)


def _power(averaged: bool) -> float:
    """Means of many pairs are small: their colours go by the square root."""
    return 0.5 if averaged else 1.0


def _draw_colour_bar(axes: Axes, colours: Colormap, averaged: bool) -> None:
    bar = axes.inset_axes((0.765, 0.11, 0.235, 0.035))
    bar.imshow(np.linspace(0, 1, 256)[None], cmap=colours, aspect="auto", extent=(0, 1, 0, 1))
    ticks = np.array([0, 0.05, 0.2, 0.5, 1] if averaged else [0, 0.25, 0.5, 0.75, 1])
    bar.set(yticks=[])
    bar.set_xticks((ticks ** _power(averaged)).tolist(), [f"{tick:g}" for tick in ticks])
    bar.tick_params(labelsize=9.5, length=3)
    bar.set_title("r², square-root scale" if averaged else "r² of two sites", fontsize=11, loc="left", pad=5)
    for spine in bar.spines.values():
        spine.set(visible=True, linewidth=0.6, color=GREY)


def _mean(part: LdPart) -> str:
    if not part.defined:
        return "no pairs"
    return "< 0.001" if 0 < part.mean < 0.001 else f"{part.mean:.{3 if part.mean < 0.0995 else 2}f}"


# Above the triangle


def _draw_links(axes: Axes, region: LdRegion) -> None:
    """Sites to scale, and lines from there to their columns; the window's halves are shaded."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Polygon

    axes.set_axis_off()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    at = _share(region, region.positions)
    sites = len(at)
    columns = (np.arange(sites) + 0.5) / sites
    pale = min(1.0, SOLID_SITES / sites)
    rug = LineCollection(_segments(at, 1.0, at, 1 - RUG), colors=INK, linewidths=0.6, alpha=max(pale, 0.03))
    rug.set_rasterized(sites > MAX_PIXELS)
    axes.add_collection(rug)
    shown = np.unique(np.linspace(0, sites - 1, min(sites, MAX_LINKS)).round().astype(int))
    lines = _segments(at[shown], 1 - RUG, columns[shown], 0.0)
    axes.add_collection(LineCollection(lines, colors=GREY, linewidths=0.4, alpha=0.6))
    if region.point is None:
        return
    left, right = _share(region, np.array(region.point.window)).tolist()
    split = _share(region, np.array([region.point.position])).tolist()[0]
    first, middle, last = _edges(region)
    for (a, b), (c, d) in (((left, split), (first, middle)), ((split, right), (middle, last))):
        axes.add_patch(Polygon([(a, 1), (b, 1), (b, 1 - RUG), (d, 0), (c, 0), (a, 1 - RUG)], facecolor=ORANGE,
                               alpha=0.16, linewidth=0))  # fmt: skip
    for x, column in ((left, first), (split, middle), (right, last)):
        axes.plot([x, x, column], [1, 1 - RUG, 0], color=ORANGE, linewidth=1.2, clip_on=False)


def _edges(region: LdRegion) -> tuple[float, float, float]:
    """Left border, split and right border of the window as shares of the columns."""
    left, right, _ = region.parts
    sites = region.alignment.sites
    return left.rows[0] / sites, right.rows[0] / sites, (right.rows[1] + 1) / sites


def _segments(x0: NDArray[np.float64], y0: float, x1: NDArray[np.float64], y1: float) -> list[NDArray[np.float64]]:
    return list(np.stack([np.stack([x0, np.full_like(x0, y0)], 1), np.stack([x1, np.full_like(x1, y1)], 1)], 1))


def _share(region: LdRegion, positions: NDArray[np.generic]) -> NDArray[np.float64]:
    """Positions as shares of the region."""
    return (positions.astype(np.float64) - region.start) / max(region.end - region.start, 1)


def _draw_track(axes: Axes, region: LdRegion, point: GridPoint) -> None:
    """Omega along the region, the window shaded, its split marked."""
    track = point.track
    x, y = _share(region, track.positions), np.where(track.omega > 0, track.omega, np.nan)
    near = np.flatnonzero((x >= 0) & (x <= 1))
    drawn = slice(max(near[0] - 1, 0), near[-1] + 2)
    axes.plot(x[drawn], y[drawn], color=BLUE, linewidth=1.2, marker=".", markersize=4 if len(near) < 80 else 0)
    set_omega_axis(axes, y[near])
    axes.set_ylabel("ω, log." if axes.get_yscale() == "log" else "ω")
    axes.yaxis.set_label_coords(-0.08, 0.5)
    axes.tick_params(axis="y", labelsize=10)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    axes.set_xlim(0, 1)
    left, right = _share(region, np.array(point.window)).tolist()
    axes.axvspan(left, right, facecolor=ORANGE, alpha=0.16, linewidth=0, zorder=0.5)
    at = float(x[point.index])
    for border in (left, at, right):
        axes.axvline(border, color=ORANGE, linewidth=1.2, zorder=0.6)
    axes.plot([at], [point.omega], "o", color=ORANGE, markersize=7, clip_on=False, zorder=5)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", bottom=False, labelbottom=False)


def _draw_positions(axes: Axes, region: LdRegion) -> None:
    """Positions along the upper edge, so that nothing lies between omega and the sites."""
    scale, unit = position_unit(np.array([region.end], np.float64))
    ticks = round_ticks(region.start / scale, region.end / scale, MAX_TICKS)
    scaled = axes.secondary_xaxis("top") if axes.axison else axes.inset_axes((0, 1, 1, 0.001))
    if not axes.axison:
        scaled.set(xlim=(0, 1), yticks=[])
        for name in ("left", "right", "bottom"):
            scaled.spines[name].set_visible(False)
        scaled.xaxis.tick_top()
        scaled.xaxis.set_label_position("top")
    scaled.spines["top"].set(visible=True, color=GREY)
    scaled.set_xticks(_share(region, ticks * scale).tolist(), [f"{tick:,.10g}" for tick in ticks])
    scaled.set_xlabel(f"Position ({unit})", labelpad=5)


def _draw_title(figure: Figure, height: float, region: LdRegion, title: str, label: str) -> None:
    scale, unit = position_unit(np.array([region.end], np.float64))
    span = (region.start, region.end) if region.point is None else region.point.window
    where = range_text(float(span[0]), float(span[1]), scale, unit)
    sites = region.alignment.sites
    if region.point is None:
        headline, detail = f"Linkage disequilibrium, {where}", f"{sites:,} sites"
    else:
        left, right, _ = region.parts
        at = f"{region.point.position / scale:,.{HEADLINE_DIGITS[unit]}f} {unit}"
        headline = f"ω {number_text(region.point.omega)} at {at}"
        wide = (region.point.window[1] - region.point.window[0]) / 1000
        detail = f"window {where} ({wide:,.3g} kb, {left.sites:,} + {right.sites:,} sites), {sites:,} sites shown"
    below = ", ".join(part for part in (short_text(title, LONGEST_TITLE), detail) if part)
    headline += f", {short_text(label, LONGEST_TITLE)}" if label else ""
    figure.text(MARGIN / WIDTH, 1 - 0.38 / height, headline, fontsize=15, fontweight="bold")
    figure.text(MARGIN / WIDTH, 1 - 0.66 / height, below, color=GREY)
