"""Reads the histogram of the k-mers of reads: errors, coverage, heterozygosity, size of the genome, repeats.

Method
------
A k-mer of the genome is seen about as often as the k-mers of reads cover the genome. A k-mer with a sequencing error is
seen once or a few times. The histogram therefore falls from the errors into a valley and rises to a peak. It is
smoothed over half a standard deviation of each count. A rise or fall counts only if it exceeds a tenth and five
standard deviations of chance. The model of `mixture` is fitted around the highest peak, without heterozygosity and with
it.

Coverage
    The coverage of k-mers that both chromosomes have.
Heterozygosity
    The share of the sites at which the two chromosomes differ. Two fits are equally good unless one leaves twice as
    much unexplained. If they are equally good, the fit without heterozygosity is taken, and heterozygosity is left
    open: it is None, and a note says why.
Two readings
    Two peaks at c and 2 c may come from a heterozygous genome of coverage 2 c, or from repeats in a genome of coverage
    c and twice the size. Both fit equally well. With few k-mers at 2 c repeats are likelier, with many k-mers
    heterozygosity. Between the extremes the other reading is given too.
Genome size
    The sum of c h(c) over the counts c, divided by the coverage, where h(c) are the k-mers that are no errors. This is
    the haploid size.
Repeats
    The part of that sum with counts from 1.5 times the coverage on, or from three standard deviations above it if that
    is more.

Intervals
    Those of coverage, size and heterozygosity are approximate 95 % confidence intervals; see `spectrum_intervals`. They
    cover random error, which comes of the sampling of reads, if the model is right. They do not cover systematic error:
    uneven coverage, repeats that the model does not know, or the ends of sequences (of each linear sequence, the size
    lacks a read's length less one letter). They are given from a coverage of 8 on, if the model explains the histogram.

Limits
------
Heterozygosity below about 0.1 % leaves no trace. Uneven coverage (PCR, RNA, metagenomes, organelles) makes peaks that
mean other things, and so do more than two chromosomes of a kind. If the model leaves much unexplained, only the highest
peak is read, and a note says so. `min_count`, `max_count` and `counter_max` of the count bias everything. Assemblies
have most k-mers once and cannot be read so.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.kmers.analysis.intervals import Intervals, intervals_of
from oclgenomics.kmers.analysis.mixture import Mixture, fit_mixture
from oclgenomics.kmers.result import Histogram

MAX_COUNT = 1 << 16  # counts looked at; a peak further up is not looked for
MAX_FITTED = 2000.0  # coverage; beyond, the highest peak alone is as good
CLEAR_HALVES = 0.1  # k-mers of one chromosome, as a share of those of both
TOLD_APART = 12.0  # coverage 4 (1 + sqrt(1/2))^2, where half and whole are their standard deviations apart
FARTHEST = 3  # times the largest count: a fit whose coverage lies beyond fits a slope, and no peak
REPEAT_FROM, REPEAT_SIGMAS = 1.5, 3.0
ROUGH = 8.0  # coverage
NESTED = ("intervals", "other", "fit", "notes")  # that no cell of a table holds
ROUGH_NOTE = f"below a coverage of {ROUGH:g}, sizes may be wrong by a tenth, and no intervals are given"
LOW_NOTE = f"heterozygosity is left open: below a coverage of {TOLD_APART:g} its peak would not stand apart"
SHOULDER_NOTE = "heterozygosity is left open: a shoulder near {:.1f} may be of it, or of uneven coverage"
TOO_DEEP_NOTE = (
    f"heterozygosity is left open: no model is fitted above a coverage of {MAX_FITTED:g}, and there are no intervals"
)
UNSURE_NOTE = "no intervals are given: the histogram does not determine the numbers of the model"
UNFIT_NOTE = (
    "the histogram is not that of one genome of two chromosomes of a kind: only its highest peak was read, and there "
    "are no intervals"
)
MIN_RATIO, SIGMAS = 1.1, 5.0  # by which a rise or fall exceeds chance
AROUND = 1.5  # a peak, in standard deviations
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
MISFIT = attrgetter("misfit")


@dataclass(frozen=True)
class OtherReading:
    """What the histogram may mean instead.

    Attributes
    ----------
    coverage, genome_size, heterozygosity : float
        As in `Spectrum`.
    """

    coverage: float
    genome_size: float
    heterozygosity: float


@dataclass(frozen=True, repr=False)
class Spectrum:
    """What a histogram says about a genome.

    Attributes
    ----------
    valley : int or None
        Most k-mers up to this count are errors; 0 if there are none.
    coverage : float or None
        How often a k-mer of both chromosomes was seen.
    half_peak : float or None
        Coverage of k-mers that only one of two chromosomes has, if there are any; that of a shoulder where
        heterozygosity is left open.
    heterozygous : bool or None
        Whether the two chromosomes differ; None if that is left open.
    heterozygosity : float or None
        Share of the sites that differ, by the fit that was chosen; None where a note says that it is left open.
    genome_size : float or None
        Haploid, in k-mers, which is nearly bp.
    intervals : Intervals or None
        How sure coverage, size and heterozygosity are, if the reading of the fit is right; None where they cannot be
        had.
    repeat_share : float or None
        Part of the genome in two or more copies.
    error_share : float or None
        Part of all k-mers, with repetitions, that are errors.
    other : OtherReading or None
        A second reading that fits as well.
    fit : Mixture or None
        The model that was fitted.
    notes : tuple of str
        What is left open, and why.
    """

    valley: int | None = None
    coverage: float | None = None
    half_peak: float | None = None
    heterozygous: bool | None = None
    heterozygosity: float | None = None
    genome_size: float | None = None
    intervals: Intervals | None = None
    repeat_share: float | None = None
    error_share: float | None = None
    other: OtherReading | None = None
    fit: Mixture | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        if self.coverage is None or self.genome_size is None:
            return "Spectrum(no coverage peak)"
        return f"Spectrum(coverage={self.coverage:.1f}, genome_size={self.genome_size:.0f})"

    def records(self) -> list[dict[str, Any]]:
        """All values as one record; `other` and `fit` are dicts within it."""
        return [asdict(self)]

    def to_frame(self) -> Any:
        """The values as a table of one row, without `other`, `fit` and `notes`; see `app.frames.to_frame`."""
        (record,) = self.records()
        return to_frame({name: [value] for name, value in record.items() if name not in NESTED})


def read_spectrum(histogram: Histogram, k: int) -> Spectrum:
    """Read a histogram of k-mers by the method above. What it does not show is None, and a note says why."""
    h = histogram.dense(min(histogram.largest + 2, MAX_COUNT)).astype(np.float64)
    smooth = smoothed(h)
    peaks = peaks_of(smooth)
    valley = 0
    if peaks and peaks[0][1] == histogram.counts[0]:
        if len(peaks) == 1:
            return Spectrum(notes=("no coverage peak: the histogram does not rise again behind its first counts",))
        peaks = peaks[1:]
        valley = peaks[0][0]
    if not peaks:
        return Spectrum(notes=("no coverage peak: too few k-mers",))
    top = max((peak for _, peak in peaks), key=lambda place: float(smooth[place]))
    peak = mean_around(h, top, valley)
    first = fitted_from(valley)
    choice = choose_fit(histogram, first, peak) if peak <= MAX_FITTED else None
    if choice is None or choice.taken.coverage > FARTHEST * (histogram.largest + 1):
        return _read_peak(histogram, valley, peak)
    return _read_fit(histogram, k, valley, first, choice, fitted_counts(histogram, peak))


def fitted_from(valley: int) -> int:
    """Return the first count that the model is fitted to. Many errors do not have the shape of the model."""
    return max(2 if valley else 1, (valley + 1) // 2)


def _read_peak(histogram: Histogram, valley: int, coverage: float) -> Spectrum:
    """Take all k-mers behind the valley for those of the genome."""
    genuine = float((histogram.counts * histogram.kmers)[histogram.counts > valley].sum())
    return Spectrum(
        valley=valley, coverage=coverage, genome_size=genuine / coverage,
        repeat_share=_repeats(histogram, coverage, genuine), error_share=1 - genuine / histogram.total,
        notes=(UNFIT_NOTE if coverage <= MAX_FITTED else TOO_DEEP_NOTE,),
    )  # fmt: skip


def _read_fit(
    histogram: Histogram, k: int, valley: int, first: int, choice: FitChoice, h: NDArray[np.float64]
) -> Spectrum:
    fit = choice.taken
    sure = intervals_of(histogram, k, first, fit, h)
    genuine = _genuine(histogram, first, fit)
    heterozygous, notes = _heterozygous(choice)
    left_open = bool(notes)
    if fit.coverage < ROUGH:
        notes.append(ROUGH_NOTE)
        sure = None
    elif sure is None:
        notes.append(UNSURE_NOTE)
    elif left_open:
        sure = replace(sure, heterozygosity=None)
    return Spectrum(
        valley=valley, coverage=fit.coverage, half_peak=fit.coverage / 2 if fit.halves >= MIN_HALVES else None,
        heterozygous=heterozygous, heterozygosity=None if left_open else fit.heterozygosity(k),
        genome_size=genuine / fit.coverage, intervals=sure, repeat_share=_repeats(histogram, fit.coverage, genuine),
        error_share=1 - genuine / histogram.total,
        other=None if choice.other is None else _other_reading(histogram, k, first, choice.other), fit=fit,
        notes=tuple(notes),
    )  # fmt: skip


def _heterozygous(choice: FitChoice) -> tuple[bool | None, list[str]]:
    """Whether the two chromosomes differ, None where that is left open, and notes that say why."""
    fit = choice.taken
    if choice.shoulder or MIN_HALVES <= fit.halves < CLEAR_HALVES:
        return None, [SHOULDER_NOTE.format(fit.coverage / 2)]
    if fit.halves < MIN_HALVES and fit.coverage < TOLD_APART:
        return None, [LOW_NOTE]
    return None if choice.other is not None else fit.halves >= MIN_HALVES, []


def _other_reading(histogram: Histogram, k: int, first: int, fit: Mixture) -> OtherReading:
    return OtherReading(fit.coverage, _genuine(histogram, first, fit) / fit.coverage, fit.heterozygosity(k))


def _genuine(histogram: Histogram, first: int, fit: Mixture) -> float:
    """K-mers of the genome, with repetitions: all but errors, and below the first count fitted those of the model."""
    size = min(histogram.largest + 1, MAX_COUNT)
    weights = (histogram.counts * histogram.kmers).astype(np.float64)
    there = histogram.counts < size
    counts = histogram.counts[there]
    held = histogram.kmers[there].astype(np.float64)
    kept = np.maximum(held - fit.erroneous(size)[counts], 0)
    low = counts < first
    kept[low] = np.minimum(held[low], fit.genuine(first)[counts[low]])
    return float((counts * kept).sum() + weights[~there].sum())


def _repeats(histogram: Histogram, coverage: float, genuine: float) -> float:
    """The share of the genome's k-mers that were seen much more often than the coverage."""
    least = coverage + max((REPEAT_FROM - 1) * coverage, REPEAT_SIGMAS * coverage**0.5)
    return float((histogram.counts * histogram.kmers)[histogram.counts >= least].sum() / genuine)


