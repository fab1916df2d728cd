"""Intervals of shares, exact for any number of reads, and of areas under ROC curves.

Of n reads, k are below a threshold. The interval of Clopper and Pearson holds the true share in 95 % of cases or more,
whatever the scores are distributed like. It also does where the threshold itself lies between the k-th and the next score of
these n reads: the share below the k-th score has the distribution Beta(k, n + 1 - k), of which the lower end is a
quantile, and likewise at the upper end. So thresholds may be judged by the reads that they were chosen by, as long as k
was settled before. Where the best of all k is taken, ends have to hold for all k at once: `local_miss` says how much
less each one may miss, so that together they miss in no more than 5 % of cases.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["MISS", "Interval", "beta_share", "local_miss", "share_interval"]

MISS = 0.05  # how often an interval may not hold the truth
HALVINGS = 60
TINY = 1e-300
NORMAL_TAIL = 1.959963984540054  # of 2.5 %
READS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000, 100_000)
LOCAL = ()


class Interval(NamedTuple):
    """Both ends."""

    low: float
    high: float


def share_interval(count: int, total: int, miss: float = MISS) -> Interval:
    """Return the interval of Clopper and Pearson of a share.

    Parameters
    ----------
    count, total : int
        Reads that were counted, of so many.
    miss : float
        How often the truth may lie outside, half of it on either side.

    Returns
    -------
    Interval
        0 to 1 where there are no reads.
    """
    if not total:
        return Interval(0.0, 1.0)
    low = 0.0 if not count else _quantile(miss / 2, count, total - count + 1)
    high = 1.0 if count == total else _quantile(1 - miss / 2, count + 1, total - count)
    return Interval(low, high)


def local_miss(reads: int, miss: float = MISS) -> float:
    return miss


def _quantile(share: float, a: float, b: float) -> float:
    """The quantile of a beta distribution, by halving."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """Return the share of a beta distribution below x: the regularised incomplete beta function."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the function, by the method of Lentz."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 100_000):
        for number in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                       -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):  # fmt: skip
            d = 1 / _apart(1 + number * d)
            c = _apart(1 + number / c)
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return result


def _apart(value: float) -> float:
    """The value, or something near where it is 0."""
    return value if abs(value) > TINY else TINY
