"""Decimal numbers from bytes, many at a time."""

from __future__ import annotations

import numpy as np

__all__ = ["base_pairs", "parse_decimals"]

_EXACT_DIGITS = 15  # integers below 10**15 and the power of ten are exact in float64, so their quotient is rounded once


def parse_decimals(text: bytes) -> np.ndarray:
    """Numbers separated by blanks, as float64 (count,), each rounded as strtod rounds.

    Raises
    ------
    ValueError
        If a word is not a number.
    """
    text = text.strip()
    if not text:
        return np.zeros(0, np.float64)
    width = text.find(b" ")
    width = len(text) if width < 0 else width
    fast = _parse_fixed_width(text, width)
    return np.array(text.split(), dtype=bytes).astype(np.float64) if fast is None else fast


def _parse_fixed_width(text: bytes, width: int) -> np.ndarray | None:
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


def base_pairs(fractions: np.ndarray, length: float) -> np.ndarray:
    """Base pairs of relative positions, int64, as OmegaPlus has them: trunc(float32(position) * float32(length))."""
    return (fractions.astype(np.float32) * np.float32(length)).astype(np.int64)
