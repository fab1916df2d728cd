"""Windows that reads hit, for reports that list them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.targets import Targets

__all__ = ["Hits"]


@dataclass(frozen=True)
class Hits:
    """The windows that each read hits, in the order of targets and windows.

    Attributes
    ----------
    offsets : ndarray, int64 (reads + 1,)
        Windows that the reads before each one hit, and all.
    targets, windows : ndarray, uint32 (hit windows,)
        Windows are counted from 0 in each target.
    hits : ndarray, uint32 (hit windows,)
        Features of the read that are in the window, each as often as the read has it.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.uint32]
    windows: NDArray[np.uint32]
    hits: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of_locations(cls, located: NDArray[np.uint32], locations: NDArray[np.uint32], targets: Targets) -> Hits:
        """Count the equal ones of sorted locations.

        Parameters
        ----------
        located : ndarray, uint32 (reads,)
            Locations of each read.
        locations : ndarray, uint32
            Those of all reads, as windows through all targets; those of a read ascend.
        targets : Targets
        """
        ends = np.append(np.int64(0), np.cumsum(located, dtype=np.int64))
        differs = np.ones(len(locations) + 1, np.bool_)
        differs[1:-1] = locations[1:] != locations[:-1]
        differs[ends] = True
        begins = np.flatnonzero(differs)
        places = locations[begins[:-1]]
        first = targets.first_window
        hit = np.searchsorted(first, places, "right") - 1
        windows = places - first[hit]
        hits = np.diff(begins).astype(np.uint32)
        return cls(np.searchsorted(begins, ends), hit.astype(np.uint32), windows.astype(np.uint32), hits)

    @classmethod
    def beside(cls, parts: Sequence[Hits]) -> Hits:
        """Put together the hits of the same reads in parts of a database, whose targets follow each other."""
        counts = np.stack([part.offsets[1:] - part.offsets[:-1] for part in parts])
        order = np.argsort(np.concatenate([np.repeat(np.arange(len(row)), row) for row in counts]), kind="stable")
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("targets", "windows", "hits"))
        offsets = np.append(np.int64(0), np.cumsum(counts.sum(axis=0)))
        return cls(offsets, *(column[order] for column in columns))

    @classmethod
    def joined(cls, parts: Sequence[Hits]) -> Hits:
        """Join the hits of several batches of reads, in their order."""
        before = np.cumsum([0, *(part.offsets[-1] for part in parts)], dtype=np.int64)
        offsets = [part.offsets[1:] + begin for part, begin in zip(parts, before[:-1], strict=True)]
        columns = ([getattr(part, name) for part in parts] for name in ("targets", "windows", "hits"))
        empty = np.zeros(0, np.uint32)
        return cls(np.concatenate([before[:1], *offsets]), *(np.concatenate([empty, *column]) for column in columns))
