"""Memory of look-ups on the device: how large tables and blocks of text are; pure arithmetic."""

from __future__ import annotations

from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.runtime.memory import BufferNeed, items_that_fit

__all__ = ["LINE", "decodes_on_device", "kmers_to_upload", "lines_for", "look_up_block_bytes", "table_room"]

LINE = 8  # slots of a line of a table: a cache line for each word of a key
LINE_KMERS = 5  # of a line on average, so that few lines are full
TABLE_SHARE = 2  # of the memory, one part in so many is for the table
MAX_KMERS = 1 << 31  # of a table: its slots are numbered with 32 bits
MAX_BLOCK, MIN_BLOCK = 16 << 20, 1 << 16  # bytes of text that are looked up at a time
MIN_DECODING = 128 << 20  # bytes of memory, with which sections of a database are decoded on the device; else by NumPy
UPLOAD_SHARE, MAX_UPLOAD = 32, 1 << 20  # of the memory, one part in so many for k-mers on their way; k-mers at most
BLOCK_SHARE = 32  # blocks of text that memory would hold: of two inputs, two each, with lines, places and counts


def lines_for(kmers: int) -> int:
    """Return the lines of a table of so many k-mers."""
    return max(1, -(-kmers // LINE_KMERS))


def table_room(limits: DeviceLimits, k: int) -> int:
    """Return how many k-mers a table may have.

    Raises
    ------
    AllocationError
        Memory has no room for a table of any use.
    """
    slots = LINE / LINE_KMERS
    needs = [
        BufferNeed("a table's keys", fixed=1 << 10, per_item=int(8 * key_words(k) * slots) + 1),
        BufferNeed("a table's lines", fixed=1 << 10, per_item=1),
    ]
    fit = items_that_fit(needs, budget=limits.budget // TABLE_SHARE, max_allocation=limits.max_allocation, item="k-mer")
    return min(fit, MAX_KMERS)


def look_up_block_bytes(limits: DeviceLimits, largest: int, inputs: int = 1) -> int:
    """Return the bytes of text to read at a time of each input, of which so many are read side by side.

    Parameters
    ----------
    limits : DeviceLimits
    largest : int
        Bytes that suit the device whatever is made of the text.
    inputs : int
    """
    return min(largest, MAX_BLOCK, max(MIN_BLOCK, limits.budget // (BLOCK_SHARE * inputs)))


def decodes_on_device(limits: DeviceLimits) -> bool:
    """Say whether the device's memory has room for whole sections of a database beside a table and text."""
    return limits.budget >= MIN_DECODING


def kmers_to_upload(limits: DeviceLimits, k: int) -> int:
    """Return how many k-mers with counts to bring to the device at a time."""
    return max(1, min(MAX_UPLOAD, limits.budget // UPLOAD_SHARE // (8 * key_words(k) + 4)))
