"""The figure of a scan: a lane for each sample, with the signatures that match where they do."""

from __future__ import annotations

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from oclgenomics.app.figures import GREY, INK, ORANGE, STYLE, TONES, number_text, position_unit, round_ticks, short_text
from oclgenomics.notices import number_of
from oclgenomics.signatures.matches.certainty import certainty
from oclgenomics.signatures.plots.choice import ChosenSamples, Lane
from oclgenomics.signatures.plots.scene import BOTTOM, WIDTH, Placed, Scene, labels

LONGEST_TITLE = 40  # letters shown
MAX_TICKS = 8
TRACK = "#ECECEC"
DARK = 0.4  # certainty from which letters on a match are white
# In inches, from the left or the upper end of the figure, or from the right end of the lanes.
MARGIN, HEADLINE, SECOND_LINE, HEADINGS = 0.2, 0.38, 0.72, 0.13
COLUMNS = {"length": 0.68, "signatures": 1.42, "by chance": 2.12}
TIP = 0.09  # of an arrow, at most
DIGITS = "\N{SUPERSCRIPT ZERO}\N{SUPERSCRIPT ONE}\N{SUPERSCRIPT TWO}\N{SUPERSCRIPT THREE}\N{SUPERSCRIPT FOUR}"
DIGITS += "\N{SUPERSCRIPT FIVE}\N{SUPERSCRIPT SIX}\N{SUPERSCRIPT SEVEN}\N{SUPERSCRIPT EIGHT}\N{SUPERSCRIPT NINE}"
SUPERSCRIPTS = str.maketrans("0123456789-", DIGITS + "\N{SUPERSCRIPT MINUS}")


def plot_samples(chosen: ChosenSamples, *, title: str = "") -> Figure:
    """Draw the samples that were chosen.

    Every sample is a lane, and every match an arrow along it that points in the direction of its strand. The darker it
    is, the surer; matches that chance may give are hollow (`oclgenomics.signatures.matches.certainty`). Lanes with few
    matches name them, with their mean quality or, without qualities, their informative share. Where samples differ much
    in length, each lane has a scale of its own. Next to a lane stand the length of the sample, the number of
    signatures, and how many matches like its surest one chance is expected to give.

    Parameters
    ----------
    chosen : ChosenSamples
    title : str
        What was scanned, for the line above the figure.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    lanes = chosen.lanes
    with rc_context(STYLE):
        if not lanes:
            return _nothing(chosen)
        scene = Scene(chosen.panel, lanes)
        figure = Figure(figsize=(WIDTH, scene.height))
        below, high = BOTTOM / scene.height, scene.lanes_height / scene.height
        axes = figure.add_axes((scene.left / WIDTH, below, scene.width / WIDTH, high))
        _set_axes(axes, scene, lanes)
        for number, lane in enumerate(lanes):
            _draw_lane(axes, scene, number, lane, labels(chosen.panel, lane))
        _write_headings(axes, scene)
        _set_title(figure, scene, chosen, title)
        _draw_key(figure, scene, doubtful=any(lane.may_be_chance.any() for lane in lanes))
    return figure


def _nothing(chosen: ChosenSamples) -> Figure:
    figure = Figure(figsize=(WIDTH, 3))
    axes = figure.add_subplot()
    axes.set_axis_off()
    samples = chosen.totals.samples
    what = f"no signature matches in {number_of(samples, 'sample')}" if samples else "no sample"
    axes.text(0.5, 0.5, f"Nothing to draw: {what}", ha="center", va="center", color=GREY)
    return figure


def _set_axes(axes: Axes, scene: Scene, lanes: list[Lane]) -> None:
    """Inches on both sides, counted from the upper end; the axis below tells of letters."""
    axes.set(xlim=(0, scene.width), ylim=(scene.lanes_height, 0))
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    if scene.own_scales:
        shares = np.linspace(0, 1, 6)
        axes.set_xticks(shares * scene.width, [f"{100 * share:.0f} %" for share in shares])
        axes.set_xlabel("Place in the sample, each lane on a scale of its own")
        return
    last = float(max(lane.letters for lane in lanes))
    scale, unit = position_unit(np.array([last]))
    ticks = round_ticks(0.0, last / scale, MAX_TICKS)
    axes.set_xticks(ticks * scale * scene.scales[0], [f"{tick:,.10g}" for tick in ticks])
    axes.set_xlabel(f"Place in the sample ({unit})")


def _draw_lane(axes: Axes, scene: Scene, number: int, lane: Lane, texts: list[str]) -> None:
    top, placed = scene.tops[number], scene.placed[number]
    height = placed.rows * scene.row
    track = Rectangle((0, top), lane.letters * scene.scales[number], height, facecolor=TRACK, linewidth=0, zorder=1)
    axes.add_patch(track)
    _draw_arrows(axes, scene, top, lane, placed)
    _write_labels(axes, scene, top, lane, placed, texts)
    middle, size = top + height / 2, scene.type_size + 0.5
    axes.text(-0.12, middle, scene.names[number], ha="right", va="center", fontsize=size, fontweight="bold")
    scale, unit = position_unit(np.array([float(lane.letters)]))
    least = _power_text(float(lane.chance.min(initial=np.inf)))
    cells = (f"{number_text(lane.letters / scale)} {unit}", f"{lane.signatures:,}", least)
    for text, x in zip(cells, COLUMNS.values(), strict=True):
        axes.text(scene.width + x, middle, text, ha="right", va="center", fontsize=size)


def _draw_arrows(axes: Axes, scene: Scene, top: float, lane: Lane, placed: Placed) -> None:
    doubtful = lane.may_be_chance
    colours = _tones()(certainty(lane.matches))
    colours[doubtful] = 1.0
    widths = np.where(doubtful, 1.1, np.where(placed.end - placed.start < 3 * TIP, 0.25, 0.6))
    shapes = _arrows(placed, top, scene.row, lane.matches.strand == 0)
    edges = [ORANGE if hollow else "white" for hollow in doubtful.tolist()]
    axes.add_collection(
        PolyCollection(
            list(shapes), facecolors=colours, edgecolors=edges, linewidths=widths.tolist(), zorder=3, clip_on=False
        )
    )


def _arrows(placed: Placed, top: float, height: float, forward: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Pentagons that point in the direction of the strand, float64 (matches, 5, 2)."""
    start, end = placed.start, placed.end
    tip = np.minimum(TIP, 0.4 * (end - start))
    back, front = np.where(forward, start, end), np.where(forward, end, start)
    neck = np.where(forward, end - tip, start + tip)
    high, low = top + (placed.row + 0.06) * height, top + (placed.row + 0.94) * height
    points = [(back, high), (neck, high), (front, (high + low) / 2), (neck, low), (back, low)]
    return np.stack([np.stack([x, y], axis=-1) for x, y in points], axis=1)


