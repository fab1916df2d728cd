"""Intervals of shares, exact for any number of reads, and of areas under ROC curves.

Of n reads, k are below a threshold. The interval of Clopper and Pearson holds the true share in 95 % of cases or more,
whatever the scores are distributed like. It also does where the threshold itself was laid between the k-th and the next
score of these n reads: the share below the k-th score has the distribution Beta(k, n + 1 - k), of which the lower end
is a quantile, and likewise at the upper end. So thresholds may be judged by the reads that they were chosen by, as long
as k was settled before. Where the best of all k is taken, ends have to hold for all k at once: `local_miss` says how
much less each one may miss, so that together they miss in no more than 5 % of cases.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.decisions.labelled import Sweep

MISS = 0.05  # how often an interval may not hold the truth
HALVINGS = 60
MAX_TERMS, SMALLEST = 100_000, 1e-300
MAX_NEEDED = 1 << 20
# Reads, and how much the interval of each rank may miss so that those of all ranks hold in 95 % of 20,000 draws of so
# many uniform numbers (of 2,000 and 200 draws at the end).
LOCAL = (
    (1, 0.05), (2, 0.0247), (3, 0.0177), (5, 0.0121), (10, 0.0071), (20, 0.0048), (50, 0.0029), (100, 0.0021),
    (200, 0.0017), (500, 0.00127), (1_000, 0.00107), (10_000, 0.0006), (100_000, 0.0005), (1 << 62, 0.0003),
)  # fmt: skip


class Interval(NamedTuple):
    """Both ends."""

    low: float
    high: float


class PrefixBounds:
    """Intervals of the best threshold of a sweep; that it was chosen by the same reads is counted in.

    Values of both classes, such as F, hold where both rates do, each of which may miss half as often.

    Parameters
    ----------
    sweep : Sweep
    targets, others : int
        Reads of both classes, of which there may be several pieces.
    """

    def __init__(self, sweep: Sweep, targets: int, others: int) -> None:
        self._sweep, self._targets, self._others = sweep, targets, others
        self._weight = 1.0 if sweep.balanced else len(sweep.other) / len(sweep.target)  # of others; targets have 1

    def intervals(self) -> dict[str, Interval]:
        """Return the intervals by the names of what they are of."""
        (recall, fpr), weight = self._both, self._weight
        return {
            "recall": self._called(1.0)[0],
            "fpr": self._called(1.0)[1],
            "precision": Interval(_share(recall.low, weight * fpr.high), _share(recall.high, weight * fpr.low)),
            "accuracy": Interval(
                (recall.low + weight * (1 - fpr.high)) / (1 + weight),
                (recall.high + weight * (1 - fpr.low)) / (1 + weight),
            ),
            "auc": area_interval(self._sweep.auc, self._targets, self._others),
            "tpr_at_fpr_1": self._recall_at(0.01),
            "tpr_at_fpr_5": self._recall_at(0.05),
        }

    @property
    def f(self) -> Interval:
        """Of F, which grows with the recall and falls with the others that are called."""
        (recall, fpr), weight = self._both, self._weight
        low, high = ((r, p) for r, p in ((recall.low, fpr.high), (recall.high, fpr.low)))
        return Interval(*(2 * r / (r + weight * p + 1) for r, p in (low, high)))

    @cached_property
    def _both(self) -> tuple[Interval, Interval]:
        """Of recall and false positive rate, so that both hold together."""
        return self._called(0.5)

    def _called(self, part: float) -> tuple[Interval, Interval]:
        """Shares of both classes that are called, with so much of what their intervals may miss."""
        rates = self._sweep.rates(self._sweep.best)
        target, other = (
            share_interval(round(rate * reads), reads, part * local_miss(reads))
            for rate, reads in zip(rates, (self._targets, self._others), strict=True)
        )
        return target, other

    def _recall_at(self, fpr: float) -> Interval:
        """The share of targets that is called where this share of all others is, which those at hand only bound."""
        misses = MISS / 2
        called: NDArray[np.float64] = self._sweep.called_others / len(self._sweep.other)
        counts = range(self._others + 1)
        surely = bisect_right(counts, fpr, key=lambda count: share_interval(count, self._others, misses).high) - 1
        maybe = bisect_right(counts, fpr, key=lambda count: share_interval(count, self._others, misses).low) - 1
        low, high = (
            int(self._sweep.called_targets[called <= (count + 0.5) / self._others].max(initial=0)) if count >= 0 else 0
            for count in (surely, maybe)
        )
        least, most = (
            share_interval(round(kept * self._targets / len(self._sweep.target)), self._targets, misses)
            for kept in (low, high)
        )
        return Interval(least.low, most.high)


def bounded(name: str, value: float, low: float, high: float) -> dict[str, float]:
    """Return a value and its interval as they are called in records."""
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def known(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with None for NaN: what is not known."""
    return {name: None if value != value else value for name, value in record.items()}


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
    low = 0.0 if not count else _quantile(miss / 2, count, total - count + 1)
    high = 1.0 if count == total else _quantile(1 - miss / 2, count + 1, total - count)
    return Interval(low, high)


def local_miss(reads: int) -> float:
    """Return how often the interval of one threshold may miss, so that those of all thresholds hold together."""
    for (few, high), (many, low) in pairwise(LOCAL):
        if reads < many:
            part = math.log(max(reads, 1) / few) / math.log(many / few)
            return math.exp((1 - part) * math.log(high) + part * math.log(low))
    return LOCAL[-1][1]


def area_interval(area: float, targets: int, others: int) -> Interval:
    """Return an interval of an area under a ROC curve.

    No area varies more than a share of the same size among the fewer reads of both classes (van Dantzig), so the
    interval is that of such a share, and wider than it had to be where scores of both classes are alike in shape.
    """
    reads = min(targets, others)
    low = 0.0 if area == 0 else _quantile(MISS / 2, area * reads, reads - area * reads + 1)
    high = 1.0 if area == 1 else _quantile(1 - MISS / 2, area * reads + 1, reads - area * reads)
    return Interval(low, high)


def reads_needed(share: float, width: float) -> int:
    """Return about how many reads give an interval of a share that is no wider, by thresholds chosen by them."""
    low, high = 1, 2
    while high < MAX_NEEDED and _width(share, high) > width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _width(share, middle) > width else (low, middle)
    return high


def _width(share: float, reads: int) -> float:
    low, high = share_interval(round(share * reads), reads, local_miss(reads))
    return high - low


@lru_cache(maxsize=1 << 14)  # stages and prefixes have many counts in common
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
    """The continued fraction of that function, by Lentz's method."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, MAX_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for number in (even, odd):
            d = 1 / _apart(1 + number * d)
            c = _apart(1 + number / c)
            result *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return result


def _apart(value: float) -> float:
    """The value, or something near where it is 0."""
    return value if abs(value) > SMALLEST else SMALLEST


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part else 0.0
