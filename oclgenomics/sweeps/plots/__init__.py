"""Figures and pages of scans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.drawing import draw_figure as draw_figure
    from oclgenomics.app.figures import plot_format as plot_format
    from oclgenomics.sweeps.plots.pages import scans_page as scans_page
    from oclgenomics.sweeps.plots.scans import plot_scans as plot_scans

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "oclgenomics.app.drawing": "draw_figure",
        "oclgenomics.app.figures": "plot_format",
        "pages": "scans_page",
        "scans": "plot_scans",
    },
)
