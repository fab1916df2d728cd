"""Figures of the model and of scans on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.fpga.plots.rates import plot_curve, plot_efficiency, plot_pareto, plot_roofline
    from oclgenomics.fpga.plots.resources import plot_resources, plot_table1
    from oclgenomics.fpga.plots.run import plot_run
    from oclgenomics.fpga.plots.scans import plot_phases, plot_platforms
    from oclgenomics.fpga.plots.sdtw import plot_array
    from oclgenomics.fpga.plots.trace import plot_trace

HOMES = {
    "plot_array": "sdtw",
    "plot_curve": "rates",
    "plot_efficiency": "rates",
    "plot_pareto": "rates",
    "plot_phases": "scans",
    "plot_platforms": "scans",
    "plot_resources": "resources",
    "plot_roofline": "rates",
    "plot_run": "run",
    "plot_table1": "resources",
    "plot_trace": "trace",
}

__all__ = [
    "plot_array",
    "plot_curve",
    "plot_efficiency",
    "plot_pareto",
    "plot_phases",
    "plot_platforms",
    "plot_resources",
    "plot_roofline",
    "plot_run",
    "plot_table1",
    "plot_trace",
]

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
