"""Prefix sums and prefix maxima on the device, whole or by segments."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from oclgenomics.primitives.keys import CPU_SPANS, GROUPS, scan_lanes, spans
from oclgenomics.runtime import DeviceArray, Engine

TYPES = {"uint32": "uint", "uint64": "ulong"}
PER = 4  # items that a work-item loads at once; 32 bytes of a tile in all


def scan(
    engine: Engine,
    source: DeviceArray,
    *,
    size: int | None = None,
    heads: DeviceArray | None = None,
    maximum: bool = False,
    inclusive: bool = False,
    out: DeviceArray | None = None,
) -> DeviceArray:
    """Scan an array on the device.

    Parameters
    ----------
    engine : Engine
    source : DeviceArray, uint32 or uint64
    size : int, optional
        Number of items to scan, from the first on; all if not given.
    heads : DeviceArray, uint8, optional
        Not 0 where a segment starts; the scan starts again there.
    maximum : bool
        Running maximum; else running sum, which wraps.
    inclusive : bool
        The item itself counts; else only the items before it do (0 at the start).
    out : DeviceArray, optional
        Of the same dtype; may be `source` itself. A new array if not given.

    Returns
    -------
    DeviceArray
        `out`, the first `size` items of which are set.

    Raises
    ------
    ValueError
        An array of another dtype, or shorter than `size`.
    """
    size = source.size if size is None else size
    out = engine.empty(size, source.dtype) if out is None else out
    _check(source, source.dtype, size)
    _check(out, source.dtype, size)
    if heads is not None:
        _check(heads, np.uint8, size)
    if not size:
        return out
    cpu = engine.tuning.cpu
    units = max(1, 8 // source.dtype.itemsize)
    lanes, root = (1, 1) if cpu else scan_lanes(engine)
    groups, span = spans(size, 1 if cpu else lanes * units * PER, CPU_SPANS if cpu else GROUPS)
    defines: dict[str, int | str] = {
        "TYPE": TYPES[source.dtype.name], "MAXIMUM": maximum, "SEGMENTED": heads is not None, "CPU": cpu,
        "LANES": lanes, "ROOT": root, "UNITS": units,
    }  # fmt: skip
    totals, flags = engine.empty(groups, source.dtype), engine.empty(groups, np.uint32)
    shape = (groups * lanes,), (lanes,)
    common = {"source": source, "heads": heads, "size": size, "span": span, "totals": totals, "flags": flags}
    engine.launch(engine.kernel("primitives/scan.cl", "reduce_spans", **defines), *shape, **common)
    scan_spans = engine.kernel("primitives/scan.cl", "scan_spans", **defines)
    engine.launch(scan_spans, *shape, **common, inclusive=inclusive, out=out)
    return out


def _check(array: DeviceArray, dtype: DTypeLike, size: int) -> None:
    if array.dtype != dtype or array.dtype.name not in (*TYPES, "uint8") or not 0 <= size <= array.size:
        raise ValueError(f"scan of {size} items of {dtype}: {array} does not suit")
