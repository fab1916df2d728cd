"""The k-mers of files, counted on a device.

An input that fits into memory is counted at once. Of a larger one, as much as fits is counted at a time into a
temporary run, and the runs are merged at the end.

`KmerCounter` keeps the packed symbols of blocks in device memory (3/8 byte a base, and on GPUs 1/4 for the places of
k-mers). Where not all k-mers fit with them, they are split by their prefixes into ranges that fit, and each is cut
out of the symbols again. Its `has_room` says when it is time to empty it and begin another.

Temporary runs are k-mer databases without a name. Where they are many, they are merged in levels: as many runs of one
level as are merged at a time become one of the next, so few files are open, and k-mers are written as often as there
are levels.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import InputError, OutputError, readable_bytes
from oclgenomics.io.atomic_file import WholeFile, file_system, temporary_file, temporary_folder
from oclgenomics.io.closing import Closing
from oclgenomics.io.processes import process_limit
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers import device, sets
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock, KmerSet, join
from oclgenomics.kmers.database.section_file import SectionFile
from oclgenomics.kmers.device.parts import EVERY, Kept, Part, dense, downloaded_blocks, gather
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import memory as plan
from oclgenomics.kmers.result import CountSummary
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Census, PackedBlock, Symbols, packed_blocks
from oclgenomics.sequence.files import InputProgress, SequenceFiles, file_names, largest_block

DOWNLOADED = 1 << 20  # k-mers that come to the host at a time


class KmerCounter:
    """Counts the k-mers of streams of symbols.

    Parameters
    ----------
    engine : Engine
    options : CountOptions
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._options = engine, options
        self._limits = engine.limits()
        chosen = device.BinCounter if plan.counter_for(self._limits) == "bins" else device.SortCounter
        self._counter = chosen(engine, options)

    @property
    def kmers(self) -> int:
        """K-mers so far, equal ones included."""
        return self._counter.kmers

    def add(self, symbols: Symbols) -> None:
        """Take a stream of symbols; it has to stay as it is."""
        if not symbols.size:
            return
        self._counter.add(symbols)
        most = self._most_beside(symbols)
        if plan.needs_prefixes(self._limits, used=self._used, held=self.kmers, coming=symbols.size, most=most):
            self._counter.count_prefixes()

    def has_room(self, symbols: Symbols) -> bool:
        """Whether a stream of symbols may be added, so that all can be counted in ranges that are few and fit.

        An empty counter takes any stream. To ask changes nothing.
        """
        return plan.has_room(
            self._limits, used=self._used, held=self.kmers, coming=symbols.size, most=self._most_beside(symbols),
            largest_prefix=self._counter.largest_prefix,
        )  # fmt: skip

    def block(self) -> KmerBlock:
        """Count what was added and bring it to the host as one block; see `counted`."""
        return gather(self._engine, self._options.k, self.kmers, self._parts(Kept.by(self._options)))

    def counted(self, *, all_counts: bool = False) -> Iterator[Runs | Slots]:
        """Count what was added.

        Parameters
        ----------
        all_counts : bool
            Leave out nothing and stop no counter, whatever the options say.

        Yields
        ------
        Runs or Slots
            K-mers and their counts in ascending order on the device; k-mers that the options leave out are not there.
            Whoever takes them lets go of them before asking for the next ones.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix do not fit.
        """
        for part in self._parts(EVERY if all_counts else Kept.by(self._options)):
            counted = part.counted
            del part
            if counted.size:
                yield counted
            del counted

    def _parts(self, kept: Kept) -> Iterator[Part]:
        if self.kmers:
            yield from self._counter.parts(plan.free_bytes(self._limits, self._used), kept)

    @property
    def _used(self) -> int:
        return self._engine.memory.used

    def _most_beside(self, symbols: Symbols) -> int:
        """How many k-mers can be counted at a time in addition to what is in use and a stream."""
        room = self._counter.room(plan.free_bytes(self._limits, self._used, plan.stream_bytes(symbols.size)))
        return plan.kmers_at_a_time(self._limits, self._options.k, room)


@dataclass(frozen=True)
class _Run:
    level: int
    size: int
    database: device.KmerDatabase


