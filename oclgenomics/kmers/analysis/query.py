"""Look-ups on the host or on a device: the counts of all k-mers of sequences, and of given k-mers."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.pieces import InputMark
from oclgenomics.app.run import EngineLike, Run, lent_engine
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.raw_file import Progress
from oclgenomics.io.workers import Workers
from oclgenomics.kmers.analysis.found import (
    FoundIntervals,
    FoundKmers,
    RecordCounts,
    RecordSummaries,
    count_intervals,
    covered_intervals,
    joined_records,
    summaries_of,
    table_of_rows,
)
from oclgenomics.kmers.database.keys import CODES, WORD_LETTERS, are_less, key_words, keys_of, letters_of, sortable
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.device.key_table import ChosenKmers, CountBounds
from oclgenomics.kmers.device.look_up import TextKmers, TextMarks
from oclgenomics.kmers.device.marks import Marks
from oclgenomics.kmers.device.reader import KmerDatabase, KmerSource, opened
from oclgenomics.kmers.plan.memory import mark_prefix_bits, most_marked, query_block_bytes
from oclgenomics.runtime import Engine
from oclgenomics.sequence.compress import compressed_letters
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.files import InputProgress, largest_block
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.sequence.name_list import NameList
from oclgenomics.sequence.pieces import LetterBlock
from oclgenomics.sequence.records import Record, read_records

COMPLEMENT = np.frombuffer(bytes(range(256)).translate(bytes.maketrans(b"ACGTacgt", b"TGCAtgca")), np.uint8)
FASTQ_BYTES = 3  # for each base, as long as lines of names are not
STANDARD_INPUT = "-"
PIECE = 1 << 14  # k-mers that are made at a time, in the cache


@dataclass(frozen=True, repr=False)
class QueryResult:
    """The counts of all k-mers of some sequences.

    K-mers are looked up while they are read, some sequences at a time, and nothing is kept. The result can be read
    again unless the sequences came from an iterator.

    Attributes
    ----------
    source : path or KmerSet
    k : int
    sequences : iterable of Record
    batch_letters : int
        About so many letters are looked up at a time.
    both_strands : bool
        The reverse complements are looked up as well, in a set that is not canonical.
    files : tuple of str
        FASTA and FASTQ files, whose records come behind the sequences.
    engine : Engine, Device, str or None
        Where k-mers are looked up; None for the host.
    run : Run
    """

    source: KmerSource
    k: int
    sequences: Iterable[Record]
    batch_letters: int
    both_strands: bool = False
    files: tuple[str, ...] = ()
    engine: EngineLike = None
    run: Run = field(default_factory=Run)

    def __repr__(self) -> str:
        return f"QueryResult(k={self.k}, source={self.source!r})"

    def __iter__(self) -> Iterator[FoundKmers]:
        """Look up some sequences at a time, or a part of a long one."""
        return self._found(with_text=True)

    def _found(self, *, with_text: bool = False) -> Iterator[FoundKmers]:
        """The k-mers, on the host with their text, on a device only where that is asked for."""
        progress = None if self.run.progress is None else InputProgress(self.files, self.run.progress)
        with ExitStack() as stack:
            kmers = stack.enter_context(opened(self.source))
            both = self.both_strands and not kmers.canonical
            of_files = (read_records(name, progress=progress) for name in self.files)
            sequences: Iterator[Record] = itertools.chain(self.sequences, itertools.chain.from_iterable(of_files))
            if kmers.compressed:
                sequences = (Record(one.name, compressed_letters(one.letters)) for one in sequences)
            if self.engine is None:
                yield from found_in_records(HostLookUp(kmers, both), sequences, self.batch_letters)
                return
            engine = stack.enter_context(lent_engine(self.engine))
            if kmers.compressed:
                look_up = DeviceLookUp(engine, kmers, both)
                yield from found_in_records(look_up, sequences, min(self.batch_letters, look_up.block_bytes))
                return
            given = iter(self.sequences)
            first = list(itertools.islice(given, 1))
            marked = None if first else marked_files(engine, kmers, self.files, both, self.run.threads)
            look_up = DeviceLookUp(engine, kmers, both, None if marked is None else marked.marks)
            batch = min(self.batch_letters, look_up.block_bytes)
            yield from found_in_records(look_up, itertools.chain(first, given), batch)
            blocks = blocks_of_files(engine, kmers.k, self.files, self.run.threads, progress)
            yield from found_in_blocks(look_up, blocks, with_text=with_text)
            if marked is not None:
                marked.check()

    def by_record(self) -> Iterator[RecordSummaries]:
        """Summarise each sequence, some sequences at a time."""
        with Workers(self.run.threads) as workers:
            yield from workers.map(summaries_of, joined_records(self.along_records()))

    def along_records(self) -> Iterator[RecordCounts]:
        """The counts along each sequence, some sequences at a time, or a part of a long one."""
        return (some.along for some in self._found())

    def _check_places(self) -> None:
        """Refuse places in sequences where k-mers are those of compressed ones.

        Raises
        ------
        UsageError
        """
        with opened(self.source) as kmers:
            if kmers.compressed:
                raise UsageError("the k-mers are those of sequences with homopolymers compressed, and intervals would "
                                 "not be those of the sequences: ask for counts")  # fmt: skip

    def intervals(self) -> Iterator[FoundIntervals]:
        """The letters that k-mers of the set cover, on each strand if both were looked up.

        Raises
        ------
        UsageError
            The k-mers are those of compressed sequences.
        """
        self._check_places()
        with Workers(self.run.threads) as workers:
            yield from covered_intervals(self._found(), workers)

    def count_intervals(self) -> Iterator[FoundIntervals]:
        """Stretches of places at which k-mers of the set with equal counts start.

        Raises
        ------
        UsageError
            The k-mers are those of compressed sequences.
        """
        self._check_places()
        with Workers(self.run.threads) as workers:
            yield from count_intervals(self._found(), workers)

    def records(self) -> Iterator[dict[str, Any]]:
        """A record for each k-mer: the name of its sequence, its position from 1, its letters and its count."""
        return itertools.chain.from_iterable(found.records() for found in self)

    def to_frame(self) -> Any:
        """The records as a table, all of them in memory; see `oclgenomics.app.frames.to_frame`."""
        return table_of_rows(FoundKmers.COLUMNS, itertools.chain.from_iterable(found.rows() for found in self))


@dataclass(frozen=True)
class NamedSequences:
    """Sequences as records; those that are text are named by their numbers."""

    sequences: Iterable[str | Record]
    k: int

    def __iter__(self) -> Iterator[Record]:
        for number, sequence in enumerate(self.sequences, 1):
            if isinstance(sequence, Record):
                yield sequence
                continue
            if len(sequence) < self.k:
                raise UsageError(f"{sequence!r} has {len(sequence)} bases; the database has k-mers of {self.k}")
            yield Record(str(number), sequence.encode("ascii", "replace"))


class LookUp(Protocol):
    """Looks up all windows of k bases of sequences in a set."""

    @property
    def kmers(self) -> KmerSet: ...

    def along(
        self, text: NDArray[np.uint8], letters_at: NDArray[np.int64], windows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.uint32] | None]:
        """Return counts, 0 for no k-mer of the set, which windows are k-mers, and the counts of the other strand.

        Parameters
        ----------
        text : ndarray, uint8
            What is between two sequences is no base.
        letters_at, windows : ndarray, int64 (sequences,)
            Where each sequence begins, and how many windows it has.
        """


@dataclass(frozen=True)
class HostLookUp:
    """Looks up k-mers on the host, which reads those sections of a database that hold them."""

    kmers: KmerSet
    both_strands: bool

    def along(
        self, text: NDArray[np.uint8], letters_at: NDArray[np.int64], windows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.uint32] | None]:
        """See `LookUp`."""
        keys, places = _kmers_of(text, self.kmers)
        record = np.searchsorted(letters_at, places, side="right") - 1
        before = np.cumsum(windows) - windows
        places += (before - letters_at)[record]
        strands = [look_up(self.kmers, keys)]
        if self.both_strands:
            strands.append(look_up(self.kmers, _kmers_of(COMPLEMENT[text[::-1]], self.kmers)[0])[::-1])
        counts = np.zeros((len(strands), int(windows.sum())), np.uint32)
        valid = np.zeros(counts.shape[1], np.bool_)
        counts[:, places], valid[places] = strands, True
        return counts[0], valid, counts[1] if self.both_strands else None


@dataclass(frozen=True)
class MarkedFiles:
    """Files whose k-mers were marked, and which are to be read once more.

    Attributes
    ----------
    marks : Marks
    files : tuple of InputMark
        What they were before.
    """

    marks: Marks
    files: tuple[InputMark, ...]

    def check(self) -> None:
        """Refuse a file that is another one by now: of k-mers that were not marked nothing is known.

        Raises
        ------
        InputError
        """
        for one in self.files:
            if InputMark.of(one.name).key != one.key:
                raise InputError("changed while it was read; look its k-mers up again", source=one.name)


def marked_files(
    engine: Engine, kmers: KmerSet, files: Sequence[str], both_strands: bool, threads: int | None
) -> MarkedFiles | None:
    """Mark the k-mers of files, before they are looked up in a set that has many times as many.

    Returns
    -------
    MarkedFiles or None
        None where the files have too many bases for it, or can be read once only.
    """
    most = most_marked(kmers.distinct)
    if STANDARD_INPUT in files:  # whatever a file of this name in the folder is
        return None
    try:
        facts = [os.stat(name) for name in files]
    except OSError:  # which is said where they are opened
        return None
    if not (files and all(stat.S_ISREG(one.st_mode) for one in facts)):
        return None
    size = sum(one.st_size for one in facts)
    if size > FASTQ_BYTES * most:
        return None
    before = tuple(map(InputMark.of, files))
    marking = TextMarks(engine, kmers, mark_prefix_bits(engine.limits(), kmers.k, kmers.distinct, size))
    strands = (False, True) if both_strands else (False,)
    with contextlib.closing(blocks_of_files(engine, kmers.k, files, threads)) as blocks:
        for block in blocks:
            windows, letters_at = block.pieces.windows(kmers.k), block.pieces.letters.astype(np.int64)
            for backward in strands:
                marking.mark(block.text, letters_at, windows, backward=backward)
            if marking.marks.kmers > len(strands) * most:
                return None
    return MarkedFiles(marking.marks, before)


def blocks_of_files(
    engine: Engine, k: int, files: Sequence[str], threads: int | None, progress: Progress | None = None
) -> Generator[LetterBlock, None, None]:
    """Read files, as much text at a time as is looked up."""
    block_bytes = query_block_bytes(engine.limits(), largest_block(engine))
    return letter_blocks(
        engine, files, overlap=k - 1, block_bytes=block_bytes, threads=threads, progress=progress
    )  # fmt: skip


class DeviceLookUp:
    """Looks up k-mers on a device, in tables of k-mers of the set: of all, or of those that are marked.

    Attributes
    ----------
    kmers : KmerSet
    block_bytes : int
        Bytes of text to look up at a time.
    """

    def __init__(self, engine: Engine, kmers: KmerSet, both_strands: bool, marks: Marks | None = None) -> None:
        self.kmers = kmers
        self.block_bytes = query_block_bytes(engine.limits(), largest_block(engine))
        self._engine, self._both_strands = engine, both_strands
        self._kmers = TextKmers(engine, kmers, ChosenKmers(CountBounds(), marks), with_counts=True)

    def along(
        self, text: NDArray[np.uint8], letters_at: NDArray[np.int64], windows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.uint32] | None]:
        """See `LookUp`."""
        uploaded = Text(self._engine.upload(np.append(text, np.uint8(0))), 0, len(text))
        return self.along_text(uploaded, letters_at, windows)

    def along_text(
        self, text: Text, letters_at: NDArray[np.int64], windows: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.uint32] | None]:
        """Look up windows of text that is on the device; see `LookUp`."""
        counts, valid = self._kmers.counts_along(text, letters_at, windows)
        if not self._both_strands:
            return counts, valid, None
        return counts, valid, self._kmers.counts_along(text, letters_at, windows, backward=True)[0]


def found_in_records(look_up: LookUp, records: Iterable[Record], batch_letters: int) -> Iterator[FoundKmers]:
    """Look up the k-mers of some records at a time, or of a part of a long one."""
    batch: list[Record] = []
    size = 0
    for record in records:
        if batch and size + len(record.letters) > batch_letters:
            yield _found(look_up, batch)
            batch, size = [], 0
        if len(record.letters) > batch_letters:
            yield from _found_in_parts(look_up, record, batch_letters)
        else:
            batch.append(record)
            size += len(record.letters)
    if batch:
        yield _found(look_up, batch)


def _found_in_parts(look_up: LookUp, record: Record, size: int) -> Iterator[FoundKmers]:
    """Look up a long sequence in parts that overlap by k - 1 bases."""
    k = look_up.kmers.k
    last = len(record.letters) - k + 1
    for begin in range(0, max(last, 1), size):
        part = Record(record.name, record.letters[begin : begin + size + k - 1])
        yield _found(look_up, [part], begin, whole=begin + size >= last)


def _found(look_up: LookUp, records: list[Record], offset: int = 0, *, whole: bool = True) -> FoundKmers:
    k = look_up.kmers.k
    text = np.frombuffer(b"\n".join([record.letters for record in records]), np.uint8)
    sizes = np.array([len(record.letters) for record in records])
    letters_at = np.cumsum(sizes + 1) - sizes - 1
    windows = np.maximum(sizes - k + 1, 0)
    counts, valid, others = look_up.along(text, letters_at, windows)
    names = [record.name for record in records]
    along = RecordCounts(names, _starts(windows), counts, valid, offset == 0, whole)
    return FoundKmers(k, along, text, letters_at, offset, others)


def found_in_blocks(look_up: DeviceLookUp, blocks: Iterator[LetterBlock], *, with_text: bool) -> Iterator[FoundKmers]:
    """Look up the k-mers of blocks of text, and have parts of a record that several blocks hold by themselves."""
    k = look_up.kmers.k
    name: NameList = NameList.of([])  # of the record that goes on
    for block in blocks:
        pieces = block.pieces
        windows, letters_at = pieces.windows(k), pieces.letters.astype(np.int64)
        counts, valid, others = look_up.along_text(block.text, letters_at, windows)
        text = block.host.copy() if with_text else np.empty(0, np.uint8)
        goes_on = int(pieces.record[0]) < block.first
        names = NameList.joined([name, block.names]) if goes_on else block.names
        name = names[len(names) - 1 :]
        starts = _starts(windows)
        apart = {0, int(goes_on), len(pieces) - int(not pieces.ends[-1]), len(pieces)}
        for begin, end in itertools.pairwise(sorted(apart)):
            some, here = slice(begin, end), slice(int(starts[begin]), int(starts[end]))
            along = RecordCounts(
                names[some], starts[begin : end + 1] - starts[begin], counts[here], valid[here],
                not pieces.start[begin], bool(pieces.ends[end - 1]),
            )  # fmt: skip
            other = None if others is None else others[here]
            yield FoundKmers(k, along, text, letters_at[some], int(pieces.start[begin]), other)


def _starts(windows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.int64(0), np.cumsum(windows))


def _kmers_of(text: NDArray[np.uint8], kmers: KmerSet) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if len(text) < kmers.k:
        return np.empty((key_words(kmers.k), 0), np.uint64), np.empty(0, np.int64)
    return kmers_of_letters(text, kmers.k, canonical=kmers.canonical)


def look_up_texts(found: KmerSet, kmers: Sequence[str]) -> NDArray[np.uint32]:
    """Return the counts of k-mers given as text; see `oclgenomics.kmers.counts_of`."""
    for kmer in kmers:
        if len(kmer) != found.k:
            raise UsageError(f"{kmer!r} has {len(kmer)} bases; the database has k-mers of {found.k}")
    keys = keys_of(kmers)
    if found.canonical:
        letters = np.pad(letters_of(keys, found.k), ((0, 0), (0, 1)))  # what is between them is no letter
        keys, _ = kmers_of_letters(letters.ravel(), found.k, canonical=True)
    return look_up(found, keys)


def look_up(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the counts of some keys, uint32 (n,); 0 where a key is not there.

    Parameters
    ----------
    kmers : KmerSet
    keys : ndarray, uint64 (words, n)
        In any order. For a canonical set, the lesser key of both strands.
    """
    # Neighbours are looked for in the same places, which are then in the cache.
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys)
    ascending = np.ascontiguousarray(keys[:, order])
    counts = np.empty(len(order), np.uint32)
    counts[order] = kmers.lookup(ascending) if isinstance(kmers, KmerDatabase) else _merged(kmers, ascending)
    return counts


