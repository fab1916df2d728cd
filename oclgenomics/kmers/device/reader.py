"""Reading of k-mer databases, verified as it goes, on the host or on a device."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.closing import Closing
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.workers import work_ahead
from oclgenomics.kmers.database.keys import key_words, sortable
from oclgenomics.kmers.database.kmer_set import CountedKmers, KmerBlock, KmerSet, KmerTable
from oclgenomics.kmers.database.layout import section_bytes
from oclgenomics.kmers.database.section_file import SectionFile, Sections
from oclgenomics.kmers.device.encode_kernels import SIP_KEY
from oclgenomics.kmers.device.marks import Marks
from oclgenomics.kmers.device.parts import downloaded
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan.memory import SectionPlan
from oclgenomics.kmers.result import Histogram
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine, SharedArray

MAX_THREADS = 8  # more wait for each other: what NumPy and the checksum do is not all in parallel
KmerSource = KmerSet | str | os.PathLike[str]
CHECKED_LANES = 16  # on CPUs, of which vectors hash a section in each lane
DECODE, MARKED = "kmers/decode_sections.cl", "kmers/marked_sections.cl"
CPU_LANES, CPU_TOGETHER = 8, 2  # sections that a work-item decodes side by side (section_lanes.clh, section_walk.clh)
LANES = 1  # sections have little to do with each other: a group each spreads them over the device


class KmerDatabase(Closing, KmerTable):
    """A k-mer database: a set of k-mers (`KmerSet`) on disk.

    Head, tables and foot are verified when it is opened, and each section by its checksum when it is read. `open` makes
    one; it is a context manager. Several threads may read at the same time.
    """

    def __init__(self, file: SectionFile) -> None:
        self._file, self._index = file, file.index
        self._firsts = sortable(self.firsts)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> KmerDatabase:
        """Open a database.

        Raises
        ------
        InputError
            The file is missing, no database, cut off or damaged.
        """
        return cls(SectionFile.open(path))

    def close(self) -> None:
        """Close the file; nothing can be read afterwards."""
        self._file.close()

    @property
    def options(self) -> CountOptions:
        """What was counted."""
        return self._index.head.options

    @property
    def program(self) -> str:
        """Version of oclgenomics that wrote it."""
        return self._index.head.program

    @property
    def k(self) -> int:
        """Bases of a k-mer."""
        return self.options.k

    @property
    def canonical(self) -> bool:
        """Whether a k-mer and its reverse complement are one."""
        return self.options.canonical

    @property
    def compressed(self) -> bool:
        """Whether runs of equal bases counted as one base."""
        return self.options.compressed

    @property
    def distinct(self) -> int:
        """K-mers that differ."""
        return self._index.foot.distinct

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return self._index.foot.total

    @property
    def histogram(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The counts that there are, ascending, and the k-mers that have each: uint64 (n,) and uint64 (n,)."""
        histogram = self._index.histogram
        return histogram["count"].astype(np.uint64), histogram["kmers"].astype(np.uint64)

    @property
    def firsts(self) -> NDArray[np.uint64]:
        """The first key of each section, uint64 (words, sections)."""
        return np.ascontiguousarray(self._index.table["first"].T.astype(np.uint64))

    @property
    def sections(self) -> int:
        """Sections, which are read one at a time."""
        return len(self._file)

    def section(self, number: int) -> KmerBlock:
        """Read one section, counted from 0.

        Raises
        ------
        InputError
            It is damaged.
        """
        return self._file.section(number)

    def blocks(self, threads: int | None = None) -> Iterator[KmerBlock]:
        """All k-mers, a section at a time; a few sections are read ahead.

        Parameters
        ----------
        threads : int, optional
            Threads that decode; as many as there are cores, at most 8, if not given.

        Raises
        ------
        InputError
            A section is damaged.
        """
        threads = min(MAX_THREADS, usable_cores()) if threads is None else threads
        with ThreadPoolExecutor(threads, "decode-kmers") as pool:
            yield from self.blocks_ahead(pool, threads + 1)

    def blocks_ahead(self, pool: Executor, ahead: int) -> Iterator[KmerBlock]:
        """All k-mers, a section at a time, so many of which are read ahead by a pool that others use, too.

        Raises
        ------
        InputError
            A section is damaged.
        """
        return work_ahead(pool, self._file.section, range(len(self._file)), ahead)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._file.name

    def stretches(self) -> Iterator[Sections]:
        """All sections, encoded, a few at a time; see `oclgenomics.kmers.device.merging`."""
        return self._file.stretches()

    def runs(self, engine: Engine, marks: Marks | None = None) -> Iterator[Runs]:
        """All k-mers in an engine's memory, decoded there, some sections at a time; the next ones are read meanwhile.

        Parameters
        ----------
        engine : Engine
        marks : Marks, optional
            Sections without marked k-mers are not read, and on CPU devices k-mers without a mark are left out.

        Yields
        ------
        Runs
            K-mers, uint64 (words, n), and their counts, uint32 (n,), in ascending order; valid until the next ones are
            asked for, since new memory is slower than what is in the caches.

        Raises
        ------
        InputError
            A section is damaged.
        AllocationError
            The device's memory does not hold a section.
        """
        index, greatest = self._file.index, self._file.greatest
        step = SectionPlan(engine.limits(), self.k, engine.memory.used).decode(marked=marks is not None)
        wanted = None if marks is None else marks.sections()
        numbers = np.arange(len(self._file)) if wanted is None else wanted
        some = [numbers[start : start + step] for start in range(0, len(numbers), step)]
        tables = [index.table[these] for these in some]
        if not tables:
            return
        rooms = [room_for(engine, tables) for _ in tables[:2]]
        with ThreadPoolExecutor(1, "read-kmers") as pool:
            coming = pool.submit(self._file.read_raw, tables[0], rooms[0].host)
            runs = runs_for(engine, tables[0])
            for number, (these, table) in enumerate(zip(some, tables, strict=True)):
                coming.result()
                for later in tables[number + 1 : number + 2]:
                    coming = pool.submit(self._file.read_raw, later, rooms[(number + 1) % 2].host)
                if number and table["kmers"].sum() != runs.size:  # of the last ones, which may be fewer
                    del runs
                    runs = runs_for(engine, table)
                given = engine, table, greatest[:, these], rooms[number % 2], runs
                kept = None
                if marks is None or not engine.tuning.cpu:
                    status = decode_into(*given)
                else:
                    status, kept = decode_marked(*given, marks, self.k)
                for damaged in np.flatnonzero(status)[:1].tolist():
                    self._file.section(int(these[damaged]))  # which says what is wrong with it
                    raise InputError("changed while it was read", source=self._file.name)
                yield runs if kept is None else join_marked(engine, table, runs, kept)

    def keys_counts(self, engine: Engine | None = None) -> CountedKmers:
        """All k-mers in memory.

        Parameters
        ----------
        engine : Engine, optional
            The device to decode on, as `runs` does; else NumPy does it.

        Raises
        ------
        InputError
            A section is damaged.
        """
        keys, counts = np.empty((key_words(self.k), self.distinct), np.uint64), np.empty(self.distinct, np.uint32)
        end = 0
        for block in self.blocks() if engine is None else self._downloaded(engine):
            start, end = end, end + len(block)
            keys[:, start:end], counts[start:end] = block.keys, block.counts
        return CountedKmers(self.k, self.canonical, keys, counts, self.compressed)

    def _downloaded(self, engine: Engine) -> Iterator[KmerBlock]:
        for runs in self.runs(engine):
            block = downloaded(engine, runs)
            del runs
            yield block

    def block_of(self, key: NDArray[np.uint64]) -> KmerBlock | None:
        """Return the section that holds a key, uint64 (words,), if any does; None where the key is less than all.

        Raises
        ------
        ValueError
            A key of another number of words.
        InputError
            The section is damaged.
        """
        number = int(self._sections_of(np.asarray(key, np.uint64).reshape(-1, 1))[0])
        return None if number < 0 else self.section(number)

    def lookup(self, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
        """Return the counts of some keys; 0 where a key is not there. Only the sections needed are read.

        Parameters
        ----------
        keys : uint64 (words, n)
            In any order, as they are counted: of a canonical database, the lesser of both strands.

        Returns
        -------
        uint32 (n,)

        Raises
        ------
        ValueError
            Keys of another number of words.
        InputError
            A section is damaged.
        """
        counts = np.zeros(keys.shape[1], np.uint32)
        sections = self._sections_of(keys)
        order = np.argsort(sections, kind="stable")
        present, starts = np.unique(sections[order], return_index=True)
        wanted = sortable(keys)
        for number, (begin, end) in zip(present.tolist(), pairwise([*starts, len(order)]), strict=True):
            if number >= 0:
                queries = order[begin:end]
                block = self.section(number)
                held, sought = sortable(block.keys), wanted[queries]
                places = np.minimum(np.searchsorted(held, sought), len(held) - 1)
                counts[queries] = np.where(held[places] == sought, block.counts[places], 0)
        return counts

    def _sections_of(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The section that would hold each key, int64 (n,); -1 for keys less than all."""
        if keys.dtype != np.uint64 or len(keys) != key_words(self.k):
            words = key_words(self.k)
            raise ValueError(f"keys {keys.dtype} {keys.shape}: keys of {self.k} bases have {words} words")
        return np.searchsorted(self._firsts, sortable(keys), side="right") - 1


@contextlib.contextmanager
def opened(source: KmerSource) -> Iterator[KmerSet]:
    """Lend a set; a database that is given by its path is open as long.

    Raises
    ------
    InputError
        The file is missing, no database, cut off or damaged.
    """
    if isinstance(source, (str, os.PathLike)):
        with KmerDatabase.open(source) as database:
            yield database
    else:
        yield source


def histogram_of_set(kmers: KmerSet) -> Histogram:
    """Return the number of k-mers that have each count: what a database has ready, or that of a set, which is read."""
    if isinstance(kmers, KmerDatabase):
        counts, times = kmers.histogram
        return Histogram(counts.astype(np.int64), times.astype(np.int64))
    return Histogram.of_counts(block.counts for block in kmers.blocks())


def room_for(engine: Engine, tables: Sequence[NDArray[np.void]]) -> SharedArray:
    """Room for the bytes of the sections of any one of some tables, as words."""
    return engine.shared(max(map(words_of, tables)), np.uint64)


def words_of(table: NDArray[np.void]) -> int:
    """Words that the sections of a table take to decode: those of their bytes, and what is read behind them."""
    return int(section_bytes(table).sum()) // 8 + 2


def runs_for(engine: Engine, table: NDArray[np.void]) -> Runs:
    """Room for the k-mers of the sections of a table."""
    words, size = table.dtype["first"].shape[0], int(table["kmers"].sum())
    return Runs(engine.empty((words, size), np.uint64), engine.empty(size, np.uint32), size)


def decode_into(
    engine: Engine, table: NDArray[np.void], greatest: NDArray[np.uint64], data: SharedArray, runs: Runs, place: int = 0
) -> NDArray[np.uint32]:
    """Decode sections, one behind the other.

    Parameters
    ----------
    engine : Engine
    table : ndarray of `section_table` (sections,)
        Offsets do not matter.
    greatest : ndarray, uint64 (words, sections)
        The greatest key that each section may hold; see `codec.greatest_keys`.
    data : SharedArray, uint64
        Room for `words_of` them; the host's side holds their bytes, one section after the other.
    runs : Runs
        Keys uint64 (words, n) and counts uint32 (n,) on the device, which get the k-mers.
    place : int
        Of the first one.

    Returns
    -------
    uint32 (sections,)
        Not 0 where a section is damaged, and its k-mers undefined.
    """
    some = _checked(engine, table, greatest, data, place)
    kernel = engine.kernel(DECODE, "decode_sections", **_defines(engine, table))
    each = _each(engine, table)
    engine.launch_items(
        kernel, -(-len(table) // each), lanes=LANES, **some, each=each, stride=runs.keys.shape[1], keys=runs.keys,
        counts=runs.counts,
    )  # fmt: skip
    return engine.download(some["status"])


def decode_marked(
    engine: Engine, table: NDArray[np.void], greatest: NDArray[np.uint64], data: SharedArray, runs: Runs, marks: Marks,
    k: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:  # fmt: skip
    """Decode sections, of whose k-mers only those with a mark stay, and few others; other parameters as `decode_into`.

    Returns
    -------
    status : uint32 (sections,)
        As that of `decode_into`.
    kept : uint32 (sections,)
        K-mers that stay of each; they begin where the first one of the section would be.
    """
    some = _checked(engine, table, greatest, data, 0)
    kernel = engine.kernel(MARKED, "decode_marked", **_defines(engine, table))
    kept = engine.empty(len(table), np.uint32)
    each = _each(engine, table)
    engine.launch_items(
        kernel, -(-len(table) // each), lanes=LANES, **some, each=each, stride=runs.keys.shape[1], k=k, bits=marks.bits,
        marks=marks.array, keys=runs.keys, counts=runs.counts, kept=kept,
    )  # fmt: skip
    return engine.download(some["status"]), engine.download(kept)


def join_marked(engine: Engine, table: NDArray[np.void], runs: Runs, kept: NDArray[np.uint32]) -> Runs:
    """Join what `decode_marked` left of sections that are all sound, in new arrays."""
    begins = np.cumsum(table["kmers"], dtype=np.uint64) - table["kmers"]
    ends = np.cumsum(kept, dtype=np.uint64)
    size, words = int(ends[-1]), runs.keys.shape[0]
    joined = Runs(engine.empty((words, size), np.uint64), engine.empty(size, np.uint32), size)
    engine.launch_items(
        engine.kernel(MARKED, "join_marked", **_defines(engine, table)), len(table), lanes=LANES, sections=len(table),
        spans=engine.upload(np.array([begins, ends - kept, kept])), stride=runs.keys.shape[1], keys=runs.keys,
        counts=runs.counts, to_stride=size, to_keys=joined.keys, to_counts=joined.counts,
    )  # fmt: skip
    return joined


def _defines(engine: Engine, table: NDArray[np.void]) -> dict[str, int]:
    return {"WORDS": table.dtype["first"].shape[0], "CPU": engine.tuning.cpu}


def _each(engine: Engine, table: NDArray[np.void]) -> int:
    """Return the sections of a work-item: on CPUs as many as have a lane each, if all cores have work then."""
    if not engine.tuning.cpu:
        return 1
    enough = len(table) >= CPU_LANES * engine.limits().compute_units
    return CPU_LANES if enough and table.dtype["first"].shape[0] == 1 else CPU_TOGETHER


def _checked(
    engine: Engine, table: NDArray[np.void], greatest: NDArray[np.uint64], data: SharedArray, place: int
) -> dict[str, Any]:
    """Verify the checksums of sections; return what kernels take that decode them."""
    sizes, kmers = section_bytes(table), table["kmers"].astype(np.int64)
    facts = np.empty((6, len(table)), np.uint64)
    facts[0] = np.cumsum(sizes) - sizes
    facts[1], facts[2], facts[3] = table["gap_bytes"], table["count_words"], table["checksum"]
    facts[1] += np.uint64(table.dtype["first"].itemsize)
    facts[4], facts[5] = kmers, place + np.cumsum(kmers) - kmers
    status = engine.empty(len(table), np.uint32)
    some = {"data": data.device, "table": engine.upload(facts), "sections": len(table), "status": status}
    data.send(0, words_of(table), wait=True)
    checks = engine.kernel(DECODE, "check_sections", **_defines(engine, table))
    engine.launch_items(checks, len(table), lanes=CHECKED_LANES if engine.tuning.cpu else LANES, **some, **SIP_KEY)
    limits = engine.upload(np.concatenate([table["first"].T.astype(np.uint64), greatest]))
    return {**some, "limits": limits}
