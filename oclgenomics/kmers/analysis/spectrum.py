"""What the histogram of a sequencing run's k-mers tells: errors, coverage, heterozygosity, size of the genome, repeats.

Method
------
A k-mer of the genome is seen about as often as reads' k-mers cover the genome; one with a sequencing error is seen once
or a few times. So the histogram falls from its errors into a valley and rises to a peak. It is smoothed over half a
standard deviation of each count, and a rise or fall counts only if it stands out: by a tenth, and by five standard
deviations of what chance does to such numbers of k-mers. About the highest peak the model of `mixture` is fitted,
without heterozygosity and with it.

Coverage
    That of k-mers which both chromosomes have.
Heterozygosity
    Share of the sites at which the two chromosomes differ. A fit is as good as another unless it leaves twice as much
    unexplained. Where both fits are as good, the one without heterozygosity is taken, and heterozygosity is left open.
Two readings
    Two peaks, at c and 2 c, are those of a heterozygous genome of coverage 2 c or of repeats in one of coverage c, half
    the coverage and twice the size. Both fit alike. With few k-mers at 2 c repeats are likelier, with many of them
    heterozygosity; between the extremes the other reading is told, too.
Genome size
    The sum of c h(c) over the counts c, h(c) being the k-mers that are no errors, divided by the coverage: the haploid
    size.
Repeats
    The part of that sum with counts from 1.5 times the coverage on, or from three standard deviations above it where
    that is more.

Limits
------
Heterozygosity below about 0.1 % leaves no trace. Coverage that varies (PCR, RNA, metagenomes, organelles) makes peaks
that mean other things, and so do more than two chromosomes of a kind: where the model leaves much unexplained, the
highest peak alone is read, and a note says so. Counts cut by --min-count, --max-count or --counter-max bias everything.
Assemblies show most k-mers once, and nothing of this can be read from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.analysis.histogram import Histogram
from oclgenomics.kmers.analysis.mixture import Mixture, fit_mixture

__all__ = ["OtherReading", "Spectrum", "fitted_from", "read_spectrum"]

LONGEST = 1 << 16  # counts looked at; a peak further up is not looked for
STANDS_OUT, SIGMAS = 1.1, 5.0
AROUND = 1.5  # a peak, in standard deviations
FITTED_TO = 2.5  # coverages
LONGEST_FITTED = 2000.0  # coverage; beyond, the highest peak alone is as good
WITHOUT = (1.0, 0.7)  # where fits begin, as shares of the highest peak's coverage
WITH = ((1.0, 0.9), (1.4, 0.7), (2.0, 0.6))  # and with which share of k-mers that both chromosomes have alike
AS_GOOD = 2.0  # times as much unexplained as by the best fit
MIN_SAME = 0.1  # of k-mers: more heterozygosity is not looked for
UNEXPLAINED = 0.15  # of the k-mers, beyond chance
NOTHING, CLEAR = 0.03, 0.1  # k-mers of one chromosome, as a share of those of both
TWICE = (1.7, 2.3)  # coverages of two readings of the same peaks
PAIRS_TOLD, PAIRS_LIKELY, PAIRS_MOST = 0.1, 0.3, 1.5  # places that occur twice for each that occurs once
SIZES_AGREE = 1.1
TOLD_APART = 12.0  # coverage 4 (1 + sqrt(1/2))^2, where half and whole are their standard deviations apart
REPEAT_FROM, REPEAT_SIGMAS = 1.5, 3.0
ROUGH = 8.0  # coverage
ROUGH_NOTE = f"below a coverage of {ROUGH:g}, sizes may be wrong by a tenth"
LOW_NOTE = f"heterozygosity is left open: below a coverage of {TOLD_APART:g} its peak would not stand apart"
SHOULDER_NOTE = "heterozygosity is left open: a shoulder near {:.1f} may be of it, or of uneven coverage"
TOO_DEEP_NOTE = f"heterozygosity is left open: no model is fitted above a coverage of {LONGEST_FITTED:g}"
UNFIT_NOTE = "the histogram is not that of one genome of two chromosomes of a kind: only its highest peak was read"


@dataclass(frozen=True)
class OtherReading:
    """What the histogram may mean as well.

    Attributes
    ----------
    coverage, genome_size, heterozygosity : float
        As those of `Spectrum`.
    """

    coverage: float
    genome_size: float
    heterozygosity: float


@dataclass(frozen=True)
class Spectrum:
    """A histogram's reading.

    Attributes
    ----------
    valley : int or None
        Up to this count most k-mers are errors; 0 if there are none.
    coverage : float or None
        How often a k-mer was seen that both chromosomes have.
    half_peak : float or None
        Coverage of k-mers that one of two chromosomes has, where there are such.
    heterozygous : bool or None
        Whether the two chromosomes differ; None where that cannot be told.
    heterozygosity : float or None
        Share of the sites that differ, by the fit that was taken.
    genome_size : float or None
        Haploid, in k-mers, which is nearly bp.
    repeat_share : float or None
        Part of the genome in two or more copies.
    error_share : float or None
        Part of all k-mers, with repetitions, that are errors.
    other : OtherReading or None
        A second reading that fits as well.
    fit : Mixture or None
        The model that was fitted.
    notes : tuple of str
        What could not be told, and why.
    """

    valley: int | None = None
    coverage: float | None = None
    half_peak: float | None = None
    heterozygous: bool | None = None
    heterozygosity: float | None = None
    genome_size: float | None = None
    repeat_share: float | None = None
    error_share: float | None = None
    other: OtherReading | None = None
    fit: Mixture | None = None
    notes: tuple[str, ...] = ()


def read_spectrum(histogram: Histogram, k: int) -> Spectrum:
    """Read a histogram of k-mers, by the method above; what it does not tell is None, and a note says why."""
    h = histogram.dense(min(histogram.largest + 2, LONGEST)).astype(np.float64)
    smooth = _smoothed(h)
    places = _turns(smooth)
    valley = 0
    if places and places[0][1] == histogram.counts[0]:
        if len(places) == 1:
            return Spectrum(notes=("no coverage peak: the histogram does not rise again behind its first counts",))
        places = places[1:]
        valley = places[0][0]
    if not places:
        return Spectrum(notes=("no coverage peak: too few k-mers",))
    top = max((peak for _, peak in places), key=lambda place: float(smooth[place]))
    peak = _mean_around(h, top, valley)
    first = fitted_from(valley)
    choice = _choice(histogram, first, peak) if peak <= LONGEST_FITTED else None
    if choice is None:
        return _read_peak(histogram, valley, peak)
    return _read_fit(histogram, k, valley, first, choice)


def fitted_from(valley: int) -> int:
    """Return the first count that the model is fitted to: where errors are many, their shape is not the model's."""
    return max(2 if valley else 1, (valley + 1) // 2)


@dataclass(frozen=True)
class _Choice:
    """The fit that was taken, and another that is as good and says something else.

    `shoulder` says that a heterozygous fit is no better than one without.
    """

    taken: Mixture
    other: Mixture | None = None
    shoulder: bool = False


def _choice(histogram: Histogram, first: int, peak: float) -> _Choice | None:
    """Fit the model without and with heterozygosity, and choose; None if neither explains the histogram."""
    h = histogram.dense(int(FITTED_TO * peak) + 3).astype(np.float64)
    plain = min((fit_mixture(h, first, share * peak, None) for share in WITHOUT), key=_misfit)
    starts = [(share * peak, same) for share, same in WITH]
    if plain.pairs >= PAIRS_TOLD and plain.single:
        starts.append((2 * plain.coverage, plain.mirrored))
    mixed = [fit_mixture(h, first, coverage, same) for coverage, same in starts]
    mixed = [fit for fit in mixed if fit.same >= MIN_SAME and fit.halves >= NOTHING]
    best = min([plain, *mixed], key=_misfit)
    if _unexplained(h, first, best) > UNEXPLAINED:
        return None
    if not mixed:
        return _Choice(plain)
    half = min(mixed, key=_misfit)
    if half.misfit > AS_GOOD * plain.misfit:
        return _Choice(plain)
    if plain.misfit > AS_GOOD * half.misfit:
        return _Choice(half)
    return _between(plain, half)


def _between(plain: Mixture, half: Mixture) -> _Choice:
    """Choose of a fit without heterozygosity and one with it that are equally good."""
    if TWICE[0] <= half.coverage / plain.coverage <= TWICE[1]:
        if plain.pairs < PAIRS_LIKELY:
            return _Choice(plain, half if plain.pairs >= PAIRS_TOLD else None)
        return _Choice(half, plain if plain.pairs <= PAIRS_MOST else None)
    if half.coverage <= SIZES_AGREE * plain.coverage:
        return _Choice(plain, shoulder=True)
    return _Choice(half, plain)


def _misfit(fit: Mixture) -> float:
    return fit.misfit


def _unexplained(h: NDArray[np.float64], first: int, fit: Mixture) -> float:
    """Share of the k-mers that a fit leaves out or has too many of, beyond what chance does."""
    apart = np.abs(h - fit.genuine(len(h)) - fit.erroneous(len(h)))[first:]
    return float(np.maximum(apart - 2 * np.sqrt(h[first:] + 1), 0).sum() / h[first:].sum())


def _read_peak(histogram: Histogram, valley: int, coverage: float) -> Spectrum:
    """Take what is behind the valley for the genome."""
    genuine = float((histogram.counts * histogram.kmers)[histogram.counts > valley].sum())
    return Spectrum(
        valley, coverage, None, None, None, genuine / coverage, _repeats(histogram, coverage, genuine),
        1 - genuine / histogram.total, notes=(UNFIT_NOTE if coverage <= LONGEST_FITTED else TOO_DEEP_NOTE,),
    )  # fmt: skip


def _read_fit(histogram: Histogram, k: int, valley: int, first: int, choice: _Choice) -> Spectrum:
    fit, other, notes = choice.taken, None, []
    genuine = _genuine(histogram, first, fit)
    heterozygous: bool | None = fit.halves >= NOTHING
    if choice.shoulder or NOTHING <= fit.halves < CLEAR:
        heterozygous = None
        notes.append(SHOULDER_NOTE.format(fit.coverage / 2))
    elif not heterozygous and fit.coverage < TOLD_APART:
        heterozygous = None
        notes.append(LOW_NOTE)
    if choice.other is not None:
        heterozygous = None
        coverage = choice.other.coverage
        size = _genuine(histogram, first, choice.other) / coverage
        other = OtherReading(coverage, size, choice.other.heterozygosity(k))
    if fit.coverage < ROUGH:
        notes.append(ROUGH_NOTE)
    return Spectrum(
        valley, fit.coverage, fit.coverage / 2 if fit.halves >= NOTHING else None, heterozygous, fit.heterozygosity(k),
        genuine / fit.coverage, _repeats(histogram, fit.coverage, genuine), 1 - genuine / histogram.total, other, fit,
        tuple(notes),
    )  # fmt: skip


def _genuine(histogram: Histogram, first: int, fit: Mixture) -> float:
    """K-mers of the genome, with repetitions: all but errors, and where these were not fitted, those of the model."""
    size = min(histogram.largest + 1, LONGEST)
    weights = (histogram.counts * histogram.kmers).astype(np.float64)
    there = histogram.counts < size
    counts = histogram.counts[there]
    held = histogram.kmers[there].astype(np.float64)
    kept = np.maximum(held - fit.erroneous(size)[counts], 0)
    low = counts < first
    kept[low] = np.minimum(held[low], fit.genuine(first)[counts[low]])
    return float((counts * kept).sum() + weights[~there].sum())


def _repeats(histogram: Histogram, coverage: float, genuine: float) -> float:
    """The part of the genome's k-mers that were seen much more often than covered once."""
    least = coverage + max((REPEAT_FROM - 1) * coverage, REPEAT_SIGMAS * coverage**0.5)
    return float((histogram.counts * histogram.kmers)[histogram.counts >= least].sum() / genuine)


def _smoothed(h: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over a quarter of the standard deviation of a peak to either side, which is nothing below 16."""
    places = np.arange(len(h))
    reach = (np.sqrt(places) / 4).astype(np.int64)
    sums = np.concatenate([[0.0], np.cumsum(h)])
    first, last = places - reach, np.minimum(places + reach, len(h) - 1)
    return (sums[last + 1] - sums[first]) / (last + 1 - first)


def _turns(smooth: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Places of the peaks that stand out on both sides, each with the valley before it, in order."""
    turns: list[tuple[int, int]] = []
    valley = peak = 0
    rising = False
    for place in range(1, len(smooth)):
        if rising:
            if smooth[place] > smooth[peak]:
                peak = place
            elif _stands_out(smooth[peak], smooth[place]):
                turns.append((valley, peak))
                rising, valley = False, place
        elif smooth[place] < smooth[valley]:
            valley = place
        elif _stands_out(smooth[place], smooth[valley]):
            rising, peak = True, place
    return turns


def _stands_out(high: float, low: float) -> bool:
    return high > STANDS_OUT * low and high - low > SIGMAS * (high + low) ** 0.5


def _around(h: NDArray[np.float64], peak: int, valley: int, sigmas: float = AROUND) -> NDArray[np.int64]:
    """Counts about a peak."""
    reach = max(1, int(sigmas * peak**0.5))
    return np.arange(max(valley + 1, peak - reach), min(peak + reach, len(h) - 1) + 1)


def _mean_around(h: NDArray[np.float64], peak: int, valley: int) -> float:
    """The mean of the Poisson distribution whose peak this is."""
    c = _around(h, peak, valley)
    below = float(h[c[:-1]].sum())
    mean = float((c[1:] * h[c[1:]]).sum()) / below if below else peak
    return float(np.clip(mean, c[0], c[-1]))
