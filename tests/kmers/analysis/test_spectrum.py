"""Histograms of counts, and what is read from those of genomes whose truth is known."""

from __future__ import annotations

import functools
import io
import re

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, pairs_of, random_set, set_of
from helpers.products import examples, only_whole
from helpers.spectra import simulated_histogram
from hypothesis import example, given, settings, strategies as st
from matplotlib.figure import Figure
from numpy.typing import NDArray

from oclgenomics.app.figures import save_plot
from oclgenomics.kmers.analysis.spectrum import TOLD_APART, TOO_DEEP_NOTE, Spectrum, read_spectrum
from oclgenomics.kmers.api import histogram
from oclgenomics.kmers.database.kmer_set import CountedKmers
from oclgenomics.kmers.formats.histogram import reading_lines
from oclgenomics.kmers.plots.spectrum import bases_text, plot_spectrum
from oclgenomics.kmers.result import Histogram

GENOME = 1_000_000
K = 21


def of(tally: NDArray[np.float64]) -> Histogram:
    """A histogram from the k-mers that have the counts 0, 1, 2, ..."""
    tally = np.rint(tally).astype(np.int64)
    tally[0] = 0
    counts = np.flatnonzero(tally)
    return Histogram(counts, tally[counts])


def poisson(coverage: float, kmers: float, size: int = 600) -> NDArray[np.float64]:
    c = np.arange(1, size)
    return kmers * np.exp(np.concatenate([[0.0], np.cumsum(np.log(coverage / c))]) - coverage)


def errors(coverage: float, size: int = 600) -> NDArray[np.float64]:
    """One in ten k-mers is wrong; most such k-mers are seen once."""
    return poisson(0.02, coverage * GENOME / 10 / 0.02, size)


def drawn_texts(figure: Figure) -> str:
    (axes,) = figure.axes
    return "\n".join([axes.get_title(loc="left"), *(text.get_text() for text in axes.texts)])


def draw(histogram: Histogram, spectrum: Spectrum) -> tuple[str, bytes]:
    figure = plot_spectrum(histogram, spectrum, k=K, title="reads.kmers")
    stream = io.BytesIO()
    save_plot(figure, stream, "png")
    return drawn_texts(figure), stream.getvalue()


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_golden_histograms(text: bytes, k: int, canonical: bool, expected: str) -> None:
    found = histogram(set_of(pairs_of(expected, k), k, canonical))
    counts = list(pairs_of(expected, k).values())
    assert found.counts.tolist() == sorted(set(counts))
    assert found.kmers.tolist() == [counts.count(count) for count in sorted(set(counts))]
    assert (found.distinct, found.total, found.largest) == (len(counts), sum(counts), max(counts))


@given(st.lists(st.one_of(st.integers(1, 9), st.integers(1, (1 << 32) - 1)), max_size=40))
def test_counts_of_every_size(counts: list[int]) -> None:
    keys = np.arange(len(counts), dtype=np.uint64)[None]
    found = histogram(CountedKmers(4, False, keys, np.array(counts, np.uint32)))
    assert found.distinct == len(counts)
    assert found.total == sum(counts)
    assert found.dense(10).tolist() == [0, *(counts.count(count) for count in range(1, 10))]


@pytest.mark.parametrize(
    ("coverage", "tolerance", "heterozygous"),
    [(4.0, 0.1, None), (6.5, 0.03, None), (12.5, 0.01, False), *only_whole((32.0, 0.01, False)), (400.0, 0.01, False)],
)
def test_haploid_genomes(coverage: float, tolerance: float, heterozygous: bool | None) -> None:
    spectrum = read_spectrum(of(poisson(coverage, GENOME, 1000) + errors(coverage, 1000)), K)
    assert spectrum.valley is not None
    assert 1 <= spectrum.valley < coverage
    assert spectrum.coverage == pytest.approx(coverage, rel=tolerance / 2)
    assert spectrum.genome_size == pytest.approx(GENOME, rel=tolerance)
    assert spectrum.error_share == pytest.approx(1 / 11, rel=1.0)
    assert spectrum.repeat_share is not None
    assert spectrum.repeat_share < 0.05
    assert spectrum.heterozygous is heterozygous
    assert spectrum.half_peak is None
    assert bool(spectrum.notes) == (heterozygous is None)


