"""Features of reads that were looked up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.errors import AllocationError
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel

__all__ = ["READS_EACH", "LookedUp", "check_located", "launch_reads"]

READS_EACH = 64  # that a work-item of a CPU takes
LANES = 64  # of a group on GPUs


@dataclass(frozen=True)
class LookedUp:
    """What is found of the features of some reads; see kernels_cl/classify/found_features.clh.

    Attributes
    ----------
    reads : int
    arguments : dict of str to object
        The kernels' parameters FOUND.
    """

    reads: int
    arguments: dict[str, Any]

    @classmethod
    def of(
        cls, engine: Engine, found: DeviceArray, first: NDArray[np.uint32], sketchlen: int, locations: DeviceArray
    ) -> LookedUp:
        """Describe the reads whose windows begin at `first`, the first of whose features is the first found."""
        arguments = {"found": found, "base": int(first[0]) * sketchlen, "sketch": sketchlen, "locations": locations}
        return cls(len(first) - 1, arguments | {"first": engine.upload(np.ascontiguousarray(first))})


def launch_reads(engine: Engine, kernel: Kernel, reads: int, each: int = READS_EACH, /, **arguments: Any) -> None:
    """Launch a kernel of which each work-item takes some reads on CPUs, and one on GPUs."""
    cpu = engine.tuning.cpu
    each = each if cpu else 1
    engine.launch_items(kernel, -(-reads // each), lanes=1 if cpu else LANES, reads=reads, each=each, **arguments)


def check_located(located: NDArray[np.uint32]) -> None:
    """Refuse reads with more locations than can be sorted.

    Raises
    ------
    AllocationError
        There is such a read.
    """
    most = int(located.max(initial=0))
    if most > plan.MAX_LOCATIONS_OF_READ:
        raise AllocationError(
            f"the features of a read have more than {plan.MAX_LOCATIONS_OF_READ:,} locations in the database; cut the "
            "read into shorter ones, or build the database with a smaller `max_locations`"
        )
