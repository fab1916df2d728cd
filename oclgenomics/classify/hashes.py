"""The hash that chooses features, and the one by whose values they are ordered; both are bijections of 32 bits.

kernels_cl/classify/hashes.clh computes the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_FEATURE", "hash_kmers", "mix", "unmix"]

NO_FEATURE = 0xFFFFFFFF


def _step(x: NDArray[np.uint32], shift: int, factor: int) -> NDArray[np.uint32]:
    return _folded(x, shift) * np.uint32(factor)


def _folded(x: NDArray[np.uint32], *shifts: int) -> NDArray[np.uint32]:
    """The exclusive or of numbers and of themselves shifted to the right."""
    folded = x
    for shift in shifts:
        folded = folded ^ np.right_shift(x, np.uint32(shift))
    return folded


def hash_kmers(kmers: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Hash canonical k-mers as MetaCache does: the smallest values of a window are its features."""
    return _folded(_step(_step(kmers, 16, 0x45D9F3B), 16, 0x45D9F3B), 16)


def mix(features: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Spread features, which are small numbers, evenly over 32 bits: the last steps of MurmurHash3."""
    return _folded(_step(_step(features, 16, 0x85EBCA6B), 13, 0xC2B2AE35), 16)


def unmix(keys: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the features of `mix`."""
    x = _folded(keys, 16) * np.uint32(pow(0xC2B2AE35, -1, 1 << 32))
    return _folded(_folded(x, 13, 26) * np.uint32(pow(0x85EBCA6B, -1, 1 << 32)), 16)
