"""Seeded operands of a grid position; the same on every machine and with every version of NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from hls_model.errors import ModelError
from hls_model.functional import Sums

__all__ = ["KINDS", "operands"]

Words = NDArray[np.uint32]
SPECIAL = np.array(
    [0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000], np.uint32
)


def operands(left: int, right: int, seed: int, kind: str = "plain") -> Sums:
    """Return operands of one of the `KINDS`.

    Parameters
    ----------
    left, right : int
        Trip counts.
    seed : int
        Seed, 0 to 2**32 - 1.
    kind : str
        `plain`: sums as an alignment has them. `ties`: half of all omegas are equal and the greatest. `tiny`: sums near
        the smallest numbers, so that operators flush. `special`: any bits, with zeros, infinities and NaN among them.

    Raises
    ------
    ModelError
        No such kind.
    """
    if kind not in KINDS:
        raise ModelError(f"{kind!r} is no kind of operands; choose one of {', '.join(KINDS)}")
    first = 2 + seed % 5, 2 + seed % 3
    return KINDS[kind](left, right, seed, first)


def _words(count: int, seed: int) -> Words:
    """Hash the numbers from 0: uint32 (count,)."""
    x = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B9) + np.uint32((seed * 0x85EBCA6B + 1) & 0xFFFFFFFF)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def _uniform(count: int, seed: int) -> NDArray[np.float32]:
    return (_words(count, seed) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def _plain(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    scores = 1 + 99 * _uniform(left + right + left * right, seed)
    LS, RS, across = scores[:left], scores[left : left + right], scores[left + right :].reshape(left, right)
    return Sums(LS, RS, (LS[:, None] + RS) + across, *first)


def _ties(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    k, m = np.arange(first[0], first[0] + left), np.arange(first[1], first[1] + right)
    LS, RS = (k * (k - 1) // 2).astype(np.float32), (m * (m - 1) // 2).astype(np.float32)
    across = k[:, None] * m * (_words(left * right, seed).reshape(left, right) & 1)
    return Sums(LS, RS, (LS[:, None] + RS) + across.astype(np.float32), *first)


def _tiny(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    plain, scale = _plain(left, right, seed, first), np.float32(2.0**-126)
    return Sums(plain.LS * scale, plain.RS * scale, plain.TS * scale, *first)


def _special(left: int, right: int, seed: int, first: tuple[int, int]) -> Sums:
    count = left + right + left * right
    bits, choice = _words(count, seed), _words(count, seed + 1)
    bits = np.where(choice % 8 == 0, SPECIAL[(choice >> 8) % len(SPECIAL)], bits)
    numbers = bits.view(np.float32)
    return Sums(numbers[:left], numbers[left : left + right], numbers[left + right :].reshape(left, right), *first)


KINDS: Mapping[str, Callable[[int, int, int, tuple[int, int]], Sums]] = {
    "plain": _plain,
    "ties": _ties,
    "tiny": _tiny,
    "special": _special,
}
