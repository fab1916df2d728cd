"""Reads of files, or pairs of them, filtered by how many of their k-mers a set has."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.run import Run
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.key_table import ChosenKmers, CountBounds
from oclgenomics.kmers.device.look_up import FoundKmerCounts, TextKmers
from oclgenomics.kmers.options import FilterOptions
from oclgenomics.kmers.plan.memory import look_up_block_bytes
from oclgenomics.kmers.result import FilterSummary
from oclgenomics.runtime import Engine
from oclgenomics.sequence.files import InputProgress, largest_block
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.mates import KeptReads, ReadRun, Writer, mates_of_inputs
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock


@dataclass(frozen=True)
class HowToRead:
    """What is the same for all inputs.

    Attributes
    ----------
    overlap : int
        Letters of a k-mer less 1.
    block_bytes : int, optional
    threads : int, optional
    progress : callable, optional
        These three as `sequence.letter_blocks` takes them.
    """

    overlap: int
    block_bytes: int | None = None
    threads: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class CountedReads(ReadRun):
    """Records that follow each other in an input, with their k-mers.

    Attributes
    ----------
    kmers, found : ndarray, int64
        As of `FoundKmerCounts`.
    """

    kmers: NDArray[np.int64]
    found: NDArray[np.int64]


def filter_files(
    engine: Engine,
    kmers: KmerSet,
    singles: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    options: FilterOptions,
    writers: Sequence[Writer],
    run: Run,
    *,
    interleaved: bool,
    any_mates: bool,
) -> FilterSummary:
    """Let the first writer have the reads that pass, and the second one, if there is one, all others.

    Parameters are those of `oclgenomics.kmers.filter_reads`, with all files named.
    """
    block_bytes = look_up_block_bytes(engine.limits(), largest_block(engine), 1 + bool(pairs))
    progress = None if run.progress is None else InputProgress([*singles, *(one for one, _ in pairs)], run.progress)
    how = HowToRead(kmers.k - 1, block_bytes, run.threads, progress)
    look_up = TextKmers(engine, kmers, ChosenKmers(CountBounds(options.min_count, options.max_count)))
    tally = _Tally(options, writers)

    def opened(path: str, *, second: bool) -> Generator[CountedReads, None, None]:
        # The progress of the first mates is that of both.
        return counted_reads(engine, path, look_up, replace(how, progress=None) if second else how)

    for parts in mates_of_inputs(opened, singles, pairs, interleaved=interleaved, any_mates=any_mates):
        tally.take(parts)
    return tally.summary()


def counted_reads(
    engine: Engine, path: str | os.PathLike[str], look_up: TextKmers, how: HowToRead
) -> Generator[CountedReads, None, None]:
    """Read an input and look up the k-mers of its records.

    The text of a record is held until the record ends.

    Parameters
    ----------
    engine : Engine
    path : path
    look_up : TextKmers
    how : HowToRead

    Yields
    ------
    CountedReads
        Of one record at least; valid until the next ones are asked for.

    Raises
    ------
    InputError
        A defect of the input, with its name, the record and the byte.
    """
    blocks = letter_blocks(
        engine, [path], overlap=how.overlap, may_be_empty=True, block_bytes=how.block_bytes, threads=how.threads,
        progress=how.progress,
    )  # fmt: skip
    begun: _BegunRecord | None = None
    with closing(blocks):
        for block in blocks:
            counts, texts = look_up.count(block), block.texts()
            first = 0
            if begun is not None:
                if int(block.pieces.record[0]) < block.first:
                    begun.add(texts, counts)
                    first = 1
                if not first or block.pieces.ends[0]:
                    yield begun.whole()
                    begun = None
            last = len(texts)
            if last > first and not block.pieces.ends[-1]:
                last -= 1
            if last > first:
                some = slice(first, last)  # that begin and end here; names are those of records that begin
                yield CountedReads(block.names[: last - first], texts[some], counts.kmers[some], counts.found[some])
            if last < len(texts):
                begun = _BegunRecord.of(block, texts, counts)
    if begun is not None:
        yield begun.whole()


class _BegunRecord:
    """A record of FASTA that has not ended."""

    def __init__(self, name: NameList, text: NDArray[np.uint8], kmers: int, found: int) -> None:
        self._name, self._texts, self._kmers, self._found = name, [text], kmers, found

    @classmethod
    def of(cls, block: LetterBlock, texts: NameList, counts: FoundKmerCounts) -> _BegunRecord:
        """Take the last record of a block."""
        text, name = texts[len(texts) - 1 :], block.names[len(block.names) - 1 :]
        return cls(name.copy(), text.copy().letters, int(counts.kmers[-1]), int(counts.found[-1]))

    def add(self, texts: NameList, counts: FoundKmerCounts) -> None:
        """Take the first piece of the next block."""
        self._texts.append(texts[:1].copy().letters)
        self._kmers += int(counts.kmers[0])
        self._found += int(counts.found[0])

    def whole(self) -> CountedReads:
        """The record, when all of it has come."""
        text = np.concatenate(self._texts)
        texts = NameList(text, np.array([0, len(text)], np.int64))
        return CountedReads(self._name, texts, np.array([self._kmers]), np.array([self._found]))


class _Tally:
    """Writes reads, and counts them."""

    def __init__(self, options: FilterOptions, writers: Sequence[Writer]) -> None:
        self._options = options
        self._written = KeptReads(writers, both=options.pairs == "both", drop=options.drop)
        self._kmers = self._found = 0

    def take(self, parts: tuple[CountedReads, ...]) -> None:
        """Take some reads, or first and second mates."""
        passing = [self._options.passing(part.kmers, part.found) for part in parts]
        self._written.take(passing, tuple(part.texts for part in parts))
        self._kmers += sum(int(part.kmers.sum()) for part in parts)
        self._found += sum(int(part.found.sum()) for part in parts)

    def summary(self) -> FilterSummary:
        """Return the numbers of all reads so far."""
        written = self._written
        return FilterSummary(written.reads, written.kept, written.pairs, self._kmers, self._found)
