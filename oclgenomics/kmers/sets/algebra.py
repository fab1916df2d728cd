"""Union, intersection and difference of sets of k-mers, as a stream of blocks, by ranges that threads merge."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.database.keys import are_less, sortable
from oclgenomics.kmers.database.kmer_set import KmerBlock, KmerSet
from oclgenomics.kmers.options import MAX_COUNTER, CountMode, MergeOptions

Result = TypeVar("Result")

MAX_THREADS = 8  # more wait for the one that cuts ranges
MAX_KMERS = 1 << 18  # of one set in one range
LEAD_BITS = 64
CUT = 1 << 20  # k-mers of the stream that are looked at together


class _Kind(Protocol):
    @property
    def k(self) -> int: ...

    @property
    def canonical(self) -> bool: ...

    @property
    def compressed(self) -> bool: ...


def union(
    sets: Sequence[KmerSet], counter_max: int = MAX_COUNTER, *, progress: Progress | None = None
) -> Iterator[KmerBlock]:
    """All k-mers that are in any set, with the sums of their counts.

    Parameters
    ----------
    sets : sequence of KmerSet
    counter_max : int
        Sums stop here.
    progress : callable, optional
        Called with (k-mers of all sets that were read, all of them), here and for the other operations.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def add(some: KmerRange) -> KmerBlock:
        sums = np.minimum(_sums(some.counts, some.starts), np.uint64(counter_max))
        return KmerBlock(some.distinct(), sums.astype(np.uint32))

    return _merge(sets, add, progress)


def merge_sets(
    sets: Sequence[KmerSet], options: MergeOptions, *, progress: Progress | None = None
) -> Iterator[KmerBlock]:
    """The k-mers of several sets that a merge keeps, with their counts.

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """

    def choose(some: KmerRange) -> KmerBlock:
        values = _values(some, options.mode)
        kept = (values >= options.min_count) & (values <= options.max_count)
        if options.operation == "intersect":
            kept &= some.sizes == len(sets)
        elif options.operation in ("subtract", "symmetric-difference"):
            kept &= some.sizes == 1
        if options.operation in ("subtract", "subtract-counts"):
            kept &= some.sources[some.starts] == 0
        return KmerBlock(some.distinct(kept), np.minimum(values[kept], MAX_COUNTER).astype(np.uint32))

    return _merge(sets, choose, progress)


def _values(some: KmerRange, mode: CountMode) -> NDArray[np.int64]:
    """Make one number, exact, of the counts of each k-mer."""
    counts, starts = some.counts, some.starts
    values: NDArray[Any]
    if mode == "number":
        values = some.sizes
    elif mode in ("min", "max"):
        values = (np.minimum if mode == "min" else np.maximum).reduceat(counts, starts)
    elif mode == "left":
        values = counts[starts]
    elif mode == "right":
        values = counts[np.append(starts[1:], len(counts)) - 1]
    else:
        sums = _sums(counts, starts).astype(np.int64)
        values = sums if mode == "sum" else 2 * counts[starts].astype(np.int64) - sums
    return values.astype(np.int64)


