"""The figure of scans: a panel for each statistic, chromosomes end to end in bands, or replicates together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import (
    ALPHA,
    BLUE,
    GREEN,
    GREY,
    INK,
    LINE,
    ORANGE,
    SKY,
    STYLE,
    distance_text,
    drawn,
    number_text,
    position_unit,
    round_ticks,
    short_text,
    tick_texts,
)
from oclgenomics.app.tracks import end_to_end, merged_windows
from oclgenomics.lazy_names import late
from oclgenomics.sweeps.options import DIRECTED, JUDGED, LOW, POPULATION_STATISTICS
from oclgenomics.sweeps.plots.labels import Labels
from oclgenomics.sweeps.plots.refined import (
    fine_line,
    fine_stretches,
    has_fine_rows,
    limit_of,
    position_text,
    refined_place,
    step_of,
)
from oclgenomics.sweeps.result import LABELS, NOT_NEGATIVE, SCALES, Scan
from oclgenomics.sweeps.significance.combined import COMBINED
from oclgenomics.sweeps.significance.thresholds import SweepThreshold
from oclgenomics.variation.genes import Genes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ticker = late("matplotlib.ticker")

SHORT = {
    "mu": "μ", "pi": "π", "theta": "θ", "tajima_d": "D", "fay_wu_h": "H",
    "h1": "H1", "h12": "H12", "h123": "H123", "h2_h1": "H2/H1", "lassi": "T", "saltilassi": "L",
    "nsl": "nSL", "ihs": "iHS",
    "clr": "CLR",
    "fst": "Fst", "dxy": "dxy", "xp_nsl": "XP-nSL", "xp_ehh": "XP-EHH",
    "combined": "score",
}  # fmt: skip
WIDTH, PANEL, MARGINS, NOTHING = 10.0, 1.55, 1.5, 2.0  # inches; the height of a figure without any panel
COLUMNS = 2_000  # of a panel, in each of which the lowest and the highest point of many are drawn
FEW_CHROMOSOMES = 5  # so many have room for positions on the axis
CHARACTER = 0.011  # of a character in bold, as a share of the axis
LONGEST_NAME = 24
MAX_TICKS = 8
ROOM = 0.24  # beyond the points of a panel, as a share of their range; for the label of the best one
OTHER_ROOM, BEYOND_LINES = 0.25, 0.7  # of that, on the side without labels; beyond thresholds
MARGIN = 0.01  # of the axis of positions
GENES_ROOM, GENES_PANEL = 0.2, 0.25  # what labels of genes need more, and inches of a panel
BAND = "#F4F7F9"
PEAKS_ROOM = 0.03  # between peaks whose genes are named, as a share of the axis
MOST_PEAKS, FEW = 10, 3  # of a panel, with thresholds and without
SIZES = ((60, 5.0), (500, 3.5), (4_000, 2.2))  # of points, of so many rows at most
SMALL, LARGE, AROUND = 4.0, 5.5, 2.0  # of peaks; a refined place is larger
BEST: Any = {"color": ORANGE, "marker": "o", "linestyle": "none", "markeredgewidth": 0}
REFINED: Any = {"color": ORANGE, "marker": "D", "linestyle": "none", "markerfacecolor": "white", "markeredgewidth": 1.3}
FINE: Any = {"color": GREEN, "marker": ".", "linestyle": "-", "markersize": 2.0, "linewidth": 0.8}
ACROSS: Any = {"color": INK, "linewidth": 0.9, "linestyle": (0, (5, 3))}
FINE_BAND = "#E2F2EC"
LABELLED, LABEL = 85.0, 10.0  # height of a panel, about, and of a threshold's label in points


class NamedPeak(NamedTuple):
    """A peak that is labelled.

    Attributes
    ----------
    place, value : float
        On the axes.
    text : str
        Its gene, or its position.
    of_gene : bool
    refined : (float, float) or None
        The place and the value on the axes of its best fine row.
    """

    place: float
    value: float
    text: str
    of_gene: bool = False
    refined: tuple[float, float] | None = None

    @property
    def labelled(self) -> tuple[float, float]:
        """The point that the label belongs to."""
        return self.refined or (self.place, self.value)


def plot_scans(
    scans: Sequence[Scan], *, title: str = "", thresholds: Sequence[SweepThreshold] = (), null: str = "",
    genes: Genes | None = None,
) -> Figure:  # fmt: skip
    """Draw the statistics of scans along their positions, one panel for each of them.

    Parameters
    ----------
    scans : sequence of Scan
        Chromosomes are drawn end to end, in alternating bands. Several replicates lie over each other.
    title : str
        What was scanned, for the line above the figure.
    thresholds : sequence of SweepThreshold
        Values at which a line is drawn in the panel of their statistic.
    null : str
        What the replicates are that these come from, for the legend; see `Significance.described`.
    genes : Genes, optional
        The gene nearest to each peak is named, instead of the position: of those beyond the first threshold of the
        statistic, or of the three highest ones without thresholds. Not of replicates.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `save_plot` or changed further; no display is needed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names, shown = shown_of(scans)
    with rc_context(STYLE):
        named = genes is not None or bool(thresholds) or any(has_fine_rows(name, shown) for name in names)
        panel = PANEL + GENES_PANEL * named
        height = MARGINS + panel * max(len(names), 1) + (0.9 if len(names) == 1 else 0.0)
        figure = Figure(figsize=(WIDTH, height if shown else NOTHING), layout="constrained")
        if not shown:
            _draw_nothing(figure.add_subplot(), len(scans))
            return figure
        panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        replicates = are_replicates(scans)
        offsets = [0.0] * len(shown) if replicates else end_to_end([scan.positions for scan in shown])[0].tolist()
        own = {name: [one for one in thresholds if one.statistic == name] for name in names}
        peaks = {name: list[NamedPeak]() for name in names}
        for name in () if replicates else names:
            if extremes_of(name, shown):
                peaks[name] = labelled_peaks(name, shown, offsets, own[name], genes)
        for name, axes in zip(names, panels, strict=True):
            if not replicates and len(shown) > 1:
                _draw_bands(axes, shown, offsets)
            room = ROOM + GENES_ROOM * (len(peaks[name]) > 1)
            _draw_panel(axes, name, shown, offsets, room, replicates=replicates)
            _draw_thresholds(axes, own[name])
            if name in NOT_NEGATIVE and min(axes.get_ylim()) < 0:
                axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= max(axes.get_ylim())])
            words = "\n".join([LABELS[name].replace("θ ", "θ\n"), *compared_in(name, shown)])
            axes.set_ylabel(words, rotation=0, ha="right", va="center", labelpad=10)
        _set_positions(panels[-1], shown, offsets, replicates=replicates)
        figure.align_ylabels(panels)
        words = headline(names, shown, thresholds, replicates=replicates)
        _set_title(panels[0], words, shown, title, replicates=replicates)
        _draw_legend(figure, names, shown, thresholds, null, replicates=replicates)
        layout = figure.get_layout_engine()
        if layout is not None and not replicates:
            with drawn(figure):
                layout.execute(figure)  # labels have to know where points are
                for name, axes in zip(names, panels, strict=True):
                    if peaks[name]:
                        _draw_labels(axes, name, _best_text(name, shown, genes, limit_of(own[name])), peaks[name])
    return figure


