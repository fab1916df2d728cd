"""Numbers of any width as variable-length quantities: 7 bits a byte, the most significant first.

All bytes of a number but its last one have the high bit set: 127 is 7f, 128 is 8100, 1234 is 8952. Numbers are taken
apart into limbs of 56 bits, which is what 8 bytes hold.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LIMB_BITS = 56
LIMB = np.uint64((1 << LIMB_BITS) - 1)
MORE = np.uint64(0x8080808080808080)
# Half of the bits that are still together, and how far they move: 56 bits become 2 x 28, 4 x 14 and 8 x 7.
MOVES = ((0x00FFFFFFF0000000, 4), (0x0FFFC0000FFFC000, 2), (0x3F803F803F803F80, 1))
# By the number of bytes that a limb has in use: which of them those are, in memory, and the bits of their numbers.
IN_USE = (np.arange(8) >= 8 - np.arange(9)[:, None]).astype(np.uint8).view(np.uint64).ravel()
PAYLOAD = np.array([0x7F7F7F7F7F7F7F7F & ((1 << 8 * used) - 1) for used in range(9)], np.uint64)


def max_bytes(words: int) -> int:
    """Bytes that a number of so many words takes at most."""
    return -(-64 * words // 7)


def encode(numbers: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Encode numbers.

    Parameters
    ----------
    numbers : uint64 (words, n)
        The least significant word first.

    Returns
    -------
    uint8 (bytes,)
        The numbers' bytes, one after the other.
    """
    limbs = _limbs(numbers)
    lengths = _lengths(limbs)
    size, count = numbers.shape[1], len(limbs)
    rows, in_use = np.empty((size, count), ">u8"), np.empty((size, count), np.uint64)
    for place, limb in enumerate(limbs):
        _spread(limb)
        limb |= MORE if place else MORE ^ np.uint64(0x80)
        rows[:, count - 1 - place] = limb
        in_use[:, count - 1 - place] = IN_USE.take(_bytes_in_limb(lengths, place, count))
    return np.compress(in_use.view(bool).ravel(), rows.view(np.uint8).ravel())


def decode(data: NDArray[np.uint8], size: int, words: int) -> NDArray[np.uint64]:
    """Decode numbers.

    Parameters
    ----------
    data : uint8 (bytes,)
    size : int
        How many numbers there are.
    words : int
        Words of each.

    Returns
    -------
    uint64 (words, size)

    Raises
    ------
    ValueError
        The bytes are not so many numbers, or a number is too wide.
    """
    ends = np.flatnonzero(data < 0x80)
    if len(ends) != size or (len(data) and (not size or ends[-1] != len(data) - 1)):
        raise ValueError(f"{len(ends)} numbers end in {len(data)} bytes, and {size} were expected")
    numbers = np.zeros((words, size), np.uint64)
    if not size:
        return numbers
    lengths = np.diff(ends, prepend=-1)
    longest, most = int(lengths.max()), max_bytes(words)
    tops = data[ends[lengths == most] - (most - 1)] & 0x7F
    if longest > most or (tops >> (64 * words - 7 * (most - 1))).any():
        raise ValueError(f"a number of {longest} bytes does not fit into {64 * words} bits")
    count = -(-longest // 8)
    padded = np.zeros(8 * count + len(data), np.uint8)
    padded[8 * count :] = data
    anywhere = np.ndarray(len(padded) - 7, ">u8", padded, strides=(1,))  # the 8 bytes from any byte on
    ends += 8 * count - 7
    for place in range(count):
        limb = anywhere.take(ends).astype(np.uint64)
        limb &= PAYLOAD.take(_bytes_in_limb(lengths, place, count))
        _squeeze(limb)
        _add_limb(numbers, place, limb)
        ends -= 8
    return numbers


def _limbs(numbers: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
    """The limbs that are not 0 in all numbers, the least significant first; at least one."""
    limbs = []
    for place in range(-(-64 * len(numbers) // LIMB_BITS)):
        word, shift = divmod(LIMB_BITS * place, 64)
        limb = numbers[word] >> np.uint64(shift)
        if shift > 64 - LIMB_BITS and word + 1 < len(numbers):
            limb |= numbers[word + 1] << np.uint64(64 - shift)
        limb &= LIMB
        limbs.append(limb)
    while len(limbs) > 1 and not limbs[-1].any():
        limbs.pop()
    return limbs


def _add_limb(numbers: NDArray[np.uint64], place: int, limb: NDArray[np.uint64]) -> None:
    word, shift = divmod(LIMB_BITS * place, 64)
    numbers[word] |= limb << np.uint64(shift)
    if shift > 64 - LIMB_BITS and word + 1 < len(numbers):
        numbers[word + 1] |= limb >> np.uint64(64 - shift)


def _lengths(limbs: list[NDArray[np.uint64]]) -> NDArray[np.uint8]:
    """Bytes of each number."""
    lengths = np.ones(len(limbs[0]), np.uint8)
    for place, limb in enumerate(limbs):
        of_limb = lengths if not place else np.full(len(limb), 8 * place + 1, np.uint8)
        for bits in range(7, LIMB_BITS, 7):
            of_limb += (limb >= np.uint64(1 << bits)).view(np.uint8)
        if place:
            np.copyto(lengths, of_limb, where=limb != 0)
    return lengths


def _bytes_in_limb(lengths: NDArray[np.integer], place: int, count: int) -> NDArray[np.integer]:
    """How many of the numbers' bytes are one limb's."""
    if count == 1:
        return lengths
    low = 8 * place
    inside: NDArray[np.integer] = np.clip(lengths, low, low + 8) - np.asarray(low, lengths.dtype)
    return inside


def _spread(limb: NDArray[np.uint64]) -> None:
    """Move each 7 bits to a byte of their own, in place."""
    for mask, shift in MOVES:
        half = limb & np.uint64(mask)
        limb ^= half
        half <<= np.uint64(shift)
        limb |= half


def _squeeze(limb: NDArray[np.uint64]) -> None:
    """Undo `_spread`, in place."""
    for mask, shift in reversed(MOVES):
        half = limb & np.uint64(mask << shift)
        limb ^= half
        half >>= np.uint64(shift)
        limb |= half
