"""Counting on GPUs, and right on any device: k-mers cut out of packed symbols, sorted, and equal ones counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.device.parts import Kept, Part, kept_runs
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan.memory import SortPlan, kmers_at_a_time, split_prefixes
from oclgenomics.primitives import KeyPrefix, Runs, count_equal, key_prefix, scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence import Symbols

PREFIX_BITS = 16
CPU_ITEMS = 256  # work-items that share the writing of k-mers
START_SOURCE = "kmers/sort_counter.cl"
DIGITS = 256  # kernels_cl/kmers/deal_kmers.cl
LANES, MIN_LANES, EACH = 256, 16, 16  # work-items of a tile, the fewest of them, and symbols of each
DEAL_SOURCE = "kmers/deal_kmers.cl"


@dataclass(frozen=True)
class KmerStarts:
    """Where the k-mers of a stream of symbols start.

    Attributes
    ----------
    symbols : Symbols
    starts : DeviceArray, uint32 (groups,)
        A bit for each symbol, the first of a group highest: a k-mer starts here.
    places : DeviceArray, uint32 (groups,)
        K-mers before each group.
    size : int
        K-mers in all.
    """

    symbols: Symbols
    starts: DeviceArray
    places: DeviceArray
    size: int


class StartKernels:
    """Finds where k-mers start, selects some by their prefix, and writes k-mers."""

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, options.k
        self.prefix_bits = min(PREFIX_BITS, 2 * options.k)
        self._defines = {"WORDS": key_words(options.k), "CANONICAL": options.canonical, "CPU": engine.tuning.cpu}

    def find(self, symbols: Symbols) -> KmerStarts:
        """Find all k-mers."""
        starts = self._engine.empty(-(-symbols.size // 32), np.uint32)
        self._each_group("find_windows", starts, valid=symbols.valid, k=self._k, starts=starts)
        return self._counted(symbols, starts)

    def select(self, found: KmerStarts, low: int, high: int) -> KmerStarts:
        """Return the k-mers that have a prefix from `low` to `high` - 1."""
        selected = self._engine.empty(len(found.starts), np.uint32)
        self._each_prefix("select_windows", found, low=low, high=high, selected=selected)
        return self._counted(found.symbols, selected)

    def count_prefixes(self, found: KmerStarts, counts: DeviceArray) -> None:
        """Add how many k-mers have each prefix to `counts`, uint32 (2 ** prefix_bits,)."""
        self._each_prefix("count_prefixes", found, counts=counts)

    def write(self, found: KmerStarts, keys: DeviceArray, first: int) -> None:
        """Write the k-mers to keys[:, first] and on, uint64 (words, n)."""
        groups = len(found.starts)
        if not found.size:
            return
        cpu = self._engine.tuning.cpu
        each = -(-groups // CPU_ITEMS) if cpu else 1
        self._engine.launch_items(
            self._kernel("write_kmers"), -(-groups // each) if cpu else groups * 32, lanes=1 if cpu else None,
            codes=found.symbols.codes, starts=found.starts, places=found.places, groups=groups, each=each, k=self._k,
            stride=keys.shape[-1], first=first, keys=keys,
        )  # fmt: skip

    def _counted(self, symbols: Symbols, starts: DeviceArray) -> KmerStarts:
        groups = len(starts)
        places = self._engine.empty(groups + 1, np.uint32)
        self._engine.fill(places, 0)
        self._each_group("count_starts", starts, starts=starts, counts=places)
        scan(self._engine, places, out=places)
        return KmerStarts(symbols, starts, places, int(self._engine.download(places, 1, groups)[0]))

    def _each_prefix(self, name: str, found: KmerStarts, **arguments: Any) -> None:
        common = {"codes": found.symbols.codes, "starts": found.starts, "k": self._k, "bits": self.prefix_bits}
        self._each_group(name, found.starts, **common, **arguments)

    def _each_group(self, name: str, groups: DeviceArray, **arguments: Any) -> None:
        self._engine.launch_items(self._kernel(name), len(groups), groups=len(groups), **arguments)

    def _kernel(self, name: str) -> Kernel:
        return self._engine.kernel(START_SOURCE, name, **self._defines)


class DealKernels:
    """Cuts out k-mers and deals them out by the lowest digit of their prefix."""

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, options.k
        self._lanes = 1 if engine.tuning.cpu else engine.group_size(LANES, least=MIN_LANES)
        self._defines = {
            "WORDS": key_words(options.k), "CANONICAL": options.canonical, "LANES": self._lanes, "EACH": EACH,
        }  # fmt: skip

    def suit(self, streams: Sequence[KmerStarts]) -> bool:
        """Whether the device deals so, and the counts of digits take no more memory than the k-mers."""
        kmers = sum(starts.size for starts in streams)
        return not self._engine.tuning.cpu and 4 * DIGITS * sum(self._tiles(streams)) <= 8 * key_words(self._k) * kmers

    def deal(self, streams: Sequence[KmerStarts], prefix: KeyPrefix) -> DeviceArray:
        """Return all k-mers, uint64 (words, n), in the order of the lowest digit of their prefix."""
        keys = self._engine.empty((key_words(self._k), sum(starts.size for starts in streams)), np.uint64)
        each = self._tiles(streams)
        firsts = [0, *accumulate(each)]
        places = self._engine.empty((DIGITS, firsts[-1]), np.uint32)
        common = {"k": self._k, "bits": prefix.bits - prefix.first_bit, "tiles": firsts[-1]}
        for starts, tiles, first in zip(streams, each, firsts[:-1], strict=True):
            self._launch("count_digits", starts, tiles, first_tile=first, **common, counts=places)
        scan(self._engine, places, out=places)
        to = {"places": places, "stride": keys.shape[1], "keys": keys}
        for starts, tiles, first in zip(streams, each, firsts[:-1], strict=True):
            self._launch("deal_kmers", starts, tiles, first_tile=first, **common, **to)
        return keys

    def _tiles(self, streams: Sequence[KmerStarts]) -> list[int]:
        return [-(-32 * len(starts.starts) // (self._lanes * EACH)) for starts in streams]

    def _launch(self, name: str, found: KmerStarts, groups: int, **arguments: Any) -> None:
        shape = (groups * self._lanes,), (self._lanes,)
        stream = {"codes": found.symbols.codes, "starts": found.starts, "groups": len(found.starts)}
        if groups:
            self._engine.launch(self._engine.kernel(DEAL_SOURCE, name, **self._defines), *shape, **stream, **arguments)


class SortCounter:
    """Counts the k-mers of streams of symbols: they are cut out, sorted and counted on the device.

    Attributes
    ----------
    kmers : int
        K-mers so far, equal ones included.
    prefixes : int
        Prefixes that ranges are made of.
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, options.k
        self._limits = engine.limits()
        self._kernels, self._dealing = StartKernels(engine, options), DealKernels(engine, options)
        self._streams: list[KmerStarts] = []
        self.kmers, self.prefixes = 0, 1 << self._kernels.prefix_bits
        self._counts, self._counted = np.zeros(self.prefixes, np.int64), 0  # of the prefixes of the first streams

    def add(self, symbols: Symbols) -> None:
        """Find the k-mers of a stream."""
        self._streams.append(self._kernels.find(symbols))
        self.kmers += self._streams[-1].size

    def count_prefixes(self) -> None:
        """Count the prefixes of the streams that came since the last time."""
        if self._counted == len(self._streams):
            return
        counts = self._engine.empty(self.prefixes, np.uint32)
        self._engine.fill(counts, 0)
        for starts in self._streams[self._counted :]:
            self._kernels.count_prefixes(starts, counts)
        self._counted = len(self._streams)
        self._counts += self._engine.download(counts)

    def prefix_counts(self) -> NDArray[np.int64]:
        """How many k-mers have each prefix, int64 (prefixes,)."""
        self.count_prefixes()
        return self._counts

    @property
    def largest_prefix(self) -> int:
        """How many k-mers the prefix has that has most; those that were not counted by prefix may all be of it."""
        uncounted = sum(starts.size for starts in self._streams[self._counted :])
        return int(self._counts.max(initial=0)) + uncounted

    def room(self, free: int) -> int:
        """How many k-mers can be counted at a time in so many bytes."""
        return SortPlan(self._k, sum(len(starts.starts) for starts in self._streams)).room(free)

    def parts(self, free: int, kept: Kept) -> Iterator[Part]:
        """Count all k-mers in so many bytes, and yield those that are kept.

        Raises
        ------
        AllocationError
            There is no room for those of a single prefix.
        """
        most = kmers_at_a_time(self._limits, self._k, self.room(free))
        for runs, kmers in self.ranges(most):
            part = Part(kept_runs(self._engine, kept, runs), kmers)
            del runs
            yield part
            del part

    def ranges(self, most: int) -> Iterator[tuple[Runs, int]]:
        """Count all k-mers, at most `most` at a time; yield those that differ, and how many there are in all.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix are more.
        """
        if self.kmers <= most:
            yield self.runs(0, self.prefixes), self.kmers
            return
        counts = self.prefix_counts()
        for low, high in split_prefixes(counts, most):
            yield self.runs(low, high), int(counts[low:high].sum())

    def runs(self, low: int, high: int) -> Runs:
        """Count the k-mers with prefixes `low` to `high` - 1; they stay on the device."""
        whole = high - low == self.prefixes
        chosen = self._streams if whole else [self._kernels.select(starts, low, high) for starts in self._streams]
        bits = 2 * self._k
        prefix = key_prefix(sum(starts.size for starts in chosen), bits)
        if prefix is not None and self._dealing.suit(chosen):
            return count_equal(self._engine, [self._dealing.deal(chosen, prefix)], bits=bits, ordered=1)
        return count_equal(self._engine, [self._written(chosen)], bits=bits)

    def _written(self, streams: list[KmerStarts]) -> DeviceArray:
        """The k-mers of streams in their order, uint64 (words, n)."""
        keys = self._engine.empty((key_words(self._k), sum(starts.size for starts in streams)), np.uint64)
        first = 0
        for starts in streams:
            self._kernels.write(starts, keys, first)
            first += starts.size
        return keys
