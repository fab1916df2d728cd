"""Figures of target selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import plot_format, write_figure
    from oclgenomics.sdtw.plots.evaluation import plot_evaluation, plot_f_curves
    from oclgenomics.sdtw.plots.live import plot_played

__all__ = ["plot_evaluation", "plot_f_curves", "plot_format", "plot_played", "write_figure"]

HOMES = {
    "plot_evaluation": "evaluation", "plot_f_curves": "evaluation", "plot_format": "oclgenomics.app.figures",
    "plot_played": "live", "write_figure": "oclgenomics.app.figures"
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
