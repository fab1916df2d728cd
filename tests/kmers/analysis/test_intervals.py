"""Intervals of sizes and rates: their parts against definitions, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.spectra import simulated_histogram
from numpy.typing import NDArray

from oclgenomics.kmers.analysis.intervals import NODES, Interval, _joint, _places, _run, _student, spread_of
from oclgenomics.kmers.analysis.mixture import Mixture, fit_mixture, scattered
from oclgenomics.kmers.analysis.spectrum import UNSURE_NOTE, Spectrum, read_spectrum
from oclgenomics.kmers.plots.spectrum import bases_between, percent_between
from oclgenomics.kmers.result import Histogram

K = 21


def drawn(model: Mixture, size: int, seed: int) -> Histogram:
    """A histogram of independent k-mers."""
    h = np.random.default_rng(seed).poisson((model.genuine(size) + model.erroneous(size))[1:])
    counts = np.flatnonzero(h)
    return Histogram(counts + 1, h[counts])


def model(genome: float, coverage: float, rate: float, errors: float = 3e6) -> Mixture:
    return Mixture(coverage, 0.05, (1 - rate) ** K, genome, 0.02 * genome, errors, 0.1, 0.0)


def test_quantiles_of_student() -> None:
    """Those of any table."""
    for freedom, quantile in ((3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (1e9, 1.95996)):
        assert _student(freedom) == pytest.approx(quantile, rel=0.015 if freedom < 10 else 0.001)


def joint(size: int, mean: float, excess: float, share: float) -> NDArray[np.float64]:
    """By its definition: counts x + y and x + z."""
    x, y = scattered(size, share * mean, excess), scattered(size, (1 - share) * mean, excess)
    found = np.zeros((size, size))
    for a in range(size):
        for b in range(size):
            found[a, b] = sum(x[c] * y[a - c] * y[b - c] for c in range(min(a, b) + 1))
    return found


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_counts_of_two_kmers_of_a_read(share: float) -> None:
    expected = joint(24, 6.0, 0.3, share)
    found = _joint(np.arange(1, 25), 6.0, 0.3, share)
    np.testing.assert_allclose(found, expected[1:, 1:], atol=1e-10)
    mean = expected.sum(axis=1) @ np.arange(24)
    both = np.arange(24) @ expected @ np.arange(24)
    assert both - mean**2 == pytest.approx(share * 6.0 * 1.3, rel=0.02)  # so q is their correlation
    grouped = _joint(np.array([1, 4, 10, 24]), 6.0, 0.3, share)
    spans = (1, 4), (4, 10), (10, 24)
    by_group = [[expected[a:b, c:d].sum() for c, d in spans] for a, b in spans]
    np.testing.assert_allclose(grouped, by_group, atol=1e-10)


def test_errors_are_those_of_many_draws() -> None:
    """The standard error of the coverage for independent k-mers, against its scatter."""
    truth = model(2e5, 20.0, 0.008)
    found, said = [], []
    for seed in range(6):
        h = drawn(truth, 53, seed).dense(53).astype(np.float64)
        fit = fit_mixture(h, 3, 20.0, 0.8)
        spread = spread_of(h, 3, fit)
        assert spread is not None
        found.append(fit.coverage)
        own, shared = spread.variances(lambda some: some.coverage)
        said.append(np.sqrt(own))
        assert spread.error(lambda some: some.coverage) > 1.95 * np.sqrt(own + shared)
    assert np.mean(said) == pytest.approx(np.std(found), rel=0.7)


def held(spectrum: Spectrum, genome: float, rate: float) -> tuple[bool, bool]:
    sure = spectrum.intervals
    assert sure is not None
    assert sure.heterozygosity is not None
    size = sure.genome_size.low <= genome <= sure.genome_size.high
    return size, sure.heterozygosity.low <= rate <= sure.heterozygosity.high


def realised(bases: int, rate: float, seed: int) -> float:
    """The share of the sites at which the two chromosomes of a simulated run differ."""
    rng = np.random.default_rng(seed)
    rng.integers(0, 4, bases, np.uint8)
    rng.integers(1, 4, bases, np.uint8)
    return float((rng.random(bases, np.float32) < rate).mean())


def test_intervals_hold_the_truth_of_reads() -> None:
    found = []
    for seed in range(3):
        histogram = simulated_histogram(20_000, 0.01, 30, 0.005, k=K, seed=seed)
        found.append(held(read_spectrum(histogram, K), 20_000, realised(20_000, 0.01, seed)))
    assert min(np.sum(found, axis=0)) >= 2


@pytest.mark.parametrize("right", [1.0, 0.99])
def test_places_that_share_reads(right: float) -> None:
    """Against a sum over all places: what q is on average, and what its square is."""
    share = (1 - np.arange(10_000) / 10_000) * right ** (130 / 10_000 * np.arange(10_000))
    for power in (1, 2):
        expected = 130 * (share**power).mean()
        assert _places(130.0, right) @ NODES**power == pytest.approx(expected, rel=0.01)
    assert _run(130.0 * share.mean(), NODES, right) == pytest.approx(130, rel=0.03)


def test_intervals_shrink_with_the_genome() -> None:
    widths = []
    for genome in (1e5, 1e7):
        spectrum = read_spectrum(drawn(model(genome, 25.0, 0.008, genome), 120, 1), K)
        assert spectrum.intervals is not None
        assert spectrum.intervals.heterozygosity is not None
        low, high = spectrum.intervals.heterozygosity.low, spectrum.intervals.heterozygosity.high
        assert spectrum.heterozygosity is not None
        assert low < spectrum.heterozygosity < high
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(10, rel=0.5)


def test_no_heterozygosity_has_an_upper_bound() -> None:
    spectrum = read_spectrum(drawn(model(1e6, 40.0, 0.0), 200, 1), K)
    assert spectrum.heterozygous is False
    assert spectrum.intervals is not None
    assert spectrum.intervals.heterozygosity is not None
    assert spectrum.intervals.heterozygosity.low == 0
    assert 0 < spectrum.intervals.heterozygosity.high < 1e-3


def test_deep_spectra_are_grouped() -> None:
    """Coverage 1200: thousands of counts in 400 groups."""
    h = drawn(model(1e6, 1200.0, 0.008), 3003, 1).dense(3003).astype(np.float64)
    fit = model(1e6, 1200.0, 0.008)
    spread = spread_of(h, 3, fit)
    assert spread is not None
    assert 350 < len(spread.groups) <= 400
    assert 0.01 < spread.error(lambda some: some.coverage) < 2.5


def test_what_a_fit_does_not_bear() -> None:
    low = read_spectrum(drawn(model(1e6, 6.0, 0.0), 100, 1), K)
    assert low.intervals is None
    assert any("no intervals" in note for note in low.notes)
    flat = np.zeros(30)
    flat[5] = 10.0
    assert spread_of(flat, 3, Mixture(10.0, 0.1, 1.0, 0.0, 0.0, 0.0, 0.1, 0.0)) is None
    assert UNSURE_NOTE.startswith("no intervals")


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(4.61e6, 4.66e6, "4.610 to 4.660 Mb"), (999e3, 1001e3, "0.9990 to 1.0010 Mb"), (90.0, 700.0, "90 to 700 bp")],
)
def test_intervals_as_text(low: float, high: float, text: str) -> None:
    assert bases_between(Interval(low, high)) == text
    assert percent_between(Interval(0.0095, 0.0107)) == "0.95 to 1.07 %"
