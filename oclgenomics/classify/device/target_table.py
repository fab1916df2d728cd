"""Which target a window belongs to, and which taxon, on the device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.plan import BLOCK_WINDOWS
from oclgenomics.classify.targets import Targets
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["TargetTable"]


class TargetTable:
    """Targets as kernels_cl/classify/targets.clh has them.

    Parameters
    ----------
    engine : Engine
    targets : Targets
    groups : ndarray, int32 (targets,)
        Taxa of which only the best target is a candidate; `NO_TAXON` for targets that are none.

    Attributes
    ----------
    arguments : dict of str to DeviceArray
    """

    def __init__(self, engine: Engine, targets: Targets, groups: NDArray[np.int32]) -> None:
        if len(groups) != len(targets):
            raise ValueError(f"{len(groups)} groups of {len(targets)} targets")
        first = targets.first_window
        begins = np.arange(0, first[-1], BLOCK_WINDOWS)
        blocks = np.append(np.searchsorted(first, begins, "right") - 1, max(len(targets) - 1, 0))
        self.arguments: dict[str, DeviceArray] = {
            "first_window": engine.upload(first.astype(np.uint32)),
            "blocks": engine.upload(blocks.astype(np.uint32)),
            "groups": engine.upload(np.append(groups, np.int32(0)).astype(np.int32)),  # not empty
        }

    def release(self) -> None:
        """Give the memory back."""
        for array in self.arguments.values():
            array.release()
