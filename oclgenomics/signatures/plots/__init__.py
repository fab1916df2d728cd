"""The figure of a scan: samples, and the signatures in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import plot_format, write_figure
    from oclgenomics.signatures.plots.samples import plot_samples

__all__ = ["plot_format", "plot_samples", "write_figure"]

HOMES = {
    "plot_format": "oclgenomics.app.figures",
    "plot_samples": "samples",
    "write_figure": "oclgenomics.app.figures",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
