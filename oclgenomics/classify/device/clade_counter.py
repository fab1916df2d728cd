"""The features that a database has of each taxon and target, counted on a device; see `taxonomy.coverage`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.features import Features
from oclgenomics.classify.database.packed_file import FeatureSource
from oclgenomics.classify.device.held_features import Cut, HeldFeatures
from oclgenomics.classify.device.tables import EACH, INDEXING, TYPES, TargetTable
from oclgenomics.classify.taxonomy.coverage import Clades
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine

MOST_GAINED = 1 << 30  # locations whose features are counted in 32 bits


def count_clades(engine: Engine, source: FeatureSource, lineages: Lineages) -> NDArray[np.int64]:
    """Count the distinct features that the database has of each clade, int64 (taxa + targets,).

    Parameters
    ----------
    engine : Engine
    source : FeatureSource
        Of the whole database.
    lineages : Lineages

    Raises
    ------
    InputError
        The file that the features come from is damaged.
    """
    counter = _Counter(engine, lineages)
    shape = engine.tuning.shape
    sizes = plan.LOADED_FEATURES[shape], plan.LOADED_LOCATIONS[shape]
    if isinstance(source, HeldFeatures) and source.engine is engine:
        for cut in source.cuts(*sizes):
            counter.add_held(source, cut)
    else:
        for piece in source.pieces(*sizes):
            counter.add(piece)
    return counter.found()


class _Counter:
    """Sums up what features add to the clades that they are in."""

    def __init__(self, engine: Engine, lineages: Lineages) -> None:
        self._engine, self._clades = engine, Clades(lineages)
        clades = self._clades
        places = clades.place[len(lineages.taxonomy) : -1]
        self._targets = TargetTable(engine, lineages.targets, places.astype(np.int32))
        self._parents = engine.upload(clades.place[clades.parents[clades.node_at]].astype(np.uint32))
        self._gains = engine.empty(len(clades.parents), np.int32)
        engine.fill(self._gains, 0)
        self._sum, self._located = np.zeros(len(clades.parents), np.int64), 0
        self._done = engine.checkpoint()

    def add(self, piece: Features) -> None:
        """Take in some features."""
        engine, size, located = self._engine, len(piece), len(piece.locations)
        self._done.wait()  # what is under way for more than one piece takes memory
        counts = engine.upload(piece.counts if size else np.zeros(1, piece.counts.dtype))
        locations = engine.upload(piece.locations if located else np.zeros(1, np.uint32))
        self._add(counts, locations, Cut(0, size, 0, located))

    def add_held(self, features: HeldFeatures, cut: Cut) -> None:
        """Take in some of the features that the device holds."""
        self._done.wait()
        self._add(features.arrays["counts"], features.arrays["locations"], cut)

    def _add(self, counts: DeviceArray, locations: DeviceArray, cut: Cut) -> None:
        engine, size, located = self._engine, cut.end - cut.begin, cut.located
        if self._located + located > MOST_GAINED:
            self._take()
        each, lanes = (EACH, 1) if engine.tuning.cpu else (1, None)
        items, kind = -(-size // each), TYPES[counts.dtype.name]
        sums = engine.empty(max(items, 1), np.uint64)
        nodes, spare = (engine.empty(max(located, 1), np.uint32) for _ in range(2))
        some: dict[str, Any] = {"counts": counts, "counts_at": cut.begin, "size": size, "each": each, "sums": sums}
        engine.launch_items(engine.kernel(INDEXING, "count_locations", COUNT=kind), items, lanes=lanes, **some)
        scan(engine, sums, out=sums)
        engine.launch_items(
            engine.kernel("classify/count_clades.cl", "count_clades", COUNT=kind), items, lanes=lanes, **some,
            locations=locations, locations_at=cut.before, **self._targets.arguments, parents=self._parents,
            nodes=nodes, spare=spare, gains=self._gains,
        )  # fmt: skip
        self._done, self._located = engine.checkpoint(), self._located + located

    def _take(self) -> None:
        """Take what was gained so far."""
        self._sum += self._engine.download(self._gains)
        self._engine.fill(self._gains, 0)
        self._located = 0

    def found(self) -> NDArray[np.int64]:
        """Return the sums of clades; nothing comes afterwards."""
        self._take()
        arrays: tuple[DeviceArray, ...] = (self._parents, self._gains)
        for array in arrays:
            array.release()
        self._targets.release()
        gains = np.empty_like(self._sum)
        gains[self._clades.node_at] = self._sum
        return self._clades.summed(gains)[:-1]
