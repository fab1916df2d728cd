"""Decisions of counting by bins, by arithmetic alone: how large bins and tables are, and how many k-mers fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.plan import DeviceLimits

__all__ = ["MIN_KEY_BYTES", "PREFIX_BITS", "BinPlan"]

PREFIX_BITS = 32
MAX_BITS = 15  # of the prefix are counted at first: the counts of a work-item fit the second cache
FINER_BITS = 10  # that a prefix with too many k-mers is divided by at a time
COUNTS_SHARE = 64  # of the device's memory, which the counts may take
SPARE = 8  # bytes behind k-mers, as whole words are read and written
PART_BYTES, MIN_PARTS, MAX_PARTS = 4 << 20, 8, 64  # a range comes out in a part for each so many bytes of memory
BIN_BYTES = 40  # that describe a bin
BIN_SIZE = 1 << 15  # fewer k-mers make more bins, whose lines and pages no longer fit the caches while they are filled
MIN_KEY_BYTES = 4

# Tables of bins
MAX_SLOTS, MIN_SLOTS = 1 << 17, 1 << 8
TABLES_SHARE = 8  # of the device's memory, which the tables may take
PROBES = 128  # slots that a k-mer may have to look at


@dataclass(frozen=True)
class BinPlan:
    """Counting by bins, of so many k-mers, equal ones included."""

    limits: DeviceLimits
    k: int
    kmers: int = 0

    @property
    def walkers(self) -> int:
        """Work-items that walk the symbols."""
        return 4 * self.limits.compute_units

    @property
    def first_bits(self) -> int:
        """Bits of the prefix by which k-mers are counted at first."""
        room = self.limits.budget // (COUNTS_SHARE * 4 * self.walkers)
        return min(MAX_BITS, 2 * self.k, max(1, room.bit_length() - 1))

    def finer_bits(self, shift: int) -> int:
        """Bits by which a prefix of all but its last `shift` bits is divided; 0 where it is a k-mer."""
        return min(FINER_BITS, shift, 2 * self.k - PREFIX_BITS + shift)

    @property
    def head_bits(self) -> int:
        """Bits of a prefix that make bins of a good size."""
        wanted = max(1, (self.kmers // self.bin_size).bit_length())
        return min(wanted, self.first_bits)

    @property
    def key_bytes(self) -> int:
        """Bytes that are kept of a k-mer in a bin: those in which k-mers of a bin may differ."""
        return max(MIN_KEY_BYTES, -(-(2 * self.k - self.head_bits) // 8))

    @property
    def parts(self) -> int:
        """Parts that a range comes out in: few where memory is little, as each takes some launches."""
        return min(max(MIN_PARTS, self.limits.budget // PART_BYTES), MAX_PARTS)

    @property
    def bin_size(self) -> int:
        """K-mers of a bin at best."""
        return min(self.slots, BIN_SIZE)

    @cached_property
    def slots(self) -> int:
        """Slots of a table, of which each compute unit has one; fewer where there is little memory."""
        share = min(self.limits.budget // TABLES_SHARE, self.limits.max_allocation // 2)
        room = share // (self.limits.compute_units * self._slot_bytes)
        return max(MIN_SLOTS, min(MAX_SLOTS, 1 << room.bit_length() >> 1))

    @property
    def probes(self) -> int:
        """Slots that a k-mer may have to look at; so many follow the table's last one."""
        return PROBES

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables."""
        return self.limits.compute_units * (self.slots + self.probes) * self._slot_bytes

    @property
    def _slot_bytes(self) -> int:
        return 8 * key_words(self.k) + 4

    def keys_bytes(self, kmers: int) -> int:
        """Bytes of the bins of so many k-mers."""
        return kmers * self.key_bytes + SPARE

    def room(self, free: int) -> int:
        """Return how many k-mers can be counted at a time in so many bytes.

        Beside all k-mers of a range there are, of a part of them, the distinct k-mers with their counts, once more
        where some are left out; of that part and the next one, counts and what describes the bins, which hold a k-mer
        each at worst; and the places of the bins and the tables.
        """
        places = 2 * 4 * self.walkers << self.first_bits
        each = self.key_bytes + (2 * (self._slot_bytes + 5 + BIN_BYTES)) / self.parts
        return max(0, int((free - SPARE - self.table_bytes - places) / each))
