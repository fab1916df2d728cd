"""Candidates of reads, batch after batch, in a database that fits the device or in its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.candidates import Candidates, merged
from oclgenomics.classify.database.database import Database, Features
from oclgenomics.classify.device.feature_index import FeatureIndex
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.hits import Hits
from oclgenomics.classify.reading import SketchedReads
from oclgenomics.runtime import Engine

__all__ = ["Finder", "Found", "Groups", "PartFinder", "Sought", "WholeFinder"]

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
    """

    batch: SketchedReads
    widths: NDArray[np.uint32]


@dataclass(frozen=True)
class Found:
    """Reads and what was found of them.

    Attributes
    ----------
    sought : Sought
    candidates : Candidates
    hits : Hits or None
        All windows that the reads hit, for those who ask.
    """

    sought: Sought
    candidates: Candidates
    hits: Hits | None


class Finder(Protocol):
    """Finds candidates, with `all_hits` all windows that reads hit, too; `release` gives the device's memory back."""

    def find(self, batches: Iterable[Sought], groups: Groups, *, all_hits: bool) -> Iterator[Found]: ...

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

    def find(self, batches: Iterable[Sought], groups: Groups, *, all_hits: bool) -> Iterator[Found]:
        """Yield what is found of each batch."""
        if groups != self._groups:
            self._index.regroup(self._targets, groups.taxa, groups.maxcand)
            self._groups = groups
        for sought in batches:
            sketches, first = sought.batch.sketches, sought.batch.first
            candidates = self._index.candidates(sketches, first, sought.widths)
            yield Found(sought, candidates, self._index.hits(sketches, first) if all_hits else None)

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
    parts : list of Features
        See `device.feature_parts`.
    """

    def __init__(self, engine: Engine, database: Database, parts: list[Features]) -> None:
        self._engine, self._targets, self._parts = engine, database.targets, parts

    def find(self, batches: Iterable[Sought], groups: Groups, *, all_hits: bool) -> Iterator[Found]:
        """Yield what is found of each batch."""
        held: list[_Held] = []
        for sought in batches:
            held.append(_Held.of(self._engine, sought))
            if sum(one.rows.nbytes for one in held) >= HELD_BYTES:
                yield from self._found(held, groups, all_hits=all_hits)
                held = []
        yield from self._found(held, groups, all_hits=all_hits)

    def _found(self, held: list[_Held], groups: Groups, *, all_hits: bool) -> Iterator[Found]:
        found: list[list[Found]] = [[] for _ in held]
        for part in self._parts if held else []:
            with FeatureIndex(self._engine, part, self._targets, groups.taxa, groups.maxcand) as index:
                for one, here in zip(held, found, strict=True):
                    here.append(one.found(self._engine, index, all_hits=all_hits))
        for one, here in zip(held, found, strict=True):
            candidates = merged([each.candidates for each in here], groups.taxa, groups.maxcand)
            hits = [each.hits for each in here if each.hits is not None]
            yield Found(one.sought, candidates, Hits.merged(hits) if all_hits else None)

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

    def found(self, engine: Engine, index: FeatureIndex, *, all_hits: bool) -> Found:
        """Find what a part has of them."""
        rows, batch = self.rows, self.sought.batch
        features = engine.upload(rows) if len(rows) else engine.empty((1, rows.shape[1]), np.uint32)
        sketches = Sketches(features, len(rows))
        candidates = index.candidates(sketches, batch.first, self.sought.widths)
        return Found(self.sought, candidates, index.hits(sketches, batch.first) if all_hits else None)
