"""The figure of one sample: what its reads were called, from domains to species."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from oclgenomics.app.figures import GREY, INK, STYLE, short_text
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.formats.words import TaxonWords
from oclgenomics.classify.options import RANKS
from oclgenomics.classify.plots.colours import HUES, NEUTRAL, OTHER, UNCLASSIFIED, ink_on, tone
from oclgenomics.classify.taxonomy.tree import NO_TAXON

WIDTH, HEIGHT = 13.33, 7.5  # inches, as slides have
LEFT, RIGHT, BOTTOM, TOP = 0.95, 0.25, 0.45, 1.45
WIDTHS = {"domain": 1.0, "kingdom": 1.1, "phylum": 1.45, "class": 1.45, "order": 1.5, "family": 1.6, "genus": 1.8}
WIDEST = 2.7  # of species
GAP = 0.06  # between stacks, inches
LONGEST_TITLE = 50
SIZES = (10.0, 8.5, 7.0)  # of type, points
LETTER = 0.0083  # inches a letter and point
SHARED = 0.6  # of the classified reads: a rank of which one taxon has more gives no hues
UNRANKED = 0.05  # of the classified reads: nor does a rank that more have none of


PLOTTED = ("domain", "kingdom", "phylum", "class", "order", "family", "genus", "species")
OTHERS = -2  # the taxon of a segment of several taxa
MAX_NAMED = 14  # taxa of a rank
LEAST_NAMED = 0.005  # share of all reads


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
    hues = _hues(stacks)
    for column, rank in enumerate(stacks.ranks):
        axes.text(begins[column], 1.012, rank, ha="left", va="bottom", fontsize=11, fontweight="bold", color=GREY)
    for segment in stacks.segments:
        left, right = begins[segment.column], begins[segment.column + 1] - GAP
        box = (left, segment.begin, right - left, segment.share)
        _draw_box(axes, box, _colour(segment, hues), _name(segment, words, stacks.ranks[segment.column]))
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


def _name(segment: Segment, words: TaxonWords, rank: str) -> str:
    if segment.taxon == OTHERS:
        return "other"
    return f"(no {rank})" if segment.taxon == NO_TAXON else words.name(segment.taxon)


def _hues(stacks: Partition) -> dict[int, str]:
    """Hues of the taxa of the first rank on which the sample is diverse, else of the lowest, the largest first."""
    chosen: list[Segment] = []
    for column in range(len(stacks.ranks)):
        segments = [segment for segment in stacks.segments if segment.column == column]
        unranked = sum(segment.share for segment in segments if segment.taxon == NO_TAXON)
        chosen = sorted([one for one in segments if one.taxon >= 0], key=lambda one: -one.share)
        diverse = len(chosen) > 2 and chosen[0].share < SHARED * stacks.classified
        if diverse and unranked < UNRANKED * stacks.classified:
            break
    return {segment.taxon: HUES[place % len(HUES)] for place, segment in enumerate(chosen)}


def _colour(segment: Segment, hues: dict[int, str]) -> str:
    if segment.taxon == OTHERS:
        return OTHER
    if segment.taxon in hues:
        return hues[segment.taxon]
    hue = next((hues[taxon] for taxon in segment.above if taxon in hues), None)
    if segment.taxon == NO_TAXON:
        return NEUTRAL if hue is None else tone(hue, 3)
    return tone(NEUTRAL, segment.place) if hue is None else tone(hue, segment.place)


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


@dataclass(frozen=True)
class Segment:
    """A part of a stack.

    Attributes
    ----------
    column : int
        Its rank: a place in `Partition.ranks`.
    taxon : int
        A number in `Lineages`, `OTHERS`, or `NO_TAXON` where a lineage leaves the rank out.
    above : tuple of int
        The taxa of the columns to the left.
    begin, share : float
        Of all reads.
    place : int
        Among its neighbours below the same taxon, from 0 on, the largest first.
    """

    column: int
    taxon: int
    above: tuple[int, ...]
    begin: float
    share: float
    place: int


@dataclass(frozen=True)
class Partition:
    """All stacks; what is missing in them was called at higher ranks only.

    Attributes
    ----------
    ranks : tuple of str
        Those that any read has a taxon of.
    segments : tuple of Segment
    classified : float
        Share of all reads.
    """

    ranks: tuple[str, ...]
    segments: tuple[Segment, ...]
    classified: float


def partition(tally: Tally) -> Partition:
    """Lay out the shares of a sample.

    Parameters
    ----------
    tally : Tally
    """
    numbers, total = np.flatnonzero(tally.counts[:-1]), max(tally.reads, 1)
    shares = tally.counts[numbers] / total
    paths = tally.lineages.at_rank[numbers][:, [RANKS.index(rank) for rank in PLOTTED]]
    used = (paths != NO_TAXON).any(axis=0)
    paths, ranks = paths[:, used], tuple(rank for rank, there in zip(PLOTTED, used.tolist(), strict=True) if there)
    _merge_small(paths, shares)
    segments: list[Segment] = []
    _lay(paths, shares, np.arange(len(numbers)), (), 0.0, segments)
    return Partition(ranks, tuple(segments), float(shares.sum()))


def _merge_small(paths: NDArray[np.int32], shares: NDArray[np.float64]) -> None:
    """Make one segment of taxa that are too many or too small to be named, and all that is below them."""
    for column in range(paths.shape[1]):
        taxa, place = np.unique(paths[:, column], return_inverse=True)
        sums = np.bincount(place, shares, len(taxa))
        sums[taxa < 0] = np.inf  # stays as it is
        order = np.argsort(-sums, kind="stable")
        small = np.ones(len(taxa), np.bool_)
        small[order[: MAX_NAMED + np.count_nonzero(taxa < 0)]] = False
        small |= sums < LEAST_NAMED
        paths[small[place], column:] = OTHERS


def _lay(
    paths: NDArray[np.int32],
    shares: NDArray[np.float64],
    rows: NDArray[np.intp],
    above: tuple[int, ...],
    begin: float,
    segments: list[Segment],
) -> None:
    """Stack what is below a taxon, the largest first, that of several taxa behind it, and what has no taxon last."""
    column = len(above)
    if column == paths.shape[1]:
        return
    taxa, place = np.unique(paths[rows, column], return_inverse=True)
    sums = np.bincount(place, shares[rows], len(taxa))
    ends_here = [bool((paths[rows[place == at], column:] == NO_TAXON).all()) for at in range(len(taxa))]
    order = sorted(range(len(taxa)), key=lambda at: (ends_here[at], taxa[at] == OTHERS, -sums[at], taxa[at]))
    for number, at in enumerate(order):
        if not ends_here[at]:
            taxon, share = int(taxa[at]), float(sums[at])
            segments.append(Segment(column, taxon, above, begin, share, number))
            _lay(paths, shares, rows[place == at], (*above, taxon), begin, segments)
        begin += float(sums[at])
