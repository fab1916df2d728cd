"""Sketches to features with their locations, as many at a time as memory takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.classify.building.feature_ranges import FeatureList, cut_ranges
from oclgenomics.classify.database.database import Features
from oclgenomics.classify.device.feature_runs import count_type, features_of_pairs, upload_pairs
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.options import BuildOptions
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["Indexer"]


class Indexer:
    """Gathers pairs of keys and windows on the device, and sorts them when memory is full or all are there.

    What was sorted is a run: features, each with its first locations. Windows of a run come behind those of the runs
    before, so runs are merged by ranges of keys: their locations are joined in the order of the runs, sorted by key
    and clipped again. The result depends neither on how many runs there were nor on the device.

    Parameters
    ----------
    engine : Engine
    options : BuildOptions
    capacity : int
        Pairs that are sorted at a time.
    before : Features, optional
        A run that comes before all others. Its features without locations keep none.
    windows : int
        Windows of that run, which are not sketched any more.

    Attributes
    ----------
    windows : int
        Windows so far.
    """

    def __init__(
        self, engine: Engine, options: BuildOptions, capacity: int, before: Features | None = None, windows: int = 0
    ) -> None:
        self._engine, self._options = engine, options
        self._most = options.max_locations
        self._runs = [] if before is None else [before]
        self._capacity, self._size = capacity, 0
        self._pairs: DeviceArray | None = None
        self._empty = count_type(self._most)
        self.windows = windows

    def add(self, sketches: Sketches) -> None:
        """Add the windows that follow those that came so far."""
        kernel = self._engine.kernel("classify/make_pairs.cl", "make_pairs", SIZE=sketches.size)
        done, size = 0, sketches.windows * sketches.size
        while done < size:
            if self._size == self._capacity:
                self._end_run()
            if self._pairs is None:
                self._pairs = self._engine.empty(self._capacity, np.uint64)
            count = min(size - done, self._capacity - self._size)
            place = {"first": done, "size": count, "window": self.windows, "to": self._size}
            self._engine.launch_items(kernel, count, features=sketches.features, **place, pairs=self._pairs)
            self._size += count
            done += count
        self.windows += sketches.windows

    def finish(self) -> Features:
        """Return the features of all windows, before any are removed."""
        if self._size or not self._runs:
            self._end_run()
        self._pairs = None
        return self._runs[0] if len(self._runs) == 1 else self._merged()

    def _end_run(self) -> None:
        pairs, self._pairs = self._pairs, None  # a sort may return other memory than it was given
        if pairs is None:
            pairs = self._engine.empty(1, np.uint64)
        self._runs.append(features_of_pairs(self._engine, pairs, self._size, self._most))
        self._size = 0

    def _merged(self) -> Features:
        lists = [FeatureList(run) for run in self._runs]
        merged = _Growing(self._runs, self._empty)
        for low, high in cut_ranges(lists, self._capacity):
            parts = [each.cut(low, high) for each in lists]
            pairs = self._engine.empty(max(1, sum(len(part.locations) for part in parts)), np.uint64)
            size = 0
            for part in parts:
                size += upload_pairs(self._engine, part, pairs, size)
            merged.append(_emptied(features_of_pairs(self._engine, pairs, size, self._most), parts[0]))
        return merged.features()


def _emptied(features: Features, before: Features) -> Features:
    """Take their locations from the features that had none before, and put back those that are not there."""
    dead = before.keys[before.counts == 0]
    if not len(dead):
        return features
    alive = ~np.isin(features.keys, dead, assume_unique=True)
    keys = np.concatenate([features.keys[alive], dead])
    counts: Any = np.concatenate([features.counts[alive], np.zeros(len(dead), features.counts.dtype)])
    order = np.argsort(keys, kind="stable")
    return Features(keys[order], counts[order], features.locations[np.repeat(alive, features.counts)])


class _Growing:
    """Features that are put together of parts, in memory for all that the runs have; what is not used costs nothing."""

    def __init__(self, runs: list[Features], kind: type[Any]) -> None:
        features, locations = sum(map(len, runs)), sum(len(run.locations) for run in runs)
        self._keys = np.empty(features, np.uint32)
        self._counts: Any = np.empty(features, kind)
        self._locations = np.empty(locations, np.uint32)
        self._features = self._located = 0

    def append(self, part: Features) -> None:
        features, located = self._features + len(part), self._located + len(part.locations)
        self._keys[self._features : features] = part.keys
        self._counts[self._features : features] = part.counts
        self._locations[self._located : located] = part.locations
        self._features, self._located = features, located

    def features(self) -> Features:
        size = self._features
        return Features(self._keys[:size], self._counts[:size], self._locations[: self._located])
