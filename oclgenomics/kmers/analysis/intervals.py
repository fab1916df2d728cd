"""How sure the numbers of a fitted model are: approximate 95 % confidence intervals, of random error alone.

The fit minimises the weighted squares of h - m(x), where h are the k-mers of each count and m those of the model with
the numbers x. Near its minimum

    dx = (J' W J)^-1 J' W dh,

with J the derivatives of m and W the weights, so any number that is read, f(h, x), varies as

    df = a' dh,    a = f_h + W J (J' W J)^-1 f_x,

and its variance is a' S a, with S the covariance of h.

S is not that of independent k-mers. A read covers many k-mers in a row, so neighbours have nearly the same counts,
and h is made of far fewer independent pieces than there are k-mers. Two k-mers whose reads are to a share q the same
have counts x + y and x + z, with x, y and z independent, x of the mean q m and y and z of (1 - q) m, each negative
binomial with the same ratio of variance to mean as the counts themselves. If each letter is right with probability
a, two k-mers d places apart share q(d) = (1 - d/v) a^d, where v are the k-mers of a read. With B_q the common
distribution of two such counts, and p that of one,

    S = diag(m) - sum_i n_i p p' + sum_i n_i 2 int_0^v (B_q(d) - p p') dd

over the peaks i, of n_i k-mers. The first terms are chance for each k-mer by itself. a follows from the errors that the
fit finds. v is chosen so that the residuals, r'W r, are as large as S expects them to be, so it also takes in how far
the model is wrong. What the residuals exceed the first terms by is not below 0: of chance around it, its mean above 0
is taken. With R what the residuals are expected to be, and R_v what of them comes of shared reads, the variance of
r'W r is 2 tr R R, and a' S a, of which s comes of shared reads, has by Satterthwaite's rule

    (a' S a)^2 (tr R_v)^2 / (s^2 tr R R)

degrees of freedom. The quantile of Student's distribution times the standard error is half of the interval.

The numbers are those of the places where reads begin: the size is that of a circular genome. Of each linear sequence, a
read's length less one letter is not seen, since fewer reads reach its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import erfc, exp, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.analysis.mixture import MAX_EXCESS, MIN_EXCESS, PLACES, Mixture, scattered, weights_of
from oclgenomics.kmers.result import Histogram

NORMAL = 1.959964  # the quantile of the normal distribution that leaves 2.5 % above it
MAX_CONDITION = 1e12
FEW_ERRORS = 0.01  # k-mers of the first count fitted: fewer determine nothing
NODES, SHARES = ((some + at) / 2 for some, at in zip(np.polynomial.legendre.leggauss(8), (1, 0), strict=True))
GROUPS = 400  # of counts: more are joined, which their distribution hardly shows
STEP = 1e-4  # of derivatives, in the logarithms and logits that the fit searches
TINY = 1e-12
VAGUE = 20.0  # times a number: with such an error an interval says nothing, and its ends overflow
LONGEST = 1e6  # k-mers of a read
HALVINGS = 60  # of the span that these are looked for in

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """Where a number lies by chance in about 95 of 100 runs.

    Attributes
    ----------
    low, high : float
    """

    low: float
    high: float


@dataclass(frozen=True)
class Intervals:
    """How sure the numbers of a reading are.

    Attributes
    ----------
    coverage, genome_size : Interval
    heterozygosity : Interval or None
        From 0 on where no heterozygosity was found; None where it is left open.
    """

    coverage: Interval
    genome_size: Interval
    heterozygosity: Interval | None


def intervals_of(histogram: Histogram, k: int, first: int, fit: Mixture, h: Numbers) -> Intervals | None:
    """Return the intervals of a fit; None where the histogram does not determine it.

    Parameters
    ----------
    histogram : Histogram
    k : int
    first : int
        Lower counts were left out of the fit.
    fit : Mixture
    h : ndarray, float64 (n,)
        What the model was fitted to: see `spread_of`.
    """
    counts = np.arange(len(h), dtype=np.float64)
    seen = float((histogram.counts * histogram.kmers)[histogram.counts >= first].sum())

    def size(model: Mixture) -> float:
        low = float((counts[:first] * model.genuine(first)).sum())
        return float(seen + low - (counts * model.erroneous(len(h)))[first:].sum()) / model.coverage

    found = size(fit)
    right = float(np.clip(found * fit.coverage / histogram.total, TINY, 1)) ** (1 / k)
    spread = spread_of(h, first, fit, right)
    if spread is None:
        return None
    lengths = np.diff(np.append(spread.groups, len(h)))
    middle = np.add.reduceat(counts, spread.groups) / lengths
    size_error = spread.error(size, middle / fit.coverage)
    coverage_error = spread.error(lambda model: model.coverage)
    if size_error > VAGUE * found or coverage_error > VAGUE * fit.coverage:
        return None
    lost, by_chance = spread.lost()
    lost_error = np.hypot(by_chance, NORMAL * _clustering(fit, k))
    low, high = (np.clip(lost + side * lost_error, 0, 1) for side in (-1, 1))
    return Intervals(
        _around(fit.coverage, coverage_error),
        _around(found, size_error),
        Interval(*(float(1 - (1 - some) ** (1 / k)) for some in (low, high))),
    )


def _clustering(fit: Mixture, k: int) -> float:
    """The standard error of the share of k-mers that differ, for a given number of sites that differ.

    The sites lie anywhere. Where two are near, fewer k-mers differ. With s the share of k-mers that are the same, the
    share of others varies by sum over |t| < k of s^(1 + |t|/k) - s^2, and what the number of sites explains of that is
    (k r s)^2 / (r (1 - r)), both divided by the places of the genome.
    """
    same, rate = min(fit.same, 1.0), fit.heterozygosity(k)
    if rate <= 0:
        return 0.0
    shifts = np.abs(np.arange(1 - k, k))
    whole = float((same ** (1 + shifts / k) - same**2).sum())
    explained = (k * rate * same) ** 2 / (rate * (1 - rate))
    return float(np.sqrt(max(0.0, whole - explained) / (fit.single + 2 * fit.double)))


def _around(value: float, error: float) -> Interval:
    """An interval of a number above 0, even in its logarithm."""
    return Interval(float(value * np.exp(-error / value)), float(value * np.exp(error / value)))


def spread_of(h: Numbers, first: int, fit: Mixture, right: float = 1.0) -> Spread | None:
    """Return how a fit varies from run to run; None where the histogram does not determine it.

    Parameters
    ----------
    h : ndarray, float64 (n,)
        K-mers of the counts 0, 1, 2, ... that the model was fitted to.
    first : int
        Lower counts were left out.
    fit : Mixture
    right : float
        Share of the letters of reads that are no errors.
    """
    groups = _groups(first, len(h))
    numbers = _Numbers.of(fit, groups)
    jacobian = numbers.derivatives(lambda model: np.add.reduceat(_all(model, len(h)), groups))
    weights = 1 / np.add.reduceat(1 / weights_of(h), groups)
    normal = jacobian.T * weights @ jacobian
    scale = np.sqrt(np.diag(normal))
    if not (scale > 0).all() or np.linalg.cond(normal / np.outer(scale, scale)) > MAX_CONDITION:
        return None
    solve = np.linalg.solve(normal, jacobian.T * weights).astype(np.float64)
    model = np.add.reduceat(_all(fit, len(h)), groups)
    rest = np.add.reduceat(h, groups) - model
    own, by_node = _covariances(fit, np.append(groups, len(h)))
    stay: Numbers = np.eye(len(groups)) - jacobian @ solve
    left = np.sqrt(weights)[:, None] * stay
    own_left, node_traces = left @ own @ left.T, np.array([float(((left @ some) * left).sum()) for some in by_node])
    beyond = _above_zero(float(rest @ (weights * rest)) - np.trace(own_left), own_left, left, by_node, node_traces)
    run = _run(beyond, node_traces, right)
    shared = np.tensordot(_places(run, right), by_node, 1)
    shared_left = left @ shared @ left.T
    freedom = float(np.trace(shared_left) ** 2 / ((own_left + shared_left) ** 2).sum())
    return Spread(numbers, groups, solve, own, shared, solve @ rest, freedom, run)


def _above_zero(
    beyond: float, own_left: Numbers, left: Numbers, by_node: Numbers, node_traces: NDArray[np.float64]
) -> float:
    """The mean above 0 of what is around a value by chance."""
    scale = max(beyond, 0.0) / float(SHARES @ node_traces)
    shared = scale * np.tensordot(SHARES, by_node, 1)
    chance = float(np.sqrt(2 * ((own_left + left @ shared @ left.T) ** 2).sum()))
    z = max(beyond / chance, -5.0)
    return chance * (z + exp(-z * z / 2) / sqrt(2 * pi) / (erfc(-z / sqrt(2)) / 2))


def _run(beyond: float, node_traces: Numbers, right: float) -> float:
    """The k-mers of a read that explain residuals beyond those of independent k-mers, by halving."""
    low, high = log(TINY), log(LONGEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _places(exp(middle), right) @ node_traces < beyond else (low, middle)
    return exp(low)


def _places(run: float, right: float) -> Numbers:
    """How many places, to one side, have about the share q of a node: -dd/dq times the node's weight."""
    loss = -log(right)
    low, high = np.zeros(len(NODES)), np.full(len(NODES), run)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        further = (1 - middle / run) * np.exp(-loss * middle) > NODES
        low, high = np.where(further, middle, low), np.where(further, high, middle)
    places: Numbers = SHARES / (np.exp(-loss * low) / run + loss * NODES)
    return places


