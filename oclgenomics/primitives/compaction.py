"""Stream compaction: the items whose flag is set; and run-length encoding of sorted keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.primitives.keys import CPU_SPANS, MAX_ITEMS, TYPES, key_shape, scan_lanes, spans
from oclgenomics.primitives.scan import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel

EACH = 8  # items of a work-item in a tile on GPUs
SOURCE = "primitives/compact.cl"


@dataclass(frozen=True)
class Runs:
    """Distinct keys in their order, and how often each occurs.

    Attributes
    ----------
    keys : DeviceArray, (words, n) or (n,)
    counts : DeviceArray, uint32 or uint64 (n,)
    size : int
        Number of runs, which is the length of the arrays.
    """

    keys: DeviceArray
    counts: DeviceArray
    size: int


def compact(engine: Engine, items: DeviceArray, flags: DeviceArray, *, size: int | None = None) -> DeviceArray:
    """Return the items whose flag is not 0, in their order.

    Parameters
    ----------
    engine : Engine
    items : DeviceArray of unsigned integers, (n,) or (channels, n)
    flags : DeviceArray, uint8 (n,)
    size : int, optional
        Number of items to use, from the first on; all if not given.

    Returns
    -------
    DeviceArray
        A new array of the items that stay, with the same number of channels.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, or too many items.
    """
    words, stride = items.shape if len(items.shape) == 2 else (1, items.size)
    size = stride if size is None else size
    if items.dtype.name not in TYPES or flags.dtype != np.uint8 or not 0 <= size <= min(stride, flags.size, MAX_ITEMS):
        raise ValueError(f"compaction of {size} items: {items} and {flags} do not suit")
    stay = _Staying(engine, items, words, stride, size, heads=False)
    return stay.move(flags, stay.count(flags), None, items.shape)


def run_lengths(
    engine: Engine,
    keys: DeviceArray,
    weights: DeviceArray | None = None,
    *,
    size: int | None = None,
    most: int = MAX_ITEMS,
) -> Runs:
    """Return the distinct keys of a sorted array with their numbers, or the sums of their weights.

    Parameters
    ----------
    engine : Engine
    keys : DeviceArray, uint32 or uint64, (n,) or (words, n)
        Equal keys have to be neighbours.
    weights : DeviceArray, uint32 (n,), optional
        What each key counts; 1 if not given.
    size : int, optional
        Number of keys to use, from the first on; all if not given.
    most : int
        Counts stop here. They are uint32, or uint64 where `most` does not fit.

    Raises
    ------
    ValueError
        Arrays of other types or shapes, or too many keys.
    """
    shape = key_shape("run lengths", keys, weights, size)
    if (weights is not None and weights.dtype != np.uint32) or not 1 <= most < 1 << 64:
        raise ValueError(f"run lengths up to {most}: {weights} does not suit")
    stay = _Staying(engine, keys, shape.words, shape.stride, shape.size, heads=True)
    runs = stay.count(None)
    starts = engine.empty(runs, np.uint32)
    found = stay.move(None, runs, starts, keys.shape)
    wide = most > MAX_ITEMS
    counts = engine.empty(runs, np.uint64 if wide else np.uint32)
    if not runs:
        return Runs(found, counts, 0)
    before, total = _prefix_sums(engine, weights, shape.size)
    kernel = engine.kernel(
        "primitives/run_sums.cl", "sum_runs", WEIGHTED=weights is not None, SUM="ulong" if wide else "uint"
    )
    weighed: dict[str, Any] = {"before": before, "all": total, "most": most}
    engine.launch_items(kernel, runs, starts=starts, runs=runs, size=shape.size, **weighed, sums=counts)
    return Runs(found, counts, runs)


class _Staying:
    """One compaction: what stays of each tile is counted, then moved."""

    def __init__(self, engine: Engine, items: DeviceArray, words: int, stride: int, size: int, *, heads: bool) -> None:
        cpu = engine.tuning.cpu
        self.engine, self.items = engine, items
        self.lanes, root = (1, 1) if cpu else scan_lanes(engine)
        tile = self.lanes * EACH
        self.tiles, self.tile = spans(size, 1, CPU_SPANS) if cpu else (-(-size // tile), tile)
        self.common = {"items": items, "stride": stride, "size": size, "tile": self.tile}
        self.defines: dict[str, int | str] = {
            "KEEP_HEADS": heads, "TYPE": TYPES[items.dtype.name], "WORDS": words, "CPU": cpu, "LANES": self.lanes,
            "ROOT": root, "EACH": EACH,
        }  # fmt: skip

    def kernel(self, name: str) -> Kernel:
        return self.engine.kernel(SOURCE, name, **self.defines)

    def count(self, flags: DeviceArray | None) -> int:
        """Count what stays; this waits for the device."""
        if not self.tiles:
            return 0
        self.counts = self.engine.empty(self.tiles + 1, np.uint32)
        self.engine.fill(self.counts, 0)
        shape = (self.tiles * self.lanes,), (self.lanes,)
        self.engine.launch(self.kernel("count_kept"), *shape, **self.common, flags=flags, counts=self.counts)
        scan(self.engine, self.counts, out=self.counts)
        return int(self.engine.download(self.counts, 1, self.tiles)[0])

    def move(
        self, flags: DeviceArray | None, kept: int, starts: DeviceArray | None, shape: tuple[int, ...]
    ) -> DeviceArray:
        """Move what stays to a new array."""
        out = self.engine.empty((*shape[:-1], kept), self.items.dtype)
        if kept:
            groups = (self.tiles * self.lanes,), (self.lanes,)
            to = {"places": self.counts, "out_stride": kept, "out": out, "starts": starts}
            self.engine.launch(self.kernel("move_kept"), *groups, **self.common, flags=flags, **to)
        return out


def _prefix_sums(engine: Engine, weights: DeviceArray | None, size: int) -> tuple[DeviceArray | None, int]:
    """Sums of the weights before each item, and of all."""
    if weights is None:
        return None, 0
    wide = engine.empty(size, np.uint64)
    widen = engine.kernel("primitives/run_sums.cl", "widen", WEIGHTED=True, SUM="uint")
    engine.launch_items(widen, size, weights=weights, size=size, wide=wide)
    last = int(engine.download(weights, 1, size - 1)[0])
    scan(engine, wide, out=wide)
    return wide, int(engine.download(wide, 1, size - 1)[0]) + last
