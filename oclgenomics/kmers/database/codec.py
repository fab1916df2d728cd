"""Sections of a k-mer database: some k-mers as bytes.

A section is its first key raw, the differences of neighbours among its keys as variable-length quantities, and its
counts less one in Simple-8b words.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oclgenomics.io.atomic_file import Appending
from oclgenomics.kmers.database import simple8b, vlq
from oclgenomics.kmers.database.keys import differences, is_ascending, key_words, running_sums, sortable
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import SECTION_KMERS, Tally, checksum, section_table

SECTIONS_AT_A_TIME = 4  # that one thread encodes: enough for few calls, little enough for the cache
DISORDER = "k-mers have to come in ascending order, each of them once"


class Coded(NamedTuple):
    """What is kept of sections that were encoded.

    Attributes
    ----------
    table : ndarray of `section_table` (sections,)
        All but the offsets.
    tally : Tally
        Their counts.
    first, last : uint64 (words,)
        The first and the last key.
    """

    table: NDArray[np.void]
    tally: Tally
    first: NDArray[np.uint64]
    last: NDArray[np.uint64]


def table_of(
    firsts: NDArray[np.uint64], size: int, gap_bytes: ArrayLike, count_words: ArrayLike, checksums: ArrayLike
) -> NDArray[np.void]:
    """Make the table of sections, without offsets; `size` is the number of k-mers, `firsts` has (words, sections)."""
    words, sections = firsts.shape
    table = np.zeros(sections, section_table(words))
    table["first"] = firsts.T
    table["kmers"] = np.diff(np.arange(sections) * SECTION_KMERS, append=size)
    table["gap_bytes"], table["count_words"], table["checksum"] = gap_bytes, count_words, checksums
    return table


def encode_sections(keys: NDArray[np.uint64], counts: NDArray[np.uint32]) -> tuple[bytes, Coded]:
    """Encode k-mers as whole sections, of which the last one may be shorter; return them one after the other.

    Parameters
    ----------
    keys : uint64 (words, n)
        Ascending.
    counts : uint32 (n,)
        At least 1.
    """
    words, word_starts = simple8b.encode(counts - np.uint32(1))
    packed = words.astype("<u8", copy=False).view(np.uint8).data
    starts = np.arange(0, len(counts), SECTION_KMERS)
    cuts = [*(8 * np.searchsorted(word_starts, starts)).tolist(), len(packed)]
    sections = [
        (_encode_keys(keys[:, start : start + SECTION_KMERS]), packed[low:high])
        for start, (low, high) in zip(starts.tolist(), itertools.pairwise(cuts), strict=True)
    ]
    table = table_of(
        keys[:, starts], len(counts), [len(gaps) - 8 * len(keys) for gaps, _ in sections],
        [len(packed) // 8 for _, packed in sections], [checksum(*section) for section in sections],
    )  # fmt: skip
    data = b"".join(itertools.chain(*sections))
    return data, Coded(table, Tally(counts), keys[:, 0].copy(), keys[:, -1].copy())


def _encode_keys(keys: NDArray[np.uint64]) -> memoryview:
    """The first key raw and the gaps."""
    first = keys[:, 0].astype("<u8").view(np.uint8)
    return np.concatenate([first, vlq.encode(differences(keys))]).data


def decode_section(data: bytes | memoryview, words: int, kmers: int, gap_bytes: int) -> KmerBlock:
    """Decode a section.

    Parameters
    ----------
    data : bytes or memoryview
        All of the section.
    words : int
        Words of a key.
    kmers : int
    gap_bytes : int
        Bytes of the differences; what follows them are the counts.

    Raises
    ------
    ValueError
        The bytes are no such section.
    """
    raw = np.frombuffer(data, np.uint8)
    gaps_end = 8 * words + gap_bytes
    first = raw[: 8 * words].view("<u8")
    gaps = vlq.decode(raw[8 * words : gaps_end], kmers - 1, words)
    keys = running_sums(first, gaps)
    if not is_ascending(keys):
        raise ValueError("its k-mers are not in ascending order")
    packed = np.frombuffer(data, "<u8", offset=gaps_end).astype(np.uint64)
    counts = simple8b.decode(packed, kmers)
    counts += np.uint32(1)
    if not counts.all():
        raise ValueError("a count is larger than 32 bits hold")
    return KmerBlock(keys, counts)


class KeyOrder:
    """Checks keys of k letters, of which the first and the last ones of ascending pieces are shown."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._last: NDArray[np.uint64] | None = None

    def follow(self, first: NDArray[np.uint64], last: NDArray[np.uint64]) -> None:
        """Take a piece, which has to follow those before.

        Parameters
        ----------
        first, last : uint64 (words,)

        Raises
        ------
        ValueError
            It does not, or a key has more than k bases.
        """
        if self._last is not None and not is_ascending(np.stack([self._last, first], axis=1)):
            raise ValueError(DISORDER)
        if int(last[-1]) >> (2 * self._k - 64 * (key_words(self._k) - 1)):
            raise ValueError(f"a key has more than {self._k} bases")
        self._last = last


