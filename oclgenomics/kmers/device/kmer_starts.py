"""Where k-mers start in packed symbols, found and chosen by prefix on the device, and the k-mers cut out there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence import Symbols

__all__ = ["KmerStarts", "StartKernels"]

PREFIX_BITS = 16
CPU_ITEMS = 256  # work-items that share the writing of k-mers
SOURCE = "kmers/sort_counter.cl"


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
        self._defines = {
            "WORDS": key_words(options.k),
            "CANONICAL": options.canonical,
            "CPU": engine.tuning.cpu,
        }

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
            self._kernel("write_kmers"),
            -(-groups // each) if cpu else groups * 32,
            lanes=1 if cpu else None,
            codes=found.symbols.codes,
            starts=found.starts,
            places=found.places,
            groups=groups,
            each=each,
            k=self._k,
            stride=keys.shape[-1],
            first=first,
            keys=keys,
        )

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
        return self._engine.kernel(SOURCE, name, **self._defines)
