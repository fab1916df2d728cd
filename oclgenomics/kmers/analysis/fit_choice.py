"""Which model explains a histogram best, and whether another one explains it as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.analysis.histogram import Histogram
from oclgenomics.kmers.analysis.mixture import Mixture, fit_mixture

__all__ = ["MIN_HALVES", "FitChoice", "choose_fit", "fitted_counts"]

FITTED_TO = 2.5  # coverages
WITHOUT = (1.0, 0.7)  # where fits begin, as shares of the highest peak's coverage
WITH = ((1.0, 0.9), (1.4, 0.7), (2.0, 0.6))  # and with which share of k-mers that both chromosomes have alike
AS_GOOD = 2.0  # a fit leaves at most so many times as much unexplained as another that is as good
MIN_HALVES = 0.03  # k-mers of one chromosome, as a share of those of both
MIN_SAME = 0.1  # of k-mers: more heterozygosity is not looked for
MAX_UNEXPLAINED = 0.15  # of the k-mers, beyond chance
TWICE = (1.7, 2.3)  # coverages of two readings of the same peaks
MIN_PAIRS, LIKELY_PAIRS, MAX_PAIRS = 0.1, 0.3, 1.5  # places that occur twice for each that occurs once
SIZES_AGREE = 1.1


@dataclass(frozen=True)
class FitChoice:
    """The fit that was chosen.

    Attributes
    ----------
    taken : Mixture
    other : Mixture or None
        Another fit that is as good and says something else.
    shoulder : bool
        A fit with heterozygosity is no better than one without.
    """

    taken: Mixture
    other: Mixture | None = None
    shoulder: bool = False


def choose_fit(histogram: Histogram, first: int, peak: float) -> FitChoice | None:
    """Fit the model without and with heterozygosity and choose a fit; None if neither explains the histogram."""
    h = fitted_counts(histogram, peak)
    plain = min((fit_mixture(h, first, share * peak, None) for share in WITHOUT), key=_misfit)
    starts = [(share * peak, same) for share, same in WITH]
    if plain.pairs >= MIN_PAIRS and plain.single:
        starts.append((2 * plain.coverage, plain.mirrored))
    mixed = [fit_mixture(h, first, coverage, same) for coverage, same in starts]
    mixed = [fit for fit in mixed if fit.same >= MIN_SAME and fit.halves >= MIN_HALVES]
    best = min([plain, *mixed], key=_misfit)
    if _unexplained(h, first, best) > MAX_UNEXPLAINED:
        return None
    if not mixed:
        return FitChoice(plain)
    half = min(mixed, key=_misfit)
    if half.misfit > AS_GOOD * plain.misfit:
        return FitChoice(plain)
    if plain.misfit > AS_GOOD * half.misfit:
        return FitChoice(half)
    return _between(plain, half)


def fitted_counts(histogram: Histogram, peak: float) -> NDArray[np.float64]:
    """Return the k-mers of each count that models are fitted to, from count 0 on."""
    return histogram.dense(int(FITTED_TO * peak) + 3).astype(np.float64)


def _between(plain: Mixture, half: Mixture) -> FitChoice:
    """Choose between two equally good fits, without heterozygosity and with it."""
    if TWICE[0] <= half.coverage / plain.coverage <= TWICE[1]:
        if plain.pairs < LIKELY_PAIRS:
            return FitChoice(plain, half if plain.pairs >= MIN_PAIRS else None)
        return FitChoice(half, plain if plain.pairs <= MAX_PAIRS else None)
    if half.coverage <= SIZES_AGREE * plain.coverage:
        return FitChoice(plain, shoulder=True)
    return FitChoice(half, plain)


def _misfit(fit: Mixture) -> float:
    return fit.misfit


def _unexplained(h: NDArray[np.float64], first: int, fit: Mixture) -> float:
    """Share of the k-mers by which a fit differs from the histogram more than by chance."""
    apart = np.abs(h - fit.genuine(len(h)) - fit.erroneous(len(h)))[first:]
    return float(np.maximum(apart - 2 * np.sqrt(h[first:] + 1), 0).sum() / h[first:].sum())
