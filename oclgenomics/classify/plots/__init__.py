"""Figures of what samples hold."""

from oclgenomics.classify.plots.sample import plot_sample
from oclgenomics.classify.plots.samples import plot_samples

__all__ = ["plot_sample", "plot_samples"]
