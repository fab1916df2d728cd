"""The counter: k-mers of some blocks, counted on the device in as many ranges of prefixes as it takes.

The packed symbols of the blocks stay in device memory (3/8 byte a letter, and on GPUs 1/4 for the places of k-mers).
Where not all k-mers fit beside them, they are split by their prefixes into ranges that fit, and each is cut out of the
symbols again.
`has_room` says when it is time to empty the counter and begin another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from oclgenomics.kmers import plan
from oclgenomics.kmers.device.filtering import EVERY, Kept
from oclgenomics.kmers.device.gathering import Part, gather
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.options import CountOptions
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine
from oclgenomics.sequence import Symbols

__all__ = ["KmerCounter"]


class _Counter(Protocol):
    """Counts the k-mers of streams of symbols, of which it has so many."""

    kmers: int

    def add(self, symbols: Symbols) -> None: ...

    def count_prefixes(self) -> None: ...

    @property
    def largest_prefix(self) -> int: ...

    def room(self, free: int) -> int: ...

    def parts(self, free: int, kept: Kept) -> Iterator[Part]: ...


class KmerCounter:
    """Counts the k-mers of streams of symbols.

    Parameters
    ----------
    engine : Engine
    options : CountOptions
    """

    def __init__(self, engine: Engine, options: CountOptions) -> None:
        self._engine, self._options = engine, options
        self._limits = DeviceLimits.of(engine)
        self._counter = _counter_of(plan.counter_for(self._limits), engine, options)

    @property
    def kmers(self) -> int:
        """K-mers so far, equal ones included."""
        return self._counter.kmers

    def add(self, symbols: Symbols) -> None:
        """Take a stream of symbols; it has to stay as it is."""
        if not symbols.size:
            return
        self._counter.add(symbols)
        most = self._most_beside(symbols)
        if plan.needs_prefixes(self._limits, used=self._used, held=self.kmers, coming=symbols.size, most=most):
            self._counter.count_prefixes()

    def has_room(self, symbols: Symbols) -> bool:
        """Whether a stream of symbols may be added, so that all can be counted in ranges that are few and fit.

        An empty counter takes any stream. To ask changes nothing.
        """
        return plan.has_room(
            self._limits,
            used=self._used,
            held=self.kmers,
            coming=symbols.size,
            most=self._most_beside(symbols),
            largest_prefix=self._counter.largest_prefix,
        )

    def block(self) -> KmerBlock:
        """Count what was added and bring it to the host as one block; see `counted`."""
        return gather(self._engine, self._options.k, self.kmers, self._parts(Kept.by(self._options)))

    def counted(self, *, all_counts: bool = False) -> Iterator[Runs | Slots]:
        """Count what was added.

        Parameters
        ----------
        all_counts : bool
            Leave out nothing and stop no counter, whatever the options say.

        Yields
        ------
        Runs or Slots
            K-mers and their counts in ascending order on the device; k-mers that the options leave out are not there.
            Whoever takes them lets go of them before asking for the next ones.

        Raises
        ------
        AllocationError
            The k-mers of a single prefix do not fit.
        """
        for part in self._parts(EVERY if all_counts else Kept.by(self._options)):
            counted = part.counted
            del part
            if counted.size:
                yield counted
            del counted

    def _parts(self, kept: Kept) -> Iterator[Part]:
        if self.kmers:
            yield from self._counter.parts(plan.free_bytes(self._limits, self._used), kept)

    @property
    def _used(self) -> int:
        return self._engine.memory.used

    def _most_beside(self, symbols: Symbols) -> int:
        """How many k-mers can be counted at a time beside what is in use and a stream."""
        room = self._counter.room(plan.free_bytes(self._limits, self._used, plan.stream_bytes(symbols.size)))
        return plan.kmers_at_a_time(self._limits, self._options.k, room)


def _counter_of(kind: plan.Counter, engine: Engine, options: CountOptions) -> _Counter:
    """A counter of a kind, whose modules are imported here: the other kind has many, too."""
    if kind == "bins":
        from oclgenomics.kmers.device.bin_counter import BinCounter

        return BinCounter(engine, options)
    from oclgenomics.kmers.device.sort_counter import SortCounter

    return SortCounter(engine, options)
