"""Packed symbols: 2 bits per letter, and a bit that says whether it is a letter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["Symbols", "empty_symbols"]


@dataclass(frozen=True)
class Symbols:
    """A stream of symbols on the device.

    Attributes
    ----------
    codes : DeviceArray, uint32
        Symbol s has bits 31 - 2 (s mod 16) and the one below of word s / 16: A 0, C 1, G 2, T 3.
    valid : DeviceArray, uint32
        Bit 31 - (s mod 32) of word s / 32: whether symbol s is one of A, C, G and T, not a gap or another letter.
    size : int
        Symbols, gaps included.
    """

    codes: DeviceArray
    valid: DeviceArray
    size: int


def empty_symbols(engine: Engine, size: int) -> Symbols:
    """Return a stream of gaps."""
    groups = -(-size // 32) + 1  # a packer may write nothing into one more
    codes, valid = engine.empty(2 * groups, np.uint32), engine.empty(groups, np.uint32)
    engine.fill(codes, 0)
    engine.fill(valid, 0)
    return Symbols(codes, valid, size)
