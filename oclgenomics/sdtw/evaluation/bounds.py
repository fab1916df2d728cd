"""Between what the rates of the best threshold are for other reads, prefix by prefix."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.evaluation.intervals import MISS, Interval, area_interval, local_miss, share_interval
from oclgenomics.sdtw.evaluation.sweep import Sweep

__all__ = ["PrefixBounds"]


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
        recall, fpr, weight = self._recall, self._fpr, self._weight
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
        recall, fpr, weight = self._recall, self._fpr, self._weight
        low, high = ((r, p) for r, p in ((recall.low, fpr.high), (recall.high, fpr.low)))
        return Interval(*(2 * r / (r + weight * p + 1) for r, p in (low, high)))

    @property
    def _recall(self) -> Interval:
        return self._both[0]

    @property
    def _fpr(self) -> Interval:
        return self._both[1]

    @cached_property
    def _both(self) -> tuple[Interval, Interval]:
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


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part else 0.0
