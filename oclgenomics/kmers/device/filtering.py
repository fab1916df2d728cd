"""The k-mers that are kept, of those that were counted; they stay on the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.primitives import Runs, compact
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["EVERY", "Kept", "kept_runs"]

SOURCE = "kmers/filter_counts.cl"


@dataclass(frozen=True)
class Kept:
    """Which k-mers are kept, by their counts, and where counts stop then.

    Attributes
    ----------
    least, most : int
        K-mers that occur less or more often are left out; at most 2^32 - 1.
    cap : int
        Counts stop here.
    """

    least: int
    most: int
    cap: int

    @classmethod
    def by(cls, options: CountOptions) -> Kept:
        """What options ask for."""
        return cls(options.min_count, min(options.max_count, MAX_COUNTER), options.counter_max)


EVERY = Kept(1, MAX_COUNTER, MAX_COUNTER)


def kept_runs(engine: Engine, kept: Kept, runs: Runs) -> Runs:
    """Leave out k-mers by their counts, then stop the counters; `runs` may be the result, with other counts."""
    if kept.least > 1 or kept.most < MAX_COUNTER:
        flags = _flags(engine, kept, runs)
        keys, counts = compact(engine, runs.keys, flags), compact(engine, runs.counts, flags)
        runs = Runs(keys, counts, counts.size)
    if kept.cap < MAX_COUNTER:
        kernel = engine.kernel(SOURCE, "cap_counts")
        engine.launch_items(kernel, runs.size, counts=runs.counts, size=runs.size, most=kept.cap)
    return runs


def _flags(engine: Engine, kept: Kept, runs: Runs) -> DeviceArray:
    flags = engine.empty(runs.size, np.uint8)
    engine.launch_items(
        engine.kernel(SOURCE, "flag_counts"),
        runs.size,
        counts=runs.counts,
        size=runs.size,
        least=kept.least,
        most=kept.most,
        flags=flags,
    )
    return flags
