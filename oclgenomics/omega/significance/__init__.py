"""What an omega means: thresholds from neutral replicates, p-values, and how often sweeps are detected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.omega.significance.comparable import check_alike, check_options, check_sweeps, compare
    from oclgenomics.omega.significance.facts import grid_spacing, site_density
    from oclgenomics.omega.significance.observation import Observation, as_observed
    from oclgenomics.omega.significance.peaks import best_windows
    from oclgenomics.omega.significance.thresholds import FEW_MAXIMA, Localisation, replicates_for

__all__ = [
    "FEW_MAXIMA", "Localisation", "Observation", "as_observed", "best_windows", "check_alike", "check_options",
    "check_sweeps", "compare", "grid_spacing", "replicates_for", "site_density",
]  # fmt: skip

HOMES = {
    "grid_spacing": "facts", "site_density": "facts",
    "FEW_MAXIMA": "thresholds", "Localisation": "thresholds", "Observation": "observation",
    "as_observed": "observation", "best_windows": "peaks", "check_alike": "comparable", "check_options": "comparable",
    "check_sweeps": "comparable", "compare": "comparable", "replicates_for": "thresholds",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
