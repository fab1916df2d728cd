"""Candidates of reads, batch after batch, in a database that fits the device or in its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.features import NO_FEATURE, Features, mix
from oclgenomics.classify.database.packed_file import FeatureSource, PackedStore
from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.classify.device.reads import SketchedReads
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.device.tables import FeatureFilter, FullError
from oclgenomics.classify.result import Hits, SharedFeatures
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates, merged
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.runtime import Engine

HELD_BYTES = 256 << 20  # of sketches that one part after the other is searched for
# A feature that is read alone takes about so many times as long as one of a whole database, as the host unpacks its
# bucket. GPUs unpack a whole database themselves, which the host only reads and verifies.
READ_COST = {"cpu": 64, "gpu": 2048}
SOUGHT_BYTES = 16 << 20  # of sketches whose features are read from a file at a time


@dataclass(frozen=True)
class Groups:
    """What targets are taken together for.

    Attributes
    ----------
    lowest : str
        A rank.
    maxcand : int
    taxa : ndarray, int32 (targets,)
        The first taxon of each target at that rank or above. Of the targets of a taxon only the best one is a
        candidate.
    """

    lowest: str
    maxcand: int
    taxa: NDArray[np.int32] = field(compare=False)


@dataclass(frozen=True)
class Sought:
    """Reads whose candidates are sought.

    Attributes
    ----------
    batch : SketchedReads
    widths : ndarray, uint32 (reads,)
        Neighbouring windows whose hits add up.
    all_hits : bool
        Whether all windows are listed that the reads hit.
    repeats : bool
        Whether features count as often as they are found, rather than once.
    features : bool
        Whether the features are listed that the reads share with their best candidates.
    may_wait : bool
        Whether what is found may come when more reads have come, as nobody waits for it.
    """

    batch: SketchedReads
    widths: NDArray[np.uint32]
    all_hits: bool = False
    repeats: bool = False
    features: bool = False
    may_wait: bool = True

    def look_in(self, index: FeatureIndex) -> FoundReads:
        """Find what an index has of the reads."""
        sketches, first = self.batch.sketches, self.batch.first
        candidates = index.candidates(sketches, first, self.widths, repeats=self.repeats)
        hits = index.hits(sketches, first, repeats=self.repeats) if self.all_hits else None
        shared = None
        if self.features:
            shared = index.shared_features(sketches, first, candidates, repeats=self.repeats)
        return FoundReads(self, candidates, hits, shared)


@dataclass(frozen=True)
class FoundReads:
    """Reads and what was found of them."""

    sought: Sought
    candidates: Candidates
    hits: Hits | None
    shared: SharedFeatures | None = None


class Finder(Protocol):
    """Finds candidates; `release` gives the device's memory back.

    Attributes
    ----------
    reads_file : bool
        Whether the file of the database is read when reads come.
    """

    @property
    def reads_file(self) -> bool: ...

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[FoundReads]: ...

    def release(self) -> None: ...


class WholeFinder:
    """Finds candidates in a database that fits the device, where it stays.

    Parameters
    ----------
    engine : Engine
    features : FeatureSource
    targets : Targets
    groups : Groups
        Of the first query.
    """

    reads_file = False

    def __init__(self, engine: Engine, features: FeatureSource, targets: Targets, groups: Groups) -> None:
        self._engine, self._groups = engine, groups
        self._index = FeatureIndex(engine, features, targets, groups.taxa, groups.maxcand)

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[FoundReads]:
        """Yield what is found of each batch."""
        self._regroup(groups)
        for sought in batches:
            yield sought.look_in(self._index)

    def find_held(self, held: Iterable[_Held], groups: Groups) -> Iterator[FoundReads]:
        """Yield what is found of batches whose sketches are in the host's memory."""
        self._regroup(groups)
        for one in held:
            yield one.look_in(self._index, self._engine)

    def _regroup(self, groups: Groups) -> None:
        if groups != self._groups:
            self._index.regroup(groups.taxa, groups.maxcand)
            self._groups = groups

    def release(self) -> None:
        """Give the device's memory back."""
        self._index.release()


class PartFinder:
    """Finds candidates in a database of which the device holds some targets at a time.

    Sketches of many reads are kept in the host's memory, so that parts do not take turns too often.

    Parameters
    ----------
    engine : Engine
    targets : Targets
    parts : callable
        Makes the features of the parts; see `device.feature_parts`.
    """

    reads_file = False

    def __init__(self, engine: Engine, targets: Targets, parts: Callable[[], Iterable[Features]]) -> None:
        self._engine, self._targets, self._parts = engine, targets, parts

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[FoundReads]:
        """Yield what is found of each batch."""
        held: list[_Held] = []
        for sought in batches:
            held.append(_Held.of(self._engine, sought))
            if sum(one.rows.nbytes for one in held) >= HELD_BYTES:
                yield from self._found(held, groups)
                held = []
        if held:
            yield from self._found(held, groups)

    def _found(self, held: list[_Held], groups: Groups) -> Iterator[FoundReads]:
        found: list[list[FoundReads]] = []  # in each part, of each batch
        for part in self._parts():
            with FeatureIndex(self._engine, part, self._targets, groups.taxa, groups.maxcand) as index:
                found.append([one.look_in(index, self._engine) for one in held])
        for one, parts in zip(held, zip(*found, strict=True), strict=True):
            candidates = merged([part.candidates for part in parts], groups.taxa, groups.maxcand)
            hits = [part.hits for part in parts if part.hits is not None]
            shared = _of_best(candidates, parts) if one.sought.features else None
            yield FoundReads(one.sought, candidates, Hits.beside(hits) if hits else None, shared)

    def release(self) -> None:
        """Do nothing, as no part stays on the device."""


