"""Histograms of counts, and what is read from those of genomes whose truth is known."""

from __future__ import annotations

import io

import numpy as np
import pytest
from helpers.kmer_sets import GOLDEN, pairs_of, random_set, set_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oclgenomics.kmers.histogram import Histogram, count_histogram
from oclgenomics.kmers.plot import bases_text, plot_spectrum
from oclgenomics.kmers.sets import CountedKmers
from oclgenomics.kmers.spectrum import Spectrum, read_spectrum
from oclgenomics.plot_style import save_plot

GENOME = 1_000_000


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


def draw(histogram: Histogram, spectrum: Spectrum) -> tuple[str, bytes]:
    figure = plot_spectrum(histogram, spectrum, k=21, title="reads.kmers")
    (axes,) = figure.axes
    stream = io.BytesIO()
    save_plot(figure, stream, "png")
    return "\n".join([axes.get_title(loc="left"), *(text.get_text() for text in axes.texts)]), stream.getvalue()


@pytest.mark.parametrize(("text", "k", "canonical", "expected"), GOLDEN)
def test_golden_histograms(text: bytes, k: int, canonical: bool, expected: str) -> None:
    histogram = count_histogram(set_of(pairs_of(expected, k), k, canonical))
    counts = list(pairs_of(expected, k).values())
    assert histogram.counts.tolist() == sorted(set(counts))
    assert histogram.kmers.tolist() == [counts.count(count) for count in sorted(set(counts))]
    assert (histogram.distinct, histogram.total, histogram.largest) == (len(counts), sum(counts), max(counts))


@given(st.lists(st.one_of(st.integers(1, 9), st.integers(1, (1 << 32) - 1)), max_size=40))
def test_counts_of_every_size(counts: list[int]) -> None:
    keys = np.arange(len(counts), dtype=np.uint64)[None]
    histogram = count_histogram(CountedKmers(4, False, keys, np.array(counts, np.uint32)))
    assert histogram.distinct == len(counts)
    assert histogram.total == sum(counts)
    assert histogram.dense(10).tolist() == [0, *(counts.count(count) for count in range(1, 10))]


@pytest.mark.parametrize(
    ("coverage", "tolerance", "heterozygous"),
    [(4.0, 0.1, None), (6.5, 0.03, None), (12.5, 0.01, False), (32.0, 0.01, False), (400.0, 0.01, False)],
)
def test_haploid_genomes(coverage: float, tolerance: float, heterozygous: bool | None) -> None:
    spectrum = read_spectrum(of(poisson(coverage, GENOME, 1000) + errors(coverage, 1000)))
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
    spectrum = read_spectrum(of(poisson(30.0, GENOME)))
    assert (spectrum.valley, spectrum.error_share) == (0, 0.0)
    assert spectrum.genome_size == pytest.approx(GENOME, rel=0.001)


def test_repeats() -> None:
    spectrum = read_spectrum(of(poisson(30.0, 0.92 * GENOME) + poisson(60.0, 0.04 * GENOME) + errors(30.0)))
    assert spectrum.coverage == pytest.approx(30, rel=0.01)
    assert spectrum.repeat_share == pytest.approx(0.08, abs=0.01)
    assert spectrum.heterozygous is False


@pytest.mark.parametrize("rate", [0.005, 0.01, 0.013])
def test_diploid_genomes(rate: float) -> None:
    same = (1 - rate) ** 21
    tally = poisson(40.0, same * GENOME) + poisson(20.0, 2 * (1 - same) * GENOME) + errors(40.0)
    spectrum = read_spectrum(of(tally))
    assert spectrum.heterozygous is True
    assert spectrum.coverage == pytest.approx(40, rel=0.02)
    assert spectrum.half_peak == pytest.approx(20, rel=0.05)
    assert spectrum.genome_size == pytest.approx(GENOME, rel=0.02)


def test_what_cannot_be_told_is_left_open() -> None:
    very = poisson(40.0, 0.3 * GENOME) + poisson(20.0, 1.4 * GENOME) + errors(40.0)
    spectrum = read_spectrum(of(very))
    assert spectrum.heterozygous is None
    assert "coverage 40.1, half the size" in spectrum.notes[0]
    few = poisson(16.0, 0.85 * GENOME) + poisson(8.0, 0.3 * GENOME) + errors(16.0)
    spectrum = read_spectrum(of(few))
    assert spectrum.heterozygous is None
    assert "shoulder" in spectrum.notes[0]


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
    spectrum = read_spectrum(histogram)
    assert spectrum.coverage is spectrum.genome_size is spectrum.heterozygous is None
    assert spectrum.notes[0].startswith("no coverage peak")
    shown, png = draw(histogram, spectrum)
    assert shown.startswith("No coverage peak")
    assert png.startswith(b"\x89PNG")


@given(st.lists(st.integers(0, 1000), max_size=60))
def test_any_histogram_is_read_or_refused(tally: list[int]) -> None:
    histogram = of(np.array([0, *tally], np.float64))
    spectrum = read_spectrum(histogram)
    if spectrum.coverage is None:
        assert spectrum.notes
    else:
        assert 0 < spectrum.coverage <= histogram.largest + 1
        assert spectrum.genome_size is not None
        assert 0 < spectrum.genome_size <= histogram.total / spectrum.coverage


def test_figure_says_what_was_read() -> None:
    tally = poisson(40.0, 0.8 * GENOME) + poisson(20.0, 0.3 * GENOME) + poisson(80.0, 0.03 * GENOME) + errors(40.0)
    histogram = of(tally)
    shown, png = draw(histogram, read_spectrum(histogram))
    for part in ("Coverage 39.9", "heterozygous\n20", "errors: 9", "twice the coverage", "reads.kmers"):
        assert part in shown
    assert draw(histogram, read_spectrum(histogram))[1] == png


@pytest.mark.parametrize(
    ("size", "text"), [(3.1e9, "3.1 Gb"), (4_938_920, "4.94 Mb"), (5386, "5.39 kb"), (20.0, "20 bp"), (0.5, "0.5 bp")]
)
def test_sizes(size: float, text: str) -> None:
    assert bases_text(size) == text


def test_single_set_has_one_count() -> None:
    assert count_histogram(random_set(11, 1, most=1)).kmers.tolist() == [1]
