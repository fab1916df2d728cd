"""The figure of scans: a panel for each statistic, chromosomes end to end in bands, or replicates together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.figures import (
    BLUE,
    GREY,
    INK,
    LINE,
    ORANGE,
    SKY,
    STYLE,
    drawn,
    number_text,
    position_unit,
    round_ticks,
    short_text,
)
from oclgenomics.app.tracks import end_to_end
from oclgenomics.lazy_names import late
from oclgenomics.sweeps.options import JUDGED, LOW
from oclgenomics.sweeps.plots.labels import Labels
from oclgenomics.sweeps.result import LABELS, NOT_NEGATIVE, SCALES, Scan
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
WIDTH, PANEL, MARGINS = 10.0, 1.55, 1.5  # inches
COLUMNS = 2_000  # of a panel, in each of which the lowest and the highest point of many are drawn
FEW_CHROMOSOMES = 5  # so many have room for positions on the axis
LETTER = 0.011  # of a character in bold, as a share of the axis
LONGEST_NAME = 24
MAX_TICKS = 8
ROOM = 0.24  # beyond the points of a panel, as a share of their range; for the label of the best one
OTHER_ROOM, BEYOND_LINES = 0.25, 0.7  # of that, on the side without labels; beyond thresholds
GENES_ROOM, GENES_PANEL = 0.2, 0.25  # what labels of genes need more, and inches of a panel
BAND = "#F4F7F9"
PEAKS_ROOM = 0.05  # between peaks whose genes are named, as a share of the axis
MOST_PEAKS, FEW = 10, 3  # of a panel, with thresholds and without
LABELLED, LABEL = 85.0, 10.0  # height of a panel, about, and of a threshold's label in points


class NamedPeak(NamedTuple):
    """A peak whose gene is named: its place on the axis, its value as it is drawn, and the name."""

    place: float
    value: float
    gene: str


def plot_scans(
    scans: Sequence[Scan], *, title: str = "", thresholds: Sequence[SweepThreshold] = (), genes: Genes | None = None
) -> Figure:
    """Draw the statistics of scans along their positions, one panel for each of them.

    Parameters
    ----------
    scans : sequence of Scan
        Chromosomes are drawn end to end, in alternating bands. Several replicates lie over each other.
    title : str
        What was scanned, for the line above the figure.
    thresholds : sequence of SweepThreshold
        Values at which a line is drawn in the panel of their statistic.
    genes : Genes, optional
        The gene nearest to each peak is named: of those beyond the first threshold of the statistic, or of the three
        highest ones without thresholds. Not of replicates.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `save_plot` or changed further; no display is needed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names, shown = shown_of(scans)
    with rc_context(STYLE):
        panel = PANEL + GENES_PANEL * (genes is not None)
        height = MARGINS + panel * max(len(names), 1) + (0.9 if len(names) == 1 else 0.0)
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        if not shown:
            _draw_nothing(figure.add_subplot(), len(scans))
            return figure
        panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
        replicates = are_replicates(scans)
        offsets = [0.0] * len(shown) if replicates else end_to_end([scan.positions for scan in shown])[0].tolist()
        own = {name: [one for one in thresholds if one.statistic == name] for name in names}
        peaks = {name: list[NamedPeak]() for name in names}
        if genes is not None and not replicates:
            peaks = {name: _peaks_with_genes(name, shown, offsets, genes, own[name]) for name in names}
        for name, axes in zip(names, panels, strict=True):
            if not replicates and len(shown) > 1:
                _draw_bands(axes, shown, offsets)
            room = ROOM + GENES_ROOM * bool(peaks[name])
            _draw_panel(axes, name, shown, offsets, room, replicates=replicates)
            _draw_thresholds(axes, own[name])
            if name in NOT_NEGATIVE and min(axes.get_ylim()) < 0:
                axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= max(axes.get_ylim())])
            axes.set_ylabel(LABELS[name].replace("θ ", "θ\n"), rotation=0, ha="right", va="center", labelpad=10)
        _set_positions(panels[-1], shown, offsets, replicates=replicates)
        figure.align_ylabels(panels)
        _set_title(panels[0], names[0], shown, title, replicates=replicates)
        layout = figure.get_layout_engine()
        if layout is not None and not replicates:
            with drawn(figure):
                layout.execute(figure)  # labels have to know where points are
                for name, axes in zip(names, panels, strict=True):
                    if extremes_of(name, shown):
                        _draw_labels(axes, name, shown, offsets, _best_text(name, shown, genes), peaks[name])
    return figure


