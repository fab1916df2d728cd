"""The candidates of reads whose features were looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.device.looked_up import READS_EACH, LookedUp, check_located
from oclgenomics.classify.device.tables import Rooms, TargetTable
from oclgenomics.classify.taxonomy.calls import Candidates
from oclgenomics.runtime import DeviceArray, Engine

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
        results = self._rooms.of("candidates", reads + 4 * reads * maxcand, np.uint32)
        arguments: dict[str, Any] = {
            **looked_up.arguments,
            **self._targets.arguments,
            "widths": engine.upload(np.ascontiguousarray(widths)),
            "maxcand": maxcand,
            "reads": reads,
            "located": results,
        }
        self._find_small(reads, arguments, repeats)
        located = engine.download(results, reads)
        check_located(located)
        self._find_larger(located, arguments, repeats)
        best = engine.download(results, 4 * reads * maxcand, reads)
        targets, hits, first, last = best.reshape(4, reads, maxcand)
        return Candidates(targets, hits, first, last, located)

    def _find_small(self, reads: int, arguments: dict[str, Any], repeats: bool) -> None:
        """Count all reads' locations, and find the candidates of those with few."""
        engine = self._engine
        if not engine.tuning.cpu:
            self._launch_groups(reads, SMALL_LANES, plan.SMALL, arguments, repeats)
            return
        defines = {"REPEATS": repeats, "LANES": engine.tuning.vector_bytes // 4, "CAPACITY": plan.SMALL}
        kernel = engine.kernel("classify/find_in_lanes.cl", "find_in_lanes", **defines)
        items, stored = -(-reads // READS_EACH), arguments["locations"].size
        engine.launch_items(kernel, items, lanes=1, **arguments, each=READS_EACH, stored=stored)

    def _find_larger(self, located: NDArray[np.uint32], arguments: dict[str, Any], repeats: bool) -> None:
        """Find the candidates of reads with more locations."""
        limit = plan.SMALL
        larger = np.flatnonzero(located > limit)
        if not self._engine.tuning.cpu:
            limit = plan.WIDE
            wide = larger[located[larger] <= limit]
            listed = np.stack([wide, np.zeros_like(wide)], axis=1)
            self._launch_groups(len(wide), WIDE_LANES, limit, arguments, repeats, listed)
        long = larger[located[larger] > limit]
        ends = plan.LIST_BYTES * np.cumsum(located[long], dtype=np.int64)
        for begin, end in plan.batches(ends, self._room):
            self._find_long(long[begin:end], located[long[begin:end]], arguments, repeats)

    def _launch_groups(
        self,
        reads: int,
        lanes: int,
        capacity: int,
        arguments: dict[str, Any],
        repeats: bool,
        listed: NDArray[np.int64] | None = None,
        lists: DeviceArray | None = None,
    ) -> None:
        """Launch a work-group for each read, or for each of a list of reads and of places in `lists`."""
        engine = self._engine
        lanes = engine.group_size(lanes)
        defines = {"REPEATS": repeats, "LISTED": listed is not None, "LANES": lanes, "CAPACITY": capacity}
        kernel = engine.kernel("classify/find_in_groups.cl", "find_in_groups", **defines)
        if reads:
            of = None if listed is None else engine.upload(listed.astype(np.uint64))
            engine.launch(kernel, (reads * lanes,), (lanes,), **arguments, listed=of, lists=lists)

    def _find_long(
        self, reads: NDArray[np.int64], located: NDArray[np.uint32], arguments: dict[str, Any], repeats: bool
    ) -> None:
        """Find the candidates of some reads whose locations are sorted in global memory."""
        engine, cpu = self._engine, self._engine.tuning.cpu
        sizes = 2 * located.astype(np.uint64) if cpu else plan.powers_of_two(located)
        ends = np.cumsum(sizes)
        listed = np.stack([reads.astype(np.uint64), ends - sizes], axis=1)
        lists = self._rooms.of("long", int(ends[-1]), np.uint32)
        if not cpu:
            self._launch_groups(len(reads), WIDE_LANES, 0, arguments, repeats, listed, lists)
            return
        kernel = engine.kernel("classify/find_candidates.cl", "find_candidates", REPEATS=repeats)
        engine.launch_items(kernel, len(reads), lanes=1, **arguments, listed=engine.upload(listed), lists=lists)