def _draw_nothing(axes: Axes, count: int) -> None:
    axes.set_axis_off()
    what = "no alignment" if not count else "no window with enough sites"
    axes.text(0.5, 0.5, f"Nothing to draw: {what}", ha="center", va="center", transform=axes.transAxes, color=GREY)


def shown_of(scans: Sequence[Scan]) -> tuple[list[str], list[Scan]]:
    """Return the statistics of scans, and those of the scans that have a value."""
    names = [name for name in JUDGED if any(name in scan.values for scan in scans)]
    return names, [scan for scan in scans if any(scan.best(name) is not None for name in names)]


def compared_in(name: str, scans: Sequence[Scan]) -> list[str]:
    """Return which populations a statistic compares, in a few words; nothing if it is of one, or they have no names."""
    first, comma, second = scans[0].facts.between.partition(",")
    if name not in POPULATION_STATISTICS or not comma:
        return []
    word = "over" if name in DIRECTED else "and"
    return [f"{short_text(first, LONGEST_NAME)} {word} {short_text(second, LONGEST_NAME)}"]


def are_replicates(scans: Sequence[Scan]) -> bool:
    """Whether scans are of one region many times: their numbers are their names, and their states have no bases."""
    return len(scans) > 1 and all(scan.name == str(scan.replicate) and scan.binary for scan in scans)


