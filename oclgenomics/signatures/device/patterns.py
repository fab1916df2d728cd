"""Patterns on the device, with the least that a match needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Patterns

__all__ = ["DevicePatterns", "least_counts"]


@dataclass(frozen=True)
class DevicePatterns:
    """Patterns as the kernels read them, and the filters of their matches as integers.

    Attributes
    ----------
    patterns : Patterns
        On the host.
    sets : DeviceArray, uint8 (letters,)
    offsets : DeviceArray, uint64 (patterns + 1,)
        As `patterns` has them.
    least_sum : DeviceArray, uint64 (patterns,)
        The least sum of qualities of a match.
    least_informative : DeviceArray, uint32 (patterns,)
        The least number of informative positions of a match, at most the pattern's length.
    filtered : bool
        Whether any of these can refuse a match.
    max_mismatches : int
    """

    patterns: Patterns
    sets: DeviceArray
    offsets: DeviceArray
    least_sum: DeviceArray
    least_informative: DeviceArray
    filtered: bool
    max_mismatches: int

    @classmethod
    def upload(cls, engine: Engine, patterns: Patterns, options: ScanOptions) -> DevicePatterns:
        """Bring patterns to a device."""
        least_sum = least_counts(patterns.lengths, options.min_score)
        least_informative = least_counts(patterns.lengths, options.min_informative)
        return cls(
            patterns,
            engine.upload(patterns.sets),
            engine.upload(patterns.offsets.astype(np.uint64)),
            engine.upload(least_sum.astype(np.uint64)),
            engine.upload(least_informative.astype(np.uint32)),
            bool(least_sum.any() or least_informative.any()),
            options.max_mismatches,
        )


def least_counts(lengths: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """Return the smallest integers that divided by each length are not less than `share`, in float64.

    Parameters
    ----------
    lengths : ndarray, int64
        Each at least 1.
    share : float
        0 or more.
    """
    counts: NDArray[np.int64] = np.ceil(lengths * share).astype(np.int64)
    # The product is rounded, and so is the quotient that the counts have to meet: they may be one apart.
    counts -= (counts - 1) / lengths >= share
    counts += counts / lengths < share
    return counts
