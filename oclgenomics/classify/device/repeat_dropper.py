"""Features that a read has more than once."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.device.looked_up import READS_EACH, LookedUp
from oclgenomics.classify.device.rooms import Rooms
from oclgenomics.classify.device.sketches import Sketches
from oclgenomics.runtime import Engine
from oclgenomics.runtime.program import Kernel

__all__ = ["RepeatDropper"]

SMALL_LANES, WIDE_LANES = 32, 256
KEY = secrets.randbits(31) << 1 | 1  # of this process: decides where features go in tables, and nothing else


class RepeatDropper:
    """Takes features that a read has more than once for not found, but for one of each.

    Parameters
    ----------
    engine : Engine
    rooms : Rooms
    room : int
        Bytes for tables in global memory at a time; a larger one comes alone.
    """

    def __init__(self, engine: Engine, rooms: Rooms, room: int) -> None:
        self._engine, self._rooms, self._room = engine, rooms, room

    def drop(self, looked_up: LookedUp, sketches: Sketches, first: NDArray[np.uint32]) -> None:
        """Change what was found of reads.

        Parameters
        ----------
        looked_up : LookedUp
        sketches : Sketches
        first : ndarray, uint32 (reads + 1,)
            Rows of the sketches before each read.

        Raises
        ------
        AllocationError
            There is no room for a table of a single read's features.
        """
        arguments: dict[str, Any] = {name: looked_up.arguments[name] for name in ("found", "base", "first", "sketch")}
        arguments |= {"features": sketches.features, "key": KEY}
        self._launch(looked_up.reads, SMALL_LANES, READS_EACH, arguments)
        sizes = np.diff(first).astype(np.int64) * sketches.size
        long = np.flatnonzero(sizes > plan.TABLE_SLOTS // 2).astype(np.uint32)
        slots = plan.powers_of_two(2 * sizes[long])
        for begin, end in plan.batches(plan.SLOT_BYTES * np.cumsum(slots, dtype=np.int64), self._room):
            self._drop_long(long[begin:end], slots[begin:end], arguments)

    def _drop_long(self, reads: NDArray[np.uint32], slots: NDArray[np.uint64], arguments: dict[str, Any]) -> None:
        """Look through reads whose tables are in global memory."""
        engine, ends = self._engine, np.cumsum(slots)
        tables: dict[str, Any] = {
            "listed": engine.upload(reads),
            "places": engine.upload(ends - slots),
            "table_bits": engine.upload(np.log2(slots).astype(np.uint32)),
            "tables": self._rooms.of("tables", int(ends[-1]), np.uint32),
        }
        self._launch(len(reads), WIDE_LANES, 1, arguments, tables)

    def _launch(
        self, reads: int, lanes: int, each: int, arguments: dict[str, Any], tables: dict[str, Any] | None = None
    ) -> None:
        engine, cpu = self._engine, self._engine.tuning.cpu
        lanes = 1 if cpu else engine.group_size(lanes)
        defines = {"CPU": cpu, "LISTED": tables is not None, "LANES": lanes, "SLOTS": plan.TABLE_SLOTS}
        kernel: Kernel = engine.kernel("classify/drop_repeats.cl", "drop_repeats", **defines)
        none = dict.fromkeys(("listed", "places", "table_bits", "tables"))
        groups = -(-reads // each) if cpu else reads
        if groups:
            engine.launch(kernel, (groups * lanes,), (lanes,), **arguments, **(tables or none), reads=reads, each=each)
