"""What is made of blocks of linkage disequilibrium: means of pixels, sums of a window's parts, and omega of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, random_positions
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.omega import reference
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.ld.pairs import LdBlock, ld_blocks
from oclgenomics.omega.ld.parts import LdPart, omega_of_parts, window_parts
from oclgenomics.omega.ld.picture import BinnedLd
from oclgenomics.omega.options import ScanOptions


def blocks_of(values: np.ndarray, rows: int) -> Iterator[LdBlock]:
    upper = np.triu(values, 1)
    for row0 in range(0, len(values), rows):
        yield LdBlock(row0, upper[row0 : row0 + rows, row0:])


@given(
    sites=st.integers(2, 40), most=st.integers(1, 45), rows=st.integers(1, 45), seed=st.integers(0, 100),
)  # fmt: skip
def test_pixels_are_means_of_the_pairs_within_them(sites, most, rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.random((sites, sites)).astype(np.float32)
    values[rng.random(values.shape) < rng.choice([0, 0.2, 0.9])] = np.nan
    picture = BinnedLd(sites, most)
    for block in blocks_of(values, rows):
        picture.add(block)
    means = picture.means()
    assert means.shape == (min(sites, most),) * 2
    for a, b in np.ndindex(means.shape):
        pairs = [
            values[i, j]
            for i in range(picture.starts[a], picture.starts[a + 1])
            for j in range(picture.starts[b], picture.starts[b + 1])
            if i < j and not np.isnan(values[i, j])
        ]
        np.testing.assert_allclose(means[a, b], np.mean(pairs) if pairs else np.nan, rtol=1e-6)


@given(sites=st.integers(3, 40), rows=st.integers(1, 45), seed=st.integers(0, 100))
def test_parts_are_sums_over_their_pairs(sites, rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.random((sites, sites)).astype(np.float32)
    values[rng.random(values.shape) < rng.choice([0, 0.2])] = np.nan
    first, split, last = sorted(rng.choice(sites, 3, replace=False).tolist())
    parts = [*window_parts(first, split, last), LdPart("all", (0, sites - 1), (0, sites - 1))]
    for block in blocks_of(values, rows):
        parts = [part.plus(block) for part in parts]
    upper = np.triu(values, 1).astype(np.float64)
    left, right = slice(first, split + 1), slice(split + 1, last + 1)
    places = [(left, left), (right, right), (left, right), (slice(None), slice(None))]
    expected = [np.nansum(upper[place]) for place in places]
    assert [part.undefined for part in parts] == [np.isnan(upper[place]).sum() for place in places]
    np.testing.assert_allclose([part.total for part in parts], expected, rtol=1e-6, atol=1e-9)
    k, m = split - first + 1, last - split
    pairs = [k * (k - 1) // 2, m * (m - 1) // 2, k * m, sites * (sites - 1) // 2]
    assert [part.pairs for part in parts] == pairs
    assert [part.sites for part in parts] == [k, m, k + m, sites]
    assert np.isnan(parts[0].mean) == (parts[0].defined == 0)
    omega = reference.omega_of_window(np.nan_to_num(upper), split, first, last)
    parts = [replace(part, undefined=0) for part in parts]  # as of n r2, which is 0 there
    np.testing.assert_allclose(omega_of_parts(*parts[:3]), omega, rtol=1e-6)


@pytest.mark.parametrize("data", ["complete", "masked", "unphased"])
def test_parts_give_the_omega_of_the_scan(shaped, rng, data):
    states, positions = correlated_states(rng, 150, 40), np.unique(random_positions(rng, 400))[:150]
    seen = rng.random(states.shape) < 0.9 if data == "masked" else None
    alignment = make_alignment(states, positions, seen, unphased=data == "unphased")
    scan = OmegaScanner(shaped).scan(alignment, ScanOptions(grid=20, minwin=100, maxwin=10_000))
    assert scan.best is not None
    first, last = np.searchsorted(positions, [scan.left[scan.best], scan.right[scan.best]]).tolist()
    split = int(np.searchsorted(positions, int(scan.positions[scan.best]), "right")) - 1
    parts = window_parts(first, split, last)
    for block in ld_blocks(alignment, shaped, measure="nr2"):
        parts = tuple(part.plus(block) for part in parts)
    np.testing.assert_allclose(omega_of_parts(*parts), scan.omega[scan.best], rtol=1e-4)
