"""The counts of k-mers in several sets side by side: a row for each k-mer, a column for each set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError, UsageError, check_range
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.sets.algebra import KmerRange, over_ranges
from oclgenomics.notices import number_of

RANGE_KMERS, LEAST_KMERS = 1 << 20, 1 << 10  # of all sets in one range; of one set, however many there are
CELLS = 1 << 20  # of a block: 4 MiB, which a processor's cache holds or nearly so
KMER_COLUMN = "kmer"


@dataclass(frozen=True)
class RowBlock:
    """Some rows in ascending order.

    Attributes
    ----------
    keys : ndarray, uint64 (words, n)
    counts : ndarray, uint32 (n, samples)
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True)
class RowChoice:
    """Which rows there are.

    Attributes
    ----------
    min_count : int
        A lower count of a sample is taken for 0.
    min_samples : int
        Rows with counts in fewer samples are left out.
    keep_zeros : bool
        With a set of rows: all of its k-mers have a row, whatever their counts are.

    Raises
    ------
    UsageError
        A value is outside its range, or they contradict each other.
    """

    min_count: int = 1
    min_samples: int = 1
    keep_zeros: bool = False

    def __post_init__(self) -> None:
        check_range("min_count", self.min_count, 1, MAX_COUNTER, f"take 1 to {MAX_COUNTER:,}")
        check_range("min_samples", self.min_samples, 1, float("inf"), "take 1 or more")
        if self.keep_zeros and self.min_samples > 1:
            raise UsageError("`keep_zeros` keeps all rows, and `min_samples` leaves some out: take one of them")

    def check(self, samples: int, only: bool) -> None:
        """Refuse what does not suit so many samples, with a set of rows or without one.

        Raises
        ------
        UsageError
            More samples are asked for than there are, or zeros without a set of rows.
        """
        if self.min_samples > samples:
            raise ParameterError("min_samples", f"only {number_of(samples, 'sample')} given", self.min_samples)
        if self.keep_zeros and not only:
            raise UsageError("`keep_zeros` keeps the rows of a set: name it with `only`")


def rows_of(
    sets: Sequence[KmerSet], choice: RowChoice, only: KmerSet | None = None, progress: Progress | None = None
) -> Iterator[RowBlock]:
    """Lay sets side by side, as a stream of blocks. No set is whole in memory.

    The rows do not depend on how sets come in blocks, nor on threads.

    Parameters
    ----------
    sets : sequence of KmerSet
        The columns.
    choice : RowChoice
    only : KmerSet, optional
        K-mers that are not in it have no row.
    progress : callable, optional
        Called with (k-mers of all sets that were read, all of them).

    Raises
    ------
    UsageError
        No set, sets that do not suit each other, or a choice that does not suit them.
    """
    samples = len(sets)
    choice.check(samples, only is not None)
    every = [*sets] if only is None else [*sets, only]
    most = max(LEAST_KMERS, RANGE_KMERS // max(1, len(every)))
    chosen = over_ranges(every, lambda some: _chosen(some, samples, choice, only is not None), most, progress)
    return (block for rows in chosen for block in rows.blocks(samples))


@dataclass(frozen=True)
class _Rows:
    """Rows of a range: for each k-mer, the samples that have it from one place on to the next."""

    keys: NDArray[np.uint64]
    places: NDArray[np.intp]
    samples: NDArray[np.intp]
    counts: NDArray[np.uint32]

    def blocks(self, samples: int) -> Iterator[RowBlock]:
        size = max(1, CELLS // samples)
        for begin in range(0, self.keys.shape[1], size):
            keys = self.keys[:, begin : begin + size]
            first, last = np.searchsorted(self.places, [begin, begin + size])
            counts = np.zeros((keys.shape[1], samples), np.uint32)
            counts[self.places[first:last] - begin, self.samples[first:last]] = self.counts[first:last]
            yield RowBlock(keys, counts)


def _chosen(some: KmerRange, samples: int, choice: RowChoice, only: bool) -> _Rows:
    """The rows of a range that are asked for."""
    sources = some.sources
    there = (some.counts >= choice.min_count) & (sources < samples)
    rows = np.repeat(np.arange(len(some.starts)), some.sizes)
    kept = np.ones(len(some.starts), bool)
    if only:
        kept[:] = False
        kept[rows[sources == samples]] = True
    if not choice.keep_zeros:
        kept &= np.bincount(rows[there], minlength=len(kept)) >= choice.min_samples
    there &= kept[rows]
    places = (np.cumsum(kept) - 1)[rows[there]]
    return _Rows(some.distinct(kept), places, sources[there], some.counts[there])


@dataclass(frozen=True)
class MatrixRows:
    """Counts of k-mers in several samples, row by row.

    Attributes
    ----------
    names : sequence of str
        Of the samples.
    sets : sequence of KmerSet
        Their k-mers.
    choice : RowChoice
    only : KmerSet or None
        The k-mers that may have rows.
    progress : callable, optional
        See `rows_of`.
    on_block : callable, optional
        Called with each block.
    """

    names: Sequence[str]
    sets: Sequence[KmerSet]
    choice: RowChoice
    only: KmerSet | None = None
    progress: Progress | None = None
    on_block: Callable[[RowBlock], object] | None = None

    @property
    def k(self) -> int:
        """Bases of a k-mer."""
        return self.sets[0].k

    @property
    def canonical(self) -> bool:
        """Whether a k-mer and its reverse complement are one."""
        return self.sets[0].canonical

    def blocks(self) -> Iterator[RowBlock]:
        """All rows in ascending order; each call starts anew."""
        for block in rows_of(self.sets, self.choice, self.only, self.progress):
            if self.on_block is not None:
                self.on_block(block)
            yield block

    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """All rows in memory: keys (words, n) and counts (n, samples)."""
        keys, counts = [np.empty((key_words(self.k), 0), np.uint64)], [np.empty((0, len(self.names)), np.uint32)]
        for block in self.blocks():
            keys.append(block.keys)
            counts.append(block.counts)
        return np.hstack(keys), np.concatenate(counts)


def check_names(names: Sequence[str]) -> None:
    """Refuse names that columns cannot have.

    Raises
    ------
    UsageError
        There is none, two are equal, or one is empty, holds a tab or a line break, or is that of the k-mers' column.
    """
    if not names:
        raise UsageError("there are no samples")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise UsageError(f"two samples are named {name}; name one of them otherwise: NAME=FILE")
        if not name or name == KMER_COLUMN or not name.isprintable():
            raise UsageError(f"{name!r} is no name for a sample; name it otherwise: NAME=FILE")
