"""Reads of files, or pairs of them, filtered by how many of their k-mers a set has."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.run import Run
from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.look_up import CountBounds, FoundKmerCounts, TextKmers
from oclgenomics.kmers.options import FilterOptions
from oclgenomics.kmers.plan.memory import look_up_block_bytes
from oclgenomics.kmers.result import FilterSummary
from oclgenomics.runtime import Engine
from oclgenomics.sequence.aligned_reads import collate_hint
from oclgenomics.sequence.files import InputProgress, largest_block
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.name_list import NameList, first_difference
from oclgenomics.sequence.pieces import LetterBlock

NAMES_DIFFER = "the mates of a pair have different names, {} and {}; give `any_mates` if they are mates all the same"


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
    any_mates : bool
        Take mates that have different names as pairs.
    """

    overlap: int
    block_bytes: int | None = None
    threads: int | None = None
    progress: Progress | None = None
    any_mates: bool = False


@dataclass(frozen=True)
class CountedReads:
    """Records that follow each other in an input.

    Attributes
    ----------
    names : NameList
        The first word of each header.
    texts : NameList
        Each record as it stands in the input. A line break at its end may be missing.
    counts : FoundKmerCounts
    """

    names: NameList
    texts: NameList
    counts: FoundKmerCounts

    def __len__(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int | None = None) -> CountedReads:
        """Return the records from `begin` on, up to `end`."""
        some = slice(begin, len(self) if end is None else end)
        return CountedReads(self.names[some], self.texts[some], self.counts[some])

    def take(self, which: NDArray[np.int64]) -> CountedReads:
        """Return some records, in the order of their numbers."""
        return CountedReads(self.names.take(which), self.texts.take(which), self.counts[which])

    def copy(self) -> CountedReads:
        """Return the same records in memory of their own."""
        return CountedReads(self.names.copy(), self.texts.copy(), self.counts)

    def joined(self, more: CountedReads) -> CountedReads:
        """Return these records and others behind them."""
        kmers, found = (
            np.concatenate([getattr(part.counts, name) for part in (self, more)]) for name in ("kmers", "found")
        )
        names, texts = (NameList.joined([getattr(part, name) for part in (self, more)]) for name in ("names", "texts"))
        return CountedReads(names, texts, FoundKmerCounts(kmers, found))


Reads = tuple[CountedReads, ...]
CountedStream = Generator[CountedReads, None, None]
Writer = Callable[[tuple[NameList, ...], NDArray[np.bool_]], None]
"""Takes reads, or first and second mates, and which of them to write."""


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
    how = HowToRead(kmers.k - 1, block_bytes, run.threads, progress, any_mates)
    look_up = TextKmers(engine, kmers, CountBounds(options.min_count, options.max_count))
    tally = _Tally(options, writers)
    for parts in _inputs(engine, singles, pairs, look_up, how, interleaved=interleaved):
        tally.take(parts)
    return tally.summary()


def _inputs(
    engine: Engine,
    singles: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    look_up: TextKmers,
    how: HowToRead,
    *,
    interleaved: bool,
) -> Iterator[Reads]:
    """All reads, or first and second mates of pairs, some at a time."""
    formats = _Formats()
    for path in singles:
        with closing(formats.checked(counted_reads(engine, path, look_up, how), path)) as runs:
            if interleaved:
                yield from interleaved_pairs(runs, path, any_mates=how.any_mates)
            else:
                yield from ((run,) for run in runs)
    for both in pairs:
        second = replace(how, progress=None)  # which goes along with the first one
        streams = [
            formats.checked(counted_reads(engine, path, look_up, each), path)
            for path, each in zip(both, (how, second), strict=True)
        ]
        yield from paired_reads(streams, both, any_mates=how.any_mates)


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
                yield CountedReads(block.names[: last - first], texts[some], counts[some])
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
        return CountedReads(self._name, texts, FoundKmerCounts(np.array([self._kmers]), np.array([self._found])))