def _draw_nothing(axes: Axes, count: int) -> None:
    axes.set_axis_off()
    what = "no alignment" if not count else "no window with enough sites"
    axes.text(0.5, 0.5, f"Nothing to draw: {what}", ha="center", va="center", transform=axes.transAxes, color=GREY)


def shown_of(scans: Sequence[Scan]) -> tuple[list[str], list[Scan]]:
    """Return the statistics of scans, and those of the scans that have a value."""
    names = [name for name in JUDGED if any(name in scan.values for scan in scans)]
    return names, [scan for scan in scans if any(scan.best(name) is not None for name in names)]


def are_replicates(scans: Sequence[Scan]) -> bool:
    """Whether scans are of one region many times, which have their numbers as names."""
    return len(scans) > 1 and all(scan.name == str(scan.replicate) for scan in scans)


def extremes_of(name: str, scans: Sequence[Scan]) -> list[tuple[float, Scan, int]]:
    """Return the value of each scan that has one that is most like a sweep, as labels show it, and its row."""
    found = [(scan, scan.best(name)) for scan in scans]
    scale = SCALES.get(name, 1.0)
    return [(float(scan.values[name][row]) * scale, scan, row) for scan, row in found if row is not None]


def most_extreme(name: str, found: Sequence[tuple[float, Scan, int]]) -> tuple[float, Scan, int]:
    """Return the one of `extremes_of` that is most like a sweep."""
    return min(found, key=lambda one: one[0] * (1 if name in LOW else -1))


def headline(name: str, scans: Sequence[Scan], *, replicates: bool) -> str:
    """Say what the extreme of a statistic is, and where."""
    found, kind = extremes_of(name, scans), f"{'Lowest' if name in LOW else 'Highest'} {SHORT[name]}"
    if not found:
        return f"No {SHORT[name]}"
    if replicates:
        middle = float(np.median([value for value, _, _ in found]))
        return f"{kind} of {len(scans):,} replicates: {value_text(middle)} (median)"
    value, scan, row = most_extreme(name, found)
    return f"{kind}: {value_text(value)} {place_text(scan, float(scan.positions[row]), named=len(scans) > 1)}"


def _draw_bands(axes: Axes, scans: Sequence[Scan], offsets: Sequence[float]) -> None:
    """Shade every other chromosome."""
    for number, (scan, offset) in enumerate(zip(scans, offsets, strict=True)):
        if number % 2 == 0:
            axes.axvspan(scan.positions[0] + offset, scan.positions[-1] + offset, color=BAND, linewidth=0, zorder=0)


def _draw_panel(
    axes: Axes, name: str, scans: Sequence[Scan], offsets: Sequence[float], room: float, *, replicates: bool
) -> None:
    """The points of one statistic, and those that are most like a sweep."""
    lows, highs, best = [], [], extremes_of(name, scans)
    for number, (scan, offset) in enumerate(zip(scans, offsets, strict=True)):
        values = scan.values[name] * SCALES.get(name, 1.0)
        rows = drawn_rows(scan.positions, values)
        if not len(rows):
            continue
        x, y = scan.positions[rows] + offset, values[rows]
        colour = SKY if replicates else (BLUE, SKY)[number % 2]
        axes.plot(x, y, ".", color=colour, markersize=2.2, alpha=0.5 if replicates else 1.0, rasterized=True, zorder=2)
        lows.append(float(y.min()))
        highs.append(float(y.max()))
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
    axes.plot([place + offset], [value], "o", color=ORANGE, markersize=5.5, zorder=5, clip_on=False)


