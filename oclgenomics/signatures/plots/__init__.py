"""The figure of a scan: samples, and the signatures in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.drawing import draw_figure as draw_figure
    from oclgenomics.app.figures import *
    from oclgenomics.signatures.plots.pages import scan_page as scan_page
    from oclgenomics.signatures.plots.samples import plot_samples as plot_samples

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "oclgenomics.app.drawing": "draw_figure",
        "oclgenomics.app.figures": "plot_format write_figure",
        "pages": "scan_page",
        "samples": "plot_samples",
    },
)