@dataclass(frozen=True)
class Spread:
    """How the numbers of a fit vary.

    Attributes
    ----------
    numbers : _Numbers
        Those of the model that vary.
    groups : ndarray, intp (g,)
        First counts of the groups that counts are joined in.
    solve : ndarray, float64 (numbers, g)
        What differences of the groups change the numbers by.
    own, shared : ndarray, float64 (g, g)
        Covariance of the groups: of k-mers by themselves, and of shared reads.
    moved : ndarray, float64 (numbers,)
        Where a model with heterozygosity would move from here.
    freedom : float
        Degrees of freedom of what comes of shared reads.
    run : float
        K-mers of a read.
    """

    numbers: _Numbers
    groups: NDArray[np.intp]
    solve: Numbers
    own: Numbers
    shared: Numbers
    moved: Numbers
    freedom: float
    run: float

    def error(self, read: Callable[[Mixture], float], by_group: Numbers | None = None) -> float:
        """Half of the interval of a number read from the model, and directly from the groups if that is given."""
        own, shared = self.variances(read, by_group)
        if own + shared <= 0:
            return 0.0
        return _student(self.freedom * ((own + shared) / max(shared, TINY * own)) ** 2) * sqrt(own + shared)

    def variances(self, read: Callable[[Mixture], float], by_group: Numbers | None = None) -> tuple[float, float]:
        """The two parts of the variance of a number: of k-mers by themselves, and of shared reads."""
        slopes = self.numbers.derivatives(lambda model: np.array([read(model)]))[0]
        each = slopes @ self.solve + (0 if by_group is None else by_group)
        return max(0.0, float(each @ self.own @ each)), max(0.0, float(each @ self.shared @ each))

    def lost(self) -> tuple[float, float]:
        """The share of k-mers that are not the same on both chromosomes, and half of its interval."""
        value = 1 - self.numbers.fit.same + float(self.moved[self.numbers.names.index("lost")])
        return value, self.error(lambda model: 1 - model.same)


