"""Figures of what samples hold, and of how well they were classified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.figures import plot_format, write_figure
    from oclgenomics.classify.plots.accuracy import plot_accuracy
    from oclgenomics.classify.plots.sample import plot_sample
    from oclgenomics.classify.plots.samples import plot_samples

__all__ = ["plot_accuracy", "plot_format", "plot_sample", "plot_samples", "write_figure"]

HOMES = {
    "plot_accuracy": "accuracy",
    **dict.fromkeys(("plot_format", "write_figure"), "oclgenomics.app.figures"),
    "plot_sample": "sample",
    "plot_samples": "samples",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
