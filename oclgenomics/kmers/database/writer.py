"""Writing of k-mer databases."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.errors import ParameterError
from oclgenomics.io.append_file import Appending
from oclgenomics.io.atomic_file import WholeFile, whole_file
from oclgenomics.io.threads import usable_cores
from oclgenomics.kmers.database.layout import HEAD_BYTES, Foot, Head, section_bytes, section_table
from oclgenomics.kmers.database.sections.encode_device import DeviceEncoder
from oclgenomics.kmers.database.sections.plan import SectionPlan
from oclgenomics.kmers.database.sections.section import Coded
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.kmers.tally import Tally
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine

if TYPE_CHECKING:
    from oclgenomics.kmers.database.sections.encoder import SectionEncoder

__all__ = ["DatabaseWriter"]

MAX_THREADS = 8  # more wait for each other: what NumPy and the checksum do is not all in parallel


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
        The device to encode on; some of its memory is taken as long as the `with` block lasts. Without one, or where
        that would be much of what it has, NumPy encodes. The bytes are the same.
    threads : int, optional
        Threads that encode and write; as many as there are cores, at most 8, if not given.

    Attributes
    ----------
    distinct, total : int
        K-mers in the database, and the sum of their counts; known when the `with` block has ended.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    AllocationError
        The device's memory does not hold a section.
    ParameterError
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
            raise ParameterError("max_count", "a database holds bounds below 2^64", options.max_count)
        self._path, self._options, self._engine = path, options, engine
        self._threads = min(MAX_THREADS, usable_cores()) if threads is None else threads
        self._words = key_words(options.k)
        self._tables: list[NDArray[np.void]] = []
        self._tally = Tally()
        self.distinct = self.total = 0

    def __enter__(self) -> DatabaseWriter:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(_opened(self._path))
            pool = stack.enter_context(ThreadPoolExecutor(self._threads, "write-kmers"))
            self._output = Appending(file, pool)
            self._output.put(Head(self._options, __version__).pack()).result()
            self._encoder = self._chosen_encoder(pool)
            stack.callback(self._encoder.close)
            stack.callback(pool.shutdown, cancel_futures=True)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            with self._stack:
                self._finish()
        else:
            self._stack.__exit__(kind, error, trace)

    def _chosen_encoder(self, pool: ThreadPoolExecutor) -> SectionEncoder:
        k, engine = self._options.k, self._engine
        if engine is not None and SectionPlan(DeviceLimits.of(engine), k).worth_encoding:
            return DeviceEncoder(engine, k, self._output)
        from oclgenomics.kmers.database.sections.encode_numpy import NumpyEncoder  # here, because few need it

        return NumpyEncoder(k, self._output, pool, self._threads, engine)

    def append(self, block: KmerBlock) -> None:
        """Add k-mers of host memory, all of them greater than those before.

        The arrays are free for other use afterwards. With an engine they are uploaded, and `append_runs` takes them.

        Raises
        ------
        ValueError
            Keys that do not ascend or have more than k letters, counts of 0, or arrays of other shapes or types.
        OutputError
            The file cannot be written.
        """
        self._check_arrays(block.keys, block.counts, len(block.counts))
        if len(block):
            self._enter(self._encoder.take_block(block))

    def append_runs(self, runs: Runs) -> None:
        """Add k-mers of the engine's memory, all of them greater than those before.

        What has to be kept of them is copied. Keys and counts are looked at when they are encoded, so what is wrong
        with them may come to light later, at the latest when the `with` block ends.

        Parameters
        ----------
        runs : Runs
            Keys uint64 (words, n) and counts uint32 (n,).

        Raises
        ------
        ValueError
            Keys that do not ascend or have more than k letters, counts of 0, or arrays of other shapes or types; or a
            writer without an engine.
        OutputError
            The file cannot be written.
        """
        self._check_arrays(runs.keys, runs.counts, runs.size)
        self._enter(self._encoder.take_runs(runs))

    def append_slots(self, slots: Slots) -> None:
        """Add k-mers of the engine's memory as counters on CPUs leave them, all of them greater than those before.

        What has to be kept of them is copied, but the device may still be at it: only commands of the engine may then
        write their memory. As with `append_runs`, what is wrong may come to light later.

        Raises
        ------
        ValueError
            As `append_runs`, or k-mers that are shorter than what their bins keep of them.
        OutputError
            The file cannot be written.
        """
        layout, bins = slots.layout, {len(slots.heads), len(slots.begins), len(slots.sizes)}
        lists = len(slots.large_slots) == len(slots.large_counts) and len(bins) == 1
        if slots.words.dtype != np.uint64 or slots.words.shape[:1] != (layout.words,) or not lists:
            raise ValueError(f"slots {slots.words.dtype} {slots.words.shape} of {bins} bins do not suit")
        if not 0 < layout.rest <= 2 * self._options.k:
            raise ValueError(f"slots keep {layout.rest} bits of k-mers of {self._options.k} letters")
        self._enter(self._encoder.take_slots(slots))

    def append_blocks(self, blocks: Iterable[KmerBlock]) -> None:
        """Add all of some blocks; see `append`."""
        for block in blocks:
            self.append(block)

    def append_all(self, some: Iterable[Runs | Slots]) -> None:
        """Add all of some runs and slots, each of which is let go before the next one is made.

        See `append_runs` and `append_slots`.
        """
        for kmers in some:
            if isinstance(kmers, Slots):
                self.append_slots(kmers)
            else:
                self.append_runs(kmers)
            del kmers

    def _check_arrays(
        self, keys: NDArray[np.uint64] | DeviceArray, counts: NDArray[np.uint32] | DeviceArray, size: int
    ) -> None:
        types = keys.dtype == np.uint64 and counts.dtype == np.uint32
        if not types or keys.shape != (self._words, size) or counts.shape != (size,):
            raise ValueError(f"keys {keys.dtype} {keys.shape} and counts {counts.dtype} {counts.shape} do not suit")

    def _enter(self, some: Iterable[Coded]) -> None:
        for coded in some:
            self._tables.append(coded.table)
            self._tally.add(coded.tally)

    def _finish(self) -> None:
        self._enter(self._encoder.rest())
        sections = np.concatenate([np.empty(0, section_table(self._words)), *self._tables])
        sections["offset"] = HEAD_BYTES + np.cumsum(section_bytes(sections)) - section_bytes(sections)
        histogram = self._tally.histogram()
        counts, kmers = histogram["count"].tolist(), histogram["kmers"].tolist()
        self.distinct = sum(kmers)
        self.total = sum(count * number for count, number in zip(counts, kmers, strict=True))
        foot = Foot(self._output.end, len(sections), len(histogram), self.distinct, self.total)
        tail = sections.tobytes() + histogram.tobytes()
        self._output.put(tail + foot.pack(tail)).result()


def _opened(path: str | os.PathLike[str] | WholeFile) -> contextlib.AbstractContextManager[WholeFile]:
    return contextlib.nullcontext(path) if isinstance(path, WholeFile) else whole_file(path)
