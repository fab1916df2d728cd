"""Reading of k-mer databases, verified as it goes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.threads import usable_cores
from oclgenomics.kmers.database.lookup import Lookup
from oclgenomics.kmers.database.read_ahead import blocks_ahead, runs_ahead
from oclgenomics.kmers.database.section_file import SectionFile
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock, KmerTable
from oclgenomics.kmers.options import CountOptions
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["KmerDatabase"]

MAX_THREADS = 8  # more wait for each other: what NumPy and the checksum do is not all in parallel


class KmerDatabase(KmerTable):
    """A k-mer database: a set of k-mers (`KmerSet`) on disk.

    Head, tables and foot are verified when it is opened, and each section by its checksum when it is read. `open` makes
    one; it is a context manager. Several threads may read at the same time.
    """

    def __init__(self, file: SectionFile) -> None:
        self._file, self._index = file, file.index
        self._lookup = Lookup(file)

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
        return blocks_ahead(self._file, pool, ahead)

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
        return runs_ahead(self._file, engine)

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
        number = int(self._lookup.sections_of(np.asarray(key, np.uint64).reshape(-1, 1))[0])
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
        return self._lookup.counts(keys)
