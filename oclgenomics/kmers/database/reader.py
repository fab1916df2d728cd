"""Reading of k-mer databases, verified as it goes."""

from __future__ import annotations

import itertools
import os
import stat
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.threads import usable_cores
from oclgenomics.kmers.arithmetic import sortable
from oclgenomics.kmers.database.decode_device import decode_on, room_for, sections_at_a_time, words_of
from oclgenomics.kmers.database.file_index import FileIndex, read_file_index
from oclgenomics.kmers.database.layout import checksum, section_bytes
from oclgenomics.kmers.database.section import decode_section
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["KmerDatabase"]

MAX_THREADS = 8  # more wait for each other: what NumPy and the checksum do is not all in parallel


class KmerDatabase:
    """A k-mer database: a set of k-mers (`KmerSet`) on disk.

    Head, tables and foot are verified when it is opened, and each section by its checksum when it is read. `open` makes
    one; it is a context manager. Several threads may read at the same time.
    """

    def __init__(self, name: str, handle: int, index: FileIndex) -> None:
        self._name, self._handle, self._index = name, handle, index
        self._firsts = sortable(np.ascontiguousarray(index.table["first"].T.astype(np.uint64)))
        self._sizes = section_bytes(index.table)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> KmerDatabase:
        """Open a database.

        Raises
        ------
        InputError
            The file is missing, no database, cut off or damaged.
        """
        name = os.fspath(path)
        try:
            handle = os.open(name, os.O_RDONLY)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", source=name) from error
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("is no file; a k-mer database is read from a file only", source=name)
            return cls(name, handle, read_file_index(name, handle))
        except BaseException:
            os.close(handle)
            raise

    def close(self) -> None:
        """Close the file; nothing can be read afterwards."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> KmerDatabase:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        """Letters of a k-mer."""
        return self.options.k

    @property
    def canonical(self) -> bool:
        """Whether a k-mer and its reverse complement are one."""
        return self.options.canonical

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
    def sections(self) -> int:
        """Sections, which are read one at a time."""
        return len(self._index.table)

    def section(self, number: int) -> KmerBlock:
        """Read one section, counted from 0.

        Raises
        ------
        InputError
            It is damaged.
        """
        entry = self._index.table[number]
        start, size = int(entry["offset"]), int(self._sizes[number])
        place = f"section {number + 1} of {self.sections}"
        try:
            data = os.pread(self._handle, size, start)
        except OSError as error:
            raise InputError(f"{place} cannot be read ({error.strerror})", source=self._name, byte=start) from error
        if len(data) != size:
            raise InputError(f"{place} is cut off", source=self._name, byte=start + len(data))
        if checksum(data) != entry["checksum"]:
            message = f"{place} is damaged (its checksum differs); make the file anew"
            raise InputError(message, source=self._name, byte=start)
        try:
            return decode_section(data, key_words(self.k), int(entry["kmers"]), int(entry["gap_bytes"]))
        except ValueError as error:
            raise InputError(f"{place} is malformed: {error}", source=self._name, byte=start) from error

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
        numbers = iter(range(self.sections))
        with ThreadPoolExecutor(threads, "decode-kmers") as pool:
            coming: deque[Future[KmerBlock]] = deque()
            try:
                for number in itertools.islice(numbers, threads + 1):
                    coming.append(pool.submit(self.section, number))
                while coming:
                    block = coming.popleft().result()
                    for number in itertools.islice(numbers, 1):
                        coming.append(pool.submit(self.section, number))
                    yield block
            finally:
                for future in coming:
                    future.cancel()

    def runs(self, engine: Engine) -> Iterator[Runs]:
        """All k-mers in an engine's memory, decoded there, some sections at a time; the next ones are read meanwhile.

        Yields
        ------
        Runs
            K-mers, uint64 (words, n), and their counts, uint32 (n,), in ascending order.

        Raises
        ------
        InputError
            A section is damaged.
        AllocationError
            The device's memory does not hold a section.
        """
        step = sections_at_a_time(engine, key_words(self.k))
        tables = [self._index.table[start : start + step] for start in range(0, self.sections, step)]
        if not tables:
            return
        rooms = [room_for(engine, tables) for _ in tables[:2]]
        with ThreadPoolExecutor(1, "read-kmers") as pool:
            coming = pool.submit(self._read, tables[0], rooms[0].host)
            for number, table in enumerate(tables):
                coming.result()
                for later in tables[number + 1 : number + 2]:
                    coming = pool.submit(self._read, later, rooms[(number + 1) % 2].host)
                runs, status = decode_on(engine, table, rooms[number % 2])
                for damaged in np.flatnonzero(status)[:1].tolist():
                    self.section(number * step + damaged)  # which tells what is wrong with it
                    raise InputError("changed while it was read", source=self._name)
                yield runs
                del runs

    def _read(self, table: NDArray[np.void], room: NDArray[np.uint64]) -> None:
        """Read sections that follow each other; where bytes are missing, checksums will differ."""
        data, start = room[: words_of(table)], int(table["offset"][0])
        rest = data.view(np.uint8).data[: int(section_bytes(table).sum())]
        try:
            while len(rest) and (done := os.preadv(self._handle, [rest], start)):
                rest, start = rest[done:], start + done
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", source=self._name, byte=start) from error

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
        return CountedKmers(self.k, self.canonical, keys, counts)

    def _downloaded(self, engine: Engine) -> Iterator[KmerBlock]:
        for runs in self.runs(engine):
            block = KmerBlock(engine.download(runs.keys), engine.download(runs.counts))
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
        if keys.dtype != np.uint64 or len(keys) != key_words(self.k):
            raise ValueError(f"keys {keys.dtype} {keys.shape}: keys of {self.k} letters have {key_words(self.k)} words")
        return np.searchsorted(self._firsts, sortable(keys), side="right") - 1
