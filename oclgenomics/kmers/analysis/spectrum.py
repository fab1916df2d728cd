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

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oclgenomics.frames import to_frame
from oclgenomics.kmers.analysis.fit_choice import MIN_HALVES, FitChoice, choose_fit
from oclgenomics.kmers.analysis.histogram import Histogram
from oclgenomics.kmers.analysis.mixture import Mixture
from oclgenomics.kmers.analysis.peaks import mean_around, peaks_of, smoothed

__all__ = ["OtherReading", "Spectrum", "fitted_from", "read_spectrum"]

MAX_COUNT = 1 << 16  # counts looked at; a peak further up is not looked for
MAX_FITTED = 2000.0  # coverage; beyond, the highest peak alone is as good
CLEAR_HALVES = 0.1  # k-mers of one chromosome, as a share of those of both
TOLD_APART = 12.0  # coverage 4 (1 + sqrt(1/2))^2, where half and whole are their standard deviations apart
REPEAT_FROM, REPEAT_SIGMAS = 1.5, 3.0
ROUGH = 8.0  # coverage
NESTED = ("other", "fit", "notes")  # that no cell of a table holds
ROUGH_NOTE = f"below a coverage of {ROUGH:g}, sizes may be wrong by a tenth"
LOW_NOTE = f"heterozygosity is left open: below a coverage of {TOLD_APART:g} its peak would not stand apart"
SHOULDER_NOTE = "heterozygosity is left open: a shoulder near {:.1f} may be of it, or of uneven coverage"
TOO_DEEP_NOTE = f"heterozygosity is left open: no model is fitted above a coverage of {MAX_FITTED:g}"
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


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        if self.coverage is None or self.genome_size is None:
            return "Spectrum(no coverage peak)"
        return f"Spectrum(coverage={self.coverage:.1f}, genome_size={self.genome_size:.0f})"

    def records(self) -> list[dict[str, Any]]:
        """What was read as one record; those of `other` and `fit` are dicts within it."""
        return [asdict(self)]

    def to_frame(self) -> Any:
        """What was read as a table of one row, without `other`, `fit` and `notes`; see `frames.to_frame`."""
        (record,) = self.records()
        return to_frame({name: [value] for name, value in record.items() if name not in NESTED})


def read_spectrum(histogram: Histogram, k: int) -> Spectrum:
    """Read a histogram of k-mers, by the method above; what it does not tell is None, and a note says why."""
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
    if choice is None:
        return _read_peak(histogram, valley, peak)
    return _read_fit(histogram, k, valley, first, choice)


def fitted_from(valley: int) -> int:
    """Return the first count that the model is fitted to: where errors are many, their shape is not the model's."""
    return max(2 if valley else 1, (valley + 1) // 2)


def _read_peak(histogram: Histogram, valley: int, coverage: float) -> Spectrum:
    """Take what is behind the valley for the genome."""
    genuine = float((histogram.counts * histogram.kmers)[histogram.counts > valley].sum())
    return Spectrum(
        valley=valley,
        coverage=coverage,
        genome_size=genuine / coverage,
        repeat_share=_repeats(histogram, coverage, genuine),
        error_share=1 - genuine / histogram.total,
        notes=(UNFIT_NOTE if coverage <= MAX_FITTED else TOO_DEEP_NOTE,),
    )


def _read_fit(histogram: Histogram, k: int, valley: int, first: int, choice: FitChoice) -> Spectrum:
    fit = choice.taken
    genuine = _genuine(histogram, first, fit)
    heterozygous, notes = _heterozygous(choice)
    if fit.coverage < ROUGH:
        notes.append(ROUGH_NOTE)
    return Spectrum(
        valley=valley,
        coverage=fit.coverage,
        half_peak=fit.coverage / 2 if fit.halves >= MIN_HALVES else None,
        heterozygous=heterozygous,
        heterozygosity=fit.heterozygosity(k),
        genome_size=genuine / fit.coverage,
        repeat_share=_repeats(histogram, fit.coverage, genuine),
        error_share=1 - genuine / histogram.total,
        other=None if choice.other is None else _other_reading(histogram, k, first, choice.other),
        fit=fit,
        notes=tuple(notes),
    )


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
    """K-mers of the genome, with repetitions: all but errors, and where these were not fitted, those of the model."""
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
    """The part of the genome's k-mers that were seen much more often than covered once."""
    least = coverage + max((REPEAT_FROM - 1) * coverage, REPEAT_SIGMAS * coverage**0.5)
    return float((histogram.counts * histogram.kmers)[histogram.counts >= least].sum() / genuine)
