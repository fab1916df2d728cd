"""The k-mer spectrum as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import plot_format, write_figure
    from oclgenomics.kmers.plots.spectrum import plot_spectrum

__all__ = ["plot_format", "plot_spectrum", "write_figure"]

FIGURES = "oclgenomics.app.figures"
HOMES = {"plot_format": FIGURES, "plot_spectrum": "spectrum", "write_figure": FIGURES}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
