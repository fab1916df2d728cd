"""The lane's arithmetic (Fig. 8 of the paper), operator by operator, on blocks of columns.

    omega = [(LS + RS) / float(C(k,2) + C(m,2))] / [((TS - LS) - RS) / float(k m) + 0.00001]

All operators round to nearest even, counts are unsigned 32-bit integers, and subnormal operands and results of the
float operators are flushed to a zero of their sign, as the operators of Xilinx do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hls_model.functional.sums import Sums

__all__ = ["OFFSET", "Scorer", "omegas"]

OFFSET = np.float32(1e-5)
SMALLEST = np.finfo(np.float32).tiny
MIN_QUOTIENT = 2.0**-60  # smallest operand over largest, see `_subnormals_possible`

Floats = NDArray[np.float32]


def omegas(sums: Sums) -> Floats:
    """Return all omegas of a position, float32 (left, right); NaN where the hardware computes one."""
    out = np.empty(sums.TS.shape, np.float32)
    if out.size:
        Scorer(sums, sums.left).score(0, sums.left, out)
    return out


class Scorer:
    """Omegas of blocks of columns; holds the work space of one thread.

    Parameters
    ----------
    sums : Sums
        The position.
    rows : int
        Columns of the largest block.
    """

    def __init__(self, sums: Sums, rows: int) -> None:
        self.sums = sums
        self.k = np.arange(sums.first_left, sums.first_left + sums.left, dtype=np.uint32)[:, None]
        self.m = np.arange(sums.first_right, sums.first_right + sums.right, dtype=np.uint32)
        self.left_pairs, self.right_pairs = self.k * (self.k - 1) >> 1, self.m * (self.m - 1) >> 1
        self.counts = np.empty((rows, sums.right), np.uint32)
        self.floats = np.empty((rows, sums.right), np.float32)
        self.denominators = np.empty((rows, sums.right), np.float32)

    def score(self, first: int, last: int, out: Floats) -> None:
        """Write omegas of the columns [first, last) into `out`, float32 (last - first, right)."""
        part = slice(first, last)
        LS, RS, TS = self.sums.LS[part, None], self.sums.RS, self.sums.TS[part]
        counts, floats, below = (a[: last - first] for a in (self.counts, self.floats, self.denominators))
        with np.errstate(all="ignore"):  # infinities and NaN are results here
            flush = _subnormals_possible(LS, RS, TS)
            if flush:
                LS, RS, TS = (_flushed(operand.copy()) for operand in (LS, RS, TS))
            done = _flushed if flush else _as_it_is

            done(np.add(LS, RS, out=out))
            np.add(self.left_pairs[part], self.right_pairs, out=counts)
            floats[...] = counts
            done(np.divide(out, floats, out=out))

            done(np.subtract(TS, LS, out=below))
            done(np.subtract(below, RS, out=below))
            np.multiply(self.k[part], self.m, out=counts)
            floats[...] = counts
            done(np.divide(below, floats, out=below))
            done(np.add(below, OFFSET, out=below))

            done(np.divide(out, below, out=out))


def _as_it_is(array: Floats) -> Floats:
    return array


def _flushed(array: Floats) -> Floats:
    """Flush subnormals to a zero of their sign, in place."""
    np.copysign(0, array, out=array, where=np.abs(array) < SMALLEST)
    return array


def _subnormals_possible(*operands: Floats) -> bool:
    """Whether a subnormal may come up: False is certain, True is not.

    With a the smallest magnitude but 0 and b the greatest, sums and differences of sums are 0 or at least a 2**-24,
    and divided by a count of 32 bits at least a 2**-56. The denominator is at most 3 b + 1 and, where it is not
    0.00001 plus something smaller, a multiple of 2**-41; so omega is 0 or at least a 2**-56 / (3 b + 1).
    """
    smallest, largest = np.inf, 0.0
    for operand in operands:
        low, high = float(operand.min()), float(operand.max())
        if not low > 0:  # zeros, negative numbers or NaN: a closer look
            sizes = np.abs(operand)
            high = float(sizes.max())
            low = float(np.min(sizes, initial=np.inf, where=sizes > 0))
        smallest, largest = min(smallest, low), max(largest, high)
        if not high < np.inf:
            return True
    return smallest < MIN_QUOTIENT * (3 * largest + 1)
