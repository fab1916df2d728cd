"""K-mers cut out of streams and dealt out by a digit at once, which is the first pass of their sort."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from oclgenomics.kmers.device.kmer_starts import KmerStarts
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import KeyPrefix, scan
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["DealKernels"]

DIGITS = 256  # kernels_cl/kmers/deal_kmers.cl
LANES, MIN_LANES, EACH = 256, 16, 16  # work-items of a tile, the fewest of them, and symbols of each
SOURCE = "kmers/deal_kmers.cl"


class DealKernels:
    """Cuts out k-mers and deals them out by the lowest digit of their prefix."""

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._k = engine, options.k
        self._lanes = 1 if engine.tuning.cpu else engine.group_size(LANES, least=MIN_LANES)
        self._defines = {
            "WORDS": key_words(options.k),
            "CANONICAL": options.canonical,
            "LANES": self._lanes,
            "EACH": EACH,
        }

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
            self._engine.launch(self._engine.kernel(SOURCE, name, **self._defines), *shape, **stream, **arguments)