def extremes_of(name: str, scans: Sequence[Scan]) -> list[tuple[float, Scan, int]]:
    """Return the value of each scan that has one that is most like a sweep, as labels show it, and its row."""
    found = [(scan, scan.best(name)) for scan in scans]
    scale = SCALES.get(name, 1.0)
    return [(float(scan.values[name][row]) * scale, scan, row) for scan, row in found if row is not None]


def most_extreme(name: str, found: Sequence[tuple[float, Scan, int]]) -> tuple[float, Scan, int]:
    """Return the one of `extremes_of` that is most like a sweep."""
    return min(found, key=lambda one: one[0] * (1 if name in LOW else -1))


def headline(
    names: Sequence[str], scans: Sequence[Scan], thresholds: Sequence[SweepThreshold] = (), *, replicates: bool
) -> str:  # fmt: skip
    """Say what the extreme of the combined score is, or of the first statistic, and where."""
    name = COMBINED if COMBINED in names else names[0]
    what = "combined score" if name == COMBINED else SHORT[name]
    found, kind = extremes_of(name, scans), f"{'Lowest' if name in LOW else 'Highest'} {what}"
    if not found:
        return f"No {what}"
    if replicates:
        middle = float(np.median([value for value, _, _ in found]))
        return f"{kind} of {len(scans):,} replicates: {value_text(middle)} (median)"
    value, scan, row = most_extreme(name, found)
    limit = limit_of([one for one in thresholds if one.statistic == name])
    refined = refined_place(name, scan, row, limit)
    return f"{kind}: {value_text(value)} {place_text(scans, scan, row, refined)}"


def _draw_bands(axes: Axes, scans: Sequence[Scan], offsets: Sequence[float]) -> None:
    """Shade every other chromosome."""
    for number, (scan, offset) in enumerate(zip(scans, offsets, strict=True)):
        if number % 2 == 0:
            axes.axvspan(scan.positions[0] + offset, scan.positions[-1] + offset, color=BAND, linewidth=0, zorder=0)


def _draw_panel(
    axes: Axes, name: str, scans: Sequence[Scan], offsets: Sequence[float], room: float, *, replicates: bool
) -> None:
    """The points of one statistic, fine rows below them, and those that are most like a sweep."""
    lows, highs, best = [], [], extremes_of(name, scans)
    size = next((size for most, size in SIZES if sum(len(scan.positions) for scan in scans) <= most), SIZES[-1][1])
    for number, (scan, offset) in enumerate(zip(scans, offsets, strict=True)):
        values = scan.values[name] * SCALES.get(name, 1.0)
        rows = drawn_rows(scan.positions, values)
        if not len(rows):
            continue
        x, y = scan.positions[rows] + offset, values[rows]
        colour = SKY if replicates else (BLUE, SKY)[number % 2]
        faint = 0.5 if replicates else 1.0
        axes.plot(x, y, ".", color=colour, markersize=size, alpha=faint, rasterized=True, zorder=2)
        lows.append(float(y.min()))
        highs.append(float(y.max()))
        if not replicates and has_fine_rows(name, [scan]):
            y = _draw_fine(axes, name, scan, offset)
            lows.append(float(np.nanmin(y)))
            highs.append(float(np.nanmax(y)))
    axes.axhline(0.0, color=LINE, linewidth=0.8, zorder=1)
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_locator(ticker.MaxNLocator(nbins=4, steps=[1, 2, 2.5, 5, 10]))
    if not lows:
        return
    axes.set_ylim(*panel_range(name, min(lows), max(highs), room))
    if replicates:
        places, heights = [scan.positions[row] for _, scan, row in best], [value for value, *_ in best]
        axes.plot(places, heights, "o", color=ORANGE, markersize=3, markeredgewidth=0, alpha=0.8, zorder=4)
        return
    value, scan, row = most_extreme(name, best)
    place, offset = float(scan.positions[row]), offsets[list(map(id, scans)).index(id(scan))]
    axes.plot([place + offset], [value], "o", color=ORANGE, markersize=LARGE, zorder=5, clip_on=False)


