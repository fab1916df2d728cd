"""Pairs of keys and windows on the device, sorted, and turned into lists of windows: one for each feature.

A pair is the number key * 2^32 + window, so a sort of pairs brings each feature's windows together. MetaCache-GPU
inserts them into a hash table instead. Sorting reads and writes memory in streams where a table is met at random, it
has no load factor, no probing and nothing that chosen k-mers could flood; and which locations a feature keeps does not
depend on the order in which work-items come. On one core of a CPU, sorting 5.1 million pairs and making lists of them
took 0.3 s, and insertion 0.55 to 0.88 s; here it takes 0.1 s on two cores.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.database.database import Features
from oclgenomics.classify.hashes import NO_FEATURE, mix
from oclgenomics.classify.options import MAX_LOCATIONS
from oclgenomics.primitives import scan, sort
from oclgenomics.primitives.shapes import CPU_SPANS, scan_lanes, spans
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["PADDING", "count_type", "features_of_pairs", "upload_pairs"]

PADDING = int(mix(np.array([NO_FEATURE], np.uint32))[0])  # key of the places behind the last feature of a window
EACH = 8  # pairs of a work-item in a tile on GPUs


def count_type(max_locations: int) -> type[Any]:
    """Return the type that counts of so many locations have."""
    if not 1 <= max_locations <= MAX_LOCATIONS:
        raise ValueError(f"{max_locations} locations of a feature: 1 to {MAX_LOCATIONS} are possible")
    return np.uint8 if max_locations < 1 << 8 else np.uint16


def features_of_pairs(engine: Engine, pairs: DeviceArray, size: int, max_locations: int) -> Features:
    """Sort pairs, and return the features that they are of, with the first windows of each.

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
        return Features(np.empty(0, np.uint32), np.empty(0, kind), np.empty(0, np.uint32))
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
    defines: dict[str, int | str] = {
        "COUNT": "uchar" if kind is np.uint8 else "ushort",
        "CPU": cpu,
        "LANES": lanes,
        "ROOT": root,
        "EACH": EACH,
    }
    totals = engine.empty(tiles + 1, np.uint64)
    engine.fill(totals, 0)
    shape = (tiles * lanes,), (lanes,)
    common = {"pairs": ordered, "size": size, "tile": tile, "most": max_locations, "left_out": PADDING}
    source = "classify/clip_runs.cl"
    engine.launch(engine.kernel(source, "count_runs", **defines), *shape, **common, totals=totals)
    scan(engine, totals, out=totals)
    total = int(engine.download(totals, 1, tiles)[0])
    runs, kept = total >> 32, total & 0xFFFFFFFF
    with ExitStack() as made:
        sizes = (runs, np.uint32), (runs, kind), (kept, np.uint32)
        arrays = [_HostArray(engine, size, dtype, made) for size, dtype in sizes]
        if runs:
            keys, counts, locations = (array.device for array in arrays)
            write = engine.kernel(source, "write_runs", **defines)
            engine.launch(write, *shape, **common, places=totals, keys=keys, counts=counts, locations=locations)
        return Features(*(array.fetch() for array in arrays))


class _HostArray:
    """An array that the device writes and the host keeps: the same memory where the two share it."""

    def __init__(self, engine: Engine, size: int, dtype: type[np.generic], made: ExitStack) -> None:
        self._engine = engine
        self._shared = made.enter_context(engine.shared(size, dtype)) if engine.tuning.shares_memory else None
        self.device = engine.empty(size, dtype) if self._shared is None else self._shared.device

    def fetch(self) -> NDArray[Any]:
        if self._shared is None:
            return self._engine.download(self.device)
        self._shared.wait()
        return self._shared.host


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
