"""Features of reads that were looked up: those that a read has more than once, and all windows that reads hit."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.features import NO_FEATURE
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.device.tables import Rooms
from oclgenomics.classify.result import Hits, SharedFeatures
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.errors import AllocationError
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel

SORTING = "classify/sort_locations.cl"
READS_EACH = 64  # that a work-item of a CPU takes
LANES, SMALL_LANES, WIDE_LANES = 64, 32, 256  # of a group on GPUs
KEY = secrets.randbits(31) << 1 | 1  # of this process: decides where features go in tables, and nothing else


@dataclass(frozen=True)
class LookedUp:
    """What is found of the features of some reads; see kernels_cl/classify/found_features.clh.

    Attributes
    ----------
    reads : int
    arguments : dict of str to object
        The kernels' parameters FOUND.
    """

    reads: int
    arguments: dict[str, Any]

    @classmethod
    def of(
        cls, engine: Engine, found: DeviceArray, first: NDArray[np.uint32], sketchlen: int, locations: DeviceArray
    ) -> LookedUp:
        """Describe the reads whose windows begin at `first`, the first of whose features is the first found."""
        windows = engine.upload(first - first[0] if first[0] else first)
        return cls(len(first) - 1, {"found": found, "first": windows, "sketch": sketchlen, "locations": locations})


def launch_reads(engine: Engine, kernel: Kernel, reads: int, each: int = READS_EACH, /, **arguments: Any) -> None:
    """Launch a kernel of which each work-item takes some reads on CPUs, and one on GPUs."""
    cpu = engine.tuning.cpu
    each = each if cpu else 1
    engine.launch_items(kernel, -(-reads // each), lanes=1 if cpu else LANES, reads=reads, each=each, **arguments)


def check_located(located: NDArray[np.uint32]) -> None:
    """Refuse reads with more locations than can be sorted.

    Raises
    ------
    AllocationError
        There is such a read.
    """
    most = int(located.max(initial=0))
    if most > plan.MAX_LOCATIONS_OF_READ:
        raise AllocationError(
            f"the features of a read have more than {plan.MAX_LOCATIONS_OF_READ:,} locations in the database; cut the "
            "read into shorter ones, or build the database with a smaller `max_locations`"
        )


class RepeatDropper:
    """Takes features that a read has more than once for not found, but for one of each.

    Parameters
    ----------
    engine : Engine
    rooms : Rooms
    room : int
        Bytes for tables in global memory at a time; a larger one comes alone.
    """

    def __init__(self, engine: Engine, rooms: Rooms, room: int) -> None:
        self._engine, self._rooms, self._room = engine, rooms, room

    def drop(self, looked_up: LookedUp, sketches: Sketches, first: NDArray[np.uint32]) -> None:
        """Change what was found of reads.

        Parameters
        ----------
        looked_up : LookedUp
        sketches : Sketches
        first : ndarray, uint32 (reads + 1,)
            Rows of the sketches before each read.

        Raises
        ------
        AllocationError
            There is no room for a table of a single read's features.
        """
        arguments: dict[str, Any] = {name: looked_up.arguments[name] for name in ("found", "first", "sketch")}
        arguments |= {"features": sketches.features, "base": int(first[0]) * sketches.size, "key": KEY}
        self._launch(looked_up.reads, SMALL_LANES, READS_EACH, arguments)
        windows = np.diff(first)
        long = np.flatnonzero(windows > plan.TABLE_SLOTS // 2 // sketches.size).astype(np.uint32)
        slots = plan.powers_of_two(2 * sketches.size * windows[long].astype(np.int64))
        for begin, end in plan.batches(plan.SLOT_BYTES * np.cumsum(slots, dtype=np.int64), self._room):
            self._drop_long(long[begin:end], slots[begin:end], arguments)

    def _drop_long(self, reads: NDArray[np.uint32], slots: NDArray[np.uint64], arguments: dict[str, Any]) -> None:
        """Look through reads whose tables are in global memory."""
        engine, ends = self._engine, np.cumsum(slots)
        tables: dict[str, Any] = {
            "listed": engine.upload(reads),
            "places": engine.upload(ends - slots),
            "table_bits": engine.upload(np.log2(slots).astype(np.uint32)),
            "tables": self._rooms.of("tables", int(ends[-1]), np.uint32),
        }
        self._launch(len(reads), WIDE_LANES, 1, arguments, tables)

    def _launch(
        self, reads: int, lanes: int, each: int, arguments: dict[str, Any], tables: dict[str, Any] | None = None
    ) -> None:
        engine, cpu = self._engine, self._engine.tuning.cpu
        lanes = 1 if cpu else engine.group_size(lanes)
        defines = {"CPU": cpu, "LISTED": tables is not None, "LANES": lanes, "SLOTS": plan.TABLE_SLOTS}
        kernel: Kernel = engine.kernel("classify/drop_repeats.cl", "drop_repeats", **defines)
        none = dict.fromkeys(("listed", "places", "table_bits", "tables"))
        groups = -(-reads // each) if cpu else reads
        if groups:
            engine.launch(kernel, (groups * lanes,), (lanes,), **arguments, **(tables or none), reads=reads, each=each)


class FeatureLister:
    """Lists the features that reads share with their best candidates.

    Parameters
    ----------
    engine : Engine
    targets : Targets
    rooms : Rooms
    """

    def __init__(self, engine: Engine, targets: Targets, rooms: Rooms) -> None:
        self._engine, self._first, self._rooms = engine, targets.first_window, rooms

    def list_features(
        self, looked_up: LookedUp, sketches: Sketches, first: NDArray[np.uint32], best: Candidates
    ) -> SharedFeatures:
        """List the features of reads that lie in the range of windows of the best candidate.

        Parameters
        ----------
        looked_up : LookedUp
        sketches : Sketches
        first : ndarray, uint32 (reads + 1,)
            Rows of the sketches before each read.
        best : Candidates
            Of the same reads.
        """
        engine, size = self._engine, sketches.size
        features = (int(first[-1]) - int(first[0])) * size
        hit = self._rooms.of("hit", features, np.uint32)
        kernel = engine.kernel("classify/list_hit_features.cl", "list_hit_features")
        ranges = engine.upload(self._ranges(best)) if len(best) else None
        if features and ranges is not None:
            base = int(first[0]) * size
            some: dict[str, Any] = {"features": sketches.features, "base": base, "ranges": ranges, "hit": hit}
            launch_reads(engine, kernel, looked_up.reads, **looked_up.arguments, **some)
        listed = engine.download(hit, features) if features else np.zeros(0, np.uint32)
        there = listed != NO_FEATURE
        before = np.append(np.int64(0), np.cumsum(there, dtype=np.int64))
        return SharedFeatures(before[(first - first[0]).astype(np.int64) * size], listed[there])

    def _ranges(self, best: Candidates) -> NDArray[np.uint32]:
        """First and last window of the best candidates, through all targets; no window without one."""
        targets = best.targets[:, 0]
        known = targets != NO_TARGET
        before = self._first[np.where(known, targets, 0)]
        ends = np.stack([before + best.first[:, 0], before + best.last[:, 0]], axis=1)
        return np.where(known[:, np.newaxis], ends, [1, 0]).astype(np.uint32)


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
        kernel = engine.kernel(SORTING, "count_locations_of_reads")
        launch_reads(engine, kernel, reads, **looked_up.arguments, located=located)
        counts = engine.download(located, reads)
        check_located(counts)
        ends = np.cumsum(counts, dtype=np.int64)
        places = engine.upload((ends - counts).astype(np.uint64))
        for begin, end in plan.batches(plan.LIST_BYTES * ends, self._room):
            total = int(counts[begin:end].sum(dtype=np.int64))
            lists, spare = (self._rooms.of(name, total, np.uint32) for name in ("lists", "spare"))
            to: dict[str, Any] = {"from": begin, "places": places, "lists": lists, "spare": spare}
            kernel = engine.kernel(SORTING, "sort_locations")
            launch_reads(engine, kernel, end - begin, **looked_up.arguments, **to)
            yield Hits.of_locations(counts[begin:end], engine.download(lists, total), self._targets)