def _draw_fine(axes: Axes, name: str, scan: Scan, offset: float) -> NDArray[np.float64]:
    """Fine rows of a scan as a line below the points of the grid, in bands that say where there are any."""
    assert scan.fine is not None
    for rows in fine_stretches(scan):
        first, last = (float(scan.fine.positions[row]) + offset for row in (rows[0], rows[-1]))
        axes.axvspan(first, last, color=FINE_BAND, linewidth=0.5, zorder=0.5)
    x, y = fine_line(name, scan)
    axes.plot(x + offset, y, **FINE, rasterized=True, zorder=1.5)
    return y


def _draw_refined(axes: Axes, place: float, value: float, size: float) -> None:
    """The refined place of a peak: an open diamond, below the row itself."""
    axes.plot([place], [value], **REFINED, markersize=size + AROUND, zorder=4.5, clip_on=False)


def _best_text(name: str, scans: Sequence[Scan], genes: Genes | None, limit: float | None) -> str:
    """The value that is most like a sweep, its place, and the gene there."""
    value, scan, row = most_extreme(name, extremes_of(name, scans))
    refined = refined_place(name, scan, row, limit)
    text = f"{SHORT[name]} {value_text(value)} {place_text(scans, scan, row, refined, short=True)}"
    place = float(scan.positions[row]) if refined is None else refined[0]
    gene = None if genes is None else gene_text(genes, scan.name, place)
    return text if gene is None else f"{text}, {gene}"


def gene_text(genes: Genes, chromosome: str, position: float) -> str | None:
    """Return the gene nearest to a position, and how far it is if the position is not in it; None without any."""
    near = genes.nearest(chromosome, position)
    if near is None:
        return None
    name, distance = near
    return short_text(name, LONGEST_NAME) + (f" ({distance_text(distance)})" if distance else "")


def _draw_labels(axes: Axes, name: str, text: str, peaks: Sequence[NamedPeak]) -> None:
    """Name the row that is most like a sweep, the first of the peaks, and the others with theirs."""
    lines = [line.get_xydata() for line in axes.get_lines() if line.get_marker() == "."]
    dashed = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    across = [float(np.asarray(line.get_ydata(), np.float64)[0]) for line in dashed]
    points = np.concatenate([*lines, [(one.place, one.value) for one in peaks]]).astype(np.float64)
    x, y = points[~np.isnan(points[:, 1])].T
    labels = Labels(axes, x, y, below=name in LOW, lines=across)
    for peak in peaks:
        labels.expect(*peak.labelled)
    best, *others = peaks
    if best.refined is not None:
        _draw_refined(axes, *best.refined, LARGE)
    labels.add(*best.labelled, text, always=True, color=ORANGE, fontsize=10, fontweight="bold")
    for peak in others:
        if labels.add(
            *peak.labelled, peak.text, color=INK, fontsize=9, fontstyle="italic" if peak.of_gene else "normal"
        ):
            axes.plot([peak.place], [peak.value], "o", color=ORANGE, markersize=SMALL, zorder=5, clip_on=False)
            if peak.refined is not None:
                _draw_refined(axes, *peak.refined, SMALL)