def greatest_keys(firsts: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """Return the greatest key that each section may hold, so that the next one follows it: uint64 (words, sections).

    Parameters
    ----------
    firsts : uint64 (words, sections)
        The first key of each section, ascending.
    k : int
    """
    words, sections = firsts.shape
    greatest = np.full((words, sections), ~np.uint64(0))
    if sections:
        greatest[-1, -1] >>= np.uint64(64 * words - 2 * k)
        greatest[:, :-1] = firsts[:, 1:]
        borrow = np.ones(sections - 1, np.uint64)
        for word in greatest[:, :-1]:
            less = word < borrow
            word -= borrow
            borrow = less.astype(np.uint64)
    return greatest


def check_ends(keys: NDArray[np.uint64], first: NDArray[np.uint64], greatest: NDArray[np.uint64]) -> None:
    """Check that ascending keys of a section lie where the table says.

    Parameters
    ----------
    keys : uint64 (words, n)
    first : uint64 (words,)
        The first key by the table.
    greatest : uint64 (words,)
        See `greatest_keys`.

    Raises
    ------
    ValueError
        They do not.
    """
    if (keys[:, 0] != first).any():
        raise ValueError("its first k-mer is not the one that the table of sections has")
    last, most = sortable(np.stack([keys[:, -1], greatest], axis=1))
    if last > most:
        raise ValueError("its k-mers reach beyond those of the next section, or have too many bases")


class NumpyEncoder:
    """Gathers k-mers of host memory into sections, encodes these and appends them to a file.

    Parameters
    ----------
    k : int
    output : Appending
    pool : ThreadPoolExecutor
    threads : int
        Those of the pool.
    """

    def __init__(self, k: int, output: Appending, pool: ThreadPoolExecutor, threads: int) -> None:
        self._output, self._pool, self._threads, self._order = output, pool, threads, KeyOrder(k)
        self._held = _Held(key_words(k), SECTIONS_AT_A_TIME * SECTION_KMERS)
        self._encoding: deque[Future[tuple[bytes, Coded]]] = deque()

    def take_block(self, block: KmerBlock) -> Iterator[Coded]:
        """Take k-mers, which are checked at once; yield what was encoded meanwhile."""
        if not is_ascending(block.keys):
            raise ValueError(DISORDER)
        if not block.counts.all():
            raise ValueError("a count is 0")
        self._order.follow(block.keys[:, 0], block.keys[:, -1].copy())
        taken = 0
        while taken < len(block):
            taken += self._held.take(block, taken)
            if self._held.size == self._held.room:
                self._encode()
                while len(self._encoding) > self._threads + 1:
                    yield self._put_next()

    def rest(self) -> Iterator[Coded]:
        """Yield what is left."""
        if self._held.size:
            self._encode()
        while self._encoding:
            yield self._put_next()

    def close(self) -> None:
        """Let go of the memory."""
        self._encoding.clear()

    def _encode(self) -> None:
        self._encoding.append(self._pool.submit(encode_sections, *self._held.arrays()))
        self._held = _Held(len(self._held.keys), self._held.room)

    def _put_next(self) -> Coded:
        data, coded = self._encoding.popleft().result()
        self._output.put(data).result()
        return coded


class _Held:
    """The k-mers of some sections, gathered from blocks."""

    def __init__(self, words: int, room: int) -> None:
        self.keys, self.counts = np.empty((words, room), np.uint64), np.empty(room, np.uint32)
        self.size, self.room = 0, room

    def take(self, block: KmerBlock, start: int) -> int:
        """Take what fits of a block, from one of its k-mers on; return how many."""
        size = min(len(block) - start, self.room - self.size)
        self.keys[:, self.size : self.size + size] = block.keys[:, start : start + size]
        self.counts[self.size : self.size + size] = block.counts[start : start + size]
        self.size += size
        return size

    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """Keys and counts."""
        return self.keys[:, : self.size], self.counts[: self.size]
