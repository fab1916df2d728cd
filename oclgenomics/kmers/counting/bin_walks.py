"""Walks over packed symbols on CPU devices, which find k-mers, count them by bin, or put them into bins.

Each work-item walks the same groups of 32 symbols every time. So what the first walk counts tells the second one where
each work-item's k-mers of a bin go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oclgenomics.kmers.counting.bin_plan import MIN_KEY_BYTES, PREFIX_BITS
from oclgenomics.kmers.counting.bin_prefixes import PrefixCounts, PrefixSpan
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel
from oclgenomics.sequence import Symbols

__all__ = ["BinWalks"]

SOURCE = "kmers/bin_counter.cl"


@dataclass(frozen=True)
class _Stream:
    """K-mers of a stream of symbols: letters, a bit for each place where one starts, and groups of 32 places."""

    codes: DeviceArray
    starts: DeviceArray
    groups: int


class BinWalks:
    """Walks over the streams of symbols that were added.

    Parameters
    ----------
    engine : Engine
    options : CountOptions
    walkers : int
        Work-items that walk.
    """

    def __init__(self, engine: Engine, options: CountOptions, walkers: int) -> None:
        self._engine, self._k, self._walkers = engine, options.k, walkers
        self._defines = {
            "WORDS": key_words(options.k),
            "CANONICAL": options.canonical,
            "SHORT": options.k < PREFIX_BITS // 2,
        }
        self._streams: list[_Stream] = []

    def add(self, symbols: Symbols, span: PrefixSpan) -> PrefixCounts:
        """Find the k-mers of a stream, and count those of a span."""
        groups = -(-symbols.size // 32)
        stream = _Stream(symbols.codes, self._engine.empty(groups, np.uint32), groups)
        self._launch(self._kernel("find_starts"), stream, valid=symbols.valid)
        self._streams.append(stream)
        return self._count([stream], span)

    def count(self, span: PrefixSpan) -> PrefixCounts:
        """Count the k-mers of all streams that a span has, by bin."""
        return self._count(self._streams, span)

    def fill(self, counts: PrefixCounts, keys: DeviceArray, key_bytes: int) -> None:
        """Put the k-mers of a span into bins, which lie one after the other.

        Parameters
        ----------
        counts : PrefixCounts
            What `count` found of the span.
        keys : DeviceArray, uint8
        key_bytes : int
            Bytes that are kept of a k-mer.
        """
        places = self._engine.upload(counts.places)
        self._walk(self._kernel("fill_bins", key_bytes), self._streams, counts.span, places=places, keys=keys)

    def _count(self, streams: list[_Stream], span: PrefixSpan) -> PrefixCounts:
        counts = self._engine.empty((self._walkers, span.bins), np.uint32)
        self._engine.fill(counts, 0)
        self._walk(self._kernel("count_prefixes"), streams, span, counts=counts)
        return PrefixCounts(span, self._engine.download(counts))

    def _walk(self, kernel: Kernel, streams: list[_Stream], span: PrefixSpan, **arrays: DeviceArray) -> None:
        prefixes = {"low": span.low, "last": span.high - 1, "shift": span.shift, "bins": span.bins}
        for stream in streams:
            self._launch(kernel, stream, codes=stream.codes, **prefixes, **arrays)

    def _launch(self, kernel: Kernel, stream: _Stream, **arguments: Any) -> None:
        self._engine.launch(
            kernel,
            (self._walkers,),
            (1,),
            starts=stream.starts,
            groups=stream.groups,
            each=-(-stream.groups // self._walkers),
            k=self._k,
            **arguments,
        )

    def _kernel(self, name: str, key_bytes: int = MIN_KEY_BYTES) -> Kernel:
        return self._engine.kernel(SOURCE, name, **self._defines, KEY_BYTES=key_bytes)