def _merged(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Look up ascending keys, block by block of the set."""
    wanted = sortable(keys)
    counts = np.zeros(len(wanted), np.uint32)
    for block in kmers.blocks():
        if len(block):
            held = sortable(block.keys)
            some = slice(np.searchsorted(wanted, held[0]), np.searchsorted(wanted, held[-1], side="right"))
            places = np.minimum(np.searchsorted(held, wanted[some]), len(held) - 1)
            there = held[places] == wanted[some]
            counts[some][there] = block.counts[places[there]]
    return counts


def kmers_of_letters(
    letters: NDArray[np.uint8], k: int, *, canonical: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the k-mers of a sequence.

    Parameters
    ----------
    letters : ndarray, uint8 (n,)
        ASCII, in either case. K-mers with letters other than A, C, G and T are left out.
    k : int
    canonical : bool
        Take the lesser of a k-mer and its reverse complement.

    Returns
    -------
    keys : ndarray, uint64 (words, m)
    places : ndarray, int64 (m,)
        Where each k-mer begins, ascending.
    """
    codes = CODES[letters]
    bad = np.concatenate([[0], np.cumsum(codes > 3)])
    places = np.flatnonzero(bad[k:] == bad[:-k])
    if not len(places):
        return np.empty((key_words(k), 0), np.uint64), places
    keys = np.empty((key_words(k), len(codes) - k + 1), np.uint64)
    for begin in range(0, keys.shape[1], PIECE):
        part = (codes[begin : begin + PIECE + k - 1] & 3).astype(np.uint64)
        made = _keys(part, k)
        if canonical:
            other = _keys(np.uint64(3) - part[::-1], k)[:, ::-1]
            made = np.minimum(made, other) if len(made) == 1 else np.where(are_less(made, other), made, other)
        keys[:, begin : begin + PIECE] = made
    return (keys if len(places) == keys.shape[1] else keys[:, places]), places


def _keys(codes: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """The keys of all k-mers; words below the highest are the keys of 32 letters each."""
    words = key_words(k)
    count = len(codes) - k + 1
    keys = np.empty((words, count), np.uint64)
    keys[-1] = _packed(codes, k - WORD_LETTERS * (words - 1))[:count]
    if words > 1:
        whole = _packed(codes, WORD_LETTERS)
        for word in range(words - 1):
            begin = k - WORD_LETTERS * (word + 1)
            keys[word] = whole[begin : begin + count]
    return keys


def _packed(codes: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """The keys of all stretches of `size` letters, at most 32, joined from stretches of 1, 2, 4, ... letters."""
    made, letters = np.zeros(len(codes) + 1, np.uint64), 0
    part, width = codes, 1
    while True:
        if size & width:
            made = _joined(made, letters, part, width)
            letters += width
        if letters == size:
            return made
        part, width = _joined(part, width, part, width), 2 * width


def _joined(left: NDArray[np.uint64], left_size: int, right: NDArray[np.uint64], right_size: int) -> NDArray[np.uint64]:
    """The keys of stretches that begin as those of `left` and continue as those of `right`."""
    count = max(len(right) - left_size, 0)
    return (left[:count] << np.uint64(2 * right_size)) | right[left_size:]
