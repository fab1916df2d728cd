"""Slots as kernels take them, and as k-mers with all of their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.keys import key_words
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["SlotBins", "runs_of"]

EACH = 1 << 12  # k-mers of a work-item, which has to find its first bin
LANES = 1  # work-items go through bins of their own, and no vector could


class SlotBins:
    """Slots of which kernels know the bins that have any.

    Parameters
    ----------
    engine : Engine
    slots : Slots

    Attributes
    ----------
    size : int
        K-mers of all bins.
    arguments : dict
        What kernels are told of them, by the names of `slot_key.clh`.
    """

    def __init__(self, engine: Engine, slots: Slots) -> None:
        used = np.flatnonzero(slots.sizes)
        starts = np.zeros(len(used) + 1, np.uint64)
        np.cumsum(slots.sizes[used], out=starts[1:])
        self._engine, self._slot_words = engine, slots.layout.words
        self.size = int(starts[-1])
        self.arguments: dict[str, Any] = {
            "words": slots.words,
            "stride": slots.words.shape[1],
            "rest": slots.layout.rest,
            "count_bits": slots.layout.count_bits,
            "heads": _uploaded(engine, slots.heads[used]),
            "begins": _uploaded(engine, slots.begins[used]),
            "starts": engine.upload(starts),
            "bins": len(used),
            "large_slots": _uploaded(engine, slots.large_slots),
            "large_counts": _uploaded(engine, slots.large_counts),
            "large": len(slots.large_slots),
        }

    @property
    def defines(self) -> dict[str, int]:
        """Parameters of the kernels that take them."""
        return {"SLOT_WORDS": self._slot_words}

    def expand(self, start: int, size: int, keys: DeviceArray, counts: DeviceArray, place: int = 0) -> None:
        """Make keys and counts of some neighbours.

        Parameters
        ----------
        start, size : int
            The first k-mer, and how many.
        keys : DeviceArray, uint64 (words, room)
        counts : DeviceArray, uint32 (room,)
        place : int
            Where the first one goes.
        """
        words, room = keys.shape
        kernel = self._engine.kernel("kmers/slot_runs.cl", "expand_slots", WORDS=words, EACH=EACH, **self.defines)
        self._engine.launch_items(
            kernel,
            -(-size // EACH),
            lanes=LANES,
            **self.arguments,
            start=start,
            size=size,
            room=room,
            place=place,
            keys=keys,
            counts=counts,
        )


def runs_of(engine: Engine, slots: Slots, k: int) -> Runs:
    """Return k-mers of k letters with all of their bits.

    Returns
    -------
    Runs
        Keys uint64 (words, n) and counts uint32 (n,) on the device.

    Raises
    ------
    AllocationError
        The device's memory does not hold them beside the slots.
    """
    bins = SlotBins(engine, slots)
    keys, counts = engine.empty((key_words(k), bins.size), np.uint64), engine.empty(bins.size, np.uint32)
    bins.expand(0, bins.size, keys, counts)
    return Runs(keys, counts, bins.size)


def _uploaded(engine: Engine, array: NDArray[Any]) -> DeviceArray:
    """The array on the device, with an item that nobody reads if it has none."""
    return engine.upload(array if len(array) else np.zeros(1, array.dtype))
