"""Features and their locations on the device, as they are looked up."""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.classify import plan
from oclgenomics.classify.database.database import Features, FeatureSource
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.errors import ParameterError
from oclgenomics.primitives import scan
from oclgenomics.runtime import Checkpoint, DeviceArray, Engine

__all__ = ["FeatureTable"]

SOURCE = "classify/index_features.cl"
TYPES = {"uint8": "uchar", "uint16": "ushort"}
EACH = 1024  # features that a work-item of a CPU takes


class FeatureTable:
    """An entry for each feature, a table of the prefixes of their keys, and the lists of locations.

    A feature with one location has it in its entry, so lists are those of the others. Features are taken piece by
    piece: those of a file are never all in the host's memory.

    Parameters
    ----------
    engine : Engine
    features : FeatureSource

    Attributes
    ----------
    locations : DeviceArray, uint32
        The lists. At least one item.

    Raises
    ------
    ParameterError
        More locations than an index holds.
    AllocationError
        They do not fit; see `plan.IndexNeed`.
    InputError
        The file that they come from is damaged.
    """

    def __init__(self, engine: Engine, features: FeatureSource) -> None:
        if features.numbers.located > plan.MAX_LOCATIONS_OF_INDEX:
            most = f"at most {plan.MAX_LOCATIONS_OF_INDEX:,} locations fit into one index; split the database"
            raise ParameterError("features", most, f"{features.numbers.located:,}")
        self._engine = engine
        self._bits = plan.prefix_bits(len(features))
        self.locations = engine.empty(max(features.numbers.in_lists, 1), np.uint32)
        self._entries = engine.empty(len(features) + 1, np.uint64)
        self._table = engine.empty((1 << self._bits) + 1, np.uint32)
        engine.fill(self._table, 0)
        before = in_lists = 0
        done = engine.checkpoint()
        shape = engine.tuning.shape
        for piece in features.pieces(plan.LOADED_FEATURES[shape], plan.LOADED_LOCATIONS[shape]):
            done.wait()  # what is under way for more than one piece takes memory
            done = self._add(piece, before, in_lists)
            before += len(piece)
            in_lists += piece.numbers.in_lists
        engine.write(self._entries, np.zeros(1, np.uint64), len(features))
        scan(engine, self._table, maximum=True, inclusive=True, out=self._table)

    def _add(self, piece: Features, before: int, in_lists: int) -> Checkpoint:
        """Make the entries and lists of some features, behind those that are there; return when that is done."""
        engine, size = self._engine, len(piece)
        kind = TYPES[piece.counts.dtype.name]
        each, lanes = (EACH, 1) if engine.tuning.cpu else (1, None)
        items = -(-size // each)
        sums = engine.empty(items, np.uint64)
        some: dict[str, Any] = {"counts": engine.upload(piece.counts), "size": size, "each": each, "sums": sums}
        engine.launch_items(engine.kernel(SOURCE, "count_locations", COUNT=kind), items, lanes=lanes, **some)
        scan(engine, sums, out=sums)
        engine.launch_items(
            engine.kernel(SOURCE, "index_features", COUNT=kind),
            items,
            lanes=lanes,
            **some,
            keys=engine.upload(piece.keys),
            locations=engine.upload(piece.locations if len(piece.locations) else np.zeros(1, np.uint32)),
            before=before,
            lists_before=in_lists,
            bits=self._bits,
            entries=self._entries,
            table=self._table,
            lists=self.locations,
        )
        return engine.checkpoint()

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