def labelled_peaks(
    name: str, scans: Sequence[Scan], offsets: Sequence[float], thresholds: Sequence[SweepThreshold],
    genes: Genes | None = None,
) -> list[NamedPeak]:  # fmt: skip
    """Return the peaks of a panel, best first; of the others those that are beyond a threshold, refined or at a gene.

    Parameters
    ----------
    name : str
    scans : sequence of Scan
        Some have a value of the statistic.
    offsets : sequence of float
        Where the scans begin on the axis.
    thresholds : sequence of SweepThreshold
        Those of the statistic.
    genes : Genes, optional
    """
    limit = limit_of(thresholds)
    least = -np.inf if limit is None else (-1 if name in LOW else 1) * limit
    span = float(scans[-1].positions[-1] + offsets[-1] - scans[0].positions[0] - offsets[0])
    most = FEW if not thresholds else MOST_PEAKS if limit is not None else 0
    rows = peak_rows(name, scans, offsets, least, PEAKS_ROOM * span, most)
    _, owner, row = most_extreme(name, extremes_of(name, scans))
    first = list(map(id, scans)).index(id(owner))
    found = list[NamedPeak]()
    for number, top in [(first, row), *rows[1:]]:
        scan = scans[number]
        one = scan.middle(name, top) if found else top
        place, refined = float(scan.positions[one]), refined_place(name, scan, one, limit)
        at = place if refined is None else refined[0]
        gene = None if genes is None else gene_text(genes, scan.name, at)
        text = gene or ""
        if gene is None and (limit is not None or refined is not None):
            text = position_text(scans, at, step_of(scan, "step" if refined is None else "refine"))
        if text or not found:
            value = float(scan.values[name][one]) * SCALES.get(name, 1.0)
            point = None if refined is None else (at + offsets[number], refined[1])
            found.append(NamedPeak(place + offsets[number], value, text, gene is not None, point))
    return found


def peak_rows(
    name: str, scans: Sequence[Scan], offsets: Sequence[float], least: float, apart: float, most: int
) -> list[tuple[int, int]]:
    """Return scan and row of peaks, best first, so many bp apart along the axis.

    A peak is a row that no row of its scan within these bp is more like a sweep than, the best one of the region of
    merged windows beyond `least`.

    Parameters
    ----------
    least : float
        What their values are above, or minus their values of a statistic that a sweep lowers.
    apart : float
    most : int
        So many at most.
    """
    sign = -1.0 if name in LOW else 1.0
    scores = np.concatenate([sign * scan.values[name] for scan in scans])
    x = np.concatenate([scan.positions + offset for scan, offset in zip(scans, offsets, strict=True)])
    owner = np.repeat(np.arange(len(scans)), [len(scan.positions) for scan in scans])
    first = np.cumsum([0, *(len(scan.positions) for scan in scans)])
    free = np.nan_to_num(scores, nan=-np.inf) > least
    regions = np.arange(len(scores))
    if np.isfinite(least):
        for scan, begin in zip(scans, first, strict=False):
            chosen = np.flatnonzero(free[begin : begin + len(scan.positions)])
            for part in merged_windows(chosen, scan.start, scan.end, 0):
                regions[begin + part] = begin + part[0]
    found: list[tuple[int, int]] = []
    while len(found) < most and free.any():
        best = int(np.argmax(np.where(free, scores, -np.inf)))
        near = np.abs(x - x[best]) <= apart
        if np.nanmax(scores[near & (owner == owner[best])]) <= scores[best]:
            found.append((int(owner[best]), best - int(first[owner[best]])))
        free &= ~near & (regions != regions[best])
    return found


def panel_range(name: str, low: float, high: float, room: float) -> tuple[float, float]:
    """Return the ends of the axis of a statistic, with room for the label of the best one, as a share."""
    if name in NOT_NEGATIVE:
        low = min(low, 0.0)
    free = room * ((high - low) or 1.0)
    if name in LOW:
        return low - free, high + OTHER_ROOM * free
    return low - OTHER_ROOM * free * (name not in NOT_NEGATIVE), high + free


def _draw_thresholds(axes: Axes, thresholds: Sequence[SweepThreshold]) -> None:
    """Dashed lines across, labelled in the right margin; the axis reaches them."""
    scaled = sorted((one.value * SCALES.get(one.statistic, 1.0), one.fpr) for one in thresholds)
    lines = [(value, fpr) for value, fpr in scaled if np.isfinite(value)]
    if not lines:
        return
    low, high = axes.get_ylim()
    room = BEYOND_LINES * ROOM * (high - low)
    low, high = min(low, lines[0][0] - room), max(high, lines[-1][0] + room)
    axes.set_ylim(low, high)
    free = -np.inf  # height of the next label, in points
    for value, fpr in lines:
        height = (value - low) / (high - low) * LABELLED
        shift = max(0.0, free - height)
        free = height + shift + LABEL
        axes.axhline(value, **ACROSS, zorder=3)
        axes.annotate(
            f"{ALPHA} = {100 * fpr:g} %", (1, value), xycoords=("axes fraction", "data"), xytext=(4, shift),
            textcoords="offset points", va="center", fontsize=9, color=INK,
        )  # fmt: skip


