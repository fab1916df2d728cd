"""Decisions of counting by bins, by arithmetic alone: layouts, spans of prefixes, and how large all is.

All k-mers of a bin begin with its prefix, so only the `rest` bits behind it are kept: as keys in lines of chunks, and
as slots when they have been counted.

Bins lie in a pool of chunks, which a span of prefixes fills at a time. A small pool means more spans, and each walks
over all symbols; a large one is memory that has to be touched first. Tables and counted k-mers come on top.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.database.keys import key_words

if TYPE_CHECKING:
    from oclgenomics.runtime import DeviceLimits


LINE_BYTES = 64  # of a processor's cache
CHUNK_LINES = 64
CHUNK_BYTES = CHUNK_LINES * LINE_BYTES
KEY_BYTES = (4, 6, 8, 12)  # of keys that a line takes more of than of whole words
STAGE_LINES = {24: 3}  # of a stage, by the bytes of a key; else one line
MIN_COUNT_BITS, MAX_COUNT_BITS = 8, 32
PREFIX_BITS = 32
EXACT_BITS = 14  # of a k-mer: with so few, each one has a counter
MAX_BINS, DENSITY_BITS = 1 << 12, 12  # the stages of so many bins fit the second cache
BIN_KMERS = 1 << 16  # of one word, at most, if there may be so many bins: their table fits the second cache
POOL_BYTES, SPANS = 256 << 20, 10  # of the pool where few spans do with it; else so many spans do
SAMPLED_GROUPS = 1 << 15  # at least, by which the density is told, if there are so many
TABLES_SHARE, PART_SHARE, STAGES_SHARE = 8, 16, 16  # of the memory, one part in so many
MAX_LINES, MIN_LINES, TABLE_SPARE = 1 << 16, 32, 16  # of a table, and those behind it
LINE_SLOTS = LINE_BYTES // 8  # of a line of a table, which is several of the cache where slots are of several words
MAX_PART_BYTES, MIN_PART = 24 << 20, 1 << 10  # of the slots that are brought out at a time, and slots
LIST_BYTES, BIN_BYTES = 16, 64  # that describe a chunk, and a bin
MARGIN = 1.04  # of what a sample tells
CHAINS = 4  # chunks of the pool for each walker's part of a bin, at least


def key_bytes(rest: int) -> int:
    """Bytes of a key of so many bits in a bin: 4, 6, 12, or whole words of 8."""
    return next((size for size in KEY_BYTES if rest <= 8 * size), -(-rest // 64) * 8)


def stage_lines(rest: int) -> int:
    """Lines that keys of so many bits go into a chunk by: more than one if they fill these, but not each of them."""
    return STAGE_LINES.get(key_bytes(rest), 1)


def stage_bytes(rest: int) -> int:
    """Bytes of these lines."""
    return LINE_BYTES * stage_lines(rest)


def stage_keys(rest: int) -> int:
    """Keys of so many bits in these lines; bytes behind them are not used."""
    return stage_bytes(rest) // key_bytes(rest)


def chunk_keys(rest: int) -> int:
    """Keys of so many bits in a chunk."""
    return CHUNK_LINES // stage_lines(rest) * stage_keys(rest)


@dataclass(frozen=True)
class SlotLayout:
    """Where rest and count lie in a slot.

    A slot is some words, the most significant first. The rest fills them from the highest bit on, around a hole of
    `count_bits` bits at the low end of the first word, which has the count. Bits behind the rest are 0.

    Attributes
    ----------
    rest : int
        Bits of a key behind the prefix of its bin, at least 1.
    """

    rest: int

    @property
    def words(self) -> int:
        """Words of a slot."""
        return -(-(self.rest + MIN_COUNT_BITS) // 64)

    @property
    def count_bits(self) -> int:
        """Bits of the count."""
        return min(MAX_COUNT_BITS, 64 * self.words - self.rest)

    @property
    def many(self) -> int:
        """The count, all ones, that says: the true one stands in a list."""
        return (1 << self.count_bits) - 1

    @property
    def key_words(self) -> int:
        """Words that the rest takes by itself, as a number."""
        return -(-self.rest // 64)


@dataclass(frozen=True)
class PrefixSpan:
    """Prefixes of 32 bits from `low` on, in so many bins of 2 ^ shift each; `low` is a multiple of that.

    The prefix of a k-mer are its first 16 letters. Of one with fewer letters the bits behind it are 0.
    """

    low: int
    shift: int
    bins: int

    @property
    def high(self) -> int:
        """The prefix behind the last one."""
        return self.low + (self.bins << self.shift)

    def rest(self, k: int) -> int:
        """Bits of a k-mer behind the prefix of its bin; none or fewer where a bin is one k-mer."""
        return 2 * k - (PREFIX_BITS - self.shift)

    @property
    def heads(self) -> NDArray[np.uint64]:
        """The prefix of each bin as a number, uint64 (bins,)."""
        return np.uint64(self.low >> self.shift) + np.arange(self.bins, dtype=np.uint64)

    def cut(self, first: int, end: int) -> PrefixSpan:
        """Bins `first` to `end` - 1."""
        return PrefixSpan(self.low + (first << self.shift), self.shift, end - first)

    def divided(self, bits: int) -> PrefixSpan:
        """The same prefixes, each bin divided into 2 ^ bits."""
        return PrefixSpan(self.low, self.shift - bits, self.bins << bits)


@dataclass(frozen=True)
class BinPlan:
    """Counting by bins in so many bytes.

    Attributes
    ----------
    limits : DeviceLimits
    k : int
    free : int
        Bytes that counting may take.
    kmers : int
        All k-mers, equal ones included.
    """

    limits: DeviceLimits
    k: int
    free: int
    kmers: int = 0

    @property
    def walkers(self) -> int:
        """Work-items that walk the symbols, each with stages of its own."""
        return self.limits.compute_units

    @property
    def exact(self) -> bool:
        """Whether each k-mer has a counter of its own."""
        return 2 * self.k <= EXACT_BITS

    # Tables and parts

    @cached_property
    def table_lines(self) -> int:
        """Lines of 8 slots of a work-item's table, a power of two; a part has room for all of its slots."""
        share = min(self.free // TABLES_SHARE, self.limits.max_allocation // 2) // self.walkers
        line = LINE_BYTES * self._slot_words
        room = min(share // (line + 32), self._part_bytes // line) - TABLE_SPARE
        return max(MIN_LINES, min(MAX_LINES, 1 << max(room, 0).bit_length() >> 1))

    def part_slots(self, rest: int) -> int:
        """Slots for so many bits of a part, those between bins included."""
        table = LINE_SLOTS * (self.table_lines + TABLE_SPARE + 2)
        return max(MIN_PART, table, self._part_bytes // (8 * SlotLayout(rest).words))

    @property
    def _part_bytes(self) -> int:
        """Bytes of the slots of a part."""
        return min(MAX_PART_BYTES, self.free // PART_SHARE, self.limits.max_allocation)

    # Bins

    @cached_property
    def max_bins(self) -> int:
        """Bins of a span at most, a power of two: 2 or more."""
        stages = self.free // (STAGES_SHARE * (self.walkers * (self._stage_bytes + 16) + BIN_BYTES))
        chains = self._pool_at_most // (CHAINS * self.walkers * CHUNK_BYTES)
        return max(2, min(MAX_BINS, 1 << min(stages, chains).bit_length() >> 1))

    @property
    def density_bits(self) -> int:
        """Bits of the prefix whose density is told at first; a span has two bins at least if it is all prefixes."""
        return min(DENSITY_BITS, self.max_bins.bit_length() - 1, 2 * self.k - 1)

    def every(self, groups: int) -> int:
        """Tell the density by one group of symbols in so many."""
        return max(1, groups // SAMPLED_GROUPS)

    def finer_bits(self, shift: int) -> int:
        """Bits by which a prefix of all but its last `shift` bits is divided; 0 where it cannot be."""
        least = max(0, PREFIX_BITS - 2 * self.k + 1)  # a bit is left behind the prefix
        return min(self.density_bits, max(0, shift - least))

    def bin_bits(self, kmers: int, bins: int, rest: int) -> int:
        """Bits by which to divide the bins of a span with so many k-mers; see `planned_spans`.

        Where slots are of several words, a table of half the cache is better: a line of it is several of the cache. In
        little memory the tables are smaller, and bins hold no more k-mers than half of a table has slots.
        """
        most = min((self.max_bins // bins).bit_length() - 1, rest - 1)
        each = max(1, min(BIN_KMERS // SlotLayout(rest).words ** 2, LINE_SLOTS * self.table_lines // 2))
        bits = max(0, min(most, (-(-kmers // (bins * each)) - 1).bit_length()))
        more = self.shorter_bits(rest - bits)
        return bits + more if bits + more <= most else bits

    @staticmethod
    def shorter_bits(rest: int) -> int:
        """The few bits by which to divide bins for shorter keys in them; 0 where few do not suffice."""
        return next((bits for bits in range(1, min(3, rest)) if key_bytes(rest - bits) < key_bytes(rest)), 0)

    # The pool

    @property
    def pool_bytes(self) -> int:
        """Bytes of the pool, whole chunks."""
        rest = self._rest
        needed = int(self.kmers * MARGIN / chunk_keys(rest) + 1 + self.walkers * self.max_bins) * CHUNK_BYTES
        wanted = min(needed, max(POOL_BYTES, needed // SPANS))
        least = 2 * self.walkers * CHUNK_BYTES
        return max(least, min(wanted, self._pool_at_most)) // CHUNK_BYTES * CHUNK_BYTES

    def span_kmers(self, rest: int) -> int:
        """K-mers of so many bits in a bin that fill the pool at a time, by a density that is told by a sample."""
        chunks = self.pool_bytes // CHUNK_BYTES
        whole = max(chunks // 2, chunks - self.walkers * min(self.max_bins, 1 + chunks // (2 * self.walkers)))
        return max(1, int(whole * chunk_keys(rest) / MARGIN))

    def bin_kmers(self, rest: int) -> int:
        """K-mers of so many bits that fill the pool if all are of one bin."""
        return max(1, (self.pool_bytes // CHUNK_BYTES - self.walkers) * chunk_keys(rest))

    @property
    def room(self) -> int:
        """K-mers that can be counted at a time in the memory that there is."""
        chunks = max(0, self._pool_at_most) // CHUNK_BYTES
        return chunks // 2 * chunk_keys(self._rest)

    @property
    def _pool_at_most(self) -> int:
        """Bytes that the pool may take: all that tables, stages, lists and two forms of a part leave."""
        words = key_words(self.k)
        tables = self.walkers * (self.table_lines + TABLE_SPARE) * (LINE_BYTES * self._slot_words + 32)
        part = self._slots_bytes + self.part_slots(self._least_rest) * (8 * words + 4)
        left = self.free - tables - part - self.free // STAGES_SHARE
        return min(left * CHUNK_BYTES // (CHUNK_BYTES + LIST_BYTES), self.limits.max_allocation)

    @property
    def _rest(self) -> int:
        """Bits behind prefixes, in a span with many bins."""
        return max(1, 2 * self.k - min(DENSITY_BITS, 2 * self.k - 1))

    @property
    def _least_rest(self) -> int:
        """Bits behind prefixes, at least."""
        return max(1, 2 * self.k - PREFIX_BITS)

    @property
    def _stage_bytes(self) -> int:
        """Bytes of a stage at most, whatever the bits of its keys."""
        return max(stage_bytes(rest) for rest in range(self._least_rest, 2 * self.k + 1))

    @property
    def _slots_bytes(self) -> int:
        """Bytes of the slots of a part at most, whatever their bits."""
        return max(self.part_slots(rest) * 8 * SlotLayout(rest).words for rest in (self._least_rest, 2 * self.k))

    @property
    def _slot_words(self) -> int:
        return SlotLayout(2 * self.k).words


@dataclass(frozen=True)
class PrefixDensity:
    """About how many k-mers the bins of a span have.

    Attributes
    ----------
    span : PrefixSpan
    kmers : ndarray, int64 (bins,)
    """

    span: PrefixSpan
    kmers: NDArray[np.int64]


Finer = Callable[[PrefixSpan], PrefixDensity]


def planned_spans(plan: BinPlan, density: PrefixDensity, finer: Finer) -> Iterator[PrefixSpan]:
    """Cut prefixes into spans whose k-mers fit into the pool at a time, as far as a density can tell.

    Parameters
    ----------
    plan : BinPlan
    density : PrefixDensity
        Spans consist of its bins. One that has too many k-mers is divided.
    finer : callable
        Gives the density of a span with finer bins.

    Yields
    ------
    PrefixSpan
        In ascending order, all prefixes of the density: also those that a sample has no k-mers of. The last ones that
        cannot be divided may have more k-mers than fit.
    """
    span, kmers = density.span, density.kmers
    rest = span.rest(plan.k)
    shorter = min(plan.shorter_bits(rest), span.shift)
    most = plan.span_kmers(rest)
    target, dense_target = (_even(int(kmers.sum()), plan.span_kmers(bits)) for bits in (rest, rest - shorter))
    dense_bins = plan.max_bins >> shorter  # as long as a span has no more, they can be divided for shorter keys
    first = held = 0
    for number in range(span.bins):
        coming = int(kmers[number])
        bits = plan.finer_bits(span.shift) if coming > most else 0
        fits = held + coming <= (dense_target if number - first < dense_bins else target)
        if first < number and (bits or (held and not fits)):
            yield plan_span(plan, span.cut(first, number), held)
            first, held = number, 0
        if bits:
            yield from planned_spans(plan, finer(span.cut(number, number + 1).divided(bits)), finer)
            first = number + 1
        else:
            held += coming
    if first < span.bins:
        yield plan_span(plan, span.cut(first, span.bins), held)


def _even(kmers: int, most: int) -> int:
    """K-mers of a span where all spans have about as many."""
    spans = -(-kmers // most)
    return min(most, -(-kmers // max(spans, 1)) * 21 // 20 + 1)


def plan_span(plan: BinPlan, span: PrefixSpan, kmers: int) -> PrefixSpan:
    """The same prefixes in bins of a good size for so many k-mers.

    Bins are as small as their number allows, and finer yet where the keys in them become shorter by that.
    """
    bits = plan.bin_bits(kmers, span.bins, span.rest(plan.k))
    return span.divided(min(bits, span.shift))
