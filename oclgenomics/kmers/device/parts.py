"""Parts of counted k-mers: which of them are kept on the device, and how they come to the host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.device.slots import Slots, runs_of
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.primitives import Runs, compact
from oclgenomics.runtime import DeviceArray, Engine

SOURCE = "kmers/filter_counts.cl"
SLACK = 1.05  # of the k-mers that are expected: memory that nobody touches costs nothing, a second copy does


@dataclass(frozen=True)
class Kept:
    """Which k-mers are kept, by their counts, and where counts stop then.

    Attributes
    ----------
    least, most : int
        K-mers that occur less or more often are left out; at most 2^32 - 1.
    cap : int
        Counts stop here.
    """

    least: int
    most: int
    cap: int

    @classmethod
    def by(cls, options: CountOptions) -> Kept:
        """What options ask for."""
        return cls(options.min_count, min(options.max_count, MAX_COUNTER), options.counter_max)


EVERY = Kept(1, MAX_COUNTER, MAX_COUNTER)


def kept_runs(engine: Engine, kept: Kept, runs: Runs) -> Runs:
    """Leave out k-mers by their counts, then stop the counters; `runs` may be the result, with other counts."""
    if kept.least > 1 or kept.most < MAX_COUNTER:
        flags = _flags(engine, kept, runs)
        keys, counts = compact(engine, runs.keys, flags), compact(engine, runs.counts, flags)
        runs = Runs(keys, counts, counts.size)
    if kept.cap < MAX_COUNTER:
        kernel = engine.kernel(SOURCE, "cap_counts")
        engine.launch_items(kernel, runs.size, counts=runs.counts, size=runs.size, most=kept.cap)
    return runs


def _flags(engine: Engine, kept: Kept, runs: Runs) -> DeviceArray:
    flags = engine.empty(runs.size, np.uint8)
    engine.launch_items(
        engine.kernel(SOURCE, "flag_counts"), runs.size, counts=runs.counts, size=runs.size, least=kept.least,
        most=kept.most, flags=flags,
    )  # fmt: skip
    return flags


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


def uploaded(engine: Engine, block: KmerBlock) -> Runs:
    """Bring k-mers and their counts to the device."""
    return Runs(engine.upload(block.keys), engine.upload(block.counts), len(block))


def downloaded(engine: Engine, runs: Runs) -> KmerBlock:
    """Bring k-mers and their counts to the host."""
    return KmerBlock(engine.download(runs.keys), engine.download(runs.counts))


def downloaded_blocks(engine: Engine, runs: Runs, most: int) -> Iterator[KmerBlock]:
    """Bring k-mers and their counts to the host, so many at a time."""
    for begin in range(0, runs.size, most):
        size = min(most, runs.size - begin)
        keys = [engine.download(runs.keys, size, word * runs.size + begin) for word in range(runs.keys.shape[0])]
        yield KmerBlock(np.stack(keys), engine.download(runs.counts, size, begin))


def _enlarged(array: NDArray[Any], used: int, room: int) -> NDArray[Any]:
    """An array with room for so many items, which begins as this one."""
    larger = np.empty((*array.shape[:-1], room), array.dtype)
    larger[..., :used] = array[..., :used]
    return larger