def _write_labels(axes: Axes, scene: Scene, top: float, lane: Lane, placed: Placed, texts: list[str]) -> None:
    white = placed.inside & (certainty(lane.matches) >= DARK) & ~lane.may_be_chance
    for i in np.flatnonzero(~np.isnan(placed.label)).tolist():
        middle = placed.label[i] + scene.label_width(texts[i]) / 2
        axes.text(
            middle, top + (placed.row[i] + 0.5) * scene.row, texts[i], ha="center", va="center_baseline",
            fontsize=scene.type_size, color="white" if white[i] else INK, zorder=4,
        )  # fmt: skip


def _write_headings(axes: Axes, scene: Scene) -> None:
    for text, x in COLUMNS.items():
        axes.text(scene.width + x, -HEADINGS, text, ha="right", va="center", fontsize=9, color=GREY)


def _set_title(figure: Figure, scene: Scene, chosen: ChosenSamples, title: str) -> None:
    totals, height = chosen.totals, scene.height
    headline = f"{number_of(totals.signatures, 'signature')} found in {number_of(totals.matching_samples, 'sample')}"
    figure.text(MARGIN / WIDTH, 1 - HEADLINE / height, headline, fontsize=15, fontweight="bold", va="center")
    scanned = f"{number_of(totals.samples, 'sample')}, {number_of(len(chosen.panel), 'signature')}"
    below = ": ".join(part for part in (short_text(title, LONGEST_TITLE), scanned) if part)
    if len(scene.names) < totals.matching_samples:
        below += f"; shown are the {len(scene.names)} samples with the surest matches"
    figure.text(MARGIN / WIDTH, 1 - SECOND_LINE / height, below, va="center", color=GREY)


def _draw_key(figure: Figure, scene: Scene, *, doubtful: bool) -> None:
    """What colours mean, in the upper right corner."""
    line, right = 1 - HEADLINE / scene.height, 1 - MARGIN / WIDTH
    bar = figure.add_axes((right - 1.0 / WIDTH, line - 0.06 / scene.height, 0.85 / WIDTH, 0.12 / scene.height))
    bar.imshow(np.linspace(0, 1, 256)[None, :], cmap=_tones(), aspect="auto", vmin=0, vmax=1)
    bar.set_axis_off()
    words = [(1.05, "certainty 0", "right", GREY), (0.11, "1", "left", GREY)]
    if doubtful:
        words.append((2.0, "hollow: may be chance", "right", ORANGE))
    for x, text, side, colour in words:
        figure.text(right - x / WIDTH, line, text, ha=side, va="center_baseline", fontsize=9, color=colour)


def _tones() -> Colormap:
    """Colours of certainties from 0 to 1."""
    return LinearSegmentedColormap.from_list("certainty", TONES[1:])


def _power_text(exponent: float) -> str:
    """Write a power of ten: as a number where it is not far from 1, else as ten with a whole exponent."""
    if exponent > -2.5:
        return number_text(10.0**exponent)
    return "10" + str(round(exponent)).translate(SUPERSCRIPTS)
