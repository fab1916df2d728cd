"""What the histogram of a sequencing run's k-mers tells: errors, coverage, heterozygosity, size of the genome, repeats.

Method
------
A k-mer of the genome is seen about as often as reads' k-mers cover the genome; one with a sequencing error is seen once
or a few times. So the histogram falls from its errors into a valley and rises to a peak. It is smoothed over half a
standard deviation of each count, and a rise or fall counts only if it stands out: by a tenth, and by five standard
deviations of what chance does to such numbers of k-mers.

Errors
    If the histogram falls from the first count that occurs, counts up to the valley behind it are taken for errors.
Coverage
    Of the peaks behind the valley the highest. The k-mer coverage is not its place (a whole number, and below the mean)
    but, with h(c) k-mers of count c and a to b the counts around it, the sum of c h(c) over a < c <= b divided by the
    sum of h(c) over a <= c < b: the mean exactly, if counts scatter as Poisson's.
Heterozygous peak
    A lesser peak near half the coverage: k-mers of one of two chromosomes. In three cases it is left open. Where a
    large second peak lies near twice the coverage instead, the histogram does not tell a very heterozygous genome (from
    about 1.5 % on, with 21-mers) from a much repeated one. Where there is a shoulder (3 % more k-mers than the highest
    peak explains), it does not tell few heterozygous sites from uneven coverage. Below a coverage of 12 the two peaks
    would run together.
Genome size
    The sum of c h(c) behind the valley divided by the coverage: the haploid size.
Repeats
    The part of that sum with counts from 1.5 times the coverage on, or from three standard deviations above it where
    that is more.

Limits
------
Genuine k-mers at or below the valley are lost to the size, and errors above it add to it: at a coverage of 5 the size
is wrong by about a tenth, from 15 on by hardly anything. Few heterozygous sites (below about 0.1 %) leave no trace.
Coverage that varies (PCR, RNA, metagenomes, organelles) makes peaks that mean other things, and so do more than
two chromosomes of a kind. Counts cut by --min-count, --max-count or --counter-max bias everything. Assemblies show
most k-mers once, and nothing of this can be read from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.histogram import Histogram

__all__ = ["Spectrum", "read_spectrum"]

LONGEST = 1 << 16  # counts looked at; a peak further up is not looked for
STANDS_OUT, SIGMAS = 1.1, 5.0
AROUND = 1.5  # a peak, in standard deviations
HALF, TWICE = (0.4, 0.6), (1.7, 2.4)  # where second peaks lie, as shares of the coverage
LARGE_SECOND = 0.1  # k-mers at twice the coverage, as a share of those in the highest peak
TOLD_APART = 12.0  # coverage 4 (1 + sqrt(1/2))^2, where half and whole are their standard deviations apart
SHOULDER = 0.03  # k-mers about half the coverage that the highest peak does not explain, as a share of those in it
REPEAT_FROM, REPEAT_SIGMAS = 1.5, 3.0
LOW_NOTE = f"heterozygosity is left open: below a coverage of {TOLD_APART:g} its peak would not stand apart"
SHOULDER_NOTE = "heterozygosity is left open: a shoulder near {:.1f} may be of it, or of uneven coverage"
TWICE_NOTE = "the second peak is of repeats, or the genome is very heterozygous: coverage {:.1f}, half the size"


@dataclass(frozen=True)
class Spectrum:
    """A histogram's reading.

    Attributes
    ----------
    valley : int or None
        Counts up to this one are errors; 0 if there are none.
    coverage : float or None
        How often a k-mer of the genome was seen.
    half_peak : float or None
        Coverage of one of two chromosomes, where its peak stands out.
    heterozygous : bool or None
        Whether there is a half peak; None where that cannot be told.
    genome_size : float or None
        Haploid, in k-mers, which is nearly bp.
    repeat_share : float or None
        Part of the genome in two or more copies.
    error_share : float or None
        Part of all k-mers, with repetitions, that are errors.
    notes : tuple of str
        What could not be told, and why.
    """

    valley: int | None = None
    coverage: float | None = None
    half_peak: float | None = None
    heterozygous: bool | None = None
    genome_size: float | None = None
    repeat_share: float | None = None
    error_share: float | None = None
    notes: tuple[str, ...] = ()


def read_spectrum(histogram: Histogram) -> Spectrum:
    """Read a histogram, by the method above; what it does not tell is None, and a note says why."""
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
    peaks = [peak for _, peak in places]
    top = max(peaks, key=lambda place: float(smooth[place]))
    coverage = _mean_around(h, top, valley)
    counts, weights = histogram.counts, histogram.counts * histogram.kmers
    genuine = int(weights[counts > valley].sum())
    repeat_from = coverage + max((REPEAT_FROM - 1) * coverage, REPEAT_SIGMAS * coverage**0.5)
    half, heterozygous, notes = _second_peak(h, smooth, peaks, coverage, valley)
    return Spectrum(
        valley, coverage, half, heterozygous, genuine / coverage,
        int(weights[counts >= repeat_from].sum()) / genuine, 1 - genuine / histogram.total, notes,
    )  # fmt: skip


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


def _second_peak(
    h: NDArray[np.float64], smooth: NDArray[np.float64], peaks: list[int], coverage: float, valley: int
) -> tuple[float | None, bool | None, tuple[str, ...]]:
    """Coverage of the half peak, whether there is one, and why that is not known."""
    expected, single = _expected(h, coverage, valley)
    rest = np.maximum(h - expected, 0)
    for place in peaks:
        if HALF[0] <= place / coverage <= HALF[1]:
            return _mean_around(rest, place, valley), True, ()
    for place in peaks:
        twice = TWICE[0] <= place / coverage <= TWICE[1]
        if twice and rest[_around(h, place, valley)].sum() > LARGE_SECOND * single:
            return None, None, (TWICE_NOTE.format(_mean_around(rest, place, valley)),)
    if coverage < TOLD_APART:
        return None, None, (LOW_NOTE,)
    half = _around(h, int(coverage / 2), valley, sigmas=1.0)
    if (h - expected)[half].sum() > SHOULDER * single:
        return None, None, (SHOULDER_NOTE.format(coverage / 2),)
    return None, False, ()


def _expected(h: NDArray[np.float64], coverage: float, valley: int) -> tuple[NDArray[np.float64], float]:
    """The highest peak as a Poisson distribution, and its k-mers."""
    c = np.arange(len(h))
    logs = c * np.log(coverage) - coverage - np.concatenate([[0.0], np.cumsum(np.log(np.maximum(c[1:], 1)))])
    shape = np.exp(logs)
    peak = _around(h, int(coverage), valley)
    single = float(h[peak].sum() / shape[peak].sum())
    return single * shape, single