def over_ranges(
    sets: Sequence[KmerSet],
    combine: Callable[[KmerRange], Result],
    most: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Make something of each range of keys of some sets, in threads; results come in ascending order.

    Parameters
    ----------
    sets : sequence of KmerSet
    combine : callable
    most : int, optional
        K-mers of one set in one range.
    progress : callable, optional

    Raises
    ------
    UsageError
        No set, or sets of several k, or of one strand and of both.
    """
    if not sets:
        raise UsageError("no sets of k-mers were given")
    check_one_kind(sets)
    return _combined(sets, combine, most, progress)


def check_one_kind(sets: Sequence[_Kind]) -> None:
    """Refuse sets, or sets to be counted by some options, that do not hold k-mers of one kind.

    Raises
    ------
    UsageError
        They are of several k, or of one strand and of both.
    """
    if len({each.k for each in sets}) > 1:
        lengths = ", ".join(str(each.k) for each in sets)
        raise UsageError(f"sets of k-mers have to be of one k, and these have {lengths}")
    if len({each.canonical for each in sets}) > 1:
        raise UsageError("some sets hold canonical k-mers and others those of one strand: count them in the same way")
    if len({each.compressed for each in sets}) > 1:
        raise UsageError("some sets hold k-mers of compressed sequences and others do not: count them in the same way")


def _merge(
    sets: Sequence[KmerSet], combine: Callable[[KmerRange], KmerBlock], progress: Progress | None
) -> Iterator[KmerBlock]:
    blocks = over_ranges(sets, combine, progress=progress)
    return (block for block in blocks if len(block))


def _combined(
    sets: Sequence[KmerSet], combine: Callable[[KmerRange], Result], most: int | None, progress: Progress | None
) -> Iterator[Result]:
    def merge(held: RangeBlocks) -> Result:
        return combine(KmerRange(held))

    threads = min(MAX_THREADS, usable_cores())
    pool = ThreadPoolExecutor(threads, "merge-kmers")
    coming: deque[Future[Result]] = deque()
    done = 0
    try:
        for held in ranges_of(sets, pool, -(-2 * threads // len(sets)), most):
            coming.append(pool.submit(merge, held))
            if progress is not None:
                done += sum(map(len, held.blocks))
                progress(done, sum(each.distinct for each in sets))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _sums(counts: NDArray[np.uint32], starts: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Sums of the counts from each start to the next one, exact."""
    ends = np.cumsum(counts, dtype=np.uint64).take(np.append(starts[1:], len(counts)) - 1)
    sums = ends.copy()
    sums[1:] -= ends[:-1]
    return sums


class RangeBlocks(NamedTuple):
    """The k-mers of a range, as they lie in their sets.

    Attributes
    ----------
    k : int
    sources : list of int
        Sets that may have some.
    blocks : list of KmerBlock
        What each of them has.
    """

    k: int
    sources: list[int]
    blocks: list[KmerBlock]


def ranges_of(sets: Sequence[KmerSet], pool: Executor, ahead: int, most: int | None = None) -> Iterator[RangeBlocks]:
    """Cut sets of one k into ranges, in ascending order.

    Parameters
    ----------
    sets : sequence of KmerSet
    pool : Executor
        Reads databases.
    ahead : int
        Sections of each database that are read ahead.
    most : int, optional
        K-mers of one set in one range; 2^18 if not given.
    """
    cursors = [_Cursor(each, pool, ahead, MAX_KMERS if most is None else most) for each in sets]
    while running := [source for source, cursor in enumerate(cursors) if cursor.fill()]:
        bound = min(cursors[source].last for source in running)
        yield RangeBlocks(sets[0].k, running, [cursors[source].take_to(bound) for source in running])


class KmerRange:
    """All k-mers in a range of keys in their order; equal ones are neighbours, those of the first set first.

    Attributes
    ----------
    keys : ndarray, uint64 (words, n)
    counts : ndarray, uint32 (n,)
    starts : ndarray, intp (m,)
        Where a key differs from the one before it.
    """

    def __init__(self, held: RangeBlocks) -> None:
        keys = np.hstack([block.keys for block in held.blocks])
        self._held, self._order = held, _order(keys, held.k)
        self.keys = np.take(keys, self._order, axis=1)
        self.counts = np.concatenate([block.counts for block in held.blocks]).take(self._order)
        differs = self.keys[0, 1:] != self.keys[0, :-1]
        for word in self.keys[1:]:
            differs |= word[1:] != word[:-1]
        self.starts = np.concatenate([[0], np.flatnonzero(differs) + 1])

    @property
    def sizes(self) -> NDArray[np.intp]:
        """How many sets have each distinct key, intp (m,)."""
        return np.diff(self.starts, append=len(self.counts))

    @property
    def sources(self) -> NDArray[np.intp]:
        """The set of each key, intp (n,)."""
        return np.repeat(self._held.sources, [len(block) for block in self._held.blocks]).take(self._order)

    def distinct(self, which: NDArray[np.bool_] | slice = slice(None)) -> NDArray[np.uint64]:
        """Distinct keys, or some of them."""
        return np.take(self.keys, self.starts[which], axis=1)


def _order(keys: NDArray[np.uint64], k: int) -> NDArray[np.intp]:
    """What sorts keys that are a few ascending runs, stably.

    NumPy's stable sort merges runs, but of one word: so the first 64 bits decide, and where keys that agree in them are
    out of order, these are sorted by all words.
    """
    lead = _lead(keys, k)
    order: NDArray[np.intp] = np.argsort(lead, kind="stable")
    if len(keys) > 1:
        ordered, lead = np.take(keys, order, axis=1), lead.take(order)
        falls = np.flatnonzero(are_less(ordered[:, 1:], ordered[:, :-1])) + 1
        if len(falls):
            groups = np.cumsum(np.concatenate([[False], lead[1:] != lead[:-1]]))
            wrong = np.zeros(int(groups[-1]) + 1, bool)
            wrong[groups[falls]] = True
            members = np.flatnonzero(wrong[groups])
            order[members] = order[members][np.lexsort(ordered[:, members])]
    return order


def _lead(keys: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """The first 64 bits of keys of 2 k bits, or all of them where there are fewer."""
    in_last = 2 * k - LEAD_BITS * (len(keys) - 1)
    if len(keys) == 1 or in_last == LEAD_BITS:
        lead: NDArray[np.uint64] = keys[-1]
    else:
        lead = (keys[-1] << np.uint64(LEAD_BITS - in_last)) | (keys[-2] >> np.uint64(in_last))
    return lead


@runtime_checkable
class _ReadsAhead(Protocol):
    """A set whose blocks a pool of threads reads ahead, as that of a database."""

    def blocks_ahead(self, pool: Executor, ahead: int) -> Iterator[KmerBlock]: ...


class _Cursor:
    """Where the merging has come to in one set."""

    def __init__(self, kmers: KmerSet, pool: Executor, ahead: int, most: int) -> None:
        self._most = most
        self._blocks = kmers.blocks_ahead(pool, ahead) if isinstance(kmers, _ReadsAhead) else kmers.blocks()
        self._block, self._place = KmerBlock(np.empty((1, 0), np.uint64), np.empty(0, np.uint32)), 0

    def fill(self) -> bool:
        """Get k-mers to hand; False when the set is at its end."""
        while self._place == len(self._block):
            block = next(self._blocks, None)
            if block is None:
                return False
            self._block, self._place = block, 0
        return True

    def _key(self, place: int) -> tuple[int, ...]:
        return tuple(self._block.keys[::-1, place].tolist())

    @property
    def _end(self) -> int:
        return min(len(self._block), self._place + self._most)

    @property
    def last(self) -> tuple[int, ...]:
        """The last key at hand, its most significant word first."""
        return self._key(self._end - 1)

    def take_to(self, bound: tuple[int, ...]) -> KmerBlock:
        """Take the k-mers at hand up to and with a key."""
        start = self._place
        self._place = bisect_right(range(self._end), bound, start, key=self._key)
        return KmerBlock(self._block.keys[:, start : self._place], self._block.counts[start : self._place])


def check_alike(counted: _Kind, only: KmerSet) -> None:
    """Refuse a set of other k-mers than those that are counted.

    Raises
    ------
    UsageError
        It has another k, or other strands, or is of sequences of the other kind.
    """
    if only.k != counted.k:
        raise UsageError(
            f"`only` holds {only.k}-mers, and {counted.k}-mers are counted: the set has to be of the same k"
        )
    if only.canonical != counted.canonical:
        strands = "canonical k-mers" if only.canonical else "k-mers of one strand"
        raise UsageError(f"`only` holds {strands}, and others are counted: count both in the same way")
    if only.compressed != counted.compressed:
        kind = "compressed" if only.compressed else "uncompressed"
        raise UsageError(f"`only` holds k-mers of {kind} sequences, and others are counted: count both in the same way")


def restricted(blocks: Iterable[KmerBlock], only: KmerSet) -> Iterator[KmerBlock]:
    """Keep the k-mers of a stream that are in a set.

    Of the stream and the set, the shorter one is searched for in the other, stretch by stretch, so a small set costs
    little more than to pass the stream by.

    Parameters
    ----------
    blocks : iterable of KmerBlock
        In ascending order.
    only : KmerSet
        Of the same k and strands; its counts do not matter.

    Yields
    ------
    KmerBlock
        K-mers with their counts in the stream, in ascending order. No block is empty.
    """
    wanted = _Stretches(only)
    for block in blocks:
        for piece in block.pieces(CUT):
            places = _common(sortable(piece.keys), wanted)
            if len(places):
                yield KmerBlock(np.take(piece.keys, places, axis=1), piece.counts.take(places))


def _common(keys: NDArray[np.generic], wanted: _Stretches) -> NDArray[np.intp]:
    """Where among ascending keys those are that are wanted."""
    found = [np.empty(0, np.intp)]
    begin = 0
    while begin < len(keys) and (held := wanted.from_key(keys[begin])) is not None:
        end = int(np.searchsorted(keys, held[-1], side="right"))
        held = held[: int(np.searchsorted(held, keys[-1], side="right"))]
        some = keys[begin:end]
        if len(held) < len(some):
            places = np.minimum(np.searchsorted(some, held), len(some) - 1)
            found.append(begin + places[some[places] == held])
        elif len(held):
            places = np.minimum(np.searchsorted(held, some), len(held) - 1)
            found.append(begin + np.flatnonzero(held[places] == some))
        begin = end
    return np.concatenate(found)


class _Stretches:
    """The k-mers of a set, block by block, for keys that ascend."""

    def __init__(self, only: KmerSet) -> None:
        self._blocks = only.blocks()
        self._held: NDArray[np.generic] = np.empty(0, np.uint64)

    def from_key(self, key: np.generic) -> NDArray[np.generic] | None:
        """The first block, from this key on, that has a key so high; None if there is none."""
        while not len(self._held) or self._held[-1] < key:
            block = next(self._blocks, None)
            if block is None:
                return None
            self._held = sortable(block.keys)
        return self._held[int(np.searchsorted(self._held, key)) :]