class Spill(Closing):
    """Runs in a folder; a context manager. Nothing of them is left when it ends.

    Parameters
    ----------
    engine : Engine, optional
        A merge has at hand at most half of its budget. Without one, NumPy encodes the runs.
    options : CountOptions
        What is counted; runs hold all k-mers, whatever their counts are.
    folder : path, optional
        The system's folder for temporary files if not given.
    on_spill : callable, optional
        Gets `added` and `written` after each run.

    Attributes
    ----------
    most : int
        Runs that are merged at a time.
    added : int
        Runs that were added.
    kmers : int
        K-mers that were counted for them, equal ones included.
    written : int
        Bytes written to the folder, those of merged runs included.
    """

    def __init__(
        self,
        engine: Engine | None,
        options: CountOptions,
        folder: str | os.PathLike[str] | None = None,
        on_spill: Callable[[int, int], None] | None = None,
    ) -> None:
        self._engine, self._folder, self._on_spill = engine, folder, on_spill
        self._options = options.plain
        limits = None if engine is None else engine.limits()
        self.most = plan.runs_at_a_time(limits, options.k, process_limit("RLIMIT_NOFILE"))
        self._runs: list[_Run] = []
        self.added = self.kmers = self.written = 0

    def close(self) -> None:
        """Let go of the runs."""
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
            self._merge_last(self.most)
        if self._on_spill is not None:
            self._on_spill(self.added, self.written)

    @property
    def databases(self) -> list[device.KmerDatabase]:
        """The runs, as long as they are there."""
        return [run.database for run in self._runs]

    def sums(self, several: Sequence[KmerSet], progress: Progress | None = None) -> Iterator[KmerBlock]:
        """All k-mers of sets with the sums of their counts, which stop at 2^32 - 1; there are no runs before.

        Sets that are more than are merged at a time become runs.

        Raises
        ------
        OutputError
            See `merged`.
        InputError
            A set cannot be read.
        """
        if len(several) <= self.most:
            return sets.union(several, progress=progress)
        for begin in range(0, len(several), self.most):
            blocks = sets.union(several[begin : begin + self.most], progress=progress)
            self.add(partial(DatabaseWriter.append_blocks, blocks=blocks))
        return self.merged()

    def merged(self) -> Iterator[KmerBlock]:
        """All k-mers of the runs with the sums of their counts, which stop at 2^32 - 1.

        Raises
        ------
        OutputError
            The folder is full, or what was written to it comes back damaged.
        """
        while len(self._runs) > self.most:
            self._merge_last(min(self.most, len(self._runs) - self.most + 1))
        return self._union(self._runs)

    def _full_level(self) -> bool:
        last = self._runs[-self.most :]
        return len(last) == self.most and last[0].level == last[-1].level

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
        try:
            yield from sets.union([run.database for run in runs])
        except InputError as error:
            raise OutputError(f"{error}; the storage is at fault: name another folder with `tmp_dir`") from error

    def _write(self, fill: Callable[[DatabaseWriter], None], level: int) -> None:
        folder = temporary_folder(self._folder)
        handle = temporary_file(folder)
        try:
            with DatabaseWriter(WholeFile(folder, handle, OutputError), self._options, engine=self._engine) as writer:
                fill(writer)
            name = f"temporary run {self.added + 1} in {folder}"
            run = _Run(level, os.fstat(handle).st_size, device.KmerDatabase(SectionFile(name, handle)))
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
        for _ in range(number):
            self._runs.pop().database.close()


def _disk_error(folder: str, held: int, error: OSError) -> OutputError:
    return OutputError(
        f"`tmp_dir` {folder}: a temporary run cannot be written ({error.strerror}); {readable_bytes(held)} of them are "
        f"on the file system at {file_system(folder)} by now; name another folder, or raise `max_memory`"
    )


def kept_blocks(options: CountOptions, blocks: Iterable[KmerBlock]) -> Iterator[KmerBlock]:
    """Leave out k-mers by their counts, then stop the counters."""
    for block in blocks:
        if len(kept := block.within(options.min_count, options.max_count, options.counter_max)):
            yield kept


# Files


