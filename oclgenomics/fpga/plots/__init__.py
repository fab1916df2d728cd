"""Figures of the model and of scans on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.fpga.plots.pages import projection_page as projection_page
    from oclgenomics.fpga.plots.rates import *
    from oclgenomics.fpga.plots.resources import *
    from oclgenomics.fpga.plots.run import plot_run as plot_run
    from oclgenomics.fpga.plots.scans import *
    from oclgenomics.fpga.plots.sdtw import plot_array as plot_array
    from oclgenomics.fpga.plots.trace import plot_trace as plot_trace

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "pages": "projection_page",
        "rates": "plot_curve plot_efficiency plot_pareto plot_roofline",
        "resources": "plot_resources plot_table1",
        "run": "plot_run",
        "scans": "plot_phases plot_platforms",
        "sdtw": "plot_array",
        "trace": "plot_trace",
    },
)
