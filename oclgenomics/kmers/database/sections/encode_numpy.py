"""Sections of k-mers that are in host memory, encoded by NumPy in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.append_file import Appending
from oclgenomics.kmers.arithmetic import is_ascending
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.sections.key_order import DISORDER, KeyOrder
from oclgenomics.kmers.database.sections.section import Coded, encode_sections
from oclgenomics.kmers.device.slot_runs import runs_of
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["NumpyEncoder"]

SECTIONS_AT_A_TIME = 4  # that one thread encodes: enough for few calls, little enough for the cache


class NumpyEncoder:
    """Gathers k-mers of host memory into sections, encodes these and appends them to a file; a `SectionEncoder`.

    Parameters
    ----------
    k : int
    output : Appending
    pool : ThreadPoolExecutor
    threads : int
        Those of the pool.
    engine : Engine, optional
        Whose runs are taken.
    """

    def __init__(
        self, k: int, output: Appending, pool: ThreadPoolExecutor, threads: int, engine: Engine | None = None
    ) -> None:
        self._output, self._pool, self._threads, self._engine = output, pool, threads, engine
        self._k, self._order = k, KeyOrder(k)
        self._held = _Held(key_words(k), SECTIONS_AT_A_TIME * SECTION_KMERS)
        self._encoding: deque[Future[tuple[bytes, Coded]]] = deque()

    def take_block(self, block: KmerBlock) -> Iterator[Coded]:
        """Take k-mers, which are checked at once; yield what was encoded meanwhile."""
        if not is_ascending(block.keys):
            raise ValueError(DISORDER)
        if not block.counts.all():
            raise ValueError("a count is 0")
        self._order.follow(block.keys[:, 0], block.keys[:, -1].copy())
        taken = 0
        while taken < len(block):
            taken += self._held.take(block, taken)
            if self._held.size == self._held.room:
                self._encode()
                while len(self._encoding) > self._threads + 1:
                    yield self._put_next()

    def take_runs(self, runs: Runs) -> Iterator[Coded]:
        """Bring k-mers to the host and take them."""
        if self._engine is None:
            raise ValueError("a writer without an engine takes blocks, not runs")
        if runs.size:
            yield from self.take_block(KmerBlock(self._engine.download(runs.keys), self._engine.download(runs.counts)))

    def take_slots(self, slots: Slots) -> Iterator[Coded]:
        """Bring k-mers of slots to the host and take them."""
        if self._engine is None:
            raise ValueError("a writer without an engine takes blocks, not slots")
        yield from self.take_runs(runs_of(self._engine, slots, self._k))

    def rest(self) -> Iterator[Coded]:
        """Yield what is left."""
        if self._held.size:
            self._encode()
        while self._encoding:
            yield self._put_next()

    def close(self) -> None:
        """Let go of the memory."""
        self._encoding.clear()

    def _encode(self) -> None:
        self._encoding.append(self._pool.submit(encode_sections, *self._held.arrays()))
        self._held = _Held(len(self._held.keys), self._held.room)

    def _put_next(self) -> Coded:
        data, coded = self._encoding.popleft().result()
        self._output.put(data).result()
        return coded


class _Held:
    """The k-mers of some sections, gathered from blocks."""

    def __init__(self, words: int, room: int) -> None:
        self.keys, self.counts = np.empty((words, room), np.uint64), np.empty(room, np.uint32)
        self.size, self.room = 0, room

    def take(self, block: KmerBlock, start: int) -> int:
        """Take what fits of a block, from one of its k-mers on; return how many."""
        size = min(len(block) - start, self.room - self.size)
        self.keys[:, self.size : self.size + size] = block.keys[:, start : start + size]
        self.counts[self.size : self.size + size] = block.counts[start : start + size]
        self.size += size
        return size

    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Keys and counts."""
        return self.keys[:, : self.size], self.counts[: self.size]
