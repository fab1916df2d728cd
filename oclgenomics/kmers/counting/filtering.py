"""The k-mers that the options ask for, of those that were counted; they stay on the device."""

from __future__ import annotations

import numpy as np

from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.primitives import Runs, compact
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["kept_runs"]

SOURCE = "kmers/filter_counts.cl"


def kept_runs(engine: Engine, options: CountOptions, runs: Runs) -> Runs:
    """Leave out k-mers by their counts, then stop the counters; `runs` may be the result, with other counts."""
    if options.min_count > 1 or options.max_count < MAX_COUNTER:
        flags = _flags(engine, options, runs)
        keys, counts = compact(engine, runs.keys, flags), compact(engine, runs.counts, flags)
        runs = Runs(keys, counts, counts.size)
    if options.counter_max < MAX_COUNTER:
        kernel = engine.kernel(SOURCE, "cap_counts")
        engine.launch_items(kernel, runs.size, counts=runs.counts, size=runs.size, most=options.counter_max)
    return runs


def _flags(engine: Engine, options: CountOptions, runs: Runs) -> DeviceArray:
    flags = engine.empty(runs.size, np.uint8)
    engine.launch_items(
        engine.kernel(SOURCE, "flag_counts"),
        runs.size,
        counts=runs.counts,
        size=runs.size,
        least=options.min_count,
        most=min(options.max_count, MAX_COUNTER),
        flags=flags,
    )
    return flags
