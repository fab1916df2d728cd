"""The composite likelihood ratio of a sweep, written out in plain Python: the oracle of the tests.

Definitions of Nielsen et al. (2005), with the numbers that SweepFinder2 chose: sites are pairs (derived, observed) of
haplotypes that vary, the background spectrum has an item for each number of derived ones among the most observed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

LEAST_X, MOST_X = 1e-8, 12.0  # of alpha times distance, between which escapes are tabulated
LOG_KNOTS = 250
KNOTS: list[float] = sorted(
    [LEAST_X * (MOST_X / LEAST_X) ** (i / (LOG_KNOTS - 1)) for i in range(LOG_KNOTS)]
    + [0.1 + i * 2.9 / 249 for i in range(250)]
)
LEAST_DISTANCE = 0.01
FIRST_ALPHAS, LATER_ALPHAS = 100, 5
TOLERANCE = 1e-6


def drawn(spectrum: Sequence[float], size: int) -> list[float]:
    """Return the spectrum of `size` haplotypes drawn from those of a spectrum."""
    n = len(spectrum) - 1
    return [
        sum(p * math.comb(i, j) * math.comb(n - i, size - j) / math.comb(n, size) for i, p in enumerate(spectrum) if p)
        for j in range(size + 1)
    ]


def swept(spectrum: Sequence[float], draws: Sequence[Sequence[float]], x: float) -> list[float]:
    """Return the spectrum of sites that vary at alpha times distance `x` from a sweep; its two ends mean nothing.

    `draws[k]` is `drawn(spectrum, k + 1)`.
    """
    n, escape = len(spectrum) - 1, 1 - math.exp(-(x + 1e-7))
    found = [p * escape**n for p in spectrum]
    for k in range(n):
        chance = math.comb(n, k) * escape**k * math.exp(-(n - k) * (x + 1e-7))
        before = draws[k]
        for b in range(n + 1):
            a = b + 1 - n + k
            hitched = before[a] * a if 0 <= a <= k + 1 else 0.0
            lost = before[b] * (k + 1 - b) if b <= k + 1 else 0.0
            found[b] += chance * (hitched + lost) / (k + 1)
    return [p / (1 - found[0] - found[n]) for p in found]


def curvatures(y: Sequence[float]) -> list[float]:
    """Return the second derivatives of the natural cubic spline through values at `KNOTS`."""
    x, count = KNOTS, len(KNOTS)
    second, rest = [0.0] * count, [0.0] * count
    for i in range(1, count - 1):
        share = (x[i] - x[i - 1]) / (x[i + 1] - x[i - 1])
        weight = share * second[i - 1] + 2
        second[i] = (share - 1) / weight
        bend = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (x[i] - x[i - 1])
        rest[i] = (6 * bend / (x[i + 1] - x[i - 1]) - share * rest[i - 1]) / weight
    for i in range(count - 2, -1, -1):
        second[i] = second[i] * second[i + 1] + rest[i]
    return second


def between(y: Sequence[float], second: Sequence[float], x: float) -> float:
    """Return the value of a spline at `x`; linear where it would be no probability."""
    if x < KNOTS[0]:
        return y[0]
    i = min(bisect_right(KNOTS, x), len(KNOTS) - 1) - 1
    h = KNOTS[i + 1] - KNOTS[i]
    a, b = (KNOTS[i + 1] - x) / h, (x - KNOTS[i]) / h
    linear = a * y[i] + b * y[i + 1]
    value = linear + ((a * a * a - a) * second[i] + (b * b * b - b) * second[i + 1]) * h * h / 6
    return value if 0 < value < 1 else linear


class CompositeLikelihood:
    """Ratios of the likelihoods of sites with and without a sweep.

    Parameters
    ----------
    positions : sequence of float
    sites : sequence of tuple of int
        Derived and observed haplotypes of each.
    spectrum : sequence of float
    folded : bool
        Which state is derived is not known.
    """

    def __init__(
        self,
        positions: Sequence[float],
        sites: Sequence[tuple[int, int]],
        spectrum: Sequence[float],
        *,
        folded: bool = False,
    ) -> None:
        self._positions, self._sites = positions, sites
        n = len(spectrum) - 1
        draws = [drawn(spectrum, k + 1) for k in range(n)]
        tables = [swept(spectrum, draws, x) for x in KNOTS]
        self._parts: dict[tuple[int, int], list[tuple[list[float], list[float]]]] = {}
        self._background: dict[tuple[int, int], float] = {}
        for d, t in set(sites):
            shares = [math.comb(i, d) * math.comb(n - i, t - d) / math.comb(n, t) for i in range(n + 1)]
            forms = [shares, shares[::-1]] if folded and 2 * d != t else [shares]
            columns = [[sum(map(float.__mul__, form[1:-1], row[1:-1])) for row in tables] for form in forms]
            self._parts[d, t] = [(column, curvatures(column)) for column in columns]
            self._background[d, t] = sum(sum(map(float.__mul__, form, spectrum)) for form in forms)

    def ratio(self, alpha: float, place: float) -> float:
        """Return the log ratio of a sweep of a given alpha at a place; 0 where it reaches no site."""
        total = 0.0
        for position, site in zip(self._positions, self._sites, strict=True):
            x = alpha * max(abs(position - place), LEAST_DISTANCE)
            if x < MOST_X:
                chance = sum(between(*part, x) for part in self._parts[site])
                total += math.log(chance / self._background[site])
        return total

    def best(self, place: float, ratio: Callable[[float], float] | None = None) -> tuple[float, float]:
        """Return the largest log ratio at a place, and its alpha; a `ratio` of one alpha may be given instead."""
        ratio = ratio or (lambda alpha: self.ratio(alpha, place))
        distances = [abs(position - place) for position in self._positions]
        high = (MOST_X + 1) / max(min(distances), LEAST_DISTANCE)
        low, least = MOST_X / (sum(distances) / len(distances)), LEAST_X / max(distances)
        count = FIRST_ALPHAS
        while True:
            step = math.log(high / low) / (count - 1)
            alphas = [math.exp(math.log(low) + i * step) for i in range(count)]
            ratios = [ratio(alpha) for alpha in alphas]
            best = ratios.index(max(ratios))
            if best == 0 and low <= least:
                return ratios[best], alphas[best]  # all sites lie below the first knot
            below = max(math.exp(math.log(low) - count * step), least) if best == 0 else alphas[best - 1]
            high = high + alphas[best - 1] - alphas[best - 2] if best == count - 1 else alphas[best + 1]
            low, count = below, LATER_ALPHAS
            if (high - low) / ((high + low) / 2) <= TOLERANCE:
                return ratios[best], alphas[best]
