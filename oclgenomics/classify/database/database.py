"""A database as it lies in the host's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import BuildOptions
from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.tree import Taxonomy

__all__ = ["Database", "Features"]


@dataclass(frozen=True)
class Features:
    """Features and their locations: lists one behind the other, in the order of the features' keys.

    Attributes
    ----------
    keys : ndarray, uint32 (features,)
        `hashes.mix` of each feature; ascending, no two equal.
    counts : ndarray, uint8 or uint16 (features,)
        Locations of each one; 0 of a feature that lost all because it is overpopulated or ambiguous.
    locations : ndarray, uint32 (locations,)
        Numbers of windows through all targets (`Targets.first_window`); those of a feature ascend.
    """

    keys: NDArray[np.uint32]
    counts: NDArray[np.uint8] | NDArray[np.uint16]
    locations: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the list of each feature starts, and the last one ends, int64 (features + 1,)."""
        return np.append(np.int64(0), np.cumsum(self.counts, dtype=np.int64))


@dataclass(frozen=True)
class Database:
    """Targets, what is known of them, and where their features are.

    Attributes
    ----------
    options : BuildOptions
    targets : Targets
    taxonomy : Taxonomy
        Of the targets' taxa and those above them.
    features : Features
    provenance : dict of str to object
        See `oclgenomics.provenance`.
    """

    options: BuildOptions
    targets: Targets
    taxonomy: Taxonomy
    features: Features
    provenance: dict[str, Any]
