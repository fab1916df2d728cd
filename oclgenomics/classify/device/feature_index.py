"""From sketches of reads to their candidates, on the device."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.features import Features, FeatureSource
from oclgenomics.classify.device.candidate_finder import CandidateFinder
from oclgenomics.classify.device.looked_up import HitLister, LookedUp, RepeatDropper, Rooms
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.plan import BLOCK_WINDOWS
from oclgenomics.classify.result import Hits
from oclgenomics.classify.taxonomy.calls import Candidates
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.errors import ParameterError
from oclgenomics.primitives import scan
from oclgenomics.runtime import Checkpoint, DeviceArray, Engine

__all__ = [
    "FeatureIndex",
    "FeatureTable",
    "TargetTable",
]


class TargetTable:
    """Targets as kernels_cl/classify/targets.clh has them.

    Parameters
    ----------
    engine : Engine
    targets : Targets
    groups : ndarray, int32 (targets,)
        Taxa of which only the best target is a candidate; `NO_TAXON` for targets that are none.

    Attributes
    ----------
    arguments : dict of str to DeviceArray
    """

    def __init__(self, engine: Engine, targets: Targets, groups: NDArray[np.int32]) -> None:
        if len(groups) != len(targets):
            raise ValueError(f"{len(groups)} groups of {len(targets)} targets")
        first = targets.first_window
        begins = np.arange(0, first[-1], BLOCK_WINDOWS)
        blocks = np.append(np.searchsorted(first, begins, "right") - 1, max(len(targets) - 1, 0))
        self.arguments: dict[str, DeviceArray] = {
            "first_window": engine.upload(first.astype(np.uint32)),
            "blocks": engine.upload(blocks.astype(np.uint32)),
            "groups": engine.upload(np.append(groups, np.int32(0)).astype(np.int32)),  # not empty
        }

    def release(self) -> None:
        """Give the memory back."""
        for array in self.arguments.values():
            array.release()


INDEXING = "classify/index_features.cl"
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
        engine.launch_items(engine.kernel(INDEXING, "count_locations", COUNT=kind), items, lanes=lanes, **some)
        scan(engine, sums, out=sums)
        engine.launch_items(
            engine.kernel(INDEXING, "index_features", COUNT=kind),
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


class FeatureIndex:
    """The features of a database, or of a part of it, on a device; a context manager that releases them.

    Parameters
    ----------
    engine : Engine
    features : FeatureSource
    targets : Targets
        All of the database's.
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
        They do not fit; see `plan.IndexNeed`.
    """

    def __init__(
        self, engine: Engine, features: FeatureSource, targets: Targets, groups: NDArray[np.int32], maxcand: int
    ) -> None:
        self._engine, self._maxcand = engine, maxcand
        self._all_targets = targets
        self._features = FeatureTable(engine, features)
        self._targets = TargetTable(engine, targets, groups)
        self._rooms = Rooms(engine)
        self._room = plan.batch_bytes(engine.budget - engine.memory.used, engine.tuning.shape)
        self._finder = CandidateFinder(engine, self._targets, self._rooms, maxcand, self._room)
        self._lister = HitLister(engine, targets, self._rooms, self._room)
        self._dropper = RepeatDropper(engine, self._rooms, self._room)

    def __enter__(self) -> FeatureIndex:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def regroup(self, groups: NDArray[np.int32], maxcand: int) -> None:
        """Find other candidates from now on; parameters as of the class. The features stay where they are."""
        self._targets.release()
        self._targets, self._maxcand = TargetTable(self._engine, self._all_targets, groups), maxcand
        self._finder = CandidateFinder(self._engine, self._targets, self._rooms, maxcand, self._room)

    def release(self) -> None:
        """Give the memory back."""
        for part in (self._features, self._targets, self._rooms):
            part.release()

    def candidates(
        self, sketches: Sketches, first: NDArray[np.uint32], widths: NDArray[np.uint32], *, repeats: bool = False
    ) -> Candidates:
        """Find the candidates of reads.

        Parameters
        ----------
        sketches : Sketches
        first : ndarray, uint32 (reads + 1,)
            Windows before each read, and of all; mates follow each other.
        widths : ndarray, uint32 (reads,)
            Neighbouring windows of a target whose hits add up, at least 1; see `windows.range_width`.
        repeats : bool
            Count features as often as reads and ranges of windows have them, rather than once.

        Raises
        ------
        AllocationError
            There is no room for what is known of a single read.
        """
        parts: list[Candidates] = []
        for begin, end in self._batches(sketches, first):
            looked_up = self._look_up(sketches, first[begin : end + 1], repeats=repeats)
            parts.append(self._finder.find(looked_up, widths[begin:end], repeats=repeats))
        return Candidates.joined(parts) if parts else Candidates.none(self._maxcand)

    def hits(self, sketches: Sketches, first: NDArray[np.uint32], *, repeats: bool = False) -> Hits:
        """List all windows that reads hit.

        Parameters
        ----------
        sketches, first, repeats
            As `candidates` takes them.

        Raises
        ------
        AllocationError
            There is no room for the locations of reads.
        """
        parts: list[Hits] = []
        for begin, end in self._batches(sketches, first):
            parts += self._lister.list_hits(self._look_up(sketches, first[begin : end + 1], repeats=repeats))
        return Hits.joined(parts)

    def _batches(self, sketches: Sketches, first: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
        """Cut reads into those that are looked up together."""
        window_bytes, read_bytes = plan.query_bytes(sketches.size, self._maxcand)
        windows, reads = int(first[-1]) - int(first[0]), len(first) - 1
        if window_bytes * windows + read_bytes * reads <= self._room:
            return iter([(0, reads)] if reads else [])
        ends = first[1:].astype(np.int64) - int(first[0])
        return plan.batches(window_bytes * ends + read_bytes * np.arange(1, len(ends) + 1), self._room)

    def _look_up(self, sketches: Sketches, first: NDArray[np.uint32], *, repeats: bool) -> LookedUp:
        begin, end = int(first[0]) * sketches.size, int(first[-1]) * sketches.size
        found = self._rooms.of("found", end - begin, np.uint64)
        self._features.look_up(sketches, begin, end - begin, found)
        looked_up = LookedUp.of(self._engine, found, first, sketches.size, self._features.locations)
        if not repeats:
            self._dropper.drop(looked_up, sketches, first)
        return looked_up
