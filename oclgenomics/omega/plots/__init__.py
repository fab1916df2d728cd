"""Figures of scans and of linkage disequilibrium."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import plot_format, write_figure
    from oclgenomics.omega.plots.ld import plot_ld
    from oclgenomics.omega.plots.scans import Layout, peak_windows, plot_scans

__all__ = ["Layout", "peak_windows", "plot_format", "plot_ld", "plot_scans", "write_figure"]

HOMES = {
    "Layout": "scans", "peak_windows": "scans", "plot_format": "oclgenomics.app.figures", "plot_ld": "ld",
    "plot_scans": "scans", "write_figure": "oclgenomics.app.figures",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
