"""Tables of seeds on the device: made there, or brought there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.primitives import partition, scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.formats.panel_file import ready_table
from oclgenomics.signatures.panels.seeds import (
    MAX_HEAD_COST,
    ROW_WORDS,
    STEP,
    Seeds,
    SeedTable,
    choose_seeds,
    make_table,
)

SOURCE = "signatures/list_seeds.cl"
LISTED_BYTES = 16  # of a seed in a row: both numbers, and again while they are sorted
MAX_LISTED = (1 << 32) - 1
# Seeds in rows from which on the device makes a table sooner than the host, the time to load its kernels included. Two
# cores (Xeon) with Intel's runtime: as long as the host with half as many, 0.14 s of CPU time less with one and a
# half times as many, 0.46 s less with ten times. Not measured on a GPU.
DEVICE_LISTED = 1 << 20


@dataclass(frozen=True)
class DeviceTable:
    """A table of seeds on the device; see `SeedTable`.

    Attributes
    ----------
    head, mismatches : int
    pattern, offset : ndarray, uint32 (seeds,)
    unseeded : ndarray, int32
        On the host.
    listed : int
        Seeds in all rows.
    arrays : dict of str to DeviceArray
        `bits`, `first`, `lists` and `barred`, and `seeds`, uint32 (seeds, 2), their patterns and offsets. Empty if no
        pattern has seeds.
    """

    head: int
    mismatches: int
    pattern: NDArray[np.uint32]
    offset: NDArray[np.uint32]
    unseeded: NDArray[np.int32]
    listed: int
    arrays: dict[str, DeviceArray]

    @classmethod
    def upload(cls, engine: Engine, table: SeedTable) -> DeviceTable:
        """Bring a table to a device."""
        arrays: dict[str, DeviceArray] = {}
        if len(table.lists):
            arrays = {name: engine.upload(getattr(table, name)) for name in ("bits", "first", "lists", "barred")}
            arrays["seeds"] = _uploaded_seeds(engine, table.pattern, table.offset)
        host = table.pattern, table.offset, table.unseeded
        return cls(table.head, table.mismatches, *host, len(table.lists), arrays)

    @classmethod
    def of_patterns(cls, engine: Engine, patterns: DevicePatterns, mismatches: int, head: int) -> DeviceTable:
        """Return the table that is ready in the panel's file, or else make it where that is done sooner.

        Parameters
        ----------
        engine : Engine
        patterns : DevicePatterns
        mismatches : int
        head : int
            Letters of a head, as `choose_head` says.

        Raises
        ------
        InputError
            See `ready_table`.
        """
        known = patterns.patterns
        ready = ready_table(known, mismatches, head)
        if ready is not None:
            return cls.upload(engine, ready)
        seeds = choose_seeds(known, mismatches, head)
        if _suits_device(engine, seeds):
            return table_on_device(engine, patterns, mismatches, seeds)
        return cls.upload(engine, make_table(known, mismatches, head, seeds))


def _suits_device(engine: Engine, seeds: Seeds) -> bool:
    """Whether the device is likely to make a table sooner, and has room for it."""
    least = seeds.offset.size << seeds.head
    most = least * MAX_HEAD_COST
    if least < max(DEVICE_LISTED, 1) or most > MAX_LISTED:
        return False
    free = engine.budget - engine.memory.used
    return most * LISTED_BYTES <= free and 4 * most <= engine.max_allocation


def table_on_device(engine: Engine, patterns: DevicePatterns, mismatches: int, seeds: Seeds) -> DeviceTable:
    """Make the table of seeds; its arrays are those of `make_table`.

    Parameters
    ----------
    engine : Engine
    patterns : DevicePatterns
    mismatches : int
    seeds : Seeds
        At least one pattern's.
    """
    rows = 5**seeds.head
    pattern = np.repeat(seeds.pattern, (mismatches + 1) * STEP).astype(np.uint32)
    offset = seeds.offset.ravel().astype(np.uint32)
    size, on_device = len(pattern), _uploaded_seeds(engine, pattern, offset)
    common = {**patterns.arguments, "seeds": on_device, "size": size}
    kernels = {name: engine.kernel(SOURCE, name, HEAD=seeds.head) for name in ("count_rows", "list_rows", "join_tails")}
    # One more count, before which lies the sum of all.
    counts, barred = engine.empty(size + 1, np.uint32), engine.empty(size, np.uint64)
    tails, bits = (engine.empty(number * ROW_WORDS, np.uint32) for number in (size, rows))
    engine.fill(counts, 0)
    engine.launch_items(kernels["count_rows"], size, **common, counts=counts, tails=tails, barred=barred)
    scan(engine, counts, out=counts)
    listed = int(engine.download(counts, 1, size)[0])
    keys, numbers = engine.empty(listed, np.uint32), engine.empty(listed, np.uint32)
    engine.launch_items(kernels["list_rows"], size, **common, begins=counts, rows=keys, listed=numbers)
    # Seeds are listed in ascending order, which they keep within each row.
    parts = partition(engine, keys, numbers, bits=(rows - 1).bit_length())
    assert parts.values is not None
    first = DeviceArray(parts.starts.memory, (rows + 1,), parts.starts.dtype)
    lists: dict[str, Any] = {"first": first, "lists": parts.values}
    engine.launch_items(kernels["join_tails"], rows, **lists, tails=tails, size=rows, bits=bits)
    arrays = {"bits": bits, **lists, "barred": barred, "seeds": on_device}
    return DeviceTable(seeds.head, mismatches, pattern, offset, seeds.unseeded, listed, arrays)


def _uploaded_seeds(engine: Engine, pattern: NDArray[np.uint32], offset: NDArray[np.uint32]) -> DeviceArray:
    return engine.upload(np.stack([pattern, offset], axis=1))
