"""Layout of keys in bins and of counted k-mers: lines, chunks and slots, by arithmetic alone.

All k-mers of a bin begin with the bin's prefix, so only the `rest` bits behind it are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "CHUNK_BYTES",
    "CHUNK_LINES",
    "LINE_BYTES",
    "MAX_COUNT_BITS",
    "MIN_COUNT_BITS",
    "SlotLayout",
    "key_bytes",
    "line_keys",
]

LINE_BYTES = 64  # of a processor's cache
CHUNK_LINES = 64
CHUNK_BYTES = CHUNK_LINES * LINE_BYTES
KEY_BYTES = (4, 6, 8, 12)  # of keys that a line takes more of than of whole words
MIN_COUNT_BITS, MAX_COUNT_BITS = 8, 32


def key_bytes(rest: int) -> int:
    """Bytes of a key of so many bits in a bin: 4, 6, 12, or whole words of 8."""
    return next((size for size in KEY_BYTES if rest <= 8 * size), -(-rest // 64) * 8)


def line_keys(rest: int) -> int:
    """Keys of so many bits in a line; bytes behind them are not used."""
    return LINE_BYTES // key_bytes(rest)


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
