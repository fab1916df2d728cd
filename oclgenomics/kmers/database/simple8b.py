"""Small numbers in 64-bit words (Simple-8b of Anh and Moffat, 2010).

The top 4 bits of a word are its selector, which says how many numbers are in the word and how wide they are; the
numbers follow from the least significant bit on. Selectors 0 and 1 stand for 240 and 120 zeros.

Words are chosen greedily: the lowest selector that the numbers from here on fit. The choice starts anew at every 960th
number, so that all stretches of 960 are encoded at the same time, and takes no more numbers than are left in the
stretch, so that every word is full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDTHS = (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 60)
SIZES = (240, 120, 60, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)
STRETCH = 960
ROW = STRETCH + SIZES[0]  # a stretch and what keeps its windows from reaching into the next one
OUTSIDE, DONE = 255, 16  # a width that nothing fits, and the selector of places outside
STEPS = np.array([*SIZES, 0], np.int64)
SELECTOR_SHIFT = np.uint64(60)


def encode(numbers: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Encode numbers.

    Parameters
    ----------
    numbers : uint32 (n,)

    Returns
    -------
    words : uint64 (words,)
    starts : int64 (words,)
        Where in `numbers` each word starts.
    """
    selectors = _choose(numbers)
    starts = _follow(selectors)
    chosen = selectors.take(starts + starts // STRETCH * (ROW - STRETCH))
    words = chosen.astype(np.uint64) << SELECTOR_SHIFT
    for selector in range(2, 16):
        at = np.flatnonzero(chosen == selector)
        if len(at):
            items = numbers.take(_places(starts.take(at), selector)).astype(np.uint64)
            items <<= _shifts(selector)
            words[at] |= np.bitwise_or.reduce(items, axis=0)
    return words, starts


def decode(words: NDArray[np.uint64], size: int) -> NDArray[np.uint32]:
    """Decode numbers.

    Parameters
    ----------
    words : uint64 (words,)
    size : int
        How many numbers there are.

    Returns
    -------
    uint32 (size,)

    Raises
    ------
    ValueError
        The words hold more or fewer numbers, or one that is wider than 32 bits.
    """
    chosen = (words >> SELECTOR_SHIFT).astype(np.uint8)
    ends = np.cumsum(STEPS.take(chosen))
    held = int(ends[-1]) if len(ends) else 0
    if held != size:
        raise ValueError(f"the words hold {held} numbers, and {size} were expected")
    numbers = np.zeros(size, np.uint32)
    for selector in range(2, 16):
        at = np.flatnonzero(chosen == selector)
        if len(at):
            items = words.take(at) >> _shifts(selector)
            items &= np.uint64((1 << WIDTHS[selector]) - 1)
            if WIDTHS[selector] > 32 and items.max() >> np.uint64(32):
                raise ValueError("a number is wider than 32 bits")
            numbers[_places(ends.take(at) - SIZES[selector], selector)] = items
    return numbers


def _places(starts: NDArray[np.int64], selector: int) -> NDArray[np.int64]:
    """Places of the numbers of some words, (numbers of a word, words)."""
    return starts + np.arange(SIZES[selector])[:, None]


def _shifts(selector: int) -> NDArray[np.uint64]:
    return (np.arange(SIZES[selector], dtype=np.uint64) * np.uint64(WIDTHS[selector]))[:, None]


def _widths(numbers: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Bits of each number, by the exponent of its floating point form, which holds 32 bits exactly."""
    exponents = numbers.astype(np.float64).view(np.uint64)
    exponents >>= np.uint64(52)
    np.maximum(exponents, np.uint64(1022), out=exponents)
    exponents -= np.uint64(1022)
    return exponents.astype(np.uint8)


def _choose(numbers: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The selector of a word that would start at each place; stretches in rows of `ROW` places, laid end to end."""
    size = len(numbers)
    rows = np.full((-(-size // STRETCH), ROW), OUTSIDE, np.uint8)
    inside = np.full(rows.size // ROW * STRETCH, OUTSIDE, np.uint8)
    inside[:size] = _widths(numbers)
    rows[:, :STRETCH] = inside.reshape(-1, STRETCH)
    widest = rows.ravel()  # of the numbers in a window from each place on; windows grow
    outside = widest == OUTSIDE
    grown = np.full_like(widest, OUTSIDE)
    selectors = np.full_like(widest, 15)
    for selector in range(14, -1, -1):
        step = SIZES[selector] - SIZES[selector + 1]
        np.maximum(widest[:-step], widest[step:], out=grown[:-step])
        grown[-step:] = OUTSIDE
        widest, grown = grown, widest
        choice = (widest > WIDTHS[selector]).view(np.uint8)
        choice *= 16  # a shift of bytes is no vector instruction
        choice |= selector
        np.minimum(selectors, choice, out=selectors)
    selectors[outside] = DONE
    return selectors


def _follow(selectors: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where words start: from the start of each stretch from word to word, all stretches side by side."""
    places = np.arange(0, len(selectors), ROW)
    begun = np.zeros(len(selectors), bool)
    steps = STEPS.take(selectors.take(places))
    while steps.any():
        begun[places] = True
        places += steps
        steps = STEPS.take(selectors.take(places))
    begun &= selectors != DONE
    return np.flatnonzero(begun.reshape(-1, ROW)[:, :STRETCH])
