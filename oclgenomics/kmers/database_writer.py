"""Writing of k-mer databases."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.errors import UsageError
from oclgenomics.formats.whole import WholeFile, whole_file
from oclgenomics.kmers.arithmetic import is_ascending
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.layout import HEAD_BYTES, SECTION_KMERS, Foot, Head, section_table
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.section import Parts, encode_parts, join_parts
from oclgenomics.kmers.section_device import encode_parts_on, sections_that_fit
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.kmers.tally import Tally
from oclgenomics.runtime import Engine
from oclgenomics.threads import usable_cores

__all__ = ["DatabaseWriter"]

MOST_THREADS = 8  # more wait for each other: what NumPy and the checksum do is not all in parallel
BATCH_SECTIONS = 4  # encoded by one thread at a time: enough for few calls, little enough for the cache


class DatabaseWriter:
    """A k-mer database in the making; a context manager.

    The file is there, whole, when the `with` block has ended without an exception, and not at all else. Its bytes
    depend on the k-mers, their counts, the options and the version of the program alone.

    Parameters
    ----------
    path : path or WholeFile
        The file, or one that is open and that someone else looks after.
    options : CountOptions
        What was counted.
    engine : Engine, optional
        The device to encode on, in the thread that calls; else NumPy does it. The bytes are the same.
    threads : int, optional
        Threads that encode and check; as many as there are cores, at most 8, if not given.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    AllocationError
        The device's memory does not hold a section.
    UsageError
        Bounds of counts beyond 64 bits.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | WholeFile,
        options: CountOptions,
        *,
        engine: Engine | None = None,
        threads: int | None = None,
    ) -> None:
        if options.max_count >> 64:
            raise UsageError(f"--max-count {options.max_count}: a database holds bounds below 2^64")
        self._path, self._options, self._engine = path, options, engine
        self._threads = min(MOST_THREADS, usable_cores()) if threads is None else threads
        self._words = key_words(options.k)
        self._last: NDArray[np.uint64] | None = None
        sections = BATCH_SECTIONS if engine is None else sections_that_fit(engine, self._words)
        self._batch = _Batch(self._words, sections * SECTION_KMERS)
        self._encoding: deque[Future[tuple[bytes, NDArray[np.void], Tally]]] = deque()
        self._tables: list[NDArray[np.void]] = []
        self._end = HEAD_BYTES
        self._tally = Tally()

    def __enter__(self) -> DatabaseWriter:
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(_opened(self._path))
            self._pool = stack.enter_context(ThreadPoolExecutor(self._threads, "encode-kmers"))
            self._file.write(Head(self._options, __version__).pack())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            with self._stack:
                self._finish()
        else:
            self._pool.shutdown(cancel_futures=True)
            self._stack.__exit__(kind, error, trace)

    def append(self, block: KmerBlock) -> None:
        """Add k-mers, all of them greater than those before. The arrays are free for other use afterwards.

        Raises
        ------
        ValueError
            Keys that do not ascend or have more than k letters, counts of 0, or arrays of other shapes or types.
        OutputError
            The file cannot be written.
        """
        self._check(block)
        if len(block):
            self._last = block.keys[:, -1:].copy()
        taken = 0
        while taken < len(block):
            taken += self._batch.take(block, taken)
            if self._batch.size == self._batch.room:
                self._encode()

    def _check(self, block: KmerBlock) -> None:
        keys, counts = block.keys, block.counts
        if keys.dtype != np.uint64 or counts.dtype != np.uint32 or keys.shape != (self._words, len(counts)):
            raise ValueError(f"keys {keys.dtype} {keys.shape} and counts {counts.dtype} {counts.shape} do not suit")
        if not len(counts):
            return
        seam = keys[:, :1] if self._last is None else np.hstack([self._last, keys[:, :1]])
        if not is_ascending(seam) or not is_ascending(keys):
            raise ValueError("k-mers have to come in ascending order, each of them once")
        if int(keys[-1, -1]) >> (2 * self._options.k - 64 * (self._words - 1)):
            raise ValueError(f"a key has more than {self._options.k} letters")
        if not counts.all():
            raise ValueError("a count is 0")

    def _encode(self) -> None:
        keys, counts = self._batch.held()
        self._batch = _Batch(self._words, self._batch.room)
        parts = None if self._engine is None else encode_parts_on(self._engine, keys, counts)
        self._encoding.append(self._pool.submit(_finish_batch, keys, counts, parts))
        while len(self._encoding) > self._threads + 1:
            self._write_next()

    def _write_next(self) -> None:
        data, table, tally = self._encoding.popleft().result()
        self._file.write(data)
        table["offset"] += np.uint64(self._end)
        self._end += len(data)
        self._tables.append(table)
        self._tally.add(tally)

    def _finish(self) -> None:
        if self._batch.size:
            self._encode()
        while self._encoding:
            self._write_next()
        sections = np.concatenate([np.empty(0, section_table(self._words)), *self._tables])
        histogram = self._tally.histogram()
        counts, kmers = histogram["count"].tolist(), histogram["kmers"].tolist()
        total = sum(count * number for count, number in zip(counts, kmers, strict=True))
        foot = Foot(self._end, len(sections), len(histogram), sum(kmers), total)
        tail = sections.tobytes() + histogram.tobytes()
        self._file.write(tail + foot.pack(tail))


def _opened(path: str | os.PathLike[str] | WholeFile) -> contextlib.AbstractContextManager[WholeFile]:
    return contextlib.nullcontext(path) if isinstance(path, WholeFile) else whole_file(path)


def _finish_batch(
    keys: NDArray[np.uint64], counts: NDArray[np.uint32], parts: Parts | None
) -> tuple[bytes, NDArray[np.void], Tally]:
    """Sections, their table and their histogram."""
    return *join_parts(keys, encode_parts(keys, counts) if parts is None else parts), Tally(counts)


class _Batch:
    """Some sections' k-mers, gathered from blocks."""

    def __init__(self, words: int, room: int) -> None:
        self._keys, self._counts = np.empty((words, room), np.uint64), np.empty(room, np.uint32)
        self.size, self.room = 0, room

    def take(self, block: KmerBlock, start: int) -> int:
        """Take what fits of a block, from one of its k-mers on; return how many."""
        size = min(len(block) - start, self.room - self.size)
        self._keys[:, self.size : self.size + size] = block.keys[:, start : start + size]
        self._counts[self.size : self.size + size] = block.counts[start : start + size]
        self.size += size
        return size

    def held(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Keys and counts."""
        return self._keys[:, : self.size], self._counts[: self.size]
