"""Sets of counted k-mers: what counters make, databases hold, and reports read."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.errors import UsageError
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.database.keys import texts_of
from oclgenomics.kmers.options import MAX_COUNTER

PIECE = 1 << 16  # k-mers, whose arrays stay in a processor's cache


@dataclass(frozen=True, repr=False)
class KmerBlock:
    """Some k-mers in ascending order.

    Attributes
    ----------
    keys : ndarray, uint64 (words, n)
        As `oclgenomics.kmers.database.keys` makes them, the least significant word first.
    counts : ndarray, uint32 (n,)
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return f"KmerBlock({len(self)} k-mers)"

    def pieces(self, size: int = PIECE) -> Iterator[KmerBlock]:
        """Cut the block into pieces of at most `size` k-mers, which share its memory."""
        for begin in range(0, len(self), size):
            yield KmerBlock(self.keys[:, begin : begin + size], self.counts[begin : begin + size])

    def within(self, least: int, most: int, cap: int = MAX_COUNTER) -> KmerBlock:
        """Leave out k-mers with lower or higher counts, then stop the counters at `cap`."""
        keys, counts = self.keys, self.counts
        stay = (counts >= least) & (counts <= most)
        if not stay.all():
            keys, counts = np.compress(stay, keys, axis=1), counts[stay]
        return KmerBlock(keys, np.minimum(counts, np.uint32(cap)) if cap < MAX_COUNTER else counts)


def join(words: int, blocks: Iterable[KmerBlock]) -> KmerBlock:
    """Join blocks in ascending order."""
    blocks = [KmerBlock(np.empty((words, 0), np.uint64), np.empty(0, np.uint32)), *blocks]
    keys = np.concatenate([block.keys for block in blocks], axis=1)
    return KmerBlock(keys, np.concatenate([block.counts for block in blocks]))


class KmerSet(Protocol):
    """Distinct k-mers in ascending order with their counts, block by block.

    Attributes
    ----------
    k : int
    canonical : bool
    compressed : bool
        In the sequences, runs of equal bases counted as one base.
    distinct, total : int
        K-mers that differ, and the sum of their counts.
    """

    @property
    def k(self) -> int: ...

    @property
    def canonical(self) -> bool: ...

    @property
    def compressed(self) -> bool: ...

    @property
    def distinct(self) -> int: ...

    @property
    def total(self) -> int: ...

    def blocks(self) -> Iterator[KmerBlock]:
        """All k-mers; each call starts anew."""


class KmerTable:
    """A set of k-mers in a notebook: one line, records and a table."""

    def __repr__(self: KmerSet) -> str:
        sizes = f"distinct={self.distinct}, total={self.total}"
        return f"{type(self).__name__}(k={self.k}, canonical={self.canonical}, {sizes})"

    def records(self: KmerSet) -> Iterator[dict[str, Any]]:
        """All k-mers in ascending order, block by block.

        Yields
        ------
        dict
            `kmer`, its letters, and `count`.
        """
        for block in self.blocks():
            for piece in block.pieces():
                for kmer, count in zip(texts_of(piece.keys, self.k), piece.counts.tolist(), strict=True):
                    yield {"kmer": kmer, "count": count}

    def to_frame(self: KmerSet) -> Any:
        """All k-mers as a table with the columns `kmer` and `count`, in ascending order.

        The whole set comes to memory as text, some 60 + k bytes for each k-mer. `records` streams instead.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame

        Raises
        ------
        MissingDependencyError
            Neither pandas nor polars is installed.
        """
        kmers: list[str] = []
        counts = [np.empty(0, np.uint32)]
        for block in self.blocks():
            for piece in block.pieces():
                kmers += texts_of(piece.keys, self.k)
            counts.append(block.counts)
        return to_frame({"kmer": kmers, "count": np.concatenate(counts)})


@dataclass(frozen=True, repr=False)
class CountedKmers(KmerTable):
    """A set of k-mers in memory.

    Attributes
    ----------
    k : int
    canonical : bool
    keys : ndarray, uint64 (words, n)
    counts : ndarray, uint32 (n,)
    compressed : bool
        In the sequences, runs of equal bases counted as one base.
    """

    k: int
    canonical: bool
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]
    compressed: bool = False

    @property
    def distinct(self) -> int:
        """K-mers that differ."""
        return len(self.counts)

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return int(self.counts.sum(dtype=np.uint64))

    def blocks(self) -> Iterator[KmerBlock]:
        """All k-mers at once."""
        yield KmerBlock(self.keys, self.counts)


@dataclass(frozen=True)
class SelectedKmers(KmerTable):
    """The k-mers of a set whose counts lie in a range. They are a set themselves.

    `distinct`, `total` and `largest` take one pass over the set, when one of them is first asked for.

    Attributes
    ----------
    kmers : KmerSet
    min_count, max_count : int
        Both are included.
    progress : callable, optional
        Called with (k-mers of the set that were read, all of them); each pass begins anew.

    Raises
    ------
    UsageError
        The range has no count in it.
    """

    kmers: KmerSet
    min_count: int = 1
    max_count: int = MAX_COUNTER
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.min_count <= self.max_count:
            raise UsageError(f"`min_count={self.min_count}` `max_count={self.max_count}`: take 1 <= min <= max")

    @property
    def k(self) -> int:
        return self.kmers.k

    @property
    def canonical(self) -> bool:
        return self.kmers.canonical

    @property
    def compressed(self) -> bool:
        return self.kmers.compressed

    @property
    def distinct(self) -> int:
        return self._survey[0]

    @property
    def total(self) -> int:
        return self._survey[1]

    @property
    def largest(self) -> int:
        """The largest count, 0 if there is no k-mer."""
        return self._survey[2]

    def blocks(self) -> Iterator[KmerBlock]:
        """All selected k-mers, at most `PIECE` in a block. No block is empty."""
        done = 0
        for block in self.kmers.blocks():
            for piece in block.pieces():
                done += len(piece)
                if self.progress is not None:
                    self.progress(done, self.kmers.distinct)
                if len(kept := piece.within(self.min_count, self.max_count)):
                    yield kept

    @functools.cached_property
    def _survey(self) -> tuple[int, int, int]:
        distinct = total = largest = 0
        for block in self.blocks():
            distinct += len(block)
            total += int(block.counts.sum(dtype=np.uint64))
            largest = max(largest, int(block.counts.max()))
        return distinct, total, largest
