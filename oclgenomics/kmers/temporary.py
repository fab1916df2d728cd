"""Temporary runs: k-mer databases without a name, of what was counted so far, and their merge.

Runs are merged in levels where they are many: as many runs of one level as are merged at a time become one of the next,
so few files are open, and k-mers are written as often as there are levels.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from oclgenomics.errors import InputError, OutputError
from oclgenomics.formats.nameless import file_system, nameless_file, temporary_folder
from oclgenomics.kmers.algebra import union
from oclgenomics.kmers.database import KmerDatabase
from oclgenomics.kmers.database_writer import DatabaseWriter
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.layout import SECTION_KMERS
from oclgenomics.kmers.options import LARGEST_COUNTER, CountOptions
from oclgenomics.kmers.outline import read_outline
from oclgenomics.kmers.sets import KmerBlock
from oclgenomics.runtime import Engine
from oclgenomics.runtime.faults import readable_bytes

__all__ = ["TemporaryRuns", "kept_blocks"]

MOST_RUNS, LEAST_RUNS = 64, 2  # merged at a time
LEAST_BYTES, MOST_BYTES = 64 << 20, 512 << 20  # of k-mers that a merge has at hand
SECTIONS_AT_HAND = 3  # of a run: read ahead, in the making, and being merged
FILE_SHARE = 4  # of the files that may be open, one in so many for the runs of a level


@dataclass(frozen=True)
class _Run:
    level: int
    size: int
    database: KmerDatabase


class TemporaryRuns:
    """Runs in a folder; a context manager. Nothing of them is left when it ends.

    Parameters
    ----------
    engine : Engine
        A merge has at hand at most half of its budget.
    options : CountOptions
        What is counted; runs hold all k-mers, whatever their counts are.
    folder : path, optional
        The system's folder for temporary files if not given.

    Attributes
    ----------
    added : int
        Runs that were added.
    written : int
        Bytes written to the folder, those of merged runs included.
    """

    def __init__(self, engine: Engine, options: CountOptions, folder: str | os.PathLike[str] | None = None) -> None:
        self._engine, self._folder = engine, folder
        self._options = CountOptions(options.k, options.canonical)
        self._most = _runs_at_a_time(engine.budget, key_words(options.k))
        self._runs: list[_Run] = []
        self.added = self.written = 0

    def __enter__(self) -> TemporaryRuns:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop(len(self._runs))

    def add(self, blocks: Iterable[KmerBlock]) -> None:
        """Write k-mers, in ascending order, as a run.

        Raises
        ------
        OutputError
            The folder does not take it.
        """
        self._write(blocks, 0)
        self.added += 1
        while self._full_level():
            self._merge_last(self._most)

    def merged(self) -> Iterator[KmerBlock]:
        """All k-mers of the runs with the sums of their counts, which stop at 2^32 - 1.

        Raises
        ------
        OutputError
            The folder is full, or what was written to it comes back damaged.
        """
        while len(self._runs) > self._most:
            self._merge_last(min(self._most, len(self._runs) - self._most + 1))
        return self._union(self._runs)

    def _full_level(self) -> bool:
        last = self._runs[-self._most :]
        return len(last) == self._most and last[0].level == last[-1].level

    def _merge_last(self, number: int) -> None:
        """Make one run of the last ones."""
        runs = self._runs[-number:]
        self._write(self._union(runs), runs[0].level + 1)
        merged = self._runs.pop()
        self._drop(number)
        self._runs.append(merged)

    def _union(self, runs: list[_Run]) -> Iterator[KmerBlock]:
        if not runs:
            return
        try:
            yield from union([run.database for run in runs])
        except InputError as error:
            raise OutputError(f"{error}; the storage is at fault, so name another folder with --tmp-dir") from error

    def _write(self, blocks: Iterable[KmerBlock], level: int) -> None:
        folder = temporary_folder(self._folder)
        name = f"temporary run {self.added + 1} in {folder}"
        with _RunFile(folder, sum(run.size for run in self._runs)) as file:
            encoder = None if self._engine.tuning.cpu else self._engine
            with DatabaseWriter(file, self._options, engine=encoder) as writer:
                for block in blocks:
                    writer.append(block)
            database = KmerDatabase(name, file.handle, read_outline(name, file.handle))
            file.handle = -1  # the database's now
        self.written += file.size
        self._runs.append(_Run(level, file.size, database))

    def _drop(self, number: int) -> None:
        """Forget the last runs, which gives their room on the disk back."""
        while number:
            self._runs.pop().database.close()
            number -= 1


class _RunFile:
    """The file of a run in the making; a context manager that closes it, unless someone took its handle."""

    def __init__(self, folder: str, before: int) -> None:
        self._folder, self._before = folder, before
        self.size, self.handle = 0, -1
        try:
            self.handle = nameless_file(folder)
        except OSError as error:
            raise OutputError(f"--tmp-dir {folder}: no file can be made there ({error.strerror})") from error

    def __enter__(self) -> _RunFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.handle >= 0:
            os.close(self.handle)

    def write(self, data: bytes | memoryview) -> None:
        """Write all of the bytes.

        Raises
        ------
        OutputError
            They cannot be written; what there was so far, and where.
        """
        rest = memoryview(data)
        try:
            while len(rest):
                written = os.write(self.handle, rest)
                self.size += written
                rest = rest[written:]
        except OSError as error:
            raise OutputError(
                f"--tmp-dir {self._folder}: a temporary run cannot be written ({error.strerror}); "
                f"{readable_bytes(self._before + self.size)} of runs are on the file system at "
                f"{file_system(self._folder)} so far; name another folder or raise --max-memory"
            ) from error


def kept_blocks(options: CountOptions, blocks: Iterable[KmerBlock]) -> Iterator[KmerBlock]:
    """Leave out k-mers by their counts, then stop the counters."""
    for block in blocks:
        keys, counts = block.keys, block.counts
        stay = (counts >= options.min_count) & (counts <= options.max_count)
        if not stay.all():
            keys, counts = np.compress(stay, keys, axis=1), counts[stay]
        if options.counter_max < LARGEST_COUNTER:
            counts = np.minimum(counts, np.uint32(options.counter_max))
        if len(counts):
            yield KmerBlock(keys, counts)


def _runs_at_a_time(budget: int, words: int) -> int:
    """How many runs to merge at a time: for how many there are memory and files."""
    at_hand = max(LEAST_BYTES, min(budget // 2, MOST_BYTES))
    fit = at_hand // (SECTIONS_AT_HAND * SECTION_KMERS * (8 * words + 4))
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY:
        fit = min(fit, files // FILE_SHARE)
    return max(LEAST_RUNS, min(MOST_RUNS, fit))