def smoothed(h: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average over a quarter of a peak's standard deviation to either side, which is nothing below 16; float64 (n,)."""
    places = np.arange(len(h))
    reach = (np.sqrt(places) / 4).astype(np.int64)
    sums = np.concatenate([[0.0], np.cumsum(h)])
    first, last = places - reach, np.minimum(places + reach, len(h) - 1)
    means: NDArray[np.float64] = (sums[last + 1] - sums[first]) / (last + 1 - first)
    return means


def peaks_of(smooth: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the peaks that stand out on both sides, in order, each as (valley before it, peak)."""
    peaks: list[tuple[int, int]] = []
    valley = peak = 0
    rising = False
    for place in range(1, len(smooth)):
        if rising:
            if smooth[place] > smooth[peak]:
                peak = place
            elif _stands_out(smooth[peak], smooth[place]):
                peaks.append((valley, peak))
                rising, valley = False, place
        elif smooth[place] < smooth[valley]:
            valley = place
        elif _stands_out(smooth[place], smooth[valley]):
            rising, peak = True, place
    return peaks


def _stands_out(high: float, low: float) -> bool:
    return high > MIN_RATIO * low and high - low > SIGMAS * (high + low) ** 0.5


def _around(h: NDArray[np.float64], peak: int, valley: int, sigmas: float = AROUND) -> NDArray[np.int64]:
    """Counts about a peak."""
    reach = max(1, int(sigmas * peak**0.5))
    return np.arange(max(valley + 1, peak - reach), min(peak + reach, len(h) - 1) + 1)


def mean_around(h: NDArray[np.float64], peak: int, valley: int) -> float:
    """Return the mean of the Poisson distribution whose peak this is."""
    c = _around(h, peak, valley)
    below = float(h[c[:-1]].sum())
    mean = float((c[1:] * h[c[1:]]).sum()) / below if below else peak
    return float(np.clip(mean, c[0], c[-1]))


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
    plain = min((fit_mixture(h, first, share * peak, None) for share in WITHOUT), key=MISFIT)
    starts = [(share * peak, same) for share, same in WITH]
    if plain.pairs >= MIN_PAIRS and plain.single:
        starts.append((2 * plain.coverage, plain.mirrored))
    mixed = [fit_mixture(h, first, coverage, same) for coverage, same in starts]
    mixed = [fit for fit in mixed if fit.same >= MIN_SAME and fit.halves >= MIN_HALVES]
    best = min([plain, *mixed], key=MISFIT)
    if _unexplained(h, first, best) > MAX_UNEXPLAINED:
        return None
    if not mixed:
        return FitChoice(plain)
    half = min(mixed, key=MISFIT)
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


def _unexplained(h: NDArray[np.float64], first: int, fit: Mixture) -> float:
    """Share of the k-mers by which a fit differs from the histogram more than by chance."""
    apart = np.abs(h - fit.genuine(len(h)) - fit.erroneous(len(h)))[first:]
    return float(np.maximum(apart - 2 * np.sqrt(h[first:] + 1), 0).sum() / h[first:].sum())