def interleaved_pairs(
    runs: Iterator[CountedReads], source: str, *, any_mates: bool
) -> Iterator[tuple[CountedReads, CountedReads]]:
    """Take each two records for a pair; yield the first and the second mates of some pairs.

    Raises
    ------
    InputError
        An odd number of records, or mates with different names.
    """
    left: CountedReads | None = None
    before = 0
    for run in runs:
        run = run if left is None else left.joined(run)
        whole = len(run) // 2 * 2
        left = run.part(whole).copy() if whole < len(run) else None
        if whole:
            firsts = np.arange(0, whole, 2)
            mates = run.take(firsts), run.take(firsts + 1)
            if not any_mates:
                _check_names(mates[0].names, mates[1].names, source=source, before=before, step=2)
            yield mates
            before += whole
    if left is not None:
        message = "has an odd number of records, so the last one has no mate" + collate_hint(source)
        raise InputError(message, source=source, record=before + 1)


def paired_reads(
    runs: Sequence[Generator[CountedReads, None, None]], paths: tuple[str, str], *, any_mates: bool
) -> Iterator[tuple[CountedReads, CountedReads]]:
    """Take the n-th records of two inputs for a pair; yield the first and the second mates of some pairs.

    Raises
    ------
    InputError
        Mates that are not equally many, or that have different names.
    """
    before = 0
    with ExitStack() as stack:
        streams = [stack.enter_context(closing(run)) for run in runs]
        now = [next(stream, None) for stream in streams]
        while now[0] is not None and now[1] is not None:
            count = min(len(now[0]), len(now[1]))
            mates = now[0].part(0, count), now[1].part(0, count)
            if not any_mates:
                _check_names(mates[0].names, mates[1].names, source=" + ".join(paths), before=before)
            yield mates
            before += count
            left = [None if len(run) == count else run.part(count) for run in now if run is not None]
            now = [next(stream, None) if run is None else run for run, stream in zip(left, streams, strict=True)]
        for run, path, other in zip(now, paths, paths[::-1], strict=True):
            if run is None and any(one is not None for one in now):
                raise InputError(
                    f"ends after {before:,} records, but {other} goes on; mates have to be equally many",
                    source=path, record=before,
                )  # fmt: skip


def _check_names(first: NameList, second: NameList, *, source: str, before: int, step: int = 1) -> None:
    at = first_difference(first, second)
    if at is not None:
        message = NAMES_DIFFER.format(repr(first[at]), repr(second[at])) + (collate_hint(source) if step == 2 else "")
        raise InputError(message, source=source, record=before + step * at + 1)


class _Formats:
    """Sees to it that all inputs are FASTA, or all FASTQ, since they go into one file."""

    def __init__(self) -> None:
        self._mark = self._path = ""

    def checked(self, runs: CountedStream, path: str) -> CountedStream:
        """Pass on the records of an input, and close it in the end."""
        with closing(runs):
            for run in runs:
                self._check(run.texts[0].lstrip()[:1], path)
                yield run

    def _check(self, mark: str, path: str) -> None:
        if not self._mark:
            self._mark, self._path = mark, path
        elif mark != self._mark:
            kinds = ("FASTA", "FASTQ") if mark == ">" else ("FASTQ", "FASTA")
            raise InputError(f"is {kinds[0]}, but {self._path} is {kinds[1]}; filter them apart", source=path)


class _Tally:
    """Writes reads, and counts them."""

    def __init__(self, options: FilterOptions, writers: Sequence[Writer]) -> None:
        self._options, self._writers = options, writers
        self._reads = self._kept = self._kmers = self._found = self._pairs = 0

    def take(self, parts: Reads) -> None:
        """Take some reads, or first and second mates."""
        passing = [self._options.passing(part.counts.kmers, part.counts.found) for part in parts]
        either = self._options.pairs == "either"
        kept = (np.logical_or if either else np.logical_and).reduce(passing) ^ self._options.drop
        texts = tuple(part.texts for part in parts)
        for writer, chosen in zip(self._writers, (kept, ~kept), strict=False):
            writer(texts, chosen)
        self._reads += len(parts) * len(kept)
        self._kept += len(parts) * int(kept.sum())
        self._pairs += len(kept) if len(parts) == 2 else 0
        self._kmers += sum(int(part.counts.kmers.sum()) for part in parts)
        self._found += sum(int(part.counts.found.sum()) for part in parts)

    def summary(self) -> FilterSummary:
        """Return the numbers of all reads so far."""
        return FilterSummary(self._reads, self._kept, self._pairs, self._kmers, self._found)
