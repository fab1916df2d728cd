"""All windows that reads hit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from oclgenomics.classify import plan
from oclgenomics.classify.device.looked_up import LookedUp, check_located, launch_reads
from oclgenomics.classify.device.rooms import Rooms
from oclgenomics.classify.hits import Hits
from oclgenomics.classify.targets import Targets
from oclgenomics.runtime import Engine

__all__ = ["HitLister"]

SOURCE = "classify/sort_locations.cl"


class HitLister:
    """Lists what reads hit: the device sorts locations, the host counts equal ones.

    Parameters
    ----------
    engine : Engine
    targets : Targets
    rooms : Rooms
    room : int
        Bytes for lists that are sorted at a time; a longer list comes alone.
    """

    def __init__(self, engine: Engine, targets: Targets, rooms: Rooms, room: int) -> None:
        self._engine, self._targets, self._rooms, self._room = engine, targets, rooms, room

    def list_hits(self, looked_up: LookedUp) -> Iterator[Hits]:
        """List the windows that reads hit, some reads at a time.

        Raises
        ------
        AllocationError
            There is no room for the locations of a single read.
        """
        engine, reads = self._engine, looked_up.reads
        located = self._rooms.of("located", reads, np.uint32)
        kernel = engine.kernel(SOURCE, "count_locations_of_reads")
        launch_reads(engine, kernel, reads, **looked_up.arguments, located=located)
        counts = engine.download(located, reads)
        check_located(counts)
        ends = np.cumsum(counts, dtype=np.int64)
        places = engine.upload((ends - counts).astype(np.uint64))
        for begin, end in plan.batches(plan.LIST_BYTES * ends, self._room):
            total = int(counts[begin:end].sum(dtype=np.int64))
            lists, spare = (self._rooms.of(name, total, np.uint32) for name in ("lists", "spare"))
            to: dict[str, Any] = {"from": begin, "places": places, "lists": lists, "spare": spare}
            kernel = engine.kernel(SOURCE, "sort_locations")
            launch_reads(engine, kernel, end - begin, **looked_up.arguments, **to)
            yield Hits.of_locations(counts[begin:end], engine.download(lists, total), self._targets)
