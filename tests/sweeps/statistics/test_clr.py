"""Spectra, tables and the search of CLR on the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.sweep_sites import SEEDS
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, UsageError
from oclgenomics.sweeps import reference_clr
from oclgenomics.sweeps.statistics import clr

GOLDEN = Path(__file__).parents[2] / "golden" / "sweeps"


@settings(max_examples=4, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 12))
def test_tables_have_the_oracle_s_logarithms(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    spectrum = np.concatenate([[0.0], rng.dirichlet(np.ones(n - 1)), [0.0]])
    observed = rng.integers(2, n + 1, 4)
    derived = rng.integers(1, observed)
    classes = clr.SiteClasses.among(derived, observed, folded=bool(seed % 2))
    table = clr.ratio_table(classes, spectrum)
    sites = list(zip(classes.derived.tolist(), classes.observed.tolist(), strict=True))
    nodes = (0, 1, 700, clr.FINE_CELL, clr.FINE_CELL + 1, clr.NODES - 1, *rng.integers(0, clr.NODES, 9).tolist())
    for row, site in enumerate(sites):
        oracle = reference_clr.CompositeLikelihood([1.0], [site], spectrum.tolist(), folded=classes.folded)
        for node in nodes:
            steps = node / 4 if node <= clr.FINE_CELL else clr.FINE_FROM + (node - clr.FINE_CELL) / 16
            x = min(reference_clr.LEAST_X * np.exp(steps * clr.STEP), np.nextafter(12.0, 0))
            assert table.values[row, node] / 2**clr.VALUE_BITS == pytest.approx(oracle.ratio(x, 0.0), abs=1e-7)


def test_tables_where_splines_would_be_no_probability() -> None:
    spectrum = clr.read_spectrum(GOLDEN / "sweepfinder2.sweep40_1.spect")
    classes = clr.SiteClasses.among(np.array([19, 33]), np.array([40, 40]), folded=False)
    table = clr.ratio_table(classes, spectrum).values / 2**clr.VALUE_BITS
    for row, site in enumerate([(19, 40), (33, 40)]):
        oracle = reference_clr.CompositeLikelihood([1.0], [site], spectrum.tolist())
        for node in range(1, clr.FINE_CELL):
            x = reference_clr.LEAST_X * np.exp(node / 4 * clr.STEP)
            assert table[row, node] == pytest.approx(oracle.ratio(x, 0.0), rel=1e-6, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, missing=st.booleans(), folded=st.booleans())
def test_spectra_make_the_sites_likeliest(seed: int, missing: bool, folded: bool) -> None:
    rng = np.random.default_rng(seed)
    observed = rng.integers(5, 8, 300) if missing else np.full(300, 7)
    derived = rng.integers(1, rng.integers(2, observed + 1))
    classes = clr.SiteClasses.among(derived, observed, folded=folded)
    found = clr.background(classes)
    assert found.sum() == pytest.approx(1)
    assert found[0] == found[-1] == 0
    if not missing and not folded:
        np.testing.assert_allclose(found, np.bincount(derived, minlength=8) / 300)
    if folded:
        np.testing.assert_allclose(found, found[::-1], atol=1e-12)
    chances = classes.chances(7)
    best = classes.counts @ np.log(found @ chances)
    for _ in range(5):
        other = 0.97 * found + 0.03 * np.concatenate([[0.0], rng.dirichlet(np.ones(6)), [0.0]])
        assert classes.counts @ np.log(other @ chances) <= best + 1e-6


def test_spectra_that_do_not_suit_the_sites() -> None:
    classes = clr.SiteClasses.among(np.array([1, 3]), np.array([6, 6]), folded=False)
    with pytest.raises(UsageError, match="the spectrum is of 5 haplotypes, and a site has 6"):
        clr.ratio_table(classes, np.full(6, 0.2))
    with pytest.raises(UsageError, match="has no site with 3 of 6 haplotypes"):
        clr.ratio_table(classes, np.array([0, 0.5, 0.5, 0, 0, 0, 0]))


@pytest.mark.parametrize("text", ["1 0.5\n2 0.5\n", "0\t0\n# x\n1\t5e-1\n\n2 0.5"])
def test_spectra_of_files(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spectrum"
    path.write_text(text)
    np.testing.assert_array_equal(clr.read_spectrum(path), [0, 0.5, 0.5, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0.5\nx 0.5\n", "2: is not a number of derived haplotypes"),
        ("1 0.5\n2 1.5\n", "2: is not a number of derived haplotypes"),
        ("1 0.5\n1 0.5\n", "2: is not a number of derived haplotypes"),
        ("1 0.5 3\n", "1: is not a number of derived haplotypes"),
        ("1 0.5\n3 0.5\n", "does not have a line for each number"),
        ("2 0.5\n3 0.5\n", "does not have a line for each number"),
        ("# x\n", "does not have a line for each number"),
        ("0 0.5\n1 0.5\n", "has sites without any derived haplotype"),
    ],
)
def test_files_that_are_no_spectrum(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "spectrum"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        clr.read_spectrum(path)


@settings(max_examples=60, deadline=None)
@given(peak=st.floats(-8, 6), width=st.floats(0.2, 3), low=st.floats(-6, 0), span=st.floats(0.5, 8))
def test_the_search_finds_the_top_of_a_hill(peak: float, width: float, low: float, span: float) -> None:
    """Also below the first grid; at its upper end no sweep reaches any site."""
    peak = min(max(peak, low - 1), low + span)

    def scores(places: np.ndarray, alphas: np.ndarray) -> np.ndarray:
        height = 100 * np.exp(-(((np.log(alphas) - peak) / width) ** 2))
        return np.rint(np.ldexp(height, clr.VALUE_BITS)).astype(np.int64)

    lows, highs = np.exp(np.array([low, np.nan])), np.exp(np.array([low + span, np.nan]))
    ratios, alphas = clr.best_alphas(lows, highs, lows / 1e6, scores)
    assert ratios[0] == pytest.approx(100, abs=1e-6)
    assert np.log(alphas[0]) == pytest.approx(peak, abs=1e-4 * max(width, 1))
    assert np.isnan(ratios[1])
    assert np.isnan(alphas[1])
