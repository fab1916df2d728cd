"""Inputs as a stream of letters and qualities, as they stand in the text."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable

from oclgenomics.io.joined_source import JoinedSource
from oclgenomics.io.raw_file import Progress
from oclgenomics.lazy_names import late
from oclgenomics.runtime import Engine
from oclgenomics.sequence.files import joined_files, opened_files, opened_text, without_reads
from oclgenomics.sequence.letter_fasta import fasta_letters
from oclgenomics.sequence.pieces import LetterBlock

letter_fastq = late("oclgenomics.sequence.letter_fastq")


def letter_blocks(
    engine: Engine,
    paths: Iterable[str | os.PathLike[str]],
    *,
    overlap: int = 0,
    join: bool = False,
    may_be_empty: bool = False,
    block_bytes: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Generator[LetterBlock, None, None]:
    """Read FASTA and FASTQ files and find their records.

    Letters and qualities of FASTQ stay where they are in the text. Those of FASTA are copied, without line breaks.

    Parameters
    ----------
    engine : Engine
    paths : iterable of path
        Files, uncompressed or compressed, in any mix; "-" is standard input. Of a pipe, a block is what has come. FASTQ
        has four lines per record. Lines of FASTA end with a newline, a carriage return or both.
    overlap : int
        Letters that two pieces of a record of FASTA share: the length of windows less 1. FASTQ has whole records.
    join : bool
        Neighbouring plain files of FASTA are read as one text, so that small ones cost little. `LetterBlock.origins`
        has the files of the records then.
    may_be_empty : bool
        A file with nothing in it is a sample without reads: it gives no block, and a warning.
    block_bytes : int, optional
        Bytes of text that are read at a time; a longer record of FASTQ makes its block longer. Chosen for the device's
        memory if not given.
    threads : int, optional
        Threads that inflate bgzip; as many as `Workers` takes if not given.
    progress : callable, optional
        See `oclgenomics.io.source.Progress`.

    Yields
    ------
    LetterBlock
        Valid until the next one is asked for.

    Raises
    ------
    InputError
        A defect of an input, with its name, the record and the byte; a file with nothing in it, unless it may be.
    AllocationError
        The device's memory does not hold a record of FASTQ.
    """
    first = 0
    for path in joined_files(paths, progress) if join else paths:
        if isinstance(path, JoinedSource):
            with opened_files(engine, path, block_bytes=block_bytes) as text:
                first = yield from fasta_letters(engine, text, overlap, first, path)
            continue
        with (
            without_reads(allowed=may_be_empty),
            opened_text(engine, path, block_bytes=block_bytes, threads=threads, progress=progress, live=True) as opened,
        ):
            text, fastq = opened
            if fastq:
                first = yield from letter_fastq.fastq_letters(engine, text, first)
            else:
                first = yield from fasta_letters(engine, text, overlap, first)
