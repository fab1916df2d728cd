"""Writing of k-mer databases."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.errors import ParameterError
from oclgenomics.io.atomic_file import Appending, WholeFile, whole_file
from oclgenomics.io.cores import usable_cores
from oclgenomics.kmers import device
from oclgenomics.kmers.database.codec import Coded, KeyOrder, NumpyEncoder
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import HEAD_BYTES, SECTION_KMERS, Foot, Head, Tally, section_bytes, section_table
from oclgenomics.kmers.device.encode_cpu import CpuDeviceEncoder
from oclgenomics.kmers.device.encode_kernels import Span
from oclgenomics.kmers.device.parts import downloaded, uploaded
from oclgenomics.kmers.device.slots import SlotBins, Slots, runs_of
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan.memory import SectionPlan
from oclgenomics.primitives import Runs
from oclgenomics.runtime import DeviceArray, Engine

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

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:
        if kind is None:
            with self._stack:
                self._finish()
        else:
            self._stack.__exit__(kind, *rest)

    def _chosen_encoder(self, pool: ThreadPoolExecutor) -> DeviceEncoder | NumpyEncoder:
        k, engine = self._options.k, self._engine
        if engine is not None and SectionPlan(engine.limits(), k).worth_encoding:
            return DeviceEncoder(engine, k, self._output)
        return NumpyEncoder(k, self._output, pool, self._threads)

    def append(self, block: KmerBlock) -> None:
        """Add k-mers of host memory, all of them greater than those before.

        The arrays are free for other use afterwards. With an engine they are uploaded, and `append_runs` takes them.

        Raises
        ------
        ValueError
            Keys that do not ascend or have more than k bases, counts of 0, or arrays of other shapes or types.
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
            Keys that do not ascend or have more than k bases, counts of 0, or arrays of other shapes or types; or a
            writer without an engine.
        OutputError
            The file cannot be written.
        """
        self._check_arrays(runs.keys, runs.counts, runs.size)
        if isinstance(self._encoder, DeviceEncoder):
            self._enter(self._encoder.take_runs(runs))
        elif self._engine is None:
            raise ValueError("a writer without an engine takes blocks, not runs")
        elif runs.size:
            self.append(downloaded(self._engine, runs))

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
            raise ValueError(f"slots keep {layout.rest} bits of k-mers of {self._options.k} bases")
        if isinstance(self._encoder, DeviceEncoder):
            self._enter(self._encoder.take_slots(slots))
        elif self._engine is None:
            raise ValueError("a writer without an engine takes blocks, not slots")
        else:
            self.append_runs(runs_of(self._engine, slots, self._options.k))

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


class DeviceEncoder:
    """Gathers runs into sections, encodes these and appends them to a file.

    What does not fill sections is held in arrays of its own, which are there from the start, so that whoever plans
    with the device's memory afterwards knows of them, as is the room for encoded sections on CPU devices; what GPUs
    encode with is there only while runs are taken.

    Parameters
    ----------
    engine : Engine
    k : int
    output : Appending

    Raises
    ------
    AllocationError
        The device's memory does not hold a section.
    """

    def __init__(self, engine: Engine, k: int, output: Appending) -> None:
        words = key_words(k)
        self._engine, self._k, self._order = engine, k, KeyOrder(k)
        plan = SectionPlan(engine.limits(), k, engine.memory.used)
        self._at_a_time, self._room = plan.encode(), plan.held() * SECTION_KMERS
        on_cpu = plan.limits.cpu
        self._spans = CpuDeviceEncoder(engine, k, output, plan) if on_cpu else device.GpuEncoder(engine, k, output)
        self._keys, self._counts = engine.empty((words, self._room), np.uint64), engine.empty(self._room, np.uint32)
        self._size = 0

    def take_block(self, block: KmerBlock) -> Iterator[Coded]:
        """Upload k-mers and take them."""
        yield from self.take_runs(uploaded(self._engine, block))

    def take_runs(self, runs: Runs) -> Iterator[Coded]:
        """Take k-mers; yield what was encoded, all but what is held."""
        return self._checked(self._take(runs))

    def take_slots(self, slots: Slots) -> Iterator[Coded]:
        """Take k-mers of slots, which CPU devices encode as they are; yield what was encoded, all but what is held."""
        if isinstance(self._spans, CpuDeviceEncoder):
            return self._checked(self._take_slots(self._spans, SlotBins(self._engine, slots)))
        return self.take_runs(runs_of(self._engine, slots, self._k))

    def rest(self) -> Iterator[Coded]:
        """Yield what is held."""
        return self._checked(self._rest())

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it to the file any more."""
        self._spans.close()
        self._keys.release()
        self._counts.release()

    def _checked(self, some: Iterator[Coded]) -> Iterator[Coded]:
        for coded in some:
            self._order.follow(coded.first, coded.last)
            yield coded

    def _take(self, runs: Runs) -> Iterator[Coded]:
        taken = 0
        while taken < runs.size:
            left = runs.size - taken
            if not self._size and left >= self._room:
                size = min(left // SECTION_KMERS, self._at_a_time) * SECTION_KMERS
                yield from self._spans.encode(Span(runs.keys, runs.counts, taken, size))
            else:
                size = min(left, self._room - self._size)
                self._copy(runs, taken, size)
                if self._size == self._room:
                    yield from self._encode_held()
            taken += size
        yield from self._spans.settle()

    def _take_slots(self, encoder: CpuDeviceEncoder, bins: SlotBins) -> Iterator[Coded]:
        """Sections that end among slots are encoded from them, with what is held; what is left is held."""
        taken = 0
        if self._size >= SECTION_KMERS:  # of runs
            taken = min(bins.size, -self._size % SECTION_KMERS)
            bins.expand(0, taken, self._keys, self._counts, self._size)
            self._size += taken
            if self._size % SECTION_KMERS == 0:
                yield from self._encode_held()
        while taken < bins.size:
            whole = min((self._size + bins.size - taken) // SECTION_KMERS, self._at_a_time)
            if whole:
                size = whole * SECTION_KMERS - self._size
                yield from encoder.encode_slots(Span(self._keys, self._counts, 0, self._size), bins, taken, size)
                self._size = 0
            else:
                size = bins.size - taken
                bins.expand(taken, size, self._keys, self._counts, self._size)
                self._size += size
            taken += size

    def _rest(self) -> Iterator[Coded]:
        if self._size:
            yield from self._encode_held()
        yield from self._spans.drain()

    def _copy(self, runs: Runs, start: int, size: int) -> None:
        # slots need none
        hold = self._engine.kernel("kmers/hold_kmers.cl", "hold_kmers", WORDS=key_words(self._k), COUNTS=True)
        self._engine.launch_items(
            hold, size, **Span(runs.keys, runs.counts, start, size).keys_of, counts=runs.counts, room=self._room,
            place=self._size, to_keys=self._keys, to_counts=self._counts,
        )  # fmt: skip
        self._size += size

    def _encode_held(self) -> Iterator[Coded]:
        size, self._size = self._size, 0
        yield from self._spans.encode(Span(self._keys, self._counts, 0, size))
