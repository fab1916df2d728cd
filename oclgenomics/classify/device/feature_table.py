"""Features and their locations on the device, as they are looked up."""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Features
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.errors import ParameterError
from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["FeatureTable"]

SOURCE = "classify/index_features.cl"
TYPES = {"uint8": "uchar", "uint16": "ushort"}
EACH = 1024  # features that a work-item of a CPU looks up


class FeatureTable:
    """An entry for each feature, a table of the prefixes of their keys, and the lists of locations.

    Parameters
    ----------
    engine : Engine
    features : Features

    Attributes
    ----------
    locations : DeviceArray, uint32
        At least one item.

    Raises
    ------
    ParameterError
        More locations than an index holds.
    AllocationError
        They do not fit; see `plan.IndexNeed`.
    """

    def __init__(self, engine: Engine, features: Features) -> None:
        if len(features.locations) > plan.MAX_LOCATIONS_OF_INDEX:
            most = f"at most {plan.MAX_LOCATIONS_OF_INDEX:,} locations fit into one index; split the database"
            raise ParameterError("features", most, f"{len(features.locations):,}")
        self._engine = engine
        self._bits = plan.prefix_bits(len(features))
        padded = features.locations if len(features.locations) else np.zeros(1, np.uint32)
        self.locations = engine.upload(padded)
        self._entries = engine.empty(len(features) + 1, np.uint64)
        self._table = engine.empty((1 << self._bits) + 1, np.uint32)
        engine.fill(self._table, 0)
        engine.fill(self._entries, 0)
        before = 0
        for begin in range(0, len(features), plan.LOADED_FEATURES):
            before += self._add(features, begin, before)
        scan(engine, self._table, maximum=True, inclusive=True, out=self._table)

    def _add(self, features: Features, begin: int, before: int) -> int:
        """Make entries of some features; return how many locations they have."""
        engine = self._engine
        part = slice(begin, begin + plan.LOADED_FEATURES)
        counts, size = features.counts[part], len(features.counts[part])
        kind = TYPES[counts.dtype.name]
        on_device: dict[str, Any] = {"counts": engine.upload(counts), "size": size}
        starts = engine.empty(size, np.uint32)
        engine.launch_items(engine.kernel(SOURCE, "widen_counts", COUNT=kind), size, **on_device, wide=starts)
        scan(engine, starts, out=starts)
        engine.launch_items(
            engine.kernel(SOURCE, "index_features", COUNT=kind),
            size,
            **on_device,
            keys=engine.upload(features.keys[part]),
            starts=starts,
            before=begin,
            locations_before=before,
            locations=self.locations,
            bits=self._bits,
            entries=self._entries,
            table=self._table,
        )
        return int(counts.sum(dtype=np.int64))

    def look_up(self, sketches: Sketches, begin: int, size: int, found: DeviceArray) -> None:
        """Look up features of sketches.

        Parameters
        ----------
        sketches : Sketches
        begin, size : int
            Which ones, by their places in `sketches.features`.
        found : DeviceArray, uint64 (size or more,)
            Set as kernels_cl/classify/look_up_features.cl says.
        """
        engine = self._engine
        cpu = engine.tuning.cpu
        kernel = engine.kernel("classify/look_up_features.cl", "look_up_features", CPU=cpu)
        arguments: dict[str, Any] = {"table": self._table, "entries": self._entries, "bits": self._bits}
        arguments |= {"features": sketches.features, "begin": begin, "size": size, "each": EACH, "found": found}
        if cpu and size:
            engine.launch(kernel, (-(-size // EACH),), (1,), **arguments)
        else:
            engine.launch_items(kernel, size, **arguments)

    def release(self) -> None:
        """Give the memory back."""
        for array in (self.locations, self._entries, self._table):
            array.release()