def test_without_errors() -> None:
    spectrum = read_spectrum(of(poisson(30.0, GENOME)), K)
    assert (spectrum.valley, spectrum.error_share) == (0, 0.0)
    assert spectrum.genome_size == pytest.approx(GENOME, rel=0.001)


def test_repeats() -> None:
    spectrum = read_spectrum(of(poisson(30.0, 0.92 * GENOME) + poisson(60.0, 0.04 * GENOME) + errors(30.0)), K)
    assert spectrum.coverage == pytest.approx(30, rel=0.01)
    assert spectrum.repeat_share == pytest.approx(0.08, abs=0.01)
    assert spectrum.heterozygous is False


@pytest.mark.parametrize("rate", [0.005, 0.01, 0.013])
def test_diploid_genomes(rate: float) -> None:
    same = (1 - rate) ** K
    tally = poisson(40.0, same * GENOME) + poisson(20.0, 2 * (1 - same) * GENOME) + errors(40.0)
    spectrum = read_spectrum(of(tally), K)
    assert spectrum.heterozygous is True
    assert spectrum.coverage == pytest.approx(40, rel=0.02)
    assert spectrum.half_peak == pytest.approx(20, rel=0.02)
    assert spectrum.genome_size == pytest.approx(GENOME, rel=0.01)
    assert spectrum.heterozygosity == pytest.approx(rate, rel=0.03)
    assert spectrum.other is None


@pytest.mark.pairwise
@pytest.mark.parametrize("error", [0.0, 0.02])
@pytest.mark.parametrize(("fold", "tolerance"), [(10, 0.1), (20, 0.03), (40, 0.02), (80, 0.02)])
@pytest.mark.parametrize("rate", [0.0, 0.001, 0.005, 0.01, 0.02])
def test_simulated_runs(rate: float, fold: int, tolerance: float, error: float) -> None:
    """Sizes are right to a tenth at 10-fold, 3 % at 20-fold, 2 % from 40-fold on; rates to 0.0012 from 20-fold on."""
    small = 100_000 if fold < 80 else 50_000
    spectrum = read_spectrum(simulated_histogram(small, rate, fold, error, k=K), K)
    if (fold, error) == (10, 0.02) and rate >= 0.015:  # a coverage of 5 on two chromosomes, and errors up to there
        assert spectrum.coverage is None
        return
    assert spectrum.genome_size == pytest.approx(small, rel=tolerance)
    if spectrum.other is not None:  # of two peaks alike
        assert rate >= 0.01
        assert spectrum.heterozygous is None
        assert spectrum.other.genome_size == pytest.approx(2 * small, rel=2 * tolerance)
    left_open = any("left open" in note for note in spectrum.notes)
    assert (spectrum.heterozygosity is None) == left_open
    if fold >= 20:
        unclear = rate == 0.001 or (rate == 0 and spectrum.coverage < TOLD_APART)
        assert left_open is (unclear and spectrum.heterozygous is None)
        assert left_open or spectrum.heterozygosity == pytest.approx(rate, abs=0.0012)
        assert spectrum.error_share == pytest.approx(1 - (1 - error) ** K, abs=0.02)
        assert (spectrum.heterozygous is True) == (0.005 <= rate <= 0.01)
    if not rate:
        assert spectrum.heterozygous is not True


def peaks(single: float, double: float) -> NDArray[np.float64]:
    """So many k-mers of coverage 40 and 80, with errors."""
    return poisson(40.0, single * GENOME) + poisson(80.0, double * GENOME) + errors(40.0)


