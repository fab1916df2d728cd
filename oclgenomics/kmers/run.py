"""The whole way from files to counted k-mers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from oclgenomics.kmers.counter import KmerCounter
from oclgenomics.kmers.database_writer import DatabaseWriter
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.sets import CountedKmers
from oclgenomics.runtime import Engine
from oclgenomics.sequence import packed_blocks

__all__ = ["Summary", "count", "count_to_database", "read_counter"]


def count(
    paths: Iterable[str | os.PathLike[str]],
    options: CountOptions,
    *,
    engine: Engine,
    threads: int | None = None,
    min_quality: int | None = None,
) -> CountedKmers:
    """Count the k-mers of FASTA and FASTQ files into memory.

    Parameters
    ----------
    paths : iterable of path
        Files, plain or gzip, in any mix; "-" is standard input.
    options : CountOptions
    engine : Engine
    threads : int, optional
        Host threads that unpack the input.
    min_quality : int, optional
        Letters of FASTQ of lesser quality (Phred + 33) count as N; see `packed_blocks`.

    Raises
    ------
    InputError
        Anything wrong with an input; FASTA, where a least quality is given.
    DeviceError
        Not enough device memory, or a device lost on the way.
    """
    counter = read_counter(paths, options, engine=engine, threads=threads, min_quality=min_quality)
    blocks = list(counter.blocks())
    empty = np.zeros((key_words(options.k), 0), np.uint64)
    keys = np.concatenate([block.keys for block in blocks] or [empty], axis=1)
    counts = np.concatenate([block.counts for block in blocks] or [np.zeros(0, np.uint32)])
    return CountedKmers(options.k, options.canonical, keys, counts)


def read_counter(
    paths: Iterable[str | os.PathLike[str]],
    options: CountOptions,
    *,
    engine: Engine,
    threads: int | None = None,
    min_quality: int | None = None,
) -> KmerCounter:
    """Return a counter that has read all files; parameters and errors are those of `count`."""
    counter = KmerCounter(engine, options)
    for block in packed_blocks(engine, paths, overlap=options.k - 1, threads=threads, min_quality=min_quality):
        counter.add(block.symbols)
    return counter


@dataclass(frozen=True)
class Summary:
    """What a count found.

    Attributes
    ----------
    windows : int
        K-mers of the input, equal ones included.
    distinct, total : int
        K-mers in the database, and the sum of their counts.
    """

    windows: int
    distinct: int
    total: int


def count_to_database(
    paths: Iterable[str | os.PathLike[str]],
    options: CountOptions,
    output: str | os.PathLike[str],
    *,
    engine: Engine,
    threads: int | None = None,
    min_quality: int | None = None,
) -> Summary:
    """Count the k-mers of FASTA and FASTQ files into a database.

    The database is the same on every device and for every limit of memory. Other parameters and errors are those of
    `count`.

    Raises
    ------
    OutputError
        The database cannot be written; nothing half written is left.
    """
    counter = read_counter(paths, options, engine=engine, threads=threads, min_quality=min_quality)
    with DatabaseWriter(output, options, engine=engine) as writer:
        for runs in counter.runs():
            writer.append_runs(runs)
            del runs
    return Summary(counter.windows, writer.distinct, writer.total)