def drawn_rows(x: NDArray[np.float64], y: NDArray[np.float64], columns: int = COLUMNS) -> NDArray[np.intp]:
    """Return the rows that have a value; of many, the lowest and the highest of each column of the panel."""
    known = np.flatnonzero(~np.isnan(y))
    x, y = x[known], y[known]
    if len(x) <= 2 * columns:
        return known
    column = np.floor((x - x[0]) / max(float(x[-1] - x[0]), 1.0) * columns).astype(np.int64)
    order = np.lexsort((y, column))
    _, first = np.unique(column[order], return_index=True)
    last = np.append(first[1:], len(order)) - 1
    kept: NDArray[np.intp] = known[np.unique(np.concatenate([order[first], order[last]]))]
    return kept


def value_text(value: float) -> str:
    """Return a value with three digits and a minus sign that is one."""
    return "\N{MINUS SIGN}" * (value < 0) + number_text(abs(value))


def place_text(
    scans: Sequence[Scan], scan: Scan, row: int, refined: tuple[float, float] | None, *, short: bool = False
) -> str:  # fmt: skip
    """Say where a row is and to where it is refined, and on which chromosome where there are several.

    Parameters
    ----------
    scans : sequence of Scan
        All that are shown.
    scan : Scan
        The one with the row.
    row : int
    refined : (float, float) or None
        See `refined_place`.
    short : bool
        Say the refined place alone.
    """
    name = f"on {short_text(scan.name, LONGEST_NAME)} " if len(scans) > 1 else ""
    place = position_text(scans, float(scan.positions[row]), step_of(scan, "step"))
    if refined is None:
        return f"{name}at {place}"
    closer = position_text(scans, refined[0], step_of(scan))
    return f"{name}at {closer} (refined)" if short else f"{name}at {place}, refined to {closer}"


