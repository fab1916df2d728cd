"""Figures of target selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import *
    from oclgenomics.sdtw.plots.evaluation import *
    from oclgenomics.sdtw.plots.live import plot_played as plot_played
    from oclgenomics.sdtw.plots.pages import evaluation_page as evaluation_page, played_page as played_page

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "evaluation": "plot_evaluation plot_f_curves",
        "live": "plot_played",
        "oclgenomics.app.figures": "plot_format write_figure",
        "pages": "evaluation_page played_page",
    },
)
