"""K-mers as numbers: two bits a letter, A 0, C 1, G 2, T 3, the first letter most significant.

So numbers sort as text does. A k-mer takes 2 k bits in `key_words(k)` words of 64 bits. Arrays of k-mers have the shape
(words, n), the least significant word first, as `oclgenomics.primitives.sort` takes them.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError

WORD_LETTERS = 32
GROUP_LETTERS = 8  # that a table turns into text at once
LETTERS = np.frombuffer(b"ACGT", np.uint8)
CODES = np.full(256, 4, np.uint8)
CODES[np.frombuffer(b"ACGTacgt", np.uint8)] = [0, 1, 2, 3, 0, 1, 2, 3]


def key_words(k: int) -> int:
    """Words of 64 bits of a k-mer."""
    return -(-k // WORD_LETTERS)


def keys_of(kmers: Sequence[str]) -> NDArray[np.uint64]:
    """Return k-mers given as text as numbers, uint64 (words, n).

    Raises
    ------
    UsageError
        No k-mer, k-mers of several lengths, or other characters than A, C, G and T.
    """
    lengths = {len(kmer) for kmer in kmers}
    if len(lengths) != 1 or 0 in lengths:
        raise UsageError("k-mers have to be given, and all of them of one length")
    k = lengths.pop()
    text = "".join(kmers).encode("latin-1", "replace")
    codes = CODES[np.frombuffer(text, np.uint8)].reshape(len(kmers), k)
    wrong = np.flatnonzero((codes > 3).any(axis=1))
    if len(wrong):
        raise UsageError(f"{kmers[int(wrong[0])]!r} has other characters than A, C, G and T")
    keys = np.zeros((key_words(k), len(kmers)), np.uint64)
    for place in range(k):
        word, shift = divmod(2 * (k - 1 - place), 64)
        keys[word] |= codes[:, place].astype(np.uint64) << np.uint64(shift)
    return keys


def letters_of(keys: NDArray[np.uint64], k: int) -> NDArray[np.uint8]:
    """Return k-mers given as numbers, uint64 (words, n), as letters, uint8 (n, k)."""
    return padded_letters(keys, k)[:, :k]


def texts_of(keys: NDArray[np.uint64], k: int) -> list[str]:
    """Return k-mers given as numbers, uint64 (words, n), as text."""
    return strings_of(letters_of(keys, k))


def strings_of(letters: NDArray[np.uint8]) -> list[str]:
    """Return k-mers given as letters, uint8 (n, k), as text."""
    text, k = letters.tobytes().decode("ascii"), letters.shape[1]
    return [text[begin : begin + k] for begin in range(0, len(text), k)]


def padded_letters(keys: NDArray[np.uint64], k: int) -> NDArray[np.uint8]:
    """Return k-mers given as numbers, uint64 (words, n), as contiguous rows of k letters and up to 7 A."""
    words, count = keys.shape
    spare = np.uint64(2 * (WORD_LETTERS * words - k))
    groups = np.empty((count, -(-k // GROUP_LETTERS)), np.uint64)
    for group in range(groups.shape[1]):
        above, place = divmod(group, 4)
        word = words - 1 - above
        bits = keys[word] << spare
        if spare and word:
            bits |= keys[word - 1] >> (np.uint64(64) - spare)
        groups[:, group] = _letter_groups()[(bits >> np.uint64(48 - 16 * place)) & np.uint64(0xFFFF)]
    return groups.view(np.uint8)


def key_bytes(keys: NDArray[np.uint64], size: int) -> NDArray[np.uint8]:
    """Return the last bytes of k-mers given as numbers, uint64 (words, n), highest first, uint8 (n, size)."""
    found = np.zeros((keys.shape[1], size), np.uint8)
    for place in range(size):
        word, byte = divmod(size - 1 - place, 8)
        if word < len(keys):
            found[:, place] = (keys[word] >> np.uint64(8 * byte)).astype(np.uint8)
    return found


@functools.cache
def _letter_groups() -> NDArray[np.uint64]:
    """The letters of all k-mers of 8 letters, in the order of memory."""
    codes = np.arange(1 << (2 * GROUP_LETTERS), dtype=np.uint32)
    places = [LETTERS[(codes >> np.uint32(2 * place)) & 3] for place in reversed(range(GROUP_LETTERS))]
    return np.stack(places, axis=1).view(np.uint64)[:, 0]


def sortable(keys: NDArray[np.uint64]) -> NDArray[Any]:
    """Return keys as one array (n,) that NumPy sorts, searches and compares as numbers.

    That is the word itself, or fixed strings of bytes where there are several words.
    """
    if len(keys) == 1:
        words: NDArray[np.uint64] = keys[0]
        return words
    strings = np.empty((keys.shape[1], len(keys)), ">u8")
    strings[:] = keys[::-1].T
    return strings.view(f"S{8 * len(keys)}").ravel()


def are_less(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each key of the first, uint64 (words, n), is less than that of the second."""
    less: NDArray[np.bool_] = first[0] < second[0]
    for one, other in zip(first[1:], second[1:], strict=True):
        less &= one == other
        less |= one < other
    return less


def is_ascending(keys: NDArray[np.uint64]) -> bool:
    """Whether each key is greater than the one before it."""
    return bool(are_less(keys[:, :-1], keys[:, 1:]).all())


def differences(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return each key less the one before it, uint64 (words, n - 1); keys have to ascend."""
    gaps = keys[:, 1:] - keys[:, :-1]
    borrow = np.zeros(gaps.shape[1], bool)
    for word in range(len(keys) - 1):
        borrow &= keys[word, 1:] == keys[word, :-1]
        borrow |= keys[word, 1:] < keys[word, :-1]
        gaps[word + 1] -= borrow
    return gaps


def running_sums(first: NDArray[np.uint64], gaps: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Undo `differences`.

    Parameters
    ----------
    first : uint64 (words,)
        The first key.
    gaps : uint64 (words, n - 1)

    Returns
    -------
    uint64 (words, n)
        Sums wrap at the last word.
    """
    sums = np.empty((len(gaps), gaps.shape[1] + 1), np.uint64)
    sums[:, 0] = first
    sums[:, 1:] = gaps
    carry = np.zeros(gaps.shape[1], bool)
    for word, items in enumerate(sums):
        last = word == len(sums) - 1
        if word:
            items[1:] += carry
            overflow = items[1:] < carry
        np.cumsum(items, out=items)
        if not last:
            carry = items[1:] < items[:-1]
            if word:
                carry |= overflow
    return sums
