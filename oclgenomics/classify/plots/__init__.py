"""Figures of what samples hold, and of how well they were classified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.drawing import draw_figure as draw_figure
    from oclgenomics.app.figures import *
    from oclgenomics.classify.plots.accuracy import plot_accuracy as plot_accuracy
    from oclgenomics.classify.plots.pages import sample_page as sample_page
    from oclgenomics.classify.plots.sample import plot_sample as plot_sample
    from oclgenomics.classify.plots.samples import plot_samples as plot_samples
    from oclgenomics.classify.plots.thresholds import plot_thresholds as plot_thresholds

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "accuracy": "plot_accuracy",
        "oclgenomics.app.drawing": "draw_figure",
        "oclgenomics.app.figures": "plot_format write_figure",
        "pages": "sample_page",
        "sample": "plot_sample",
        "samples": "plot_samples",
        "thresholds": "plot_thresholds",
    },
)