@pytest.mark.parametrize(
    ("pairs", "coverage", "other"),
    [(0.08, 40, None), (0.15, 40, 80), (0.27, 40, 80), (0.35, 80, 40), (1.4, 80, 40), (2.0, 80, None)],
)
def test_both_readings_of_two_peaks(pairs: float, coverage: float, other: float | None) -> None:
    spectrum = read_spectrum(of(peaks(1.0, pairs)), K)
    total = 40 * GENOME + 80 * pairs * GENOME
    assert spectrum.coverage == pytest.approx(coverage, rel=0.01)
    assert spectrum.genome_size == pytest.approx(total / coverage, rel=0.01)
    assert (spectrum.other is None) == (other is None)
    if spectrum.other is not None:
        assert spectrum.heterozygous is None
        assert spectrum.other.coverage == pytest.approx(other, rel=0.01)
        assert spectrum.other.genome_size == pytest.approx(total / spectrum.other.coverage, rel=0.01)
        assert min(spectrum.other.heterozygosity, spectrum.heterozygosity or 0) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize(("share", "heterozygous"), [(0.026, False), (0.034, None), (0.09, None), (0.11, True)])
def test_from_when_on_there_is_a_half_peak(share: float, heterozygous: bool | None) -> None:
    tally = poisson(40.0, GENOME) + poisson(20.0, share * GENOME) + errors(40.0)
    spectrum = read_spectrum(of(tally), K)
    assert spectrum.heterozygous is heterozygous
    assert [note for note in spectrum.notes if "a shoulder near 20.0" in note] == list(spectrum.notes)
    assert bool(spectrum.notes) == (heterozygous is None)
    (record,) = spectrum.records()
    assert (record["heterozygosity"] is None) == (heterozygous is None)  # what is left open is no number anywhere
    figure = plot_spectrum(of(tally), spectrum, k=K, title="reads.kmers")
    shown, told = drawn_texts(figure), "; ".join(reading_lines(spectrum))
    assert ("heterozygosity left open" in shown) == (heterozygous is None)
    assert ("heterozygosity is left open" in told) == (heterozygous is None)
    for text in (shown, told):
        assert bool(re.search(r"heterozygosity [\d.]+ %", text)) == (heterozygous is True)


@functools.cache
def plain_reading(coverage: float, *, wrong: bool = False) -> Spectrum:
    """What is read of a genome alone, or of one and of errors."""
    return read_spectrum(of(poisson(coverage, GENOME) + errors(coverage) * wrong), K)


@pytest.mark.parametrize(("coverage", "count", "repeated"), [(100, 149, 0), (100, 151, 1), (16, 27, 0), (16, 29, 1)])
def test_from_when_on_a_kmer_is_of_a_repeat(coverage: int, count: int, repeated: int) -> None:
    tally = poisson(coverage, GENOME)
    plain = plain_reading(coverage).repeat_share
    tally[count] += 1000
    spectrum = read_spectrum(of(tally), K)
    assert plain is not None
    added = 1000 * count * repeated / (coverage * GENOME)
    assert spectrum.repeat_share == pytest.approx(plain + added, abs=added / 20 + 2e-5)


def test_a_histogram_that_is_not_of_one_genome() -> None:
    tally = sum(poisson(coverage, GENOME / 4) for coverage in (30.0, 44.0, 53.0)) + errors(30.0)
    spectrum = read_spectrum(of(tally), K)
    assert spectrum.heterozygous is spectrum.heterozygosity is spectrum.fit is None
    assert spectrum.genome_size is not None
    assert "only its highest peak was read" in spectrum.notes[0]


def test_a_coverage_of_thousands() -> None:
    counts = np.arange(1, 9000)
    kmers = np.rint(4e7 * np.exp(-((counts - 5000) ** 2) / 10_000) / 100).astype(np.int64)
    spectrum = read_spectrum(Histogram(counts[kmers > 0], kmers[kmers > 0]), K)
    assert spectrum.coverage == pytest.approx(5000, rel=0.001)
    assert spectrum.genome_size == pytest.approx(kmers.sum(), rel=0.001)
    assert spectrum.notes == (TOO_DEEP_NOTE,)


