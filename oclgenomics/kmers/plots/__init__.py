"""The k-mer spectrum as a figure, alone and by copies in an assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.drawing import draw_figure as draw_figure
    from oclgenomics.app.figures import *
    from oclgenomics.kmers.plots.copies import plot_copies as plot_copies
    from oclgenomics.kmers.plots.pages import spectrum_page as spectrum_page
    from oclgenomics.kmers.plots.samples import MatrixTotals as MatrixTotals, matrix_page as matrix_page
    from oclgenomics.kmers.plots.spectrum import plot_spectrum as plot_spectrum

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "oclgenomics.app.drawing": "draw_figure",
        "oclgenomics.app.figures": "plot_format write_figure",
        "copies": "plot_copies",
        "pages": "spectrum_page",
        "samples": "MatrixTotals matrix_page",
        "spectrum": "plot_spectrum",
    },
)
