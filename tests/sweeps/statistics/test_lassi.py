"""LASSI and saltiLASSI against the oracle: models, decays, reach, spectra with fewer haplotypes, and chunks."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.sweep_sites import SEEDS
from hypothesis import given, settings, strategies as st

from oclgenomics.sweeps import reference
from oclgenomics.sweeps.statistics import lassi


def spectra(rng: np.random.Generator, windows: int, kept: int, flat: float) -> np.ndarray:
    found = np.sort(rng.random((windows, kept)) ** flat + 1e-3, axis=1)[:, ::-1]
    return found / found.sum(axis=1, keepdims=True)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, kept=st.integers(2, 5), flat=st.sampled_from([0.3, 1.0, 4.0]), windows=st.integers(1, 5))
def test_values_are_those_of_the_oracle(seed: int, kept: int, flat: float, windows: int) -> None:
    rng = np.random.default_rng(seed)
    spectrum = spectra(rng, windows, kept, flat)
    neutral = spectrum.mean(axis=0)
    neutral[-1] = min(neutral[-1], 3.5 / (100 * kept))  # few models, since the oracle is slow
    haplotypes = rng.integers(2, 50, windows)
    at = np.sort(rng.choice(8, windows) * 45_000.0)  # some lie within reach, some at one place
    counts = spectrum * haplotypes[:, None]
    models = lassi.sweep_models(neutral)
    assert models.tolist() == [pytest.approx(one) for one in reference.lassi_models(neutral.tolist())]
    found = lassi.lassi_values(counts, neutral)
    rows, plain = spectrum.tolist(), neutral.tolist()
    assert found == pytest.approx([reference.lassi(*one, plain) for one in zip(rows, haplotypes.tolist(), strict=True)])
    least = lassi.least_distance(at)
    if np.isfinite(least):
        expected = reference.saltilassi(at.tolist(), rows, haplotypes.tolist(), plain, least)
        assert lassi.saltilassi_values(at, counts, neutral, least) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:  # all windows at one place count as one
        together = lassi.lassi_values(counts.sum(axis=0, keepdims=True), neutral)
        assert lassi.saltilassi_values(at, counts, neutral, least) == pytest.approx(np.repeat(together, windows))


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    counts = 30 * spectra(rng, 40, 10, 2.0)
    at, neutral = np.sort(rng.random(40)) * 400_000, counts.mean(axis=0) / 30
    whole = lassi.saltilassi_values(at, counts, neutral, 100.0)
    assert whole.max() > 0
    monkeypatch.setattr(lassi, "CHUNK", 1)
    assert lassi.saltilassi_values(at, counts, neutral, 100.0) == pytest.approx(whole, rel=1e-12)


def test_spectra_without_a_tenth_haplotype_have_no_models() -> None:
    neutral = np.array([0.6, 0.4, 0.0])
    assert lassi.sweep_models(neutral).shape == (0, 3)
    assert lassi.lassi_values(np.array([[4.0, 2.0, 0.0]]), neutral).tolist() == [0.0]
    assert lassi.saltilassi_values(np.array([5.0]), np.array([[4.0, 2.0, 0.0]]), neutral, 1.0).tolist() == [0.0]
    assert lassi.lassi_values(np.array([[4.0, 2.0, 0.0]]), np.array([0.5, 0.3, 0.2])).min() >= 0
