"""The candidates of reads whose features were looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.device.looked_up import LookedUp, check_located, launch_reads
from oclgenomics.classify.device.tables import Rooms, TargetTable
from oclgenomics.classify.taxonomy.calls import Candidates
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["CandidateFinder"]

SMALL_LANES, WIDE_LANES = 32, 256


class CandidateFinder:
    """Finds candidates, reads of each class by what suits them.

    Which class a read belongs to depends on how many locations it has. Most have few. The first kernel counts the
    locations of all reads and finds the candidates of those; which reads are left the host decides.

    Parameters
    ----------
    engine : Engine
    targets : TargetTable
    rooms : Rooms
    maxcand : int
    room : int
        Bytes for lists that are sorted in global memory at a time; a longer list comes alone.
    """

    def __init__(self, engine: Engine, targets: TargetTable, rooms: Rooms, maxcand: int, room: int) -> None:
        self._engine, self._targets, self._rooms, self._maxcand, self._room = engine, targets, rooms, maxcand, room

    def find(self, looked_up: LookedUp, widths: NDArray[np.uint32], *, repeats: bool) -> Candidates:
        """Find the candidates of reads; parameters as of `FeatureIndex.candidates`.

        Raises
        ------
        AllocationError
            There is no room for the locations of a single read.
        """
        engine, reads, maxcand = self._engine, looked_up.reads, self._maxcand
        located = self._rooms.of("located", reads, np.uint32)
        best = self._rooms.of("best", 4 * reads * maxcand, np.uint32)
        arguments: dict[str, Any] = {
            **looked_up.arguments,
            **self._targets.arguments,
            "widths": engine.upload(np.ascontiguousarray(widths)),
            "repeats": int(repeats),
            "maxcand": maxcand,
            "located": located,
            "plane": reads * maxcand,
            "best": best,
        }
        self._find_small(reads, arguments)
        counts = engine.download(located, reads)
        check_located(counts)
        self._find_larger(counts, arguments)
        targets, hits, first, last = engine.download(best, 4 * reads * maxcand).reshape(4, reads, maxcand)
        return Candidates(targets, hits, first, last, counts)

    def _find_small(self, reads: int, arguments: dict[str, Any]) -> None:
        """Count all reads' locations, and find the candidates of those with few."""
        if not self._engine.tuning.cpu:
            self._launch_groups(reads, None, SMALL_LANES, plan.SMALL, arguments)
            return
        lanes = self._engine.tuning.vector_bytes // 4
        kernel = self._engine.kernel("classify/find_in_lanes.cl", "find_in_lanes", LANES=lanes, CAPACITY=plan.SMALL)
        launch_reads(self._engine, kernel, reads, **arguments, stored=arguments["locations"].size)

    def _find_larger(self, located: NDArray[np.uint32], arguments: dict[str, Any]) -> None:
        """Find the candidates of reads with more locations."""
        limit = plan.SMALL
        if not self._engine.tuning.cpu:
            limit = plan.WIDE
            wide = np.flatnonzero((located > plan.SMALL) & (located <= limit)).astype(np.uint32)
            self._launch_groups(len(wide), wide, WIDE_LANES, limit, arguments)
        long = np.flatnonzero(located > limit).astype(np.uint32)
        ends = plan.LIST_BYTES * np.cumsum(located[long], dtype=np.int64)
        for begin, end in plan.batches(ends, self._room):
            self._find_long(long[begin:end], located[long[begin:end]], arguments)

    def _launch_groups(
        self,
        reads: int,
        listed: NDArray[np.uint32] | None,
        lanes: int,
        capacity: int,
        arguments: dict[str, Any],
        places: DeviceArray | None = None,
        lists: DeviceArray | None = None,
    ) -> None:
        """Launch a work-group for each read, or for each of a list."""
        engine = self._engine
        lanes = engine.group_size(lanes)
        defines = {"LISTED": listed is not None, "LANES": lanes, "CAPACITY": capacity}
        kernel = engine.kernel("classify/find_in_groups.cl", "find_in_groups", **defines)
        if reads:
            numbers = None if listed is None else engine.upload(listed)
            to: dict[str, Any] = {"listed": numbers, "places": places, "lists": lists}
            engine.launch(kernel, (reads * lanes,), (lanes,), **arguments, **to)

    def _find_long(self, reads: NDArray[np.uint32], located: NDArray[np.uint32], arguments: dict[str, Any]) -> None:
        """Find the candidates of some reads whose locations are sorted in global memory."""
        engine, cpu = self._engine, self._engine.tuning.cpu
        sizes = 2 * located.astype(np.uint64) if cpu else plan.powers_of_two(located)
        ends = np.cumsum(sizes)
        places, lists = engine.upload(ends - sizes), self._rooms.of("long", int(ends[-1]), np.uint32)
        if not cpu:
            self._launch_groups(len(reads), reads, WIDE_LANES, 0, arguments, places, lists)
            return
        kernel = engine.kernel("classify/find_candidates.cl", "find_candidates")
        by_list: dict[str, Any] = {"listed": engine.upload(reads), "places": places, "lists": lists}
        launch_reads(engine, kernel, len(reads), 1, **arguments, **by_list)