@dataclass(frozen=True)
class _Numbers:
    """Those numbers of a model that can vary; the others are at their bounds."""

    fit: Mixture
    names: tuple[str, ...]

    @classmethod
    def of(cls, fit: Mixture, groups: NDArray[np.intp]) -> _Numbers:
        free = ["coverage", "lost"] + [name for name in ("single", "double") if getattr(fit, name) > 0]
        if MIN_EXCESS * 1.01 < fit.excess < MAX_EXCESS * 0.99:
            free.append("excess")
        of_groups = zip(("errors", "decay"), groups, strict=False)  # one group does not tell how fast they become fewer
        free += [name for name, begin in of_groups if fit.errors * fit.decay ** int(begin) > FEW_ERRORS]
        return cls(fit, tuple(free))

    def derivatives(self, read: Callable[[Mixture], Numbers]) -> Numbers:
        """By each number, float64 (values, numbers); all but `lost` by their logarithms."""
        columns = [read(self._moved(name, STEP)) - read(self._moved(name, -STEP)) for name in self.names]
        return np.stack(columns, axis=1) / (2 * STEP)

    def _moved(self, name: str, by: float) -> Mixture:
        if name == "lost":
            return replace(self.fit, same=self.fit.same - by)
        return replace(self.fit, **{name: getattr(self.fit, name) * np.exp(by)})


def _all(fit: Mixture, size: int) -> Numbers:
    return fit.genuine(size) + fit.erroneous(size)


def _groups(first: int, size: int) -> NDArray[np.intp]:
    """The first counts of groups."""
    return np.arange(first, size, -(-(size - first) // GROUPS))


def _covariances(fit: Mixture, edges: NDArray[np.intp]) -> tuple[Numbers, Numbers]:
    """The covariance of independent k-mers, and what a place to both sides adds to it with the share of each node.

    float64 (groups, groups) and (nodes, groups, groups).
    """
    lost = 1 - fit.same
    one, two = 2 * lost * (fit.single + fit.double), fit.same * fit.single + lost * lost * fit.double
    kmers = one, two, 2 * fit.same * lost * fit.double, fit.same**2 * fit.double
    model = np.add.reduceat(_all(fit, int(edges[-1])), edges[:-1])
    own, shared = np.diag(model + 1), np.zeros((len(NODES), len(model), len(model)))
    for place, some in zip(PLACES, kmers, strict=True):
        if some > 0:
            mean = place * fit.coverage / 2
            alone = some * _joint(edges, mean, fit.excess, 0.0)
            own -= alone
            for number, node in enumerate(NODES):
                shared[number] += 2 * (some * _joint(edges, mean, fit.excess, node) - alone)
    return own, shared


def _joint(edges: NDArray[np.intp], mean: float, excess: float, share: float) -> Numbers:
    """The common distribution of the counts of two k-mers that have a share of their reads in common, in groups."""
    size = int(edges[-1])
    if share == 0:
        one = np.diff(np.concatenate([[0.0], np.cumsum(scattered(size, mean, excess))])[edges])
        return np.outer(one, one)
    common = scattered(size, share * mean, excess)
    there = np.flatnonzero(common > TINY)
    own = np.concatenate([[0.0], np.cumsum(scattered(size, (1 - share) * mean, excess))])
    up_to = own[np.maximum(edges[:, None] - there, 0)]
    parts = np.diff(up_to, axis=0)
    both: Numbers = parts * common[there] @ parts.T
    return both


def _student(freedom: float) -> float:
    """The quantile of Student's distribution that leaves 2.5 % above it (Cornish and Fisher's series)."""
    n = max(freedom, 2.0)
    z = NORMAL
    return (
        z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )  # fmt: skip