def _best_text(name: str, scans: Sequence[Scan], genes: Genes | None) -> str:
    """The value that is most like a sweep, its place, and the gene there."""
    value, scan, row = most_extreme(name, extremes_of(name, scans))
    place = float(scan.positions[row])
    text = f"{SHORT[name]} {value_text(value)} {place_text(scan, place, named=len(scans) > 1)}"
    gene = None if genes is None else gene_text(genes, scan.name, place)
    return text if gene is None else f"{text}, {gene}"


def gene_text(genes: Genes, chromosome: str, position: float) -> str | None:
    """Return the gene nearest to a position, and how far it is if the position is not in it; None without any."""
    near = genes.nearest(chromosome, position)
    if near is None:
        return None
    name, distance = near
    scale, unit = (1e6, "Mb") if distance >= 1e6 else (1e3, "kb") if distance >= 1e3 else (1, "bp")
    return short_text(name, LONGEST_NAME) + (f" ({distance / scale:,.3g} {unit})" if distance else "")


def _draw_labels(
    axes: Axes, name: str, scans: Sequence[Scan], offsets: Sequence[float], text: str, peaks: Sequence[NamedPeak]
) -> None:
    """Name the row that is most like a sweep, and the genes of the other peaks."""
    points = [line.get_xydata() for line in axes.get_lines() if line.get_marker() == "."]
    dashed = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    across = [float(np.asarray(line.get_ydata(), np.float64)[0]) for line in dashed]
    x, y = np.concatenate(points).astype(np.float64).T
    labels = Labels(axes, x, y, below=name in LOW, lines=across)
    value, scan, row = most_extreme(name, extremes_of(name, scans))
    best = float(scan.positions[row]) + offsets[list(map(id, scans)).index(id(scan))]
    labels.expect(best, value)
    for place, height, _ in peaks:
        labels.expect(place, height)
    labels.add(best, value, text, always=True, color=ORANGE, fontsize=10, fontweight="bold")
    for place, height, gene in peaks:
        if labels.add(place, height, gene, color=INK, fontsize=9, fontstyle="italic"):
            axes.plot([place], [height], "o", color=ORANGE, markersize=4, zorder=5, clip_on=False)


def _peaks_with_genes(
    name: str, scans: Sequence[Scan], offsets: Sequence[float], genes: Genes, thresholds: Sequence[SweepThreshold]
) -> list[NamedPeak]:
    """The peaks of a panel but the best one, which its label names."""
    limit = max(thresholds, key=lambda one: one.fpr, default=None)
    least = -np.inf if limit is None else (-1 if name in LOW else 1) * limit.value
    span = float(scans[-1].positions[-1] + offsets[-1] - scans[0].positions[0] - offsets[0])
    peaks = peak_rows(name, scans, offsets, least, PEAKS_ROOM * span, FEW if limit is None else MOST_PEAKS)
    found = []
    for number, row in peaks[1:]:
        scan = scans[number]
        at, value = float(scan.positions[row]), float(scan.values[name][row]) * SCALES.get(name, 1.0)
        text = gene_text(genes, scan.name, at)
        if text is not None:
            found.append(NamedPeak(at + offsets[number], value, text))
    return found


