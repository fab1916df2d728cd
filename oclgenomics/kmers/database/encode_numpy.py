"""Sections of k-mers that are in host memory, encoded by NumPy in threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.append_file import Appending
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.section import Coded, encode_sections
from oclgenomics.kmers.kmer_set import KmerBlock

__all__ = ["NumpyEncoder"]

BATCH_SECTIONS = 4  # encoded by one thread at a time: enough for few calls, little enough for the cache


class NumpyEncoder:
    """Gathers blocks into sections, encodes these and appends them to a file.

    Parameters
    ----------
    words : int
        Words of a key.
    output : Appending
    pool : ThreadPoolExecutor
    threads : int
        Those of the pool.
    """

    def __init__(self, words: int, output: Appending, pool: ThreadPoolExecutor, threads: int) -> None:
        self._output, self._pool, self._threads = output, pool, threads
        self._batch = _Batch(words, BATCH_SECTIONS * SECTION_KMERS)
        self._encoding: deque[Future[tuple[bytes, Coded]]] = deque()

    def take(self, block: KmerBlock) -> Iterator[Coded]:
        """Take k-mers, which have to ascend; yield what was encoded meanwhile."""
        taken = 0
        while taken < len(block):
            taken += self._batch.take(block, taken)
            if self._batch.size == self._batch.room:
                self._encode()
                while len(self._encoding) > self._threads + 1:
                    yield self._put_next()

    def rest(self) -> Iterator[Coded]:
        """Yield what is left."""
        if self._batch.size:
            self._encode()
        while self._encoding:
            yield self._put_next()

    def close(self) -> None:
        """Let go of the memory."""
        self._encoding.clear()

    def _encode(self) -> None:
        self._encoding.append(self._pool.submit(encode_sections, *self._batch.held()))
        self._batch = _Batch(len(self._batch.keys), self._batch.room)

    def _put_next(self) -> Coded:
        data, coded = self._encoding.popleft().result()
        self._output.put(data).result()
        return coded


class _Batch:
    """Some sections' k-mers, gathered from blocks."""

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

    def held(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Keys and counts."""
        return self.keys[:, : self.size], self.counts[: self.size]
