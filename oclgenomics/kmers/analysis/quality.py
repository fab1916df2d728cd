"""The quality of assemblies by the k-mers of reads: QV, completeness, and copy numbers by counts, as Merqury has them.

A k-mer of an assembly that no read has is an error, or was not sequenced. With N k-mers in an assembly, repetitions
included, of which n are in no read, the probability that a base is wrong is estimated as

    E = 1 - (1 - n/N)^(1/k),

since a k-mer is right if its k bases are, and QV = -10 log10 E. Completeness is the share of the distinct solid k-mers
of the reads (those seen so often that few are errors of sequencing) that the assembly has.

All of this comes from one pass over the k-mers of the reads and of the assemblies side by side. The k-mers of each
assembly that no read has become a set of their own, which the sequences are looked up in for what each of them has.

Source: Rhie et al., Merqury: reference-free quality, completeness, and phasing assessment for genome assemblies, Genome
Biology 21, 245 (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.analysis.found import FoundIntervals, RecordCounts
from oclgenomics.kmers.database.kmer_set import KmerBlock, KmerSet
from oclgenomics.kmers.database.layout import Tally
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.result import MOST_COPIES, CopySpectrum, SequenceQualities
from oclgenomics.kmers.sets.algebra import KmerRange, over_ranges


@dataclass
class CopyTally:
    """The k-mers of an assembly, or of several together, next to those of reads.

    Attributes
    ----------
    kmers, only : int
        K-mers of the assembly, repetitions included, and those that no read has.
    only_distinct : int
        The distinct ones of these.
    reads : list of Tally
        Counts in the reads of their k-mers by copies in the assembly: 0, 1, ..., and `MOST_COPIES` or more.
    """

    kmers: int
    only: int
    only_distinct: int
    reads: list[Tally]

    @classmethod
    def of(cls, copies: NDArray[np.uint64], counts: NDArray[np.uint64]) -> CopyTally:
        """Tally some distinct k-mers by their copies in the assembly and their counts in the reads."""
        only = copies[counts == 0]
        classes = np.where(counts == 0, MOST_COPIES + 1, np.minimum(copies, MOST_COPIES))
        reads = [Tally(counts[classes == each].astype(np.uint32)) for each in range(MOST_COPIES + 1)]
        return cls(int(copies.sum()), int(only.sum()), int(np.count_nonzero(only)), reads)

    def add(self, other: CopyTally) -> None:
        """Take in what another one holds, of other k-mers."""
        self.kmers += other.kmers
        self.only += other.only
        self.only_distinct += other.only_distinct
        for own, more in zip(self.reads, other.reads, strict=True):
            own.add(more)

    def spectrum(self) -> CopySpectrum:
        """The k-mers of the reads by copies and counts."""
        tables = [tally.histogram() for tally in self.reads]
        counts = np.unique(np.concatenate([table["count"] for table in tables])).astype(np.int64)
        kmers = np.zeros((len(tables), len(counts)), np.int64)
        for row, table in zip(kmers, tables, strict=True):
            row[np.searchsorted(counts, table["count"].astype(np.int64))] = table["kmers"]
        return CopySpectrum(counts, kmers)


def tally_copies(
    reads: KmerSet,
    assemblies: Sequence[KmerSet],
    take_only: Sequence[Callable[[KmerBlock], object]],
    progress: Progress | None = None,
) -> list[CopyTally]:
    """Tally the k-mers of assemblies by those of reads; no set is whole in memory.

    Parameters
    ----------
    reads : KmerSet
    assemblies : sequence of KmerSet
        Of the same k and strands.
    take_only : sequence of callable
        Takes, for each assembly, its k-mers that no read has, some at a time, in ascending order.
    progress : callable, optional
        Called with (k-mers of all sets that were read, all of them).

    Returns
    -------
    list of CopyTally
        That of each assembly; of several, then that of all together, with the sums of their copies.
    """
    nothing = np.zeros(0, np.uint64)
    views = len(assemblies) + (len(assemblies) > 1)
    tallies = [CopyTally.of(nothing, nothing) for _ in range(views)]
    for found, blocks in over_ranges([reads, *assemblies], partial(_of_range, len(assemblies)), progress=progress):
        for tally, more in zip(tallies, found, strict=True):
            tally.add(more)
        for take, block in zip(take_only, blocks, strict=True):
            if len(block):
                take(block)
    return tallies


def _of_range(assemblies: int, some: KmerRange) -> tuple[list[CopyTally], list[KmerBlock]]:
    """What a range adds to the tallies, and the k-mers of each assembly in it that no read has."""
    rows = np.repeat(np.arange(len(some.starts)), some.sizes)
    by_set = np.zeros((1 + assemblies, len(some.starts)), np.uint64)
    by_set[some.sources, rows] = some.counts
    counts, copies = by_set[0], list(by_set[1:])
    blocks = []
    for own in copies:
        only = (counts == 0) & (own > 0)
        blocks.append(KmerBlock(some.distinct(only), np.minimum(own[only], MAX_COUNTER).astype(np.uint32)))
    views = copies if assemblies == 1 else [*copies, by_set[1:].sum(axis=0, dtype=np.uint64)]
    return [CopyTally.of(view, counts) for view in views], blocks


@dataclass(frozen=True)
class MarkedKmers:
    """The k-mers of some sequences, of which those in a set are marked.

    Attributes
    ----------
    k : int
    along : RecordCounts
        With counts from 1 on for marked k-mers, and 0 for others.
    offset : int
        Where the first sequence goes on here; 0 where it begins.
    """

    k: int
    along: RecordCounts
    offset: int

    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sequence of each marked k-mer, as an index into the names, and its position from 0."""
        windows = np.flatnonzero(self.along.counts)
        record = np.searchsorted(self.along.starts, windows, side="right") - 1
        return record, self.along.positions(windows, record, self.offset)

    def intervals(self) -> FoundIntervals:
        """The bases of each marked k-mer."""
        record, start = self.places()
        return FoundIntervals(self.along.names, record, start, start + self.k)