def peak_rows(
    name: str, scans: Sequence[Scan], offsets: Sequence[float], least: float, apart: float, most: int
) -> list[tuple[int, int]]:
    """Return scan and row of peaks: the rows most like a sweep, best first, so many bp apart along the axis.

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
    found: list[tuple[int, int]] = []
    while len(found) < most and free.any():
        best = int(np.argmax(np.where(free, scores, -np.inf)))
        found.append((int(owner[best]), best - int(first[owner[best]])))
        free &= np.abs(x - x[best]) > apart
    return found


def panel_range(name: str, low: float, high: float, room: float) -> tuple[float, float]:
    """Return the ends of the axis of a statistic, with room for the label of the best one, as a share."""
    if name in NOT_NEGATIVE:
        low = min(low, 0.0)
    free = room * ((high - low) or 1.0)
    return (low - free, high + OTHER_ROOM * free) if name in LOW else (low, high + free)


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
        axes.axhline(value, color=INK, linewidth=0.9, linestyle=(0, (5, 3)), zorder=3)
        axes.annotate(
            f"{100 * fpr:g} %", (1, value), xycoords=("axes fraction", "data"), xytext=(4, shift),
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


def place_text(scan: Scan, position: float, *, named: bool) -> str:
    """Say where a position is, in the largest unit that suits, and on which chromosome where there are several."""
    scale, unit = position_unit(scan.positions)
    digits = {"Mb": 2, "kb": 1, "bp": 0}[unit]
    name = f"on {short_text(scan.name, LONGEST_NAME)} " if named else ""
    return f"{name}at {position / scale:,.{digits}f} {unit}"


def _set_positions(axes: Axes, scans: Sequence[Scan], offsets: Sequence[float], *, replicates: bool) -> None:
    """Positions in the largest unit that suits, and the names of chromosomes under their middles."""
    axes.spines["bottom"].set_visible(True)
    firsts = np.array([scan.positions[0] + offset for scan, offset in zip(scans, offsets, strict=True)])
    lasts = np.array([scan.positions[-1] + offset for scan, offset in zip(scans, offsets, strict=True)])
    low, high = float(firsts.min()), float(lasts.max())
    margin = 0.01 * ((high - low) or 1.0)
    axes.set_xlim(low - margin, high + margin)
    scale, unit = position_unit(np.concatenate([scan.positions[[0, -1]] for scan in scans]))
    axes.tick_params(axis="x", length=3)
    if replicates or len(scans) == 1:
        ticks = round_ticks(low / scale, high / scale, MAX_TICKS)
        axes.set_xticks(ticks * scale, [f"{tick:,.10g}" for tick in ticks])
        name = "" if replicates or scans[0].name == "1" else f" on chromosome {short_text(scans[0].name, LONGEST_NAME)}"
        axes.set_xlabel(f"Position{name} ({unit})")
        return
    shares = (lasts - firsts) / ((high - low) or 1.0)
    names = [short_text(scan.name, LONGEST_NAME) for scan in scans]
    if len(scans) > FEW_CHROMOSOMES:
        prefix = "chr" if all(name.startswith("chr") and len(name) > 3 for name in names) else ""
        names = [name.removeprefix(prefix) for name in names]
        room = [number for number, share in enumerate(shares) if share > LETTER * 0.7 * len(names[number])]
        axes.set_xticks((firsts + lasts)[room] / 2, [names[number] for number in room])
        axes.tick_params(axis="x", length=0)
        axes.set_xlabel("Chromosome")
        return
    places: list[float] = []
    texts: list[str] = []
    for scan, offset, share in zip(scans, offsets, shares, strict=True):
        first, last = float(scan.positions[0]), float(scan.positions[-1])
        own = round_ticks(first / scale, last / scale, max(1, int(MAX_TICKS * share)))
        own = own if share > LETTER * sum(len(f"{tick:,.10g} ") for tick in own) else own[:0]  # else they would overlap
        places += (own * scale + offset).tolist()
        texts += [f"{tick:,.10g}" for tick in own]
    axes.set_xticks(places, texts)
    for name, centre, share in zip(names, (firsts + lasts) / 2, shares, strict=True):
        if share > LETTER * len(name):
            axes.annotate(name, (centre, 0), (0, -22), xycoords=("data", "axes fraction"), textcoords="offset points",
                          ha="center", va="top", fontweight="bold")  # fmt: skip
    axes.set_xlabel(f"Chromosome and position ({unit})", labelpad=20)


def _set_title(axes: Axes, name: str, scans: Sequence[Scan], title: str, *, replicates: bool) -> None:
    """The extreme of the first statistic in bold, and below it what was scanned."""
    sites, haplotypes = sum(scan.sites for scan in scans), scans[0].haplotypes
    what = f"{haplotypes:,} haplotypes, {sites:,} sites"
    if replicates and extremes_of(name, scans):
        what = f"{haplotypes:,} haplotypes, {sites / len(scans):,.0f} sites on average  ·  orange: the extreme of each"
    axes.set_title(
        headline(name, scans, replicates=replicates), loc="left", fontsize=14, fontweight="bold", color=INK, pad=24
    )
    line = "  ·  ".join(part for part in (short_text(title, 60), what) if part)
    axes.annotate(line, (0, 1), (0, 8), xycoords="axes fraction", textcoords="offset points", color=GREY, fontsize=10.5)