def test_the_highest_count_where_a_peak_is_seen() -> None:
    """A peak of this width ends 328 counts behind its top; all of it has to lie below 65,536."""
    seen = []
    for top in ((1 << 16) - 328, (1 << 16) - 327):
        counts = np.arange(top - 1500, top + 1500)
        kmers = np.rint(1000 * np.exp(-(((counts - top) / 600) ** 2))).astype(np.int64)
        seen.append(read_spectrum(Histogram(counts, kmers), K).coverage is not None)
    assert seen == [True, False]


@pytest.mark.parametrize("count", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, (1 << 32) - 1])
def test_counts_around_the_last_that_is_looked_at_are_of_the_genome(count: int) -> None:
    found = of(poisson(30.0, GENOME) + errors(30.0))
    plain = plain_reading(30.0, wrong=True)
    more = read_spectrum(Histogram(np.append(found.counts, count), np.append(found.kmers, 1)), K)
    assert plain.genome_size is not None
    assert more.genome_size == pytest.approx(plain.genome_size + count / 30, rel=1e-4)


@pytest.mark.parametrize(
    "histogram",
    [
        of(np.zeros(2)),
        Histogram(np.array([5]), np.array([1])),
        Histogram(np.array([1]), np.array([4_000_000])),
        of(poisson(2.0, GENOME) + errors(2.0)),
        of(1e6 / np.maximum(np.arange(300), 1) ** 2),
    ],
    ids=["empty", "one k-mer", "assembly", "low coverage", "metagenome"],
)
def test_no_peak(histogram: Histogram) -> None:
    spectrum = read_spectrum(histogram, K)
    assert spectrum.coverage is spectrum.genome_size is spectrum.heterozygous is None
    assert spectrum.notes[0].startswith("no coverage peak")
    shown, png = draw(histogram, spectrum)
    assert shown.startswith("No coverage peak")
    assert png.startswith(b"\x89PNG")


@settings(max_examples=examples(50))
@given(st.lists(st.integers(0, 1000), max_size=60))
@example([102, 150, 101, 56, 60, 14, 105])  # an interval without bounds
@example([102, 150, 99, 56, 60, 14, 105])  # a fit whose peak is far behind all counts
def test_any_histogram_is_read_or_refused(tally: list[int]) -> None:
    histogram = of(np.array([0, *tally], np.float64))
    spectrum = read_spectrum(histogram, K)
    if spectrum.coverage is None:
        assert spectrum.notes
    else:
        assert 0 < spectrum.coverage < 3 * histogram.largest + 3
        assert spectrum.genome_size is not None
        assert 0 <= spectrum.genome_size <= histogram.total / spectrum.coverage * (1 + 1e-9)


def test_figure_says_what_was_read() -> None:
    tally = poisson(40.0, 0.8 * GENOME) + poisson(20.0, 0.3 * GENOME) + poisson(80.0, 0.03 * GENOME) + errors(40.0)
    histogram = of(tally)
    shown, png = draw(histogram, read_spectrum(histogram, K))
    for part in ("Coverage 39.9", "heterozygous\n20", "errors: 9", "twice the coverage", "reads.kmers"):
        assert part in shown
    assert "heterozygosity 0.78 %" in shown
    assert draw(histogram, read_spectrum(histogram, K))[1] == png


@pytest.mark.parametrize(
    ("size", "text"), [(3.1e9, "3.1 Gb"), (4_938_920, "4.94 Mb"), (5386, "5.39 kb"), (20.0, "20 bp"), (0.5, "0.5 bp")]
)
def test_sizes(size: float, text: str) -> None:
    assert bases_text(size) == text


def test_single_set_has_one_count() -> None:
    assert histogram(random_set(11, 1, most=1)).kmers.tolist() == [1]