class SoughtFinder:
    """Finds candidates in a database that stays in its file: only features are kept that reads have.

    Sketches of reads that may wait are kept in the host's memory, so that no part of the file is read too often. The
    features of few reads are sought in the file; for those of many the whole file goes through the device once, where a
    filter lets pass what they have.

    Parameters
    ----------
    engine : Engine
    store : PackedStore
        Of an open file.
    targets : Targets
    whole : callable, optional
        Brings all of the database to the device, when reads have had so many features that this would have taken less
        time; reads that come afterwards, in this query or another, are sought there.
    streamed : int
        Features of reads that the file goes through the device for at most; see `plan.streamed_features`. 0: it never
        does.
    """

    reads_file = True

    def __init__(
        self, engine: Engine, store: PackedStore, targets: Targets,
        whole: Callable[[Groups], WholeFinder] | None = None, streamed: int = 0,
    ) -> None:  # fmt: skip
        self._engine, self._store, self._targets, self._whole = engine, store, targets, whole
        self._streamed = streamed
        self._most = store.numbers.alive // READ_COST[engine.tuning.shape]
        self._sought = 0
        self._loaded: WholeFinder | None = None

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[FoundReads]:
        """Yield what is found of each batch."""
        coming, held = iter(batches), list[_Held]()
        while self._loaded is None and (sought := next(coming, None)) is not None:
            held.append(_Held.of(self._engine, sought))
            self._sought += held[-1].rows.size
            if self._whole is not None and self._sought > self._most:
                self._loaded = self._whole(groups)
            elif not sought.may_wait or self._is_full(held):
                yield from self._found(held, groups)
                held.clear()
        if self._loaded is not None:
            yield from self._loaded.find_held(held, groups)
            yield from self._loaded.find(coming, groups)
        elif held:
            yield from self._found(held, groups)

    def _is_full(self, held: list[_Held]) -> bool:
        """Whether no further batch is waited for: where the file is streamed, one as large as these may still fit."""
        size = sum(one.rows.size for one in held)
        return 4 * size >= SOUGHT_BYTES and size >= self._streamed // 2

    def _found(self, held: list[_Held], groups: Groups) -> Iterator[FoundReads]:
        size, half = sum(one.rows.size for one in held), len(held) // 2
        if not self._streamed or size <= self._most:
            yield from self._found_in_file(held, groups)
        elif size <= self._streamed and (index := self._passing(held, groups)) is not None:
            with index:
                for one in held:
                    yield one.look_in(index, self._engine)
        elif half:
            yield from self._found(held[:half], groups)
            yield from self._found(held[half:], groups)
        else:
            yield from self._found_in_file(held, groups)

    def _passing(self, held: list[_Held], groups: Groups) -> FeatureIndex | None:
        """An index of what passes a filter of the features that reads have; None if there is no room for it."""
        wanted = FeatureFilter(self._engine, [one.rows for one in held], self._store.numbers)
        try:
            return FeatureIndex(self._engine, self._store, self._targets, groups.taxa, groups.maxcand, wanted)
        except FullError:
            return None
        finally:
            wanted.release()

    def _found_in_file(self, held: list[_Held], groups: Groups) -> Iterator[FoundReads]:
        features = self._store.sought(sought_keys([one.rows for one in held]))
        with FeatureIndex(self._engine, features, self._targets, groups.taxa, groups.maxcand) as index:
            for one in held:
                yield one.look_in(index, self._engine)

    def release(self) -> None:
        """Give the device's memory back."""
        if self._loaded is not None:
            self._loaded.release()


def sought_keys(rows: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    """Return the keys of the features of some sketches, ascending, each once."""
    return _distinct(np.concatenate([mix(_distinct(each.reshape(-1).copy(), NO_FEATURE)) for each in rows]))


def _distinct(numbers: NDArray[np.uint32], left_out: int | None = None) -> NDArray[np.uint32]:
    """Sort numbers in their place, and return them, each once, but for the largest one if it is left out."""
    numbers.sort()
    if left_out is not None:
        numbers = numbers[: np.searchsorted(numbers, np.uint32(left_out))]
    new = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
    return numbers[new]


def _of_best(candidates: Candidates, parts: Sequence[FoundReads]) -> SharedFeatures:
    """The features that reads share with the best of all candidates, from the part of the database that has it."""
    best = candidates.targets[:, 0]
    found = SharedFeatures.none(len(best))
    for part in parts:
        if part.shared is not None:
            same = (part.candidates.targets[:, 0] == best) & (best != NO_TARGET)
            found = found.added(part.shared.only(same))
    return found


@dataclass(frozen=True)
class _Held:
    """Reads whose sketches are in the host's memory."""

    sought: Sought
    rows: NDArray[np.uint32]

    @classmethod
    def of(cls, engine: Engine, sought: Sought) -> _Held:
        """Copy the sketches, which are valid only until the next batch is asked for."""
        batch = sought.batch
        size, begin = batch.sketches.size, int(batch.first[0])
        rows = engine.download(batch.sketches.features, (int(batch.first[-1]) - begin) * size, begin * size)
        batch = replace(batch, first=batch.first - batch.first[0])
        return cls(replace(sought, batch=batch), rows.reshape(-1, size))

    def look_in(self, index: FeatureIndex, engine: Engine) -> FoundReads:
        """Find what an index has of the reads; their sketches are on the device as long as that takes."""
        rows = self.rows
        features = engine.upload(rows) if len(rows) else engine.empty((1, rows.shape[1]), np.uint32)
        batch = replace(self.sought.batch, sketches=Sketches(features, len(rows)))
        found = replace(self.sought, batch=batch).look_in(index)
        features.release()
        return replace(found, sought=self.sought)