def marked_parts(k: int, parts: Iterable[RecordCounts]) -> Iterator[MarkedKmers]:
    """Say of parts of sequences, which follow each other, where they begin."""
    offset = 0
    for along in parts:
        if not len(along):
            continue
        offset = 0 if along.begins else offset
        yield MarkedKmers(k, along, offset)
        offset = int(along.windows[-1]) + (offset if len(along) == 1 else 0)


class SequenceTally:
    """How many k-mers each sequence of an assembly has, and how many of them are marked."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._kmers: list[NDArray[np.int64]] = []
        self._only: list[NDArray[np.int64]] = []

    def add(self, part: MarkedKmers) -> None:
        """Count those of a part."""
        along = part.along
        kmers, only = (along.sums(values).astype(np.int64) for values in (along.valid, along.counts > 0))
        first = 0 if along.begins else 1
        if first:
            self._kmers[-1][-1] += kmers[0]
            self._only[-1][-1] += only[0]
        if len(along) > first:
            self._names += list(along.names)[first:]
            self._kmers.append(kmers[first:])
            self._only.append(only[first:])

    def qualities(self, k: int) -> SequenceQualities:
        """Those of all sequences."""
        none = np.empty(0, np.int64)
        kmers, only = (np.concatenate([none, *parts]) for parts in (self._kmers, self._only))
        return SequenceQualities(k, tuple(self._names), kmers, only)


@dataclass(frozen=True)
class DepthPart:
    """How many marked k-mers cover bases of a sequence; bases that none covers are left out.

    Attributes
    ----------
    name : str
        Of the sequence.
    begins : bool
        This is its first part.
    position : ndarray, int64 (n,)
        From 0.
    depth : ndarray, int64 (n,)
    """

    name: str
    begins: bool
    position: NDArray[np.int64]
    depth: NDArray[np.int64]


class Depths:
    """Finds how many marked k-mers cover each base, in parts of sequences that follow each other."""

    def __init__(self, k: int, stretch: int = 1 << 20) -> None:
        self._k, self._stretch = k, stretch
        self._waiting = np.empty(0, np.int64)  # starts of k-mers that cover bases of the next part, too

    def of(self, part: MarkedKmers) -> Iterator[DepthPart]:
        """The bases that no later part adds to; at least one `DepthPart` for each sequence that begins here."""
        along = part.along
        record, start = part.places()
        bounds = np.searchsorted(record, np.arange(len(along) + 1))
        ends = along.windows.copy()
        ends[:1] += part.offset
        for number, name in enumerate(along.names):
            begins, ends_here = number > 0 or along.begins, number < len(along) - 1 or along.ends
            starts = start[bounds[number] : bounds[number + 1]]
            first = 0 if number else part.offset
            if not begins:
                starts = np.concatenate([self._waiting, starts])
            last = int(ends[number]) + (self._k if ends_here else 0)
            self._waiting = starts[starts + self._k > last]
            yield from self._depths(name, begins, starts, first, last)

    def _depths(self, name: str, begins: bool, starts: NDArray[np.int64], first: int, last: int) -> Iterator[DepthPart]:
        none = np.empty(0, np.int64)
        if begins:
            yield DepthPart(name, True, none, none)
        while len(starts):
            low = max(first, int(starts[0]))
            high = min(last, low + self._stretch)
            if low >= high:
                break
            here = starts[: np.searchsorted(starts, high)]
            change = np.bincount(np.maximum(here - low, 0), minlength=high - low + 1)
            change -= np.bincount(np.minimum(here + self._k, high) - low, minlength=high - low + 1)
            depth = np.cumsum(change[:-1])
            position = np.flatnonzero(depth)
            yield DepthPart(name, False, position + low, depth[position])
            first, starts = high, starts[np.searchsorted(starts, high - self._k, side="right") :]
