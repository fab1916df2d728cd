"""The composite likelihood ratio of a sweep: background spectra, tables of log ratios, and the search for alpha.

`reference_clr` defines it. Here the splines of its tables are sampled along the logarithm of alpha times distance, so
finely that a cubic between two samples is the logarithm of the spline, and devices read log ratios from these samples.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.siphash import siphash
from oclgenomics.io.text_file import read_text
from oclgenomics.sweeps.arrays import Floats, Ints
from oclgenomics.sweeps.options import SweepOptions
from oclgenomics.sweeps.plan import Portion, grid_positions, positions_every
from oclgenomics.sweeps.reference_clr import (
    FIRST_ALPHAS,
    KNOTS,
    LATER_ALPHAS,
    LEAST_DISTANCE,
    LEAST_X,
    LOG_KNOTS,
    MOST_X,
    TOLERANCE,
)
from oclgenomics.sweeps.sites.mask import Mask
from oclgenomics.sweeps.sites.used import UsedSites
from oclgenomics.variation.recombination_map import RecombinationMap

# Samples lie at steps of ln(x), of which one is the distance of two logarithmic knots; positions among them are counted
# in units of 2^-UNIT_BITS steps. A step has 4 cells, and from FINE_FROM steps on 16.
STEP = math.log(MOST_X / LEAST_X) / (LOG_KNOTS - 1)
UNIT_BITS, COARSE_BITS, FINE_BITS = 23, 21, 19
STEPS, FINE_FROM = LOG_KNOTS - 1, 184
FINE_CELL = FINE_FROM << (UNIT_BITS - COARSE_BITS)
CELLS = FINE_CELL + ((STEPS - FINE_FROM) << (UNIT_BITS - FINE_BITS))
NODES = CELLS + 1
VALUE_BITS = 29  # after the point, of log ratios
PLACE_BITS = 28  # after the point, of positions in bp
CENTRES = 128  # of the intervals of a mantissa
AT_ONCE = 64  # classes of a table
LEAST_CHANCE = 1e-300
MOST_SLOPE = 1e6  # by a step: far above any of a chance that is not as good as 0

_KEY = b"oclgenomics  clr"  # of checksums of spectra
BP_PER_CM = 1e6  # SweepFinder2 takes 1 cM for 1 Mb
DEFAULT_STEP = 5_000
EM_ROUNDS, EM_CHANGE = 1000, 1e-10


@dataclass(frozen=True, eq=False)
class SiteClasses:
    """Sites by what CLR takes of them.

    Attributes
    ----------
    derived, observed : ndarray of int64, shape (classes,)
        Of the sites of each class; the lesser state's haplotypes where spectra are folded.
    counts : ndarray of int64, shape (classes,)
        Sites of each.
    of : ndarray of int64, shape (sites,)
        The class of each site.
    folded : bool
    """

    derived: Ints
    observed: Ints
    counts: Ints
    of: Ints
    folded: bool

    @classmethod
    def among(cls, derived: NDArray[np.integer], observed: NDArray[np.integer], *, folded: bool) -> SiteClasses:
        """Find the classes of sites that vary."""
        least = np.minimum(derived, observed - derived) if folded else derived
        keys = observed.astype(np.int64) << 32 | least
        found, of, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return cls(found & 0xFFFFFFFF, found >> 32, counts, of.reshape(-1), folded)

    @classmethod
    def union(cls, several: Sequence[SiteClasses]) -> SiteClasses:
        """Return all classes of several, of which at least one is given; of no sites."""
        keys = np.unique(np.concatenate([one.keys for one in several]))
        none = np.zeros(0, np.int64)
        return cls(keys & 0xFFFFFFFF, keys >> 32, none, none, several[0].folded)

    @classmethod
    def added(cls, several: Sequence[SiteClasses]) -> SiteClasses:
        """Return all classes of several, of which at least one is given, with their sites counted together."""
        keys, place = np.unique(np.concatenate([one.keys for one in several]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, place.reshape(-1), np.concatenate([one.counts for one in several]))
        return cls(keys & 0xFFFFFFFF, keys >> 32, counts, np.zeros(0, np.int64), several[0].folded)

    @property
    def keys(self) -> Ints:
        """A number for each class, ascending."""
        return self.observed << 32 | self.derived

    def have(self, other: SiteClasses) -> bool:
        """Say whether all classes of another are among these."""
        return bool(np.isin(other.keys, self.keys, assume_unique=True).all())

    def chances(self, size: int) -> Floats:
        """Return the chance of each class, given each number of derived ones among `size`; (size + 1, classes).

        Raises
        ------
        UsageError
            More haplotypes are observed than `size`.
        """
        if len(self.observed) and int(self.observed.max()) > size:
            raise UsageError(
                f"the spectrum is of {size:,} haplotypes, and a site has {int(self.observed.max()):,}; give one of all "
                "haplotypes"
            )
        found = _drawing(size, self.derived, self.observed)
        if self.folded:
            twice = 2 * self.derived != self.observed
            found += np.where(twice, _drawing(size, self.observed - self.derived, self.observed), 0.0)
        return found


@functools.lru_cache(maxsize=8)
def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, most + 1)))])


def _log_choices(n: NDArray[np.int64] | int, k: NDArray[np.int64], most: int) -> Floats:
    """ln(n choose k), which is -inf outside 0 <= k <= n."""
    known = _log_factorials(most)
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0)
    found: Floats = np.where(inside, known[n] - known[k] - known[np.maximum(n - k, 0)], -np.inf)
    return found


def _drawing(size: int, derived: Ints, observed: Ints) -> Floats:
    """The hypergeometric chance of so many derived ones among those observed, given that among all; (size + 1, k)."""
    i = np.arange(size + 1, dtype=np.int64)[:, None]
    ways = _log_choices(i, derived[None, :], size) + _log_choices(size - i, (observed - derived)[None, :], size)
    found: Floats = np.exp(ways - _log_choices(size, observed, size)[None, :])
    return found


def background(classes: SiteClasses) -> Floats:
    """Return the spectrum of the most haplotypes observed that makes the sites likeliest, float64 (haplotypes + 1,).

    Of complete data these are the shares of sites. Where states are missing it is found by expectation maximisation.
    """
    size = int(classes.observed.max()) if len(classes.observed) else 0
    if len(classes.observed) and not classes.folded and int(classes.observed.min()) == size:
        found = np.zeros(size + 1)
        found[classes.derived] = classes.counts / classes.counts.sum()
        return found
    chances = classes.chances(size)
    spectrum = np.zeros(size + 1)
    spectrum[1:size] = 1 / max(size - 1, 1)
    weights = classes.counts / max(int(classes.counts.sum()), 1)
    for _ in range(EM_ROUNDS):
        following = spectrum * (chances @ (weights / np.maximum(spectrum @ chances, LEAST_CHANCE)))
        change = float(np.abs(following - spectrum).max(initial=0.0))
        spectrum = following
        if change < EM_CHANGE:
            break
    return spectrum


def read_spectrum(path: str | os.PathLike[str]) -> Floats:
    """Read a background spectrum as SweepFinder2 has it: a number of haplotypes and the share of sites a line.

    Raises
    ------
    InputError
        The file cannot be read, or is something else; the message names the line.
    """
    text, name = read_text(path)
    shares: dict[int, float] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        try:
            count, share = int(words[0]), float(words[1])
        except (ValueError, IndexError):
            count, share = -1, math.nan
        if count < 0 or not 0 <= share <= 1 or count in shares or len(words) != 2:
            wrong = "is not a number of derived haplotypes and its share of sites, 0 to 1"
            raise InputError(wrong, source=name, line=number)
        shares[count] = share
    known = sorted(shares)
    if len(known) < 2 or known[-1] - known[0] + 1 != len(known) or known[0] > 1:
        raise InputError("does not have a line for each number of derived haplotypes from 1 on", source=name)
    if shares.get(0, 0.0) > 0:
        raise InputError("has sites without any derived haplotype; CLR takes sites that vary", source=name)
    found = np.zeros(known[-1] + 2)
    found[known] = [shares[count] for count in known]
    return found


@functools.lru_cache(maxsize=1)
def _knots() -> Floats:
    return np.array(KNOTS)


def spectrum_checksum(spectrum: Floats) -> str:
    """Return the checksum of the shares of a spectrum, whatever the layout of its file."""
    return f"{siphash(_KEY, spectrum.astype('<f8').tobytes()):016x}"


def swept_spectra(spectrum: Floats) -> Floats:
    """Return the spectra of sites that vary, at all knots of alpha times distance from a sweep, (knots, n + 1)."""
    n = len(spectrum) - 1
    draws = np.zeros((n + 1, n + 2))  # row k: k haplotypes drawn
    draws[n, : n + 1] = spectrum
    for size in range(n - 1, 0, -1):
        j, more = np.arange(size + 1), draws[size + 1]
        draws[size, : size + 1] = (more[: size + 1] * (size + 1 - j) + more[1 : size + 2] * (j + 1)) / (size + 1)
    k = np.arange(n, dtype=np.int64)
    row, b = k[:, None], np.arange(n + 1)[None, :]
    a = b + 1 - n + row
    hitched = np.where(a >= 0, draws[row + 1, np.maximum(a, 0)] * a, 0.0)
    lost = np.where(b <= row + 1, draws[row + 1, b] * (row + 1 - b), 0.0)
    after = (hitched + lost) / (row + 1)  # (n, n + 1): with k escapes
    x = _knots()[:, None] + 1e-7
    escape = -np.expm1(-x)
    chances = np.exp(_log_choices(n, k, n) + k * np.log(escape) - (n - k) * x)
    found: Floats = escape**n * spectrum + chances @ after
    return found / (1 - found[:, :1] - found[:, -1:])


def _curvatures(y: Floats) -> Floats:
    """The second derivatives at the knots of natural cubic splines, (knots, columns)."""
    x = _knots()
    count = len(x)
    gaps = np.diff(x)
    slopes = np.diff(y, axis=0) / gaps[:, None]
    span = (x[2:] - x[:-2])[:, None]
    bends = 6 * np.diff(slopes, axis=0) / span
    shares = (gaps[:-1] / (x[2:] - x[:-2])).tolist()
    factors, found = [0.0] * count, np.zeros_like(y)
    for i in range(1, count - 1):
        share = shares[i - 1]
        weight = share * factors[i - 1] + 2
        factors[i] = (share - 1) / weight
        found[i] = (bends[i - 1] - share * found[i - 1]) / weight
    for i in range(count - 2, -1, -1):
        found[i] += factors[i] * found[i + 1]
    return found


@functools.lru_cache(maxsize=1)
def _nodes() -> tuple[Floats, Ints, Floats, Floats, Floats]:
    """Of the samples: x, the knot below, both weights of linear interpolation, and the distance of the knots."""
    coarse = np.arange(FINE_CELL) / (1 << (UNIT_BITS - COARSE_BITS))
    fine = FINE_FROM + np.arange(CELLS - FINE_CELL + 1) / (1 << (UNIT_BITS - FINE_BITS))
    x = LEAST_X * np.exp(np.concatenate([coarse, fine]) * STEP)
    knots = _knots()
    below = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    gap = knots[below + 1] - knots[below]
    share = (x - knots[below]) / gap
    return x, below, (1 - share)[:, None], share[:, None], gap[:, None]


@dataclass(frozen=True, eq=False)
class RatioTable:
    """Samples of the log ratios of classes of sites.

    Attributes
    ----------
    values : ndarray of int64, shape (classes, NODES)
        In units of 2^-VALUE_BITS.
    slopes : ndarray of float32, shape (classes, NODES)
        Their derivatives by steps of ln(x).
    """

    values: NDArray[np.int64]
    slopes: NDArray[np.float32]


def ratio_table(classes: SiteClasses, spectrum: Floats) -> RatioTable:
    """Sample the log ratios of classes of sites.

    Raises
    ------
    UsageError
        The spectrum is of fewer haplotypes, or has no site like one of the data.
    """
    size, count = len(spectrum) - 1, len(classes.derived)
    inner = swept_spectra(spectrum)[:, 1:-1]
    values = np.empty((count, NODES), np.int64)
    slopes = np.empty((count, NODES), np.float32)
    for first in range(0, count, AT_ONCE):
        part = slice(first, first + AT_ONCE)
        own = SiteClasses(classes.derived[part], classes.observed[part], classes.counts, classes.of, classes.folded)
        among = own.chances(size)
        expected = _product(spectrum[None, :], among)[0]
        unlikely = np.flatnonzero(expected <= 0)
        if len(unlikely):
            derived, observed = own.derived[unlikely[0]], own.observed[unlikely[0]]
            raise UsageError(f"the spectrum has no site with {derived} of {observed} haplotypes, and the data have one")
        chance, rate = _sampled(_product(inner, _drawing(size, own.derived, own.observed)[1:-1]))
        if classes.folded:
            twice = 2 * own.derived != own.observed
            other = _drawing(size, own.observed - own.derived, own.observed)[1:-1]
            more, more_rate = _sampled(_product(inner, other))
            chance, rate = chance + np.where(twice, more, 0.0), rate + np.where(twice, more_rate, 0.0)
        rate, chance = np.where(chance > LEAST_CHANCE, rate, 0.0), np.maximum(chance, LEAST_CHANCE)
        values[part] = np.rint(np.ldexp(np.log(chance) - np.log(expected), VALUE_BITS)).T.astype(np.int64)
        slopes[part] = np.clip(rate * (_nodes()[0] * STEP)[:, None] / chance, -MOST_SLOPE, MOST_SLOPE).T
    return RatioTable(values, slopes)


def _product(left: Floats, right: Floats) -> Floats:
    """The product of two matrices, of which the right one is filled up to a fixed width.

    BLAS chooses its order of operations by the size, and a class must not depend on which others are in the table.
    """
    filled = np.zeros((len(right), AT_ONCE))
    filled[:, : right.shape[1]] = right
    found: Floats = (left @ filled)[:, : right.shape[1]]
    return found


def _sampled(y: Floats) -> tuple[Floats, Floats]:
    """Splines through values at knots, sampled at the nodes: (nodes, columns), and their derivatives by x."""
    _, below, a, b, gap = _nodes()
    second = _curvatures(y)
    low, high, low_bend, high_bend = y[below], y[below + 1], second[below], second[below + 1]
    linear = a * low + b * high
    found = linear + ((a**3 - a) * low_bend + (b**3 - b) * high_bend) * (gap * gap / 6)
    rate = (high - low) / gap + ((3 * b * b - 1) * high_bend - (3 * a * a - 1) * low_bend) * (gap / 6)
    outside = (found <= 0) | (found >= 1)
    return np.where(outside, linear, found), np.where(outside, (high - low) / gap, rate)


# The search


@dataclass(frozen=True, eq=False)
class ClrSites:
    """Sites of one alignment, and the places where CLR is computed along them.

    Attributes
    ----------
    sites : ndarray of float64, shape (sites,)
        Coordinates, ascending: bp, or those of a recombination map.
    derived, observed : ndarray of int32, shape (sites,)
        Haplotypes.
    places : ndarray of float64, shape (places,)
        Bp.
    at : ndarray of float64, shape (places,)
        Coordinates of the places.
    first, stop : ndarray of int64, shape (places,)
        Sites [first, stop) that count at each.
    """

    sites: Floats
    derived: NDArray[np.int32]
    observed: NDArray[np.int32]
    places: Floats
    at: Floats
    first: Ints
    stop: Ints

    @classmethod
    def of(
        cls, used: UsedSites, options: SweepOptions, mask: Mask, genetic: RecombinationMap | None,
        places: Floats | None = None,
    ) -> ClrSites:  # fmt: skip
        """Take the polarised sites of an alignment; those beyond the next excluded region do not count where it splits.

        CLR is computed at `places`, or where the options say.

        Raises
        ------
        InputError
            The recombination map does not have this chromosome.
        """
        places = places_of(used, options) if places is None else places
        first, stop = np.zeros(len(places), np.int64), np.full(len(places), used.sites, np.int64)
        if options.on_exclude == "split" and len(mask.excluded):
            starts, ends = mask.excluded.starts, mask.excluded.ends
            below = np.searchsorted(starts, places, side="left")  # regions that start below
            before = np.concatenate([[-np.inf], ends])[below]
            after = np.concatenate([starts, [np.inf]])[below]
            first, stop = (np.searchsorted(used.positions, border, side="right") for border in (before, after))
            stop = np.where(before >= places, first, stop)
        sites, at = used.positions, places
        known = used.polarised if "clr" in options.polarised else None
        if known is not None:
            number = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])
            first, stop, sites = number[first], number[stop], sites[known]
        if genetic is not None:
            sites, at = (BP_PER_CM * genetic.at(used.name, one) for one in (sites, at))
        derived, observed = used.derived.astype(np.int32), used.observed.astype(np.int32)
        if known is not None:
            derived, observed = derived[known], observed[known]
        return cls(sites, derived, observed, places, at, first.astype(np.int64), stop.astype(np.int64))

    def portion(self, own: Portion) -> ClrSites:
        """Return all sites, and the places of a portion."""
        begin, end = own.share(len(self.places))
        names = ("places", "at", "first", "stop")
        return replace(self, **{name: getattr(self, name)[begin:end] for name in names})

    def limits(self) -> tuple[Floats, Floats, Floats]:
        """Return the least and the largest alpha to be tried first at each place, and the least of all.

        NaN where none can be. Below the last one, all sites lie below the first knot, and ratios are the same.
        """
        left = np.clip(np.searchsorted(self.sites, self.at), self.first, self.stop)
        sums = np.concatenate([[0.0], np.cumsum(self.sites)])
        count = self.stop - self.first
        known = count > 0
        below, above = left - self.first, self.stop - left
        total = below * self.at - (sums[left] - sums[self.first]) + (sums[self.stop] - sums[left]) - above * self.at
        near = np.full(len(self.at), np.inf)
        for site, usable in ((left - 1, below > 0), (left, above > 0)):
            distance = np.abs(self.sites[np.where(usable, site, 0)] - self.at) if len(self.sites) else near
            near = np.where(usable, np.minimum(near, distance), near)
        mean = np.where(known, total / np.maximum(count, 1), np.nan)
        known &= mean >= LEAST_DISTANCE
        high = (MOST_X + 1) / np.maximum(near, LEAST_DISTANCE)
        low = MOST_X / np.where(known, mean, 1.0)
        sites = self.sites if len(self.sites) else np.zeros(1)
        ends = [sites[np.where(known, site, 0)] for site in (self.first, self.stop - 1)]
        far = np.maximum(*(np.abs(end - self.at) for end in ends))
        least = LEAST_X / np.where(known, far, 1.0)
        low, high, least = (np.where(known, one, np.nan) for one in (low, high, least))
        return low, high, least

    def reach(self, places: Ints, alphas: Floats) -> tuple[Ints, Ints]:
        """Return the sites [first, stop) that sweeps of some alphas (places, alphas) reach; equal where there is none.

        Parameters
        ----------
        places : ndarray of int64
        alphas : ndarray of float64, shape (places, alphas)
        """
        reach, at = MOST_X / alphas, self.at[places, None]
        first, stop = self.first[places, None], self.stop[places, None]
        low = np.clip(np.searchsorted(self.sites, at - reach, side="right"), first, stop)
        high = np.clip(np.searchsorted(self.sites, at + reach, side="left"), first, stop)
        return low, np.where(reach <= LEAST_DISTANCE, low, np.maximum(high, low))


def places_of(used: UsedSites, options: SweepOptions) -> Floats:
    """Return where CLR is computed, bp: at `clr_step`, or else on the grid of the rows, or else at `DEFAULT_STEP`."""
    if options.clr_step is None and (options.grid is not None or options.step is not None):
        return grid_positions(used, options)[0]
    return positions_every(used, options.clr_step or DEFAULT_STEP)


class Scores(Protocol):
    """What computes log ratios, in units of 2^-VALUE_BITS."""

    def __call__(self, places: Ints, alphas: Floats) -> Ints:
        """Return those of alphas (places, alphas) at some places."""


def best_alphas(low: Floats, high: Floats, least: Floats, scores: Scores) -> tuple[Floats, Floats]:
    """Return the largest log ratio of each place, and its alpha; NaN where no alpha can be tried.

    A grid of 100 alphas, then one of five between the neighbours of the best of the last grid, until it is as narrow as
    `TOLERANCE`. Three of the five are known as a rule: the best one lies in their middle.

    Parameters
    ----------
    low, high, least : ndarray of float64, shape (places,)
        As `ClrSites.limits` gives them.
    """
    ratios, found = np.full(len(low), np.nan), np.full(len(low), np.nan)
    places = np.flatnonzero(low < high)
    low, high, least = low[places], high[places], least[places]
    alphas, step = _grids(low, high, FIRST_ALPHAS)
    sums = scores(places, alphas)
    while len(places):
        rows, count = np.arange(len(places)), alphas.shape[1]
        best = np.argmax(sums, axis=1)
        ratios[places], found[places] = np.ldexp(sums[rows, best], -VALUE_BITS), alphas[rows, best]
        first, last = best == 0, best == count - 1
        done = first & (low <= least)
        before, after = np.maximum(best - 1, 0), np.minimum(best + 1, count - 1)
        widened = high + alphas[rows, before] - alphas[rows, np.maximum(best - 2, 0)]
        low, high = (
            np.where(first, np.maximum(np.exp(np.log(low) - count * step), least), alphas[rows, before]),
            np.where(last, widened, alphas[rows, after]),
        )
        kept = np.flatnonzero(((high - low) / ((high + low) / 2) > TOLERANCE) & ~done)
        known = np.stack([sums[rows, before], sums[rows, best], sums[rows, after]], axis=1)[kept]
        inner = ~(first | last)[kept]
        places, low, high, least = places[kept], low[kept], high[kept], least[kept]
        alphas, step = _grids(low, high, LATER_ALPHAS)
        sums = np.empty(alphas.shape, np.int64)
        sums[:, ::2] = known
        sums[inner, 1::2] = scores(places[inner], alphas[inner, 1::2])
        sums[~inner] = scores(places[~inner], alphas[~inner])
    return ratios, found


def _grids(low: Floats, high: Floats, count: int) -> tuple[Floats, Floats]:
    """Alphas (places, count) in even steps of their logarithm, and these steps."""
    step = np.log(high / low) / (count - 1)
    return np.exp(np.log(low)[:, None] + np.arange(count) * step[:, None]), step


# What devices take


def fixed_places(coordinates: Floats) -> NDArray[np.int64]:
    """Return coordinates in units of 2^-PLACE_BITS."""
    return np.rint(np.ldexp(coordinates, PLACE_BITS)).astype(np.int64)


def fixed_alphas(alphas: Floats) -> NDArray[np.int32]:
    """Return the logarithms of alphas, from that of LEAST_X on, in units of 2^-UNIT_BITS steps."""
    steps = np.log(alphas / LEAST_X) / STEP
    return np.rint(np.ldexp(steps, UNIT_BITS)).astype(np.int64).astype(np.uint32).view(np.int32)


@functools.lru_cache(maxsize=1)
def logarithm_tables() -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float32]]:
    """Return what logarithms of distances are made of: of 64 octaves, and of CENTRES parts of one with reciprocals."""
    octaves = (63 - np.arange(64) - PLACE_BITS) * math.log(2) / STEP
    centres = (CENTRES + np.arange(CENTRES) + 0.5) / CENTRES
    logarithms = np.log(centres) / STEP
    words = [np.rint(np.ldexp(x, UNIT_BITS)).astype(np.int64).astype(np.uint32) for x in (octaves, logarithms)]
    return words[0], words[1], (1 / (centres * 2.0**31)).astype(np.float32)
