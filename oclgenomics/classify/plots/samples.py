"""The figure of several samples: a stack each, of the taxa of one rank."""

from __future__ import annotations

from collections.abc import Sequence
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
from oclgenomics.classify.plots.colours import HIGHER, HUES, OTHER, UNCLASSIFIED, ink_on
from oclgenomics.errors import check_choice

HEIGHT = 7.5
LEFT, KEY, TOP, BOTTOM = 0.95, 4.0, 1.3, 0.55  # inches; KEY: of the names of taxa
SLANTED = 1.6  # room below bars whose names are slanted
WIDEST, NARROWEST, MOST = 1.3, 0.22, 11.0  # of a bar, and all of them
MAX_NAMED = len(HUES)
LONGEST_NAME, LONGEST_SAMPLE, LONGEST_TITLE = 38, 18, 80
SHOWN_SHARES = 0.035  # from which a share is written into its bar


def rank_shares(samples: Sequence[Tally], rank: str) -> tuple[list[str], NDArray[np.float64]]:
    """Return the shares of the reads that the taxa of a rank have.

    Parameters
    ----------
    samples : sequence of Tally
        Of one database or several; taxa are the same where their identifiers are.
    rank : str

    Returns
    -------
    names : list of str
        Of the taxa with the largest mean shares, the largest first; then 'other', 'higher rank' and 'unclassified'.
    shares : ndarray, float64 (names, samples)
        Those of a sample sum to 1, or are all 0 for a sample without reads.

    Raises
    ------
    UsageError
        There is no such rank.
    """
    check_choice("rank", rank, RANKS)
    names: dict[tuple[int, str], int] = {}
    found: list[dict[int, int]] = []
    for tally in samples:
        words, row = TaxonWords(tally.lineages), {}
        for taxon, reads in zip(*(array.tolist() for array in tally.at_rank(rank)), strict=True):
            row[names.setdefault((words.taxid(taxon), words.name(taxon)), len(names))] = reads
        found.append(row)
    table = np.array([[row.get(place, 0) for row in found] for place in range(len(names))], np.float64)
    reads = np.array([tally.reads for tally in samples], np.float64)
    table = table.reshape(len(names), len(samples)) / np.maximum(reads, 1)
    order = np.argsort(-table.sum(axis=1), kind="stable")
    top, rest = order[:MAX_NAMED], order[MAX_NAMED:]
    unclassified = np.array([tally.unclassified for tally in samples]) / np.maximum(reads, 1)
    higher = np.where(reads > 0, 1 - table.sum(axis=0) - unclassified, 0).clip(0)
    listed = [name for _, name in names]
    shares = np.vstack([table[top], table[rest].sum(axis=0), higher, unclassified])
    return [listed[place] for place in top.tolist()] + ["other", "higher rank", "unclassified"], shares


def plot_samples(samples: Sequence[tuple[str, Tally]], rank: str = "genus", *, title: str = "") -> Figure:
    """Draw samples side by side.

    Parameters
    ----------
    samples : sequence of (name, Tally)
        At least one.
    rank : str
    title : str
        What was classified.

    Returns
    -------
    matplotlib.figure.Figure
        To be saved by `oclgenomics.app.figures.save_plot` or changed further; no display is needed.

    Raises
    ------
    UsageError
        There is no such rank.
    """
    names, shares = rank_shares([tally for _, tally in samples], rank)
    step = min(WIDEST, max(NARROWEST, MOST / len(samples)))
    labels = [short_text(name, LONGEST_SAMPLE) for name, _ in samples]
    slanted = max(map(len, labels)) * 0.095 > step
    bottom = SLANTED if slanted else BOTTOM
    width = LEFT + step * len(samples) + 0.3 + KEY
    with rc_context(STYLE):
        figure = Figure(figsize=(width, HEIGHT))
        room = (LEFT / width, bottom / HEIGHT, step * len(samples) / width, 1 - (bottom + TOP) / HEIGHT)
        axes = figure.add_axes(room)
        colours = _colours(len(names))
        _draw_bars(axes, shares, colours, labels, step, slanted=slanted)
        _draw_key(figure, axes, names, shares, colours, step * len(samples))
        reads = sum(tally.reads for _, tally in samples)
        headline = f"{rank.capitalize()} of {reads:,} reads in {len(samples):,} sample{'s' * (len(samples) != 1)}"
        figure.text(LEFT / width, 1 - 0.42 / HEIGHT, headline, fontsize=17, fontweight="bold", va="center", color=INK)
        figure.text(LEFT / width, 1 - 0.82 / HEIGHT, short_text(title, LONGEST_TITLE), va="center", color=GREY)
    return figure


def _colours(count: int) -> list[str]:
    return [*HUES[: count - 3], OTHER, HIGHER, UNCLASSIFIED]


def _draw_bars(
    axes: Axes, shares: NDArray[np.float64], colours: list[str], labels: list[str], step: float, *, slanted: bool
) -> None:
    places, begin = np.arange(len(labels)), np.zeros(len(labels))
    for row, colour in zip(shares, colours, strict=True):
        axes.bar(places, row, 0.86, begin, color=colour, edgecolor="white", linewidth=0.7)
        for place in np.flatnonzero((row >= SHOWN_SHARES) & (step >= 0.55)).tolist():
            middle = begin[place] + row[place] / 2
            text = f"{100 * row[place]:.0f} %"
            axes.text(place, middle, text, ha="center", va="center", fontsize=9, color=ink_on(colour))
        begin += row
    axes.set(xlim=(-0.5, len(labels) - 0.5), ylim=(0, 1), ylabel="share of the reads")
    turn: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks(places, labels, **turn)
    axes.tick_params(axis="x", length=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.spines["bottom"].set_visible(False)


def _draw_key(
    figure: Figure, axes: Axes, names: list[str], shares: NDArray[np.float64], colours: list[str], width: float
) -> None:
    """Names to the right of the bars in the order of the stacks, from the bottom to the top, with mean shares."""
    shown = [place for place in range(len(names)) if shares[place].any()]
    low, height = axes.get_position().y0, axes.get_position().height
    line = min(0.30 / HEIGHT, height / max(len(shown), 1))
    left = (LEFT + width + 0.3) / figure.get_figwidth()
    box = 0.2 / figure.get_figwidth()
    top = low + (len(shown) * line + 0.12 / HEIGHT)
    if shares.shape[1] > 1:
        figure.text(left, top, "mean of the samples", va="center_baseline", fontsize=10.5, color=GREY)
    for number, place in enumerate(shown):
        y = low + number * line
        swatch = Rectangle((left, y), box, 0.2 / HEIGHT, facecolor=colours[place], edgecolor=GREY, linewidth=0.4)
        figure.add_artist(swatch)
        text = f"{short_text(names[place], LONGEST_NAME)}  {100 * shares[place].mean():.1f} %"
        middle = y + 0.1 / HEIGHT
        figure.text(left + 1.5 * box, middle, text, va="center_baseline", fontsize=10.5, color=INK)
