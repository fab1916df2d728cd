"""The figure of one sample: what its reads were called, from domains to species."""

from __future__ import annotations

from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from oclgenomics.app.figures import GREY, INK, STYLE, short_text
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import TaxonWords
from oclgenomics.classify.plots.colours import UNCLASSIFIED, ink_on
from oclgenomics.classify.plots.partition import Partition, partition, segment_colour, segment_name, taxon_hues

WIDTH, HEIGHT = 13.33, 7.5  # inches, as slides have
LEFT, RIGHT, BOTTOM, TOP = 0.95, 0.25, 0.45, 1.45
WIDTHS = {"domain": 1.0, "kingdom": 1.1, "phylum": 1.45, "class": 1.45, "order": 1.5, "family": 1.6, "genus": 1.8}
WIDEST = 2.7  # of species
GAP = 0.06  # between stacks, inches
LONGEST_TITLE = 50
SIZES = (10.0, 8.5, 7.0)  # of type, points
LETTER = 0.0083  # inches a letter and point


def plot_sample(tally: Tally, *, title: str = "") -> Figure:
    """Draw a sample: a stack for each rank, in which every taxon is next to those that are below it.

    Parameters
    ----------
    tally : Tally
    title : str
        What was classified.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.
    """
    stacks, words = partition(tally), TaxonWords(tally.lineages)
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT))
        room = (LEFT / WIDTH, BOTTOM / HEIGHT, 1 - (LEFT + RIGHT) / WIDTH, 1 - (BOTTOM + TOP) / HEIGHT)
        axes = figure.add_axes(room)
        _draw_stacks(axes, stacks, words)
        _write_titles(figure, tally, stacks, title)
    return figure


def _draw_stacks(axes: Axes, stacks: Partition, words: TaxonWords) -> None:
    width = WIDTH - LEFT - RIGHT
    axes.set(xlim=(0, width), ylim=(0, 1))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    axes.set_ylabel("share of the reads")
    asked = [WIDTHS.get(rank, WIDEST) for rank in stacks.ranks]
    scale = width / sum(asked) if asked else 1.0
    begins = [scale * sum(asked[:column]) for column in range(len(asked) + 1)]
    hues = taxon_hues(stacks)
    for column, rank in enumerate(stacks.ranks):
        axes.text(begins[column], 1.012, rank, ha="left", va="bottom", fontsize=11, fontweight="bold", color=GREY)
    for segment in stacks.segments:
        left, right = begins[segment.column], begins[segment.column + 1] - GAP
        box = (left, segment.begin, right - left, segment.share)
        _draw_box(axes, box, segment_colour(segment, hues), segment_name(segment, words, stacks.ranks[segment.column]))
    if stacks.classified < 1:
        box = (0.0, stacks.classified, width - GAP, 1 - stacks.classified)
        _draw_box(axes, box, UNCLASSIFIED, "unclassified")


def _draw_box(axes: Axes, box: tuple[float, float, float, float], colour: str, name: str) -> None:
    """A rectangle from a corner on, with its name and share as far as there is room for them."""
    left, begin, width, share = box
    axes.add_patch(Rectangle((left, begin), width, share, facecolor=colour, edgecolor="white", linewidth=0.7))
    _write_label(axes, box, ink_on(colour), name)


def _write_label(axes: Axes, box: tuple[float, float, float, float], ink: str, name: str) -> None:
    left, begin, width, share = box
    height, number = share * (HEIGHT - BOTTOM - TOP), f"{100 * share:.1f} %"
    size = next((size for size in SIZES if height >= 1.25 * size / 72), None)
    if size is None or not name:
        return
    if height < 2.6 * size / 72:  # room for one line: in smaller type it may hold the share, too
        size = next((one for one in SIZES if one <= size and _letters(width, one) >= len(name) + len(number) + 2), size)
    letters = _letters(width, size)
    style: dict[str, Any] = {"va": "center_baseline", "fontsize": size, "color": ink}
    middle, line = begin + share / 2, 0.65 * size / 72 / (HEIGHT - BOTTOM - TOP)
    beside = len(name) + len(number) + 2 <= letters
    below = not beside and height >= 2.6 * size / 72
    axes.text(left + 0.06, middle + line * below, short_text(name, max(letters, 3)), ha="left", **style)
    if beside:
        axes.text(left + width - 0.06, middle, number, ha="right", **style)
    elif below:
        axes.text(left + 0.06, middle - line, number, ha="left", **style)


def _letters(width: float, size: float) -> int:
    """How many letters of a size there is room for."""
    return int((width - 0.12) / (LETTER * size))


def _write_titles(figure: Figure, tally: Tally, stacks: Partition, title: str) -> None:
    reads = tally.reads
    headline = f"{100 * stacks.classified:.1f} % of {reads:,} reads are classified"
    species, found = tally.at_rank("species")
    shown = f"{len(species):,} species, to which {100 * found.sum() / max(reads, 1):.1f} % of the reads belong"
    below = ": ".join(part for part in (short_text(title, LONGEST_TITLE), shown) if part)
    below += "; white: called at a higher rank only"
    left = LEFT / WIDTH
    figure.text(left, 1 - 0.42 / HEIGHT, headline, fontsize=17, fontweight="bold", va="center", color=INK)
    figure.text(left, 1 - 0.82 / HEIGHT, below, va="center", color=GREY)
