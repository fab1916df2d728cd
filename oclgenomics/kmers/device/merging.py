"""Sets of k-mers added up on a device, which decodes their sections.

Of all sets, sections come in the order of their first keys, as many at a time as there is room for. The device merges
them with what is left of those before. Keys below the first one of all sections that are still to come are complete:
they are given away, and the others are left for the next time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.raw_file import Progress
from oclgenomics.kmers.database.codec import greatest_keys
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.section_file import STRETCH_SECTIONS, Sections
from oclgenomics.kmers.device.encode_kernels import Span
from oclgenomics.kmers.device.reader import decode_into
from oclgenomics.kmers.options import MAX_COUNTER
from oclgenomics.kmers.plan.memory import MergePlan, merge_plan
from oclgenomics.primitives import Runs, merge
from oclgenomics.primitives.compaction import run_lengths
from oclgenomics.runtime import Engine, SharedArray

MAX_THREADS = 16  # that read sets


class SectionSet(Protocol):
    """A set whose sections can be had as they are encoded."""

    @property
    def name(self) -> str:
        """What errors call it."""

    @property
    def k(self) -> int:
        """Bases of a k-mer."""

    @property
    def distinct(self) -> int:
        """K-mers that differ."""

    def stretches(self) -> Iterator[Sections]:
        """All sections, at most `STRETCH_SECTIONS` at a time."""


def plan_of(engine: Engine, sets: Sequence[SectionSet]) -> MergePlan | None:
    """Return how sets are merged on a device; None where its memory is too small."""
    sizes = [each.distinct for each in sets]
    return merge_plan(engine.limits(), sets[0].k, engine.memory.used, sizes, STRETCH_SECTIONS)


def summed_runs(
    engine: Engine, plan: MergePlan, sets: Sequence[SectionSet], progress: Progress | None = None
) -> Iterator[Runs]:
    """All k-mers of sets of one k, with the sums of their counts, which stop at 2^32 - 1.

    Parameters
    ----------
    engine : Engine
    plan : MergePlan
        Of `plan_of`.
    sets : sequence of SectionSet
        One or more.
    progress : callable, optional
        Called with (k-mers of all sets that were read, all of them).

    Yields
    ------
    Runs
        Keys uint64 (words, n) and counts uint32 (n,) on the device, in ascending order; none is empty. They have to
        be let go before the next ones are asked for.

    Raises
    ------
    InputError
        A set cannot be read, or a section is damaged.
    """
    total, done = sum(each.distinct for each in sets), 0
    threads = min(MAX_THREADS, usable_cores(), len(sets))
    with ThreadPoolExecutor(threads, "read-kmers") as readers, ThreadPoolExecutor(1, "gather-kmers") as gatherer:
        rooms = [engine.shared(plan.room_bytes // 8 + 2, np.uint64) for _ in range(2)]
        gathering = _Gathering(sets, readers, plan)
        left: Runs | None = None
        coming = gatherer.submit(gathering.round, rooms[0])
        number = 0
        while (some := coming.result()) is not None:
            coming = gatherer.submit(gathering.round, rooms[(number + 1) % 2])
            runs = _merged(engine, sets, some, rooms[number % 2], left)
            left = None
            complete = runs.size if some.bound is None else _below(engine, runs, some.bound)
            if complete < runs.size:
                left = _copy(engine, runs, complete, runs.size - complete)
                runs = _copy(engine, runs, 0, complete)
            if runs.size:
                yield runs
            del runs
            if progress is not None:
                done += some.kmers
                progress(done, total)
            number += 1


@dataclass(frozen=True)
class _Round:
    """Sections of several sets in a room, one set behind the other.

    Attributes
    ----------
    table : ndarray of `section_table` (n,)
    greatest : ndarray, uint64 (words, n)
        The greatest key that each may hold.
    owners : list of int
        The set of each.
    ends : list of int
        The k-mers up to where each set ends.
    bound : tuple of int, optional
        The first key that is still to come, its most significant word first; None if none is.
    """

    table: NDArray[np.void]
    greatest: NDArray[np.uint64]
    owners: list[int]
    ends: list[int]
    bound: tuple[int, ...] | None

    @property
    def kmers(self) -> int:
        return self.ends[-1]


class _Gathering:
    """Takes sections of sets in the order of their first keys; used by one thread at a time."""

    def __init__(self, sets: Sequence[SectionSet], readers: Executor, plan: MergePlan) -> None:
        self._plan = plan
        self._heads = [_Head(each, number, readers) for number, each in enumerate(sets)]
        for head in self._heads:  # when all are being read
            head.advance()

    def round(self, room: SharedArray) -> _Round | None:
        """Bring what comes next to a room; None if there is nothing."""
        taken: list[_Taken] = []
        kmers = size = 0
        while (head := self._least()) is not None:
            kmers, size = kmers + head.sections.kmers, size + head.sections.data.size
            if taken and (kmers > self._plan.kmers or size > self._plan.room_bytes):
                break
            taken.append(head.take())
        if not taken:
            return None
        taken.sort(key=lambda one: one.owner)  # stable: each set's own stay in order
        place, bytes_ = 0, room.host.view(np.uint8)
        for one in taken:
            bytes_[place : place + one.sections.data.size] = one.sections.data
            place += one.sections.data.size
        bytes_[place : -(-place // 8) * 8 + 8] = 0
        owners = np.repeat([one.owner for one in taken], [len(one.sections.table) for one in taken])
        table = np.concatenate([one.sections.table for one in taken])
        last = np.append(np.flatnonzero(np.diff(owners)), len(owners) - 1)
        ends = np.cumsum(table["kmers"].astype(np.int64))[last]
        greatest = np.hstack([one.greatest for one in taken])
        bound = None if head is None else head.sections.first
        return _Round(table, greatest, owners.tolist(), ends.tolist(), bound)

    def _least(self) -> _Head | None:
        """The set that has the smallest key of those that are still to come."""
        there = [head for head in self._heads if not head.at_end]
        return min(there, key=lambda head: head.sections.first, default=None)


@dataclass(frozen=True)
class _Taken:
    """Sections of a set, and the greatest key that each may hold."""

    owner: int
    sections: Sections
    greatest: NDArray[np.uint64]


class _Head:
    """What comes next of a set, and what comes behind that, which a thread reads."""

    def __init__(self, source: SectionSet, owner: int, readers: Executor) -> None:
        self._owner, self._k, self._readers = owner, source.k, readers
        self._stretches = source.stretches()
        self._coming: Future[Sections | None] | None = self._read()
        self._now: Sections | None = None

    @property
    def at_end(self) -> bool:
        return self._now is None

    @property
    def sections(self) -> Sections:
        assert self._now is not None
        return self._now

    def take(self) -> _Taken:
        """Take what comes next."""
        sections = self.sections
        self.advance()
        firsts = sections.firsts
        if self._now is None:
            return _Taken(self._owner, sections, greatest_keys(firsts, self._k))
        firsts = np.hstack([firsts, self._now.firsts[:, :1]])
        return _Taken(self._owner, sections, greatest_keys(firsts, self._k)[:, :-1])

    def _read(self) -> Future[Sections | None]:
        return self._readers.submit(next, self._stretches, None)

    def advance(self) -> None:
        """Wait for the next sections, and have those behind them read."""
        assert self._coming is not None
        self._now = self._coming.result()
        self._coming = None if self._now is None else self._read()


def _merged(engine: Engine, sets: Sequence[SectionSet], some: _Round, room: SharedArray, left: Runs | None) -> Runs:
    """Decode sections, merge them with what is left, and add up the counts of equal keys."""
    before = 0 if left is None else left.size
    size, words = before + some.kmers, key_words(sets[0].k)
    every = Runs(engine.empty((words, size), np.uint64), engine.empty(size, np.uint32), size)
    ends = [before + end for end in some.ends]
    if left is not None:
        _hold(engine, left, 0, before, every)
        ends = [before, *ends]
    status = decode_into(engine, some.table, some.greatest, room, every, before)
    for damaged in np.flatnonzero(status)[:1].tolist():
        told = "its k-mers are malformed: a section is damaged, or k-mers have to come in ascending order"
        raise InputError(f"{told}; make it again", source=sets[some.owners[damaged]].name)
    ordered = merge(engine, every.keys, ends, every.counts)
    del every
    return run_lengths(engine, ordered.keys, ordered.values, most=MAX_COUNTER)


def _below(engine: Engine, runs: Runs, bound: tuple[int, ...]) -> int:
    """How many keys are less than one, whose most significant word comes first."""
    low, high = 0, runs.size
    while low < high:
        middle = (low + high) // 2
        words = [int(engine.download(runs.keys, 1, word * runs.size + middle)[0]) for word in range(len(bound))]
        if tuple(words[::-1]) < bound:
            low = middle + 1
        else:
            high = middle
    return low


def _copy(engine: Engine, runs: Runs, start: int, size: int) -> Runs:
    copied = Runs(engine.empty((len(runs.keys), size), np.uint64), engine.empty(size, np.uint32), size)
    _hold(engine, runs, start, size, copied)
    return copied


def _hold(engine: Engine, runs: Runs, start: int, size: int, into: Runs) -> None:
    """Copy k-mers to the begin of other arrays."""
    kernel = engine.kernel("kmers/hold_kmers.cl", "hold_kmers", WORDS=into.keys.shape[0], COUNTS=True)
    engine.launch_items(
        kernel, size, **Span(runs.keys, runs.counts, start, size).keys_of, counts=runs.counts,
        room=into.keys.shape[1], place=0, to_keys=into.keys, to_counts=into.counts,
    )  # fmt: skip
