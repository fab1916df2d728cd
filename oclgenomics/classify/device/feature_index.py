"""From sketches of reads to their candidates, on the device."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.candidates import Candidates
from oclgenomics.classify.database.database import Features
from oclgenomics.classify.device.feature_table import FeatureTable
from oclgenomics.classify.device.rooms import Rooms
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.device.target_table import TargetTable
from oclgenomics.classify.targets import Targets
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["FeatureIndex"]

READS_EACH = 64  # that a work-item of a CPU takes
FEATURES = {"cpu": 1 << 20, "gpu": 1 << 26}  # looked up at a time
ROOM_SHARE = 4  # of the memory that is left, for what is looked up, and as much for lists that are sorted
SMALL_LANES, WIDE_LANES = 32, 256


class FeatureIndex:
    """The features of a database, or of a part of it, on a device; a context manager that releases them.

    Parameters
    ----------
    engine : Engine
    features : Features
    targets : Targets
    groups : ndarray, int32 (targets,)
        Number of the taxon of each target; of the targets of a taxon only the best one is a candidate. `NO_TAXON` for
        targets that are none.
    maxcand : int
        Candidates of a read at most, 1 to 64.

    Raises
    ------
    ParameterError
        More locations than an index holds.
    AllocationError
        They do not fit; see `plan.index_bytes`.
    """

    def __init__(
        self, engine: Engine, features: Features, targets: Targets, groups: NDArray[np.int32], maxcand: int
    ) -> None:
        self._engine, self._maxcand = engine, maxcand
        self._features = FeatureTable(engine, features)
        self._targets = TargetTable(engine, targets, groups)
        self._rooms = Rooms(engine)

    def __enter__(self) -> FeatureIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def regroup(self, targets: Targets, groups: NDArray[np.int32], maxcand: int) -> None:
        """Find other candidates from now on; parameters as of the class. The features stay where they are."""
        self._targets.release()
        self._targets, self._maxcand = TargetTable(self._engine, targets, groups), maxcand

    def release(self) -> None:
        """Give the memory back."""
        self._features.release()
        self._targets.release()
        self._rooms.release()

    def candidates(self, sketches: Sketches, first: NDArray[np.uint32], widths: NDArray[np.uint32]) -> Candidates:
        """Find the candidates of reads.

        Parameters
        ----------
        sketches : Sketches
        first : ndarray, uint32 (reads + 1,)
            Windows before each read, and of all; mates follow each other.
        widths : ndarray, uint32 (reads,)
            Neighbouring windows of a target whose hits add up, at least 1; see `windows.range_width`.

        Raises
        ------
        AllocationError
            There is no room for what is known of a single read.
        """
        ends = first[1:].astype(np.int64) * sketches.size
        parts = [
            self._batch(sketches, first[begin : end + 1], widths[begin:end])
            for begin, end in plan.batches(ends, self._looked_up_at_a_time())
        ]
        return Candidates.joined(parts) if parts else self._none()

    def _looked_up_at_a_time(self) -> int:
        return FEATURES[self._engine.tuning.shape]

    def _none(self) -> Candidates:
        slots = np.zeros((0, self._maxcand), np.uint32)
        return Candidates(slots, slots, slots, slots, np.zeros(0, np.uint32))

    def _batch(self, sketches: Sketches, first: NDArray[np.uint32], widths: NDArray[np.uint32]) -> Candidates:
        """Find the candidates of reads that are looked up together."""
        engine, reads, maxcand = self._engine, len(widths), self._maxcand
        begin, end = int(first[0]) * sketches.size, int(first[-1]) * sketches.size
        found = self._rooms.of("found", end - begin, np.uint64)
        self._features.look_up(sketches, begin, end - begin, found)
        located = self._rooms.of("located", reads, np.uint32)
        best = self._rooms.of("best", 4 * reads * maxcand, np.uint32)
        arguments: dict[str, Any] = {
            "found": found,
            "base": begin,
            "first": engine.upload(np.ascontiguousarray(first)),
            "sketch": sketches.size,
            "locations": self._features.locations,
            **self._targets.arguments,
            "widths": engine.upload(np.ascontiguousarray(widths)),
            "maxcand": maxcand,
            "located": located,
            "plane": reads * maxcand,
            "best": best,
        }
        self._find_small(reads, arguments)
        counts = engine.download(located, reads)
        self._find_larger(counts, arguments)
        targets, hits, first_hit, last_hit = engine.download(best, 4 * reads * maxcand).reshape(4, reads, maxcand)
        return Candidates(targets, hits, first_hit, last_hit, counts)

    def _find_small(self, reads: int, arguments: dict[str, Any]) -> None:
        """Count all reads' locations, and find the candidates of those with few."""
        if not self._engine.tuning.cpu:
            self._launch_groups(reads, None, SMALL_LANES, plan.SMALL, arguments)
            return
        items = -(-reads // READS_EACH)
        lists = self._rooms.of("small", 2 * plan.SMALL * items, np.uint32)
        kernel = self._engine.kernel("classify/find_candidates.cl", "find_candidates", LISTED=False)
        by_row: dict[str, Any] = {"reads": reads, "each": READS_EACH, "listed": None, "places": None}
        self._engine.launch(kernel, (items,), (1,), **arguments, **by_row, room=plan.SMALL, lists=lists)

    def _find_larger(self, located: NDArray[np.uint32], arguments: dict[str, Any]) -> None:
        """Find the candidates of reads with more locations."""
        limit = plan.SMALL
        if not self._engine.tuning.cpu:
            limit = plan.WIDE
            wide = np.flatnonzero((located > plan.SMALL) & (located <= limit))
            self._launch_groups(len(wide), wide, WIDE_LANES, limit, arguments)
        long = np.flatnonzero(located > limit).astype(np.uint32)
        ends = np.cumsum(located[long], dtype=np.int64)
        for begin, end in plan.batches(ends, self._sorted_at_a_time(located[long])):
            self._find_long(long[begin:end], located, arguments)

    def _launch_groups(
        self, reads: int, listed: NDArray[np.intp] | None, lanes: int, capacity: int, arguments: dict[str, Any]
    ) -> None:
        """Launch a work-group for each read, or for each of a list."""
        engine = self._engine
        lanes = engine.group_size(lanes)
        kernel = engine.kernel(
            "classify/find_in_groups.cl", "find_in_groups", LISTED=listed is not None, LANES=lanes, CAPACITY=capacity
        )
        if reads:
            numbers = None if listed is None else engine.upload(listed.astype(np.uint32))
            engine.launch(kernel, (reads * lanes,), (lanes,), **arguments, listed=numbers)

    def _sorted_at_a_time(self, located: NDArray[np.uint32]) -> int:
        """Return how many locations are sorted at a time: at least those of one read."""
        return int(max(located.max(initial=0), 1 << 24))

    def _find_long(self, reads: NDArray[np.uint32], located: NDArray[np.uint32], arguments: dict[str, Any]) -> None:
        """Find the candidates of reads whose locations are sorted in global memory."""
        engine = self._engine
        places = np.append(0, np.cumsum(located[reads], dtype=np.uint64)).astype(np.uint64)
        lists: DeviceArray = self._rooms.of("long", 2 * int(places[-1]), np.uint32)
        kernel = engine.kernel("classify/find_candidates.cl", "find_candidates", LISTED=True)
        by_list: dict[str, Any] = {"listed": engine.upload(reads), "places": engine.upload(places[:-1])}
        engine.launch(
            kernel, (len(reads),), (1,), **arguments, **by_list, reads=len(reads), each=1, room=0, lists=lists
        )
