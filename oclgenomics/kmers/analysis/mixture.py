"""A model of the histogram of the k-mers of reads: sequencing errors, and a genome with two copies of each chromosome.

Let L be the coverage of one chromosome, and s the share of k-mers that are the same on both. A place of the genome that
occurs once gives one k-mer of coverage 2 L, with probability s, or two of coverage L. A place that occurs twice, each
time with the same s, gives k-mers of coverage L to 4 L. With U single places and D pairs of places,

    coverage    k-mers
    L           2 (1 - s) U + 2 (1 - s) D
    2 L                 s U +   (1 - s)^2 D
    3 L                     2 s (1 - s)   D
    4 L                             s^2   D

The counts of a k-mer scatter as a negative binomial distribution whose variance is 1 + b times its mean. It is a
Poisson distribution for b near 0. Errors become fewer by a constant factor from one count to the next. If a site
differs with probability r, then s = (1 - r)^k.

The fit minimises the squared differences, each divided by about its variance. It searches for L, b, s and the factor of
errors, and solves for the number of errors, U and D, which are linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike, NDArray

PLACES = (1, 2, 3, 4)  # coverages of the peaks, in lambda
MIN_EXCESS, MAX_EXCESS = 1e-4, 8.0  # of the variance
LOG_EXCESS = float(np.log(MIN_EXCESS)), float(np.log(MAX_EXCESS))
SLOWEST_DECAY = 0.6  # of errors, from count to count
DECAY, EXCESS = 0.2, 0.05  # to begin with
STEPS, AGAIN = (0.1, 1.0, 1.0, 0.5), (0.03, 0.3, 0.3, 0.2)  # of the search, in the logarithms and logits of its numbers

Numbers = NDArray[np.float64]
Point = NDArray[np.float64]
RANK = itemgetter(0, 1)  # of corners of a simplex


@dataclass(frozen=True)
class Mixture:
    """A model with its numbers.

    Attributes
    ----------
    coverage : float
        Coverage of k-mers that both chromosomes have: 2 L.
    excess : float
        b: the variance beyond that of a Poisson distribution, over the mean.
    same : float
        s: the share of k-mers that are the same on both chromosomes; 1 without heterozygosity.
    single, double : float
        U and D: places of the genome that occur once, and pairs of places.
    errors, decay : float
        Errors of count c are errors * decay^c.
    misfit : float
        Sum of the squares that were minimised.
    """

    coverage: float
    excess: float
    same: float
    single: float
    double: float
    errors: float
    decay: float
    misfit: float

    def heterozygosity(self, k: int) -> float:
        """Share of the sites that differ."""
        return float(1 - self.same ** (1 / k))

    def erroneous(self, size: int) -> Numbers:
        """Return the erroneous k-mers with each count from 0 to size - 1, float64 (size,)."""
        return self.errors * np.power(self.decay, np.arange(size, dtype=np.float64))

    def genuine(self, size: int) -> Numbers:
        """Return the k-mers of the genome with each count from 0 to size - 1, float64 (size,)."""
        single, double = _genome(size, self.coverage / 2, self.excess, self.same)
        return self.single * single + self.double * double

    @property
    def halves(self) -> float:
        """K-mers of one chromosome, relative to those of both."""
        lost = 1 - self.same
        one = 2 * lost * (self.single + self.double)
        two = self.same * self.single + lost * lost * self.double
        return one / two if two else np.inf

    @property
    def pairs(self) -> float:
        """Places that occur twice for each that occurs once."""
        return self.double / self.single if self.single else np.inf

    @property
    def mirrored(self) -> float:
        """The share `same` of a genome without pairs that has the two peaks of the places and pairs here."""
        return self.double / (self.double + self.single / 2)


def fit_mixture(h: Numbers, first: int, coverage: float, same: float | None) -> Mixture:
    """Fit the model to a histogram.

    Parameters
    ----------
    h : ndarray, float64 (n,)
        K-mers of the counts 0, 1, 2, ...
    first : int
        Lower counts are left out.
    coverage : float
        Start of the search for the coverage of both chromosomes.
    same : float, optional
        Start of the search for the share of k-mers that are the same on both; the share is 1 if not given.
    """
    size = len(h)
    weights = np.sqrt(weights_of(h)[first:])
    target = h[first:] * weights

    def solved(x: Numbers) -> tuple[Numbers, float]:
        half, excess, share, decay = _numbers(x)
        columns = np.stack([decay ** np.arange(size), *_genome(size, half, excess, share)])[:, first:] * weights
        parts = _nonnegative(columns, target)
        return parts, float(((target - parts @ columns) ** 2).sum())

    start = [np.log(coverage / 2), np.log(EXCESS), _logit(DECAY / SLOWEST_DECAY)]
    start += [] if same is None else [_logit(same)]
    found = np.array(start)
    for steps in (STEPS, AGAIN):
        found = minimise(lambda x: solved(x)[1], found, steps[: len(found)])
    half, excess, share, decay = _numbers(found)
    (errors, single, double), misfit = solved(found)
    return Mixture(2 * half, excess, share, float(single), float(double), float(errors), decay, misfit)


def weights_of(h: Numbers) -> Numbers:
    """Return the weights of the squared differences, float64 (n,)."""
    weights: Numbers = 1 / (np.convolve(h, (0.25, 0.5, 0.25), "same") + 1)
    return weights


def _numbers(x: Numbers) -> tuple[float, float, float, float]:
    """Return L, b, s and the factor of errors at a point of the search."""
    excess = float(np.exp(_within(x[1], *LOG_EXCESS)))
    share = _logistic(x[3]) if len(x) > 3 else 1.0
    return float(np.exp(_within(x[0], -3.0, 12.0))), excess, share, SLOWEST_DECAY * _logistic(x[2])


def _within(x: float, least: float, most: float) -> float:
    return min(max(x, least), most)  # an array's `clip` takes longer than all else here


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def _logistic(x: float) -> float:
    return float(1 / (1 + np.exp(-_within(x, -30.0, 30.0))))


def _genome(size: int, half: float, excess: float, same: float) -> tuple[Numbers, Numbers]:
    """Return the k-mers of each count that come of a single place, and of a pair of places."""
    one, two, three, four = scattered(size, np.array(PLACES) * half, excess)
    lost = 1 - same
    single = 2 * lost * one + same * two
    double = 2 * lost * one + lost * lost * two + 2 * same * lost * three + same * same * four
    return single, double


def scattered(size: int, mean: float | Numbers, excess: float) -> Numbers:
    """Return the negative binomial distribution with a mean and a variance of 1 + excess times the mean.

    float64 (size,), or (means, size) where several means are given.
    """
    means, c = np.asarray(mean)[..., None], np.arange(size - 1)
    steps = np.log((means + c * excess) / ((1 + excess) * (c + 1)))
    logarithms = np.zeros((*steps.shape[:-1], size))
    np.cumsum(steps, axis=-1, out=logarithms[..., 1:])
    shares: Numbers = np.exp(logarithms - means / excess * np.log1p(excess))
    return shares


def _nonnegative(columns: Numbers, target: Numbers) -> Numbers:
    """Return how much of each column explains the target best, never less than nothing."""
    parts = np.zeros(len(columns))
    kept = list(range(len(columns)))
    while kept:
        some = columns[kept]
        found = np.linalg.lstsq(some @ some.T, some @ target, rcond=None)[0]
        if (found >= 0).all():
            parts[kept] = found
            break
        del kept[int(np.argmin(found))]
    return parts


def minimise(
    function: Callable[[Point], float],
    start: ArrayLike,
    steps: ArrayLike,
    *,
    rounds: int = 400,
    tolerance: float = 1e-7,
) -> Point:
    """Return where a function is least near a start, by the downhill simplex.

    Parameters
    ----------
    function : callable
    start : array_like of float (n,)
    steps : array_like of float (n,)
        The first step along each coordinate.
    rounds : int
        The most moves.
    tolerance : float
        The search ends when the values at all corners agree to this share.
    """
    first = np.array(start, np.float64)
    points = [first, *(first + step for step in np.diag(np.array(steps, np.float64)))]
    corners: list[tuple[float, int, Point]] = sorted(
        [(function(point), number, point) for number, point in enumerate(points)], key=RANK
    )
    for moved in range(len(corners), len(corners) + rounds):
        best, second, worst = corners[0][0], corners[-2][0], corners[-1][0]
        if worst - best <= tolerance * abs(best):
            break
        centre = np.mean([point for _, _, point in corners[:-1]], axis=0)
        away = centre - corners[-1][2]
        value, point = _at(function, centre + away)
        if value < best:
            value, point = min((value, point), _at(function, centre + 2 * away), key=itemgetter(0))
        elif value >= second:
            value, point = _at(function, centre + away / 2 if value < worst else centre - away / 2)
        if value < second or value < worst:
            corners[-1] = (value, moved, point)
        else:
            target = corners[0][2]
            near = [_at(function, (target + point) / 2) for _, _, point in corners[1:]]
            corners[1:] = [(value, moved, point) for value, point in near]
        corners.sort(key=RANK)
    return corners[0][2]


def _at(function: Callable[[Point], float], point: Point) -> tuple[float, Point]:
    return function(point), point
