"""Figures of what samples hold, and of how well they were classified."""

from oclgenomics.classify.plots.accuracy import plot_accuracy
from oclgenomics.classify.plots.sample import plot_sample
from oclgenomics.classify.plots.samples import plot_samples

__all__ = ["plot_accuracy", "plot_sample", "plot_samples"]
