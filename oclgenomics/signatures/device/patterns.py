"""Patterns on the device, with the least that a match needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Patterns


@dataclass(frozen=True)
class DevicePatterns:
    """Patterns as the kernels read them, and the filters of their matches as integers.

    Attributes
    ----------
    patterns : Patterns
        On the host.
    sets : DeviceArray, uint8 (letters,)
        As `patterns` has them.
    records : ndarray, uint64 (patterns, 4)
        Where each pattern begins, its length, and the least sum of qualities and number of informative positions of its
        matches; as records.clh has them.
    on_device : DeviceArray
        The records.
    filtered : bool
        Whether any of these can refuse a match.
    max_mismatches : int
    """

    patterns: Patterns
    sets: DeviceArray
    records: NDArray[np.uint64]
    on_device: DeviceArray
    filtered: bool
    max_mismatches: int

    @property
    def arguments(self) -> dict[str, Any]:
        """What kernels take of them."""
        return {"sets": self.sets, "patterns": self.on_device}

    @classmethod
    def upload(cls, engine: Engine, patterns: Patterns, options: ScanOptions) -> DevicePatterns:
        """Bring patterns to a device."""
        least = [least_counts(patterns.lengths, share) for share in (options.min_score, options.min_informative)]
        records = np.stack([patterns.offsets[:-1], patterns.lengths, *least], axis=1).astype(np.uint64)
        sets, on_device = engine.upload(patterns.sets), engine.upload(records)
        return cls(patterns, sets, records, on_device, bool(records[:, 2:].any()), options.max_mismatches)


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
