"""Merging sorted runs on the device."""

from __future__ import annotations

from collections.abc import Sequence

from oclgenomics.primitives.keys import Items, key_shape
from oclgenomics.primitives.sorting import Sorted
from oclgenomics.runtime import DeviceArray, Engine

CPU_EACH, GPU_EACH = 4096, 16  # keys of the output per work-item


def merge(engine: Engine, keys: DeviceArray, ends: Sequence[int], values: DeviceArray | None = None) -> Sorted:
    """Merge adjacent runs, each in ascending order; equal keys keep their order.

    Parameters
    ----------
    engine : Engine
    keys : DeviceArray, uint32 or uint64, (n,) or (words, n)
        Its content is overwritten. Several words make one key, the least significant word first.
    ends : sequence of int
        Where each run ends; ascending. Keys behind the last run's end are not touched.
    values : DeviceArray of unsigned integers, (n,), optional
        Its content is overwritten.

    Returns
    -------
    Sorted
        Each array is either the one given or a new one.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, or ends that descend or lie outside the keys.
    """
    bounds = [0, *ends]
    shape = key_shape("merge", keys, values, bounds[-1])
    if sorted(bounds) != bounds:
        raise ValueError(f"merge: the runs' ends {list(ends)} are not in ascending order")
    items = Items(keys, values)
    spare = items.like(engine)
    each, lanes = (CPU_EACH, 1) if engine.tuning.cpu else (GPU_EACH, None)  # the tuning's
    kernel = engine.kernel("primitives/merge.cl", "merge_runs", **shape.defines, **items.defines, EACH=each)
    while len(bounds) > 2:
        if len(bounds) % 2 == 0:  # the last run has no partner: it is merged with nothing
            bounds.append(bounds[-1])
        for begin, middle, end in zip(bounds[:-2:2], bounds[1:-1:2], bounds[2::2], strict=True):
            runs = {"stride": shape.stride, "begin": begin, "middle": middle, "end": end}
            engine.launch_items(kernel, -(-(end - begin) // each), lanes=lanes, **runs, **items.moved(spare))
        items, spare = spare, items
        bounds = bounds[::2]
    return Sorted(items.keys, items.values)
