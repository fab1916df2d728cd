"""Temporary runs: k-mer databases without a name, of what was counted so far, and their merge.

Runs are merged in levels where they are many: as many runs of one level as are merged at a time become one of the next,
so few files are open, and k-mers are written as often as there are levels.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from oclgenomics.errors import InputError, OutputError, readable_bytes
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.unnamed_file import file_system, temporary_folder, unnamed_file
from oclgenomics.kmers.database.writer import DatabaseWriter
from oclgenomics.kmers.device.counter import KmerCounter
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.options import MAX_COUNTER, CountOptions
from oclgenomics.kmers.plan import DeviceLimits, runs_at_a_time
from oclgenomics.runtime import Engine

if TYPE_CHECKING:
    from oclgenomics.kmers.database.reader import KmerDatabase

__all__ = ["Spill", "kept_blocks"]


@dataclass(frozen=True)
class _Run:
    level: int
    size: int
    database: KmerDatabase


class Spill:
    """Runs in a folder; a context manager. Nothing of them is left when it ends.

    Parameters
    ----------
    engine : Engine
        A merge has at hand at most half of its budget.
    options : CountOptions
        What is counted; runs hold all k-mers, whatever their counts are.
    folder : path, optional
        The system's folder for temporary files if not given.
    on_spill : callable, optional
        Gets `added` and `written` after each run.

    Attributes
    ----------
    added : int
        Runs that were added.
    kmers : int
        K-mers that were counted for them, equal ones included.
    written : int
        Bytes written to the folder, those of merged runs included.
    """

    def __init__(
        self,
        engine: Engine,
        options: CountOptions,
        folder: str | os.PathLike[str] | None = None,
        on_spill: Callable[[int, int], None] | None = None,
    ) -> None:
        self._engine, self._folder, self._on_spill = engine, folder, on_spill
        self._options = CountOptions(options.k, options.canonical)
        self._most = runs_at_a_time(DeviceLimits.of(engine), options.k, _max_files())
        self._runs: list[_Run] = []
        self.added = self.kmers = self.written = 0

    def __enter__(self) -> Spill:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop(len(self._runs))

    def add_counted(self, counter: KmerCounter) -> None:
        """Count what a counter was given, and write it as a run; see `add`."""
        self.add(lambda writer: writer.append_all(counter.counted(all_counts=True)))
        self.kmers += counter.kmers

    def add(self, fill: Callable[[DatabaseWriter], None]) -> None:
        """Write a run: all that `fill` appends.

        Raises
        ------
        OutputError
            The folder does not take it.
        """
        self._write(fill, 0)
        self.added += 1
        while self._full_level():
            self._merge_last(self._most)
        if self._on_spill is not None:
            self._on_spill(self.added, self.written)

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
        self._write(lambda writer: writer.append_blocks(self._union(runs)), runs[0].level + 1)
        merged = self._runs.pop()
        self._drop(number)
        self._runs.append(merged)

    def _union(self, runs: list[_Run]) -> Iterator[KmerBlock]:
        if not runs:
            return
        from oclgenomics.kmers.sets.algebra import union  # here, because few inputs need it

        try:
            yield from union([run.database for run in runs])
        except InputError as error:
            raise OutputError(f"{error}; the storage is at fault: name another folder with `tmp_dir`") from error

    def _write(self, fill: Callable[[DatabaseWriter], None], level: int) -> None:
        from oclgenomics.kmers.database.reader import KmerDatabase  # here, because few inputs need it
        from oclgenomics.kmers.database.section_file import SectionFile

        folder = temporary_folder(self._folder)
        handle = _open_file(folder)
        try:
            with DatabaseWriter(WholeFile(folder, handle, OutputError), self._options, engine=self._engine) as writer:
                fill(writer)
            name = f"temporary run {self.added + 1} in {folder}"
            run = _Run(level, os.fstat(handle).st_size, KmerDatabase(SectionFile(name, handle)))
        except BaseException as error:
            held = sum(run.size for run in self._runs) + os.fstat(handle).st_size
            os.close(handle)
            if isinstance(error, OutputError) and isinstance(error.__cause__, OSError):
                raise _disk_error(folder, held, error.__cause__) from error
            raise
        self.written += run.size
        self._runs.append(run)

    def _drop(self, number: int) -> None:
        """Forget the last runs, which gives their room on the disk back."""
        while number:
            self._runs.pop().database.close()
            number -= 1


def _open_file(folder: str) -> int:
    try:
        return unnamed_file(folder)
    except OSError as error:
        raise OutputError(f"`tmp_dir` {folder}: no file can be made there ({error.strerror})") from error


def _disk_error(folder: str, held: int, error: OSError) -> OutputError:
    return OutputError(
        f"`tmp_dir` {folder}: a temporary run cannot be written ({error.strerror}); {readable_bytes(held)} of them are "
        f"on the file system at {file_system(folder)} by now; name another folder, or raise `max_memory`"
    )


def kept_blocks(options: CountOptions, blocks: Iterable[KmerBlock]) -> Iterator[KmerBlock]:
    """Leave out k-mers by their counts, then stop the counters."""
    for block in blocks:
        keys, counts = block.keys, block.counts
        stay = (counts >= options.min_count) & (counts <= options.max_count)
        if not stay.all():
            keys, counts = np.compress(stay, keys, axis=1), counts[stay]
        if options.counter_max < MAX_COUNTER:
            counts = np.minimum(counts, np.uint32(options.counter_max))
        if len(counts):
            yield KmerBlock(keys, counts)


def _max_files() -> int | None:
    """Files that the process may have open; None if any number."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if files == resource.RLIM_INFINITY else files
