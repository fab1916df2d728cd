"""Features that a device has made and still holds, so that nothing has to be brought there again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.database.features import STEP, Counts, FeatureNumbers, Features
from oclgenomics.classify.database.packing import Widths
from oclgenomics.io.workers import Workers
from oclgenomics.runtime import DeviceArray, Engine, HostArray

PACKING = "classify/pack_features.cl"
TYPES = {"uint8": "uchar", "uint16": "ushort"}
FACTS = 4  # of a step, as pack_features.cl has them


class Cut(NamedTuple):
    """Some of the features that a device holds.

    Attributes
    ----------
    begin, end : int
        The first one, and the one behind the last.
    before : int
        Locations of the features before them.
    located : int
        Their locations.
    """

    begin: int
    end: int
    before: int
    located: int


class HeldFeatures(Features):
    """Features in a device's memory, of which the host gets a copy of what it asks for, array by array.

    They are there as long as the engine is open; `whole` returns those of the host, and gives the memory back.

    Parameters
    ----------
    engine : Engine
    keys, counts, locations : HostArray
        See `Features`; kernels that were enqueued write them. At least one feature.

    Attributes
    ----------
    engine : Engine
    arrays : dict of str to DeviceArray
        On the device.
    """

    def __init__(self, engine: Engine, keys: HostArray, counts: HostArray, locations: HostArray) -> None:
        self.engine = engine
        self._held = {"keys": keys, "counts": counts, "locations": locations}
        self.arrays: dict[str, DeviceArray] = {name: array.device for name, array in self._held.items()}

    def __len__(self) -> int:
        return self.arrays["keys"].size

    @property
    def located(self) -> int:
        """How many locations there are."""
        return self.arrays["locations"].size

    @cached_property
    def keys(self) -> NDArray[np.uint32]:
        """The keys, for the host."""
        return self._held["keys"].read()

    @cached_property
    def counts(self) -> Counts:
        """The numbers of locations, for the host."""
        return self._held["counts"].read()

    @cached_property
    def locations(self) -> NDArray[np.uint32]:
        """The locations, for the host."""
        return self._held["locations"].read()

    def whole(self) -> Features:
        """Return the features for the host, and give the device's memory back."""
        fetched = (vars(self).get(name, array) for name, array in self._held.items())
        found = Features(*(array.fetch() if isinstance(array, HostArray) else array for array in fetched))
        for array in self.arrays.values():
            array.release()
        return found

    @cached_property
    def numbers(self) -> FeatureNumbers:
        """How many there are, with and without locations."""
        located, alive, single, largest = self._facts.T
        sums = (int(column.sum(dtype=np.int64)) for column in (alive, single, located))
        every, one, lists = sums
        return FeatureNumbers(every, len(self) - every, one, int(largest.max()), lists)

    def counted(self, threads: Workers | None = None) -> FeatureNumbers:
        """Return `numbers`, which the device counts."""
        return self.numbers

    def fit(self, windows: int, targets: int) -> bool:
        """Whether they leave the device enough memory to count and to pack them."""
        engine = self.engine
        need = plan.counting_bytes(engine.tuning.shape, STEP * self.numbers.largest, windows, targets)
        return need <= engine.budget - engine.memory.used

    def in_order(self, windows: int) -> bool:
        """Whether keys and the locations of each feature ascend, and these are of so many windows."""
        engine, steps = self.engine, len(self._facts)
        faults = engine.empty(steps, np.uint8)
        before = engine.upload(self._before[:-1].astype(np.uint64))
        kernel = engine.kernel(PACKING, "check_steps", COUNT=self._kind)
        checked: dict[str, Any] = {**self.arrays, "before": before, "size": len(self), "step": STEP}
        engine.launch_items(kernel, steps, **checked, windows=max(windows, 1), faults=faults)
        return not engine.download(faults).any()

    def bucket_starts(self, widths: Widths) -> NDArray[np.int64]:
        """Return how many keys there are before each bucket, and all of them, int64 (buckets + 1,)."""
        engine, buckets = self.engine, widths.buckets
        starts = engine.empty(buckets + 1, np.uint32)
        kernel = engine.kernel(PACKING, "find_buckets")
        engine.launch_items(
            kernel,
            buckets + 1,
            keys=self.arrays["keys"],
            size=len(self),
            width=widths.key,
            buckets=buckets,
            starts=starts,
        )
        return engine.download(starts).astype(np.int64)

    def cuts(self, features: int, locations: int) -> Iterator[Cut]:
        """Cut them into pieces of so many features and locations at most, or of one step."""
        before, size = self._before, len(self)
        together = max(features // STEP, 1)
        for first in range(0, len(before) - 1, together):
            last = min(first + together, len(before) - 1)
            for begin, end in plan.batches(before[first + 1 : last + 1] - before[first], locations):
                low, high = first + begin, first + end
                yield Cut(low * STEP, min(high * STEP, size), int(before[low]), int(before[high] - before[low]))

    @property
    def _kind(self) -> str:
        return TYPES[self.arrays["counts"].dtype.name]

    @cached_property
    def _facts(self) -> NDArray[np.uint32]:
        """What is known of each step, uint32 (steps, FACTS)."""
        engine, steps = self.engine, -(-len(self) // STEP)
        facts = engine.empty((steps, FACTS), np.uint32)
        kernel = engine.kernel(PACKING, "sum_steps", COUNT=self._kind)
        engine.launch_items(kernel, steps, counts=self.arrays["counts"], size=len(self), step=STEP, facts=facts)
        return engine.download(facts)

    @cached_property
    def _before(self) -> NDArray[np.int64]:
        """Locations before each step, and all of them."""
        return np.append(np.int64(0), np.cumsum(self._facts[:, 0], dtype=np.int64))
