"""Candidates of reads, batch after batch, in a database that fits the device or in its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidate_merging import merged_candidates
from oclgenomics.classify.candidates import Candidates
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.feature_parts import features_of
from oclgenomics.classify.located_hits import LocatedHits
from oclgenomics.classify.reading import SketchedReads
from oclgenomics.runtime import Engine

__all__ = ["Finder", "Groups", "PartFinder", "Sought", "WholeFinder"]

HELD_BYTES = 256 << 20  # of sketches that one part after the other is searched for


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
    located : LocatedHits or None
        All windows that the reads hit, for those who ask.
    """

    batch: SketchedReads
    widths: NDArray[np.uint32]
    located: LocatedHits | None = None


class Finder(Protocol):
    """Finds candidates; `release` gives the device's memory back."""

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[tuple[Sought, Candidates]]: ...

    def release(self) -> None: ...


class WholeFinder:
    """Finds candidates in a database that fits the device, where it stays.

    Parameters
    ----------
    engine : Engine
    database : Database
    groups : Groups
        Of the first query.
    """

    def __init__(self, engine: Engine, database: Database, groups: Groups) -> None:
        self._targets, self._groups = database.targets, groups
        self._index = FeatureIndex(engine, database.features, database.targets, groups.taxa, groups.maxcand)

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[tuple[Sought, Candidates]]:
        """Yield the candidates of each batch."""
        if groups != self._groups:
            self._index.regroup(self._targets, groups.taxa, groups.maxcand)
            self._groups = groups
        for sought in batches:
            yield sought, self._index.candidates(sought.batch.sketches, sought.batch.first, sought.widths)

    def release(self) -> None:
        """Give the device's memory back."""
        self._index.release()


class PartFinder:
    """Finds candidates in a database of which the device holds one range of targets at a time.

    Sketches of many reads are kept in the host's memory, so that parts do not take turns too often.

    Parameters
    ----------
    engine : Engine
    database : Database
    ranges : list of (begin, end)
        See `feature_parts.target_ranges`.
    """

    def __init__(self, engine: Engine, database: Database, ranges: list[tuple[int, int]]) -> None:
        self._engine, self._database = engine, database
        self._parts = [features_of(database.features, database.targets, *each) for each in ranges]

    def find(self, batches: Iterable[Sought], groups: Groups) -> Iterator[tuple[Sought, Candidates]]:
        """Yield the candidates of each batch."""
        held: list[_Held] = []
        for sought in batches:
            held.append(_Held.of(self._engine, sought))
            if sum(one.rows.nbytes for one in held) >= HELD_BYTES:
                yield from self._found(held, groups)
                held = []
        yield from self._found(held, groups)

    def _found(self, held: list[_Held], groups: Groups) -> Iterator[tuple[Sought, Candidates]]:
        found: list[Candidates] = []
        for part in self._parts if held else []:
            with FeatureIndex(self._engine, part, self._database.targets, groups.taxa, groups.maxcand) as index:
                these = [one.candidates(self._engine, index) for one in held]
            found = these if not found else [
                merged_candidates(one, other, groups.taxa, groups.maxcand)
                for one, other in zip(found, these, strict=True)
            ]  # fmt: skip
        for one, candidates in zip(held, found, strict=True):
            yield one.sought, candidates

    def release(self) -> None:
        """Do nothing, as no part stays on the device."""


@dataclass(frozen=True)
class _Held:
    """Reads whose sketches are in the host's memory."""

    sought: Sought
    rows: NDArray[np.uint32]

    @classmethod
    def of(cls, engine: Engine, sought: Sought) -> _Held:
        batch = sought.batch
        size, begin = batch.sketches.size, int(batch.first[0])
        rows = engine.download(batch.sketches.features, (int(batch.first[-1]) - begin) * size, begin * size)
        texts = tuple(text.copy() for text in batch.texts)
        batch = replace(batch, first=batch.first - batch.first[0], texts=texts)
        return cls(replace(sought, batch=batch), rows.reshape(-1, size))

    def candidates(self, engine: Engine, index: FeatureIndex) -> Candidates:
        rows, batch = self.rows, self.sought.batch
        features = engine.upload(rows) if len(rows) else engine.empty((1, rows.shape[1]), np.uint32)
        return index.candidates(Sketches(features, len(rows)), batch.first, self.sought.widths)
