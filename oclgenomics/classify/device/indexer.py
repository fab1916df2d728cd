"""Sketches to features with their locations, in batches that fit in memory.

A pair of a key and a window is the number key * 2^32 + window, so a sort of pairs brings each feature's windows
together. MetaCache-GPU inserts them into a hash table instead. Sorting reads and writes memory in streams where a table
is met at random, it has no load factor, no probing and nothing that chosen k-mers could flood; and which locations a
feature keeps does not depend on the order in which work-items come. On one core of a CPU, sorting 5.1 million pairs and
making lists of them took 0.3 s, and insertion 0.55 to 0.88 s; here it takes 0.1 s on two cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from oclgenomics.classify.database.features import (
    NO_FEATURE,
    FeatureList,
    Features,
    GrowingFeatures,
    count_type,
    cut_ranges,
    mix,
)
from oclgenomics.classify.device.held_features import HeldFeatures
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.classify.options import BuildOptions
from oclgenomics.primitives import scan, sort
from oclgenomics.primitives.keys import CPU_SPANS, scan_lanes, spans
from oclgenomics.runtime import DeviceArray, Engine, HostArray

PADDING = int(mix(np.array([NO_FEATURE], np.uint32))[0])  # key of the places behind the last feature of a window
EACH = 8  # pairs of a work-item in a tile on GPUs


class Indexer:
    """Gathers pairs of keys and windows on the device, and sorts them when memory is full or all are there.

    What was sorted is a run: features, each with its first locations. Windows of a run come behind those of the runs
    before, so runs are merged by ranges of keys: their locations are joined in the order of the runs, sorted by key
    and clipped again. Each run holds up to `max_locations` locations of a feature, and those of one feature are sorted
    at once, so many runs are merged in several rounds. The result depends neither on how many runs there were nor on
    the device.

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
        self._kind = count_type(self._most)
        self.windows = windows

    def add(self, sketches: Sketches) -> None:
        """Add the windows that follow those that came so far."""
        kernel = self._engine.kernel("classify/make_pairs.cl", "make_pairs", SIZE=sketches.size)
        done, size = 0, sketches.windows * sketches.size
        while done < size:
            if self._size == self._capacity:
                self._end_run()
            if self._pairs is None:
                self._runs = [run.whole() for run in self._runs]  # pairs take the memory that runs were made in
                self._pairs = self._engine.empty(self._capacity, np.uint64)
            count = min(size - done, self._capacity - self._size)
            place = {"first": done, "size": count, "window": self.windows, "to": self._size}
            self._engine.launch_items(kernel, count, features=sketches.features, **place, pairs=self._pairs)
            self._size += count
            done += count
        self.windows += sketches.windows

    def finish(self) -> Features:
        """Return the features of all windows, before any are removed; the device still holds those of a single run."""
        if self._size or not self._runs:
            self._end_run()
        self._pairs = None
        if len(self._runs) == 1:
            return self._runs[0]
        self._runs = [run.whole() for run in self._runs]
        return self._merged()

    def _end_run(self) -> None:
        pairs, self._pairs = self._pairs, None  # a sort may return other memory than it was given
        if pairs is None:
            pairs = self._engine.empty(1, np.uint64)
        self._runs.append(features_of_pairs(self._engine, pairs, self._size, self._most))
        self._size = 0

    def _merged(self) -> Features:
        """Merge all runs, in rounds of as many as have room for all locations that they may have of one feature."""
        together = max(self._capacity // self._most, 2)
        while len(self._runs) > 1:
            begins = range(0, len(self._runs), together)
            self._runs = [self._merged_runs(begin, begin + together) for begin in begins]
        return self._runs[0]

    def _merged_runs(self, begin: int, end: int) -> Features:
        """Merge some runs and drop them; the first of all runs is the one whose features may have no locations."""
        runs = self._runs[begin:end]
        self._runs[begin:end] = [Features.none(self._kind)] * len(runs)
        if len(runs) == 1:
            return runs[0]
        lists = [FeatureList(run) for run in runs]
        located = sum(len(run.locations) for run in runs)
        merged = GrowingFeatures(sum(map(len, runs)), located, self._kind)
        for low, high in cut_ranges(lists, self._capacity):
            parts = [each.cut(low, high) for each in lists]
            pairs = self._engine.empty(max(1, sum(len(part.locations) for part in parts)), np.uint64)
            size = 0
            for part in parts:
                size += upload_pairs(self._engine, part, pairs, size)
            found = features_of_pairs(self._engine, pairs, size, self._most).whole()
            merged.append(_emptied(found, parts[0]))
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


def features_of_pairs(engine: Engine, pairs: DeviceArray, size: int, max_locations: int) -> Features:
    """Sort pairs, and return the features that they are of, with the first windows of each. The device holds them.

    Parameters
    ----------
    engine : Engine
    pairs : DeviceArray, uint64
        Pairs of one key come in ascending order of their windows. Its memory may be given back.
    size : int
        Pairs to use, from the first on. Those of the key `PADDING` are left out.
    max_locations : int
        Windows of a feature to keep at most.
    """
    kind = count_type(max_locations)
    if not size:
        return Features.none(kind)
    # Windows ascend already; NumPy's sort, which devices use that share the host's memory, is for whole numbers.
    first_bit = 0 if engine.tuning.shares_memory else 32
    ordered = sort(engine, pairs, size=size, first_bit=first_bit).keys
    if ordered is not pairs:
        pairs.release()
    return _clipped(engine, ordered, size, max_locations, kind)


def _clipped(engine: Engine, ordered: DeviceArray, size: int, max_locations: int, kind: type[Any]) -> Features:
    cpu = engine.tuning.cpu
    lanes, root = (1, 1) if cpu else scan_lanes(engine)
    tile = lanes * EACH
    tiles, tile = spans(size, 1, CPU_SPANS) if cpu else (-(-size // tile), tile)
    count = "uchar" if kind is np.uint8 else "ushort"
    defines: dict[str, int | str] = {"COUNT": count, "CPU": cpu, "LANES": lanes, "ROOT": root, "EACH": EACH}
    totals = engine.empty(tiles + 1, np.uint64)
    engine.fill(totals, 0)
    shape = (tiles * lanes,), (lanes,)
    common = {"pairs": ordered, "size": size, "tile": tile, "most": max_locations, "left_out": PADDING}
    source = "classify/clip_runs.cl"
    engine.launch(engine.kernel(source, "count_runs", **defines), *shape, **common, totals=totals)
    scan(engine, totals, out=totals)
    total = int(engine.download(totals, 1, tiles)[0])
    runs, kept = total >> 32, total & 0xFFFFFFFF
    if not runs:
        return Features.none(kind)
    sizes = (runs, np.uint32), (runs, kind), (kept, np.uint32)
    made = HeldFeatures(engine, *(HostArray(engine, size, dtype) for size, dtype in sizes))
    write = engine.kernel(source, "write_runs", **defines)
    engine.launch(write, *shape, **common, places=totals, **made.arrays)
    return made


def upload_pairs(engine: Engine, features: Features, pairs: DeviceArray, to: int) -> int:
    """Write the pairs of features to pairs[to] and on, and return how many they are."""
    size = len(features.locations)
    if size:
        starts = np.zeros(len(features) + 1, np.uint32)
        np.cumsum(features.counts, dtype=np.uint32, out=starts[1:])
        arrays: dict[str, Any] = {
            name: engine.upload(array)
            for name, array in (("keys", features.keys), ("starts", starts), ("locations", features.locations))
        }
        kernel = engine.kernel("classify/expand_runs.cl", "expand_runs")
        engine.launch_items(kernel, len(features), **arrays, size=len(features), to=to, pairs=pairs)
    return size
