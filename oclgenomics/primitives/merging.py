"""Merging sorted runs on the device."""

from __future__ import annotations

from collections.abc import Sequence

from oclgenomics.primitives.keys import TYPES, KeyShape, key_shape
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
    merging = _Merging(engine, shape, values)
    spare = engine.empty(keys.shape, keys.dtype)
    spare_values = None if values is None else engine.empty(values.shape, values.dtype)
    while len(bounds) > 2:
        for begin, middle, end in zip(bounds[:-2:2], bounds[1:-1:2], bounds[2::2], strict=True):
            merging.run(begin, middle, end, keys, spare, values, spare_values)
        if len(bounds) % 2 == 0:  # the last run has no partner
            merging.run(bounds[-2], bounds[-1], bounds[-1], keys, spare, values, spare_values)
            bounds.append(bounds[-1])
        keys, spare, values, spare_values = spare, keys, spare_values, values
        bounds = bounds[::2]
    return Sorted(keys, values)


class _Merging:
    """The kernel that all merges of one call share."""

    def __init__(self, engine: Engine, shape: KeyShape, values: DeviceArray | None) -> None:
        cpu = engine.tuning.cpu
        self._engine, self._stride = engine, shape.stride
        self._each = CPU_EACH if cpu else GPU_EACH
        self._lanes = 1 if cpu else None  # the tuning's
        defines: dict[str, int | str] = {**shape.defines, "EACH": self._each}
        if values is not None:
            defines["VALUE"] = TYPES[values.dtype.name]
        self._kernel = engine.kernel("primitives/merge.cl", "merge_runs", **defines)

    def run(
        self,
        begin: int,
        middle: int,
        end: int,
        keys: DeviceArray,
        out: DeviceArray,
        values: DeviceArray | None,
        values_out: DeviceArray | None,
    ) -> None:
        """Merge keys begin .. middle - 1 and middle .. end - 1, with their values."""
        items = -(-(end - begin) // self._each)
        bounds = {"stride": self._stride, "begin": begin, "middle": middle, "end": end}
        moved = {} if values is None else {"values": values, "values_out": values_out}
        self._engine.launch_items(self._kernel, items, lanes=self._lanes, keys=keys, **bounds, out=out, **moved)
