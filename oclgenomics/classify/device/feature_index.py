"""From sketches of reads to their candidates, on the device."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.packed_file import FeatureSource
from oclgenomics.classify.device.candidate_finder import CandidateFinder
from oclgenomics.classify.device.looked_up import FeatureLister, HitLister, LookedUp, RepeatDropper
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.device.tables import FeatureFilter, FeatureTable, Rooms, TargetTable
from oclgenomics.classify.result import Hits, SharedFeatures
from oclgenomics.classify.taxonomy.calls import Candidates
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.runtime import Engine


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
    wanted : FeatureFilter, optional
        Which features to take; see `FeatureTable`.

    Raises
    ------
    ParameterError
        More locations than an index holds.
    AllocationError
        They do not fit; see `plan.IndexNeed`.
    FullError
        More pass the filter than there is room for.
    """

    def __init__(
        self, engine: Engine, features: FeatureSource, targets: Targets, groups: NDArray[np.int32], maxcand: int,
        wanted: FeatureFilter | None = None,
    ) -> None:  # fmt: skip
        self._engine, self._maxcand = engine, maxcand
        self._all_targets = targets
        self._features = FeatureTable(engine, features, int(targets.windows.sum()), wanted)
        self._targets = TargetTable(engine, targets, groups)
        self._rooms = Rooms(engine)
        self._room = plan.batch_bytes(engine.budget - engine.memory.used, engine.tuning.shape)
        self._finder = CandidateFinder(engine, self._targets, self._rooms, maxcand, self._room)
        self._lister = HitLister(engine, targets, self._rooms, self._room)
        self._sharing = FeatureLister(engine, targets, self._rooms)
        self._dropper = RepeatDropper(engine, self._rooms, self._room)

    def __enter__(self) -> FeatureIndex:
        return self

    def __exit__(self, *_error: object) -> None:
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
            Neighbouring windows of a target whose hits add up, at least 1; see `plan.range_widths`.
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

    def shared_features(
        self, sketches: Sketches, first: NDArray[np.uint32], best: Candidates, *, repeats: bool = False
    ) -> SharedFeatures:
        """List the features that reads share with their best candidates.

        Parameters
        ----------
        sketches, first, repeats
            As `candidates` takes them.
        best : Candidates
            What `candidates` found.
        """
        parts = [SharedFeatures.none()]
        for begin, end in self._batches(sketches, first):
            some = first[begin : end + 1]
            looked_up = self._look_up(sketches, some, repeats=repeats)
            reads = np.arange(begin, end)
            parts.append(self._sharing.list_features(looked_up, sketches, some, best.take(reads)))
        return SharedFeatures.joined(parts)

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
