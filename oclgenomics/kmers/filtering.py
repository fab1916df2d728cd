"""From runs on the device to the k-mers that the options ask for, on the host."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import LARGEST_COUNTER, CountOptions
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.primitives import Runs, compact
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["kept_kmers"]


def kept_kmers(engine: Engine, options: CountOptions, runs: Runs) -> KmerBlock:
    """Leave out k-mers by their counts, stop the counters, and bring the rest to the host."""
    keys, counts = runs.keys, runs.counts
    if options.min_count > 1 or options.max_count < LARGEST_COUNTER:
        flags = _flags(engine, options, counts, runs.size)
        keys, counts = compact(engine, keys, flags), compact(engine, counts, flags)
    found: NDArray[np.uint32] = engine.download(counts)
    np.minimum(found, options.counter_max, out=found)
    return KmerBlock(engine.download(keys).reshape(key_words(options.k), -1), found)


def _flags(engine: Engine, options: CountOptions, counts: DeviceArray, size: int) -> DeviceArray:
    flags = engine.empty(size, np.uint8)
    limits = np.uint32(options.min_count), np.uint32(min(options.max_count, LARGEST_COUNTER))
    kernel = engine.kernel("kmers/flag_counts.cl", "flag_counts")
    engine.launch_items(kernel, size, counts, np.uint64(size), *limits, flags)
    return flags
