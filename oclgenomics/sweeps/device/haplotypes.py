"""Haplotypes of windows of sites, counted on the device: hashes at the borders of windows, sorted in each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed
from oclgenomics.sweeps.arrays import Ints
from oclgenomics.sweeps.sites.used import SitePlanes, joined

SOURCE = "sweeps/haplotypes.cl"
SEED = 7_919  # of the words that are summed; results depend on it only where two haplotypes have one hash
LANES, CPU_LANES = 128, 16
LEAST_CAPACITY = 64  # so that few kernels are compiled
PLACE_BYTES, SMALL_BYTES = 12, 4_096  # of a list in local memory; of all else there
SPILLED_BYTES = 1 << 26  # of lists in global memory


@dataclass(frozen=True, eq=False)
class HaplotypeCounts:
    """How often the haplotypes of each window occur; with unphased genotypes, multilocus genotypes of samples.

    Attributes
    ----------
    top : ndarray of uint32, shape (kept, windows)
        Counts of the most common ones, descending.
    squares : ndarray of uint64, shape (windows,)
        Sum of the squares of all counts.
    complete : ndarray of uint32, shape (windows,)
        Those without a missing state in the window. All others are left out.
    """

    top: NDArray[np.uint32]
    squares: NDArray[np.uint64]
    complete: NDArray[np.uint32]

    @classmethod
    def none(cls, kept: int) -> HaplotypeCounts:
        """Return the counts of no window."""
        return cls(np.zeros((kept, 0), np.uint32), np.zeros(0, np.uint64), np.zeros(0, np.uint32))

    @classmethod
    def joined(cls, several: Sequence[HaplotypeCounts]) -> HaplotypeCounts:
        """Return the counts of windows that follow each other."""
        columns = (np.concatenate([getattr(one, name) for one in several], axis=-1) for name in cls.__annotations__)
        return cls(*columns)

    def between(self, begin: int, end: int) -> HaplotypeCounts:
        """Return those of the windows [begin, end)."""
        own = slice(begin, end)
        return HaplotypeCounts(self.top[:, own], self.squares[own], self.complete[own])


def window_starts(sites: int, window: int, step: int) -> Ints:
    """Return the first site of each window of `window` sites, `step` sites apart, int64 (windows,)."""
    return np.arange(0, max(sites - window + 1, 0), step, dtype=np.int64)


class HaplotypeCounter:
    """Counts haplotypes in windows on one device.

    Parameters
    ----------
    engine : Engine
    block_sites : int, optional
        Sites of a block instead of those that fit in memory. Results never depend on it.
    local_memory : int, optional
        Bytes of local memory that may be used. Results never depend on it.
    """

    def __init__(self, engine: Engine, *, block_sites: int | None = None, local_memory: int | None = None) -> None:
        self._engine, self._block_sites = engine, block_sites
        self._local = engine.device.local_memory if local_memory is None else local_memory

    def count(self, alignments: Sequence[SitePlanes], window: int, step: int, kept: int) -> list[HaplotypeCounts]:
        """Count the haplotypes in the windows of some alignments.

        Parameters
        ----------
        alignments : sequence of SitePlanes
            Those that are alike go through the device as one.
        window, step : int
            Sites of a window, and from the first site of a window to that of the next one.
        kept : int
            Counts of so many haplotypes are returned for each window.

        Raises
        ------
        DeviceError
            Not enough device memory, or a device lost on the way.
        """
        groups: dict[tuple[int, bool, bool], list[int]] = {}
        found = [HaplotypeCounts.none(kept)] * len(alignments)
        for number, one in enumerate(alignments):
            if one.sites >= window:
                groups.setdefault((one.haplotypes, one.valid is not None, one.genotypes), []).append(number)
        for members in groups.values():
            sites = [alignments[number].sites for number in members]
            before = np.concatenate([[0], np.cumsum(sites)])
            each = [window_starts(count, window, step) for count in sites]
            starts = np.concatenate([own + start for own, start in zip(each, before, strict=False)])
            whole = self._count_one(joined([alignments[number] for number in members]), starts, window, kept)
            windows = np.concatenate([[0], np.cumsum([len(own) for own in each])]).tolist()
            for place, number in enumerate(members):
                found[number] = whole.between(windows[place], windows[place + 1])
        return found

    def _count_one(self, planes: SitePlanes, starts: Ints, window: int, kept: int) -> HaplotypeCounts:
        counted = HaplotypeCounts(
            np.empty((kept, len(starts)), np.uint32), np.empty(len(starts), np.uint64), np.empty(len(starts), np.uint32)
        )
        for first, last in _blocks(starts, window, self._fitting(planes, starts, window, kept)):
            begin, end = int(starts[first]), int(starts[last - 1]) + window
            own, part = counted.between(first, last), planes.between(begin, end)
            own.top[:], own.squares[:], own.complete[:] = self._count_block(
                part, starts[first:last] - begin, window, kept
            )
        return counted

    def _fitting(self, planes: SitePlanes, starts: Ints, window: int, kept: int) -> int:
        """Sites of a block."""
        if self._block_sites is not None:
            return max(self._block_sites, window)
        masked = planes.valid is not None
        share = min(2 * len(starts) / planes.sites, 1.0)  # borders for each site
        kept_bytes, spilled = 4 * kept + 20, SPILLED_BYTES * self._spills(planes.haplotypes)
        needs = [
            BufferNeed("states", per_item=4 * planes.words * (1 + masked)),
            BufferNeed("hashes", per_item=int(planes.haplotypes * (8 + 4 * masked) * share) + 1),
            BufferNeed("words and counts", per_item=20 + kept_bytes, fixed=spilled),
        ]
        return self._engine.items_that_fit(needs, minimum=window, item="site")

    def _count_block(
        self, planes: SitePlanes, starts: Ints, window: int, kept: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint32]]:
        engine, genotypes, masked = self._engine, planes.genotypes, planes.valid is not None
        count, windows = planes.haplotypes >> genotypes, len(starts)
        borders, place = np.unique(np.concatenate([starts, starts + window]), return_inverse=True)
        stretches = len(borders) - 1
        defines = {"MASKED": int(masked), "GENOTYPES": int(genotypes)}
        words = np.random.default_rng(SEED).integers(0, 1 << 64, planes.sites << genotypes, np.uint64)
        with engine.profile.mark("upload sites"):
            bits = engine.upload(planes.bits)
            valid = None if planes.valid is None else engine.upload(planes.valid)
        marks: dict[str, Any] = {"borders": engine.upload(borders.astype(np.uint32)), "words": engine.upload(words)}
        prefixes = engine.empty((stretches + 1, count), np.uint64)
        gaps = engine.empty((stretches + 1, count), np.uint32) if masked else None
        known: dict[str, Any] = {"count": count, "prefixes": prefixes, "gaps": gaps}
        engine.launch_items(
            engine.kernel(SOURCE, "hash_stretches", **defines), stretches * count,
            **known, **marks, bits=bits, valid=valid, stride=planes.sites, stretches=stretches,
        )  # fmt: skip
        engine.launch_items(engine.kernel(SOURCE, "add_stretches", **defines), count, **known, stretches=stretches)
        ends = {
            "first": engine.upload(place[:windows].astype(np.uint32)),
            "last": engine.upload(place[windows:].astype(np.uint32)),
        }
        counts = {
            "top": engine.empty((kept, windows), np.uint32),
            "squares": engine.empty(windows, np.uint64),
            "complete": engine.empty(windows, np.uint32),
        }
        spilled = self._sort(known | ends | counts, count, windows, kept, masked=masked)
        found = tuple(engine.download(array) for array in counts.values())
        for array in (bits, valid, prefixes, gaps, *marks.values(), *ends.values(), *counts.values(), *spilled):
            if isinstance(array, DeviceArray):
                array.release()
        return found  # type: ignore[return-value]

    def _sort(
        self, arguments: dict[str, Any], count: int, windows: int, kept: int, *, masked: bool
    ) -> list[DeviceArray]:
        """Count in each window; returns what to release."""
        engine = self._engine
        capacity = _capacity(count)
        lanes = engine.group_size(CPU_LANES if engine.tuning.cpu else LANES)
        spills = self._spills(count)
        kernel = engine.kernel(
            SOURCE, "count_haplotypes", MASKED=int(masked), CAPACITY=capacity, SPILLED=int(spills), LANES=lanes
        )
        together, lists = windows, dict.fromkeys(("spilled", "spilled_runs"))
        if spills:
            together = max(1, min(windows, SPILLED_BYTES // (PLACE_BYTES * capacity)))
            lists = {
                "spilled": engine.empty(together * capacity, np.uint64),
                "spilled_runs": engine.empty(together * capacity, np.uint32),
            }
        for offset in range(0, windows, together):
            groups = min(together, windows - offset)
            engine.launch(
                kernel, (groups * lanes,), (lanes,), **arguments, **lists, offset=offset, windows=windows, kept=kept
            )
        return [array for array in lists.values() if array is not None]

    def _spills(self, count: int) -> bool:
        """Whether a list of so many hashes has no room in local memory."""
        return PLACE_BYTES * _capacity(count) + SMALL_BYTES > self._local


def _capacity(count: int) -> int:
    return max(1 << (count - 1).bit_length(), LEAST_CAPACITY)


def _blocks(starts: Ints, window: int, most: int) -> Iterator[tuple[int, int]]:
    """Give blocks [first, last) of windows that span at most so many sites, or of one window."""
    first = 0
    while first < len(starts):
        last = int(np.searchsorted(starts, starts[first] + most - window, side="right"))
        yield first, max(last, first + 1)
        first = max(last, first + 1)
