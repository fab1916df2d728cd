"""What an omega means: thresholds from neutral replicates, p-values, and how often sweeps are detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.significance.comparable import *
    from oclgenomics.omega.significance.facts import *
    from oclgenomics.omega.significance.peaks import best_windows as best_windows
    from oclgenomics.omega.significance.replicates import Replicates as Replicates
    from oclgenomics.omega.significance.thresholds import *
    from oclgenomics.variation.observation import Observation as Observation, as_observed as as_observed

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "comparable": "check_alike check_options check_sweeps compare",
        "facts": "grid_spacing site_density",
        "oclgenomics.variation.observation": "Observation as_observed",
        "peaks": "best_windows",
        "replicates": "Replicates",
        "thresholds": "Localisation replicates_for",
    },
)
