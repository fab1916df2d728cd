"""Numbers from bytes: decimal ones many at a time, and whole ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MAX_DIGITS = 18  # of a whole number; any of them fits in 64 bits
_MAX_WORD = 64  # of a decimal number: one long word would widen the array of all words
_EXACT_DIGITS = 15  # integers below 10**15 and the power of ten are exact in float64, so their quotient is rounded once


def parse_decimals(text: bytes) -> NDArray[np.float64]:
    """Numbers separated by blanks, as float64 (count,), each rounded as strtod rounds; also inf and nan.

    Raises
    ------
    ValueError
        A word is not a number, or is longer than 64 characters.
    """
    text = text.strip()
    if not text:
        return np.zeros(0, np.float64)
    width = text.find(b" ")
    width = len(text) if width < 0 else width
    fast = _parse_fixed_width(text, width)
    return _parse_words(text) if fast is None else fast


def _parse_words(text: bytes) -> NDArray[np.float64]:
    """Numbers of any layout."""
    words = text.split()
    if b"_" in text or len(max(words, key=len)) > _MAX_WORD:  # Python's numbers may have underscores
        raise ValueError("not a list of decimal numbers")
    return np.array(words, dtype=bytes).astype(np.float64)


def _parse_fixed_width(text: bytes, width: int) -> NDArray[np.float64] | None:
    """The usual layout, "d.ddddd d.ddddd ...": all words equally long with the point in one place; else None."""
    if width > _EXACT_DIGITS + 1 or (len(text) + 1) % (width + 1):
        return None
    point = text[:width].find(b".")
    table = np.frombuffer(text + b" ", np.uint8).reshape(-1, width + 1)
    digits = table[:, :width] - np.uint8(ord("0"))
    places = [i for i in range(width) if i != point]
    if (table[:, width] != ord(" ")).any() or (digits[:, places] > 9).any() or not places:
        return None
    if point >= 0 and (table[:, point] != ord(".")).any():
        return None
    value = np.zeros(len(table), np.int64)
    for i in places:
        value = value * 10 + digits[:, i]
    return value / np.float64(10.0 ** (0 if point < 0 else width - 1 - point))


def whole_number(text: bytes) -> int | None:
    """A whole number from 0, of at most 18 digits; None for anything else."""
    return int(text) if text.isdigit() and len(text) <= _MAX_DIGITS else None