def around(scans: Sequence[Scan], low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis of positions from the first to the last, around a single one those of its window."""
    if high > low:
        return low - MARGIN * (high - low), high + MARGIN * (high - low)
    half = max(max(float((scan.end - scan.start).max()) for scan in scans) / 2, 1.0)
    return low - half, high + half


def _set_positions(axes: Axes, scans: Sequence[Scan], offsets: Sequence[float], *, replicates: bool) -> None:
    """Positions in the largest unit that suits, and the names of chromosomes under their middles."""
    axes.spines["bottom"].set_visible(True)
    firsts = np.array([scan.positions[0] + offset for scan, offset in zip(scans, offsets, strict=True)])
    lasts = np.array([scan.positions[-1] + offset for scan, offset in zip(scans, offsets, strict=True)])
    low, high = float(firsts.min()), float(lasts.max())
    low, high = around(scans, low, high)
    axes.set_xlim(low, high)
    scale, unit = position_unit(np.concatenate([scan.positions[[0, -1]] for scan in scans]))
    axes.tick_params(axis="x", length=3)
    if replicates or len(scans) == 1:
        ticks = round_ticks(low / scale, high / scale, MAX_TICKS)
        axes.set_xticks(ticks * scale, tick_texts(ticks))
        name, what = short_text(scans[0].name, LONGEST_NAME), "chromosome " * scans[0].name[:1].isdigit()
        on = "" if replicates or scans[0].name == "1" else f" on {what}{name}"
        axes.set_xlabel(f"Position{on} ({unit})")
        return
    names = [short_text(scan.name, LONGEST_NAME) for scan in scans]
    shares, middles = (lasts - firsts) / ((high - low) or 1.0), (firsts + lasts) / 2
    if len(scans) > FEW_CHROMOSOMES:
        _name_chromosomes(axes, names, shares, middles, (high - low) or 1.0)
        return
    _number_chromosomes(axes, scans, offsets, shares, scale)
    for name, centre, share in zip(names, middles, shares, strict=True):
        if share > CHARACTER * len(name):
            axes.annotate(name, (centre, 0), (0, -22), xycoords=("data", "axes fraction"), textcoords="offset points",
                          ha="center", va="top", fontweight="bold")  # fmt: skip
    axes.set_xlabel(f"Chromosome and position ({unit})", labelpad=20)


def _name_chromosomes(
    axes: Axes, names: Sequence[str], shares: NDArray[np.float64], middles: NDArray[np.float64], span: float
) -> None:
    """Names under the middles of many chromosomes, as far as there is room for them."""
    prefix = "chr" if all(name.startswith("chr") and len(name) > 3 for name in names) else ""
    names = [name.removeprefix(prefix) for name in names]
    room, free = list[int](), -np.inf
    for number, middle in enumerate((middles / span).tolist()):
        half = CHARACTER * len(names[number]) / 2
        if shares[number] > CHARACTER * 0.7 * len(names[number]) and middle - half > free:
            room.append(number)
            free = middle + half + CHARACTER / 2
    axes.set_xticks(middles[room], [names[number] for number in room])
    axes.tick_params(axis="x", length=0, labelsize=9.5)
    axes.set_xlabel("Chromosome")


def _number_chromosomes(
    axes: Axes, scans: Sequence[Scan], offsets: Sequence[float], shares: NDArray[np.float64], scale: float
) -> None:
    """Positions along each of a few chromosomes, as many as its share of the axis has room for."""
    places: list[float] = []
    texts: list[str] = []
    for scan, offset, share in zip(scans, offsets, shares, strict=True):
        first, last = float(scan.positions[0]), float(scan.positions[-1])
        own = round_ticks(first / scale, last / scale, max(1, int(MAX_TICKS * share)))
        words = tick_texts(own)
        own = own if share > CHARACTER * sum(len(word) + 1 for word in words) else own[:0]  # else they would overlap
        places += (own * scale + offset).tolist()
        texts += words[: len(own)]
    axes.set_xticks(places, texts)


def _set_title(axes: Axes, headline: str, scans: Sequence[Scan], title: str, *, replicates: bool) -> None:
    """The extreme of the first statistic in bold, and below it what was scanned."""
    sites, haplotypes = sum(scan.sites for scan in scans), scans[0].haplotypes
    what = f"{haplotypes:,} haplotypes, {sites:,} sites"
    if replicates:
        what = f"{haplotypes:,} haplotypes, {sites / len(scans):,.0f} sites on average"
    axes.set_title(headline, loc="left", fontsize=14, fontweight="bold", color=INK, pad=24)
    line = "  ·  ".join(part for part in (short_text(title, 60), what) if part)
    axes.annotate(line, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", color=GREY, fontsize=10.5)


def _draw_legend(
    figure: Figure, names: Sequence[str], scans: Sequence[Scan], thresholds: Sequence[SweepThreshold], null: str, *,
    replicates: bool,
) -> None:  # fmt: skip
    """What the marks mean, below the axis of positions, where there are others than the points of a scan."""
    from matplotlib.lines import Line2D

    refined = not replicates and any(has_fine_rows(name, scans) for name in names)
    handles = []
    if replicates:
        handles.append(Line2D([], [], **BEST, markersize=SMALL, label="most extreme row of each replicate"))
    elif refined or thresholds:
        handles.append(Line2D([], [], **BEST, markersize=LARGE, label="peak: the row most like a sweep"))
    if refined:
        step = next((step for scan in scans if (step := step_of(scan)) is not None), None)
        every = "" if step is None else f", every {distance_text(step)}"
        handles.append(Line2D([], [], **REFINED, markersize=LARGE, label="refined place of a peak"))
        handles.append(Line2D([], [], **FINE, label=f"fine rows{every}: they place a peak and are not tested"))
    if any(one.statistic in names and np.isfinite(one.value) for one in thresholds):
        what = null or f"{thresholds[0].replicates:,} neutral replicates"
        handles.append(Line2D([], [], **ACROSS, label=f"{ALPHA}: share of {what} that go beyond the line"))
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=2, fontsize=9, frameon=False)
