"""The figure of the accuracy benchmark, as Fig. 8 of the paper: F by length of prefix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from oclgenomics.app.figures import STYLE, plot_format, save_plot
from oclgenomics.sdtw import Evaluation
from oclgenomics.sdtw.plots.evaluation import draw_f_curves

__all__ = ["draw"]

PANEL_INCHES = 4.6


def draw(found: dict[str, list[tuple[str, Evaluation]]], variants: Sequence[str], path: str) -> None:
    """Draw a panel for each target and set of others.

    Parameters
    ----------
    found : dict of str to list of (str, Evaluation)
        By target; the set of others, and what is found with it.
    variants : sequence of str
        That are drawn, as far as they are there.
    path : str
        .png, .svg or .pdf
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    form = plot_format(path)
    panels: dict[str, list[Evaluation]] = {}
    for target, ones in found.items():
        for name, evaluation in ones:
            panels.setdefault(f"{target} against {name}", []).append(evaluation)
    with rc_context(STYLE):
        figure = Figure(figsize=(9, PANEL_INCHES * len(panels)))
        for number, (title, evaluations) in enumerate(panels.items()):
            of_variant = {one.labelled.name: one for one in evaluations}
            axes = figure.add_axes((0.09, 1 - (number + 0.87) / len(panels), 0.66, 0.75 / len(panels)))
            draw_f_curves(axes, [of_variant[name] for name in variants if name in of_variant])
            axes.set_title(title, loc="left", fontsize=13, fontweight="bold")
    with Path(path).open("wb") as stream:
        save_plot(figure, stream, form)
