"""Counted k-mers brought to the host, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.slot_runs import runs_of
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["Part", "dense", "gather", "join"]

SLACK = 1.05  # of the k-mers that are expected: memory that nobody touches costs nothing, a second copy does


@dataclass(frozen=True)
class Part:
    """K-mers of a range of prefixes, or of a piece of one: parts come in ascending order.

    Attributes
    ----------
    counted : Runs or Slots
        Those that differ and are kept, and their counts, in ascending order on the device. Runs: uint64 (words, n) and
        uint32.
    kmers : int
        All of the range, equal ones and those that were left out included.
    """

    counted: Runs | Slots
    kmers: int


def gather(engine: Engine, k: int, kmers: int, parts: Iterable[Part]) -> KmerBlock:
    """Bring parts in ascending order to the host as one block.

    What the parts so far let expect is reserved, so there is seldom anything to move, and nothing is there twice.

    Parameters
    ----------
    engine : Engine
    k : int
    kmers : int
        Of all parts.
    parts : iterable of Part
        Each is let go before the next one is asked for.
    """
    keys, counts = np.empty((key_words(k), 0), np.uint64), np.empty(0, np.uint32)
    size = seen = 0
    for part in parts:
        runs = dense(engine, part.counted, k)
        begin, size, seen = size, size + runs.size, seen + part.kmers
        if size > len(counts):
            room = min(int(size * kmers / seen * SLACK), size + kmers - seen)
            keys, counts = _enlarged(keys, begin, room), _enlarged(counts, begin, room)
        for word, row in enumerate(keys):
            engine.download(runs.keys, runs.size, word * runs.size, out=row[begin:size])
        engine.download(runs.counts, runs.size, out=counts[begin:size])
        del part, runs
    return KmerBlock(keys[:, :size], counts[:size])


def dense(engine: Engine, counted: Runs | Slots, k: int) -> Runs:
    """Counted k-mers with all of their bits."""
    return counted if isinstance(counted, Runs) else runs_of(engine, counted, k)


def _enlarged(array: NDArray[Any], used: int, room: int) -> NDArray[Any]:
    """An array with room for so many items, which begins as this one."""
    larger = np.empty((*array.shape[:-1], room), array.dtype)
    larger[..., :used] = array[..., :used]
    return larger


def join(words: int, blocks: Iterable[KmerBlock]) -> KmerBlock:
    """Join blocks in ascending order."""
    blocks = [KmerBlock(np.empty((words, 0), np.uint64), np.empty(0, np.uint32)), *blocks]
    keys = np.concatenate([block.keys for block in blocks], axis=1)
    return KmerBlock(keys, np.concatenate([block.counts for block in blocks]))