@contextlib.contextmanager
def counted_files(
    source: SequenceFiles,
    options: CountOptions,
    engine: EngineLike,
    run: Run | None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    on_spill: Callable[[int, int], None] | None = None,
    only: KmerSet | None = None,
) -> Iterator[CountedFiles]:
    """Read FASTA and FASTQ files; their k-mers can be taken, once, within the `with` block.

    Parameters and errors are those of `oclgenomics.kmers.count_to_database`.
    """
    paths = file_names(source)
    with lent_engine(engine) as engine, Spill(engine, options, tmp_dir, on_spill) as parts:
        reading = CountedFiles(engine, options, parts, only)
        reading.read(paths, run or Run(), min_quality)
        yield reading


class CountedFiles:
    """The k-mers of files.

    Attributes
    ----------
    engine : Engine
    counter : KmerCounter
        All k-mers, if there are no temporary runs.
    censuses : dict of str to Census
        Records and letters of each file.
    whole : bool
        There are none, and all k-mers are wanted: those of the counter are the result.
    """

    def __init__(self, engine: Engine, options: CountOptions, parts: Spill, only: KmerSet | None) -> None:
        self.engine, self._options, self._spill, self._only = engine, options, parts, only
        self.censuses: dict[str, Census] = {}
        self.counter = KmerCounter(engine, options)

    @property
    def whole(self) -> bool:
        return not self._spill.added and self._only is None

    def fill(self, writer: DatabaseWriter) -> None:
        """Append all k-mers to a database."""
        if self.whole:
            writer.append_all(self.counter.counted())
        else:
            writer.append_blocks(self.blocks())

    def read(self, paths: list[str], run: Run, min_quality: int | None) -> None:
        """Read all files; what memory does not hold goes to temporary runs, and then all of it."""
        for block in self._blocks(paths, run, min_quality):
            if not self.counter.has_room(block.symbols):
                self._spill_all()
            self.counter.add(block.symbols)
        if self._spill.added:
            self._spill_all()  # and give the room of the symbols to the merge

    def block(self) -> KmerBlock:
        """All k-mers on the host, in memory."""
        return self.counter.block() if self.whole else join(key_words(self._options.k), self.blocks())

    def write(self, output: str | os.PathLike[str] | WholeFile) -> CountSummary:
        """Write all k-mers to a database."""
        with DatabaseWriter(output, self._options, engine=self.engine) as writer:
            self.fill(writer)
        return self.summary(writer.distinct, writer.total)

    def blocks(self) -> Iterator[KmerBlock]:
        """All k-mers, or what the set has of them, on the host."""
        counted = kept_blocks(self._options, self._spill.merged()) if self._spill.added else self._downloaded()
        return counted if self._only is None else sets.restricted(counted, self._only)

    def summary(self, distinct: int, total: int) -> CountSummary:
        """What was found, with the k-mers that were taken, and the sum of their counts."""
        parts, census = self._spill, Census()
        for some in self.censuses.values():
            census.add(some)
        return CountSummary(self.counter.kmers + parts.kmers, distinct, total, parts.added, parts.written, census)

    def _spill_all(self) -> None:
        self._spill.add_counted(self.counter)
        self.counter = KmerCounter(self.engine, self._options)

    def _downloaded(self) -> Iterator[KmerBlock]:
        for counted in self.counter.counted():
            runs = dense(self.engine, counted, self._options.k)
            del counted
            yield from downloaded_blocks(self.engine, runs, DOWNLOADED)
            del runs

    def _blocks(self, paths: list[str], run: Run, min_quality: int | None) -> Iterator[PackedBlock]:
        engine, k = self.engine, self._options.k
        block_bytes = plan.text_block_bytes(engine.limits(), k, largest_block(engine))
        progress = None if run.progress is None else InputProgress(paths, run.progress)
        for path in paths:
            census = self.censuses.setdefault(path, Census())
            yield from packed_blocks(
                engine, [path], overlap=k - 1, block_bytes=block_bytes, threads=run.threads, min_quality=min_quality,
                may_be_empty=True, compress=self._options.compressed, census=census,
                progress=progress,
            )  # fmt: skip
            if progress is not None:
                progress.end_file()
