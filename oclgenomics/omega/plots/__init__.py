"""Figures of scans and of linkage disequilibrium."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.drawing import draw_figure as draw_figure
    from oclgenomics.app.figures import *
    from oclgenomics.omega.plots.ld import plot_ld as plot_ld
    from oclgenomics.omega.plots.pages import ld_page as ld_page, scans_page as scans_page
    from oclgenomics.omega.plots.scans import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "ld": "plot_ld",
        "oclgenomics.app.drawing": "draw_figure",
        "oclgenomics.app.figures": "plot_format write_figure",
        "pages": "ld_page scans_page",
        "scans": "Layout peak_windows plot_scans",
    },
)
