"""The k-mer spectrum as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.plot_style import plot_format, save_plot
    from oclgenomics.kmers.plots.spectrum import plot_spectrum

__all__ = ["plot_format", "plot_spectrum", "save_plot"]

STYLE = "oclgenomics.app.plot_style"
HOMES = {"plot_format": STYLE, "plot_spectrum": "spectrum", "save_plot": STYLE}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
