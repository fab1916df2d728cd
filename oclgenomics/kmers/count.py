"""The whole way from files to counted k-mers.

What fits into memory is counted at once. Where an input is larger, as much as fits is counted at a time and goes to a
temporary run, and the runs are merged at the end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from oclgenomics.io.unnamed_file import check_folder
from oclgenomics.kmers.counting.counter import KmerCounter
from oclgenomics.kmers.counting.gathering import join
from oclgenomics.kmers.counting.spill import Spill, kept_blocks
from oclgenomics.kmers.database.writer import DatabaseWriter
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import CountedKmers
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import DeviceLimits, text_block_bytes
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Census, packed_blocks
from oclgenomics.sequence.blocks import largest_block

__all__ = ["Summary", "count", "count_to_database"]


def count(
    paths: Iterable[str | os.PathLike[str]],
    options: CountOptions,
    *,
    engine: Engine,
    threads: int | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
) -> CountedKmers:
    """Count the k-mers of FASTA and FASTQ files into memory.

    Parameters
    ----------
    paths : iterable of path
        Files, plain or gzip, in any mix; "-" is standard input.
    options : CountOptions
    engine : Engine
        Its budget bounds what is counted at a time.
    threads : int, optional
        Host threads that unpack the input.
    min_quality : int, optional
        Letters of FASTQ of lesser quality (Phred + 33) count as N; see `packed_blocks`.
    tmp_dir : path, optional
        Folder for what does not fit into memory; the system's if not given. Nothing is left there.

    Raises
    ------
    InputError
        Anything wrong with an input; FASTA, where a least quality is given.
    DeviceError
        Not enough device memory, or a device lost on the way.
    OutputError
        The folder for temporary files is missing, not writable or full.
    """
    with _temporary(engine, options, tmp_dir) as parts:
        counter, _ = _read(paths, options, parts, engine=engine, threads=threads, min_quality=min_quality)
        merged = kept_blocks(options, parts.merged())
        block = join(key_words(options.k), merged) if parts.added else counter.block()
    return CountedKmers(options.k, options.canonical, block.keys, block.counts)


@dataclass(frozen=True)
class Summary:
    """What a count found.

    Attributes
    ----------
    windows : int
        K-mers of the input, equal ones included.
    distinct, total : int
        K-mers in the database, and the sum of their counts.
    temporary_runs, temporary_bytes : int
        Parts of the input that were counted apart, and what was written to the folder for temporary files; 0 where the
        input fits into memory.
    census : Census
        Records and letters of the input.
    """

    windows: int
    distinct: int
    total: int
    temporary_runs: int = 0
    temporary_bytes: int = 0
    census: Census = field(default_factory=Census)


def count_to_database(
    paths: Iterable[str | os.PathLike[str]],
    options: CountOptions,
    output: str | os.PathLike[str],
    *,
    engine: Engine,
    threads: int | None = None,
    min_quality: int | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    on_spill: Callable[[int, int], None] | None = None,
) -> Summary:
    """Count the k-mers of FASTA and FASTQ files into a database.

    The database is the same on every device and for every limit of memory. Other parameters and errors are those of
    `count`.

    Parameters
    ----------
    on_spill : callable, optional
        Gets the number of temporary runs and the bytes that were written, after each run.

    Raises
    ------
    OutputError
        The database cannot be written; nothing half written is left.
    """
    with _temporary(engine, options, tmp_dir, on_spill) as parts:
        counter, census = _read(paths, options, parts, engine=engine, threads=threads, min_quality=min_quality)
        with DatabaseWriter(output, options, engine=engine) as writer:
            if parts.added:
                writer.append_blocks(kept_blocks(options, parts.merged()))
            else:
                writer.append_all(counter.runs())
        windows = counter.kmers + parts.kmers
        return Summary(windows, writer.distinct, writer.total, parts.added, parts.written, census)


def _temporary(
    engine: Engine,
    options: CountOptions,
    tmp_dir: str | os.PathLike[str] | None,
    on_spill: Callable[[int, int], None] | None = None,
) -> Spill:
    if tmp_dir is not None:
        check_folder(os.fspath(tmp_dir))  # now, and not after hours
    return Spill(engine, options, tmp_dir, on_spill)


def _read(
    paths: Iterable[str | os.PathLike[str]],
    options: CountOptions,
    parts: Spill,
    *,
    engine: Engine,
    threads: int | None,
    min_quality: int | None,
) -> tuple[KmerCounter, Census]:
    """Read all files; what memory does not hold goes to temporary runs, and then all of it."""
    census = Census()
    block_bytes = text_block_bytes(DeviceLimits.of(engine), options.k, largest_block(engine))
    counter = KmerCounter(engine, options)
    for block in packed_blocks(
        engine, paths, overlap=options.k - 1, block_bytes=block_bytes, threads=threads, min_quality=min_quality,
        census=census,
    ):  # fmt: skip
        if not counter.has_room(block.symbols):
            parts.add_counted(counter)
            counter = KmerCounter(engine, options)
        counter.add(block.symbols)
    if parts.added:
        parts.add_counted(counter)
        counter = KmerCounter(engine, options)  # without the symbols, whose room the merge takes
    return counter, census
