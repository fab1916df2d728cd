"""Counts the k-mers of files.

An input that fits into memory is counted at once. Of a larger one, as much as fits is counted at a time into a
temporary run, and the runs are merged at the end.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oclgenomics.errors import ParameterError
from oclgenomics.io.atomic_file import WholeFile
from oclgenomics.io.source import Progress
from oclgenomics.io.unnamed_file import check_folder
from oclgenomics.kmers.database.writer import DatabaseWriter
from oclgenomics.kmers.device.counter import KmerCounter
from oclgenomics.kmers.device.gathering import dense, join
from oclgenomics.kmers.device.spill import Spill, kept_blocks
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import CountedKmers, KmerBlock, KmerSet
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import DeviceLimits, text_block_bytes
from oclgenomics.kmers.result import CountSummary
from oclgenomics.kmers.tally import Tally
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence import Census, PackedBlock, packed_blocks
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.opening import largest_block
from oclgenomics.sequence.parse import BEST_QUALITY

if TYPE_CHECKING:
    from oclgenomics.kmers.source import KmerSource

__all__ = ["check_reading", "count", "count_to_database", "tally_counts"]


def count(
    source: SequenceFiles,
    options: CountOptions,
    *,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    only: KmerSource | None = None,
) -> CountedKmers:
    """Count the k-mers of FASTA and FASTQ files into memory.

    Parameters
    ----------
    source : path or iterable of path
        Files, plain or packed, in any mix; "-" is standard input.
    options : CountOptions
    engine : Engine, optional
        A device in use already. It stays open, and its budget bounds what is counted at a time.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack the input; at most 4 if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files as they are stored; the latter is None with standard input.
    min_quality : int, optional
        Letters of FASTQ with a lower quality (Phred + 33, 0 to 93) count as N; see `packed_blocks`.
    tmp_dir : path, optional
        Folder for temporary runs; the system's if not given. Nothing is left there.
    only : path or KmerSet, optional
        A database or a set of the same k and strands: k-mers that are not in it are left out.

    Raises
    ------
    UsageError
        `min_quality` is out of range, or `only` holds other k-mers.
    InputError
        Anything is wrong with an input, or it is FASTA and `min_quality` is given.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.
    OutputError
        The folder for temporary files is missing, not writable or full.

    Examples
    --------
    >>> from oclgenomics.kmers import CountOptions, count
    >>> counted = count("reads.fq.gz", CountOptions(k=31), max_memory=2 << 30)  # doctest: +SKIP
    """
    check_reading(min_quality, tmp_dir)
    with (
        _chosen(options, only) as chosen,
        lent_engine(engine, device, max_memory) as engine,
        Spill(engine, options, tmp_dir) as parts,
    ):
        reading = _Reading(engine, options, file_names(source), threads, progress, min_quality)
        counter = reading.count(parts)
        whole = parts.added == 0 and chosen is None
        block = counter.block() if whole else join(key_words(options.k), reading.blocks(counter, parts, chosen))
    return CountedKmers(options.k, options.canonical, block.keys, block.counts)


def count_to_database(
    source: SequenceFiles,
    options: CountOptions,
    output: str | os.PathLike[str] | WholeFile,
    *,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    on_spill: Callable[[int, int], None] | None = None,
    only: KmerSource | None = None,
) -> CountSummary:
    """Count the k-mers of FASTA and FASTQ files into a database.

    The database is the same on every device and for every limit of memory. Other parameters and errors are those of
    `count`.

    Parameters
    ----------
    output : path or WholeFile
        The database to write; or a file that is open for it.
    on_spill : callable, optional
        Called with the number of temporary runs and the bytes that were written, after each run.

    Raises
    ------
    OutputError
        The database cannot be written; nothing half written is left.
    """
    check_reading(min_quality, tmp_dir)
    with (
        _chosen(options, only) as chosen,
        lent_engine(engine, device, max_memory) as engine,
        Spill(engine, options, tmp_dir, on_spill) as parts,
    ):
        reading = _Reading(engine, options, file_names(source), threads, progress, min_quality)
        counter = reading.count(parts)
        with DatabaseWriter(output, options, engine=engine) as writer:
            if parts.added or chosen is not None:
                writer.append_blocks(reading.blocks(counter, parts, chosen))
            else:
                writer.append_all(counter.counted())
        return reading.summary(counter, parts, writer.distinct, writer.total)


def tally_counts(
    source: SequenceFiles,
    options: CountOptions,
    *,
    engine: Engine,
    threads: int | None = None,
    progress: Progress | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    on_spill: Callable[[int, int], None] | None = None,
) -> tuple[Tally, CountSummary]:
    """Count the k-mers of FASTA and FASTQ files and keep only how many there are of each count.

    No database is written. Parameters and errors are those of `count_to_database`.
    """
    from oclgenomics.kmers.device.part_counts import counts_of_part  # here, because counting itself does not need it

    check_reading(min_quality, tmp_dir)
    with Spill(engine, options, tmp_dir, on_spill) as parts:
        reading = _Reading(engine, options, file_names(source), threads, progress, min_quality)
        counter = reading.count(parts)
        tally = Tally()
        if parts.added:
            for block in kept_blocks(options, parts.merged()):
                tally.add(Tally(block.counts))
        else:
            for counted in counter.counted():
                for counts in counts_of_part(engine, counted):
                    tally.add(Tally(counts))
                del counted
        return tally, reading.summary(counter, parts, tally.distinct, tally.total)


def check_reading(min_quality: int | None, tmp_dir: str | os.PathLike[str] | None) -> None:
    """Refuse what a count could not do before a device starts, rather than after hours.

    Raises
    ------
    UsageError
        `min_quality` is out of range.
    OutputError
        The folder for temporary files is missing or not writable.
    """
    if min_quality is not None and not 0 <= min_quality <= BEST_QUALITY:
        raise ParameterError("min_quality", f"qualities are 0 to {BEST_QUALITY}", min_quality)
    if tmp_dir is not None:
        check_folder(os.fspath(tmp_dir))


@contextlib.contextmanager
def _chosen(options: CountOptions, only: KmerSource | None) -> Iterator[KmerSet | None]:
    """The set that k-mers have to be in, if any."""
    if only is None:
        yield None
        return
    from oclgenomics.kmers.sets.restriction import check_alike  # here, because few runs need it
    from oclgenomics.kmers.source import opened

    with opened(only) as chosen:
        check_alike(options.k, options.canonical, chosen)
        yield chosen


@dataclass(frozen=True)
class _Reading:
    """Files on their way to the counter."""

    engine: Engine
    options: CountOptions
    paths: list[str]
    threads: int | None = None
    progress: Progress | None = None
    min_quality: int | None = None
    census: Census = field(default_factory=Census)

    def count(self, parts: Spill) -> KmerCounter:
        """Read all files; what memory does not hold goes to temporary runs, and then all of it."""
        counter = KmerCounter(self.engine, self.options)
        for block in self._blocks():
            if not counter.has_room(block.symbols):
                parts.add_counted(counter)
                counter = KmerCounter(self.engine, self.options)
            counter.add(block.symbols)
        if parts.added:
            parts.add_counted(counter)
            counter = KmerCounter(self.engine, self.options)  # without the symbols, whose room the merge takes
        return counter

    def blocks(self, counter: KmerCounter, parts: Spill, only: KmerSet | None) -> Iterator[KmerBlock]:
        """All that was counted, or what a set has of it, on the host."""
        counted = kept_blocks(self.options, parts.merged()) if parts.added else self._downloaded(counter)
        if only is None:
            return counted
        from oclgenomics.kmers.sets.restriction import restricted

        return restricted(counted, only)

    def summary(self, counter: KmerCounter, parts: Spill, distinct: int, total: int) -> CountSummary:
        """What was found."""
        found = counter.kmers + parts.kmers
        return CountSummary(found, distinct, total, parts.added, parts.written, self.census)

    def _downloaded(self, counter: KmerCounter) -> Iterator[KmerBlock]:
        for counted in counter.counted():
            runs = dense(self.engine, counted, self.options.k)
            block = KmerBlock(self.engine.download(runs.keys), self.engine.download(runs.counts))
            del counted, runs
            yield block

    def _blocks(self) -> Iterator[PackedBlock]:
        engine, k = self.engine, self.options.k
        block_bytes = text_block_bytes(DeviceLimits.of(engine), k, largest_block(engine))
        progress = None
        if self.progress is not None:
            from oclgenomics.sequence.input_progress import InputProgress

            progress = InputProgress(self.paths, self.progress)
        for path in self.paths:
            yield from packed_blocks(
                engine, [path], overlap=k - 1, block_bytes=block_bytes, threads=self.threads,
                min_quality=self.min_quality, may_be_empty=True, census=self.census, progress=progress,
            )  # fmt: skip
            if progress is not None:
                progress.end_file()
