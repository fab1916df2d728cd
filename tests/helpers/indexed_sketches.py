"""A small job for the kernels that turn sketches into features."""

from __future__ import annotations

import numpy as np

from oclgenomics.classify.database.features import NO_FEATURE, hash_kmers, unmix
from oclgenomics.classify.device.indexer import Indexer
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.options import BuildOptions, SketchOptions
from oclgenomics.runtime import Engine

__all__ = ["indexed_sketches"]


def indexed_sketches(engine: Engine, max_locations: int) -> None:
    """Index sketches at once, and in runs that are merged."""
    options = BuildOptions(SketchOptions(sketchlen=4, winlen=127), max_locations)
    rows = hash_kmers(np.arange(0, 200, dtype=np.uint32).reshape(50, 4) // 9)
    rows[::3, 2:] = NO_FEATURE
    found = []
    for capacity in (200, 70):
        indexer = Indexer(engine, options, capacity)
        for part in (rows[:30], rows[30:]):
            indexer.add(Sketches(engine.upload(part), len(part)))
        found.append(indexer.finish())
    assert set(unmix(found[0].keys).tolist()) == set(rows.ravel().tolist()) - {NO_FEATURE}
    np.testing.assert_array_equal(found[0].locations, found[1].locations)
    engine.finish()
