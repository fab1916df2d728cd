"""Linkage disequilibrium on every device against the oracle, and what is made of its blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, make_multiallelic, random_positions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oclgenomics.errors import AllocationError, UsageError
from oclgenomics.omega import reference
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.ld import pairs as ld
from oclgenomics.omega.ld.pairs import LdBlock, ld_blocks, ld_matrix
from oclgenomics.omega.ld.parts import LdPart, omega_of_parts, window_parts
from oclgenomics.omega.ld.picture import BinnedLd
from oclgenomics.omega.options import ScanOptions
from oclgenomics.runtime import Device, Engine

TOLERANCE = 1e-5


def observed_at_both(seen: np.ndarray) -> np.ndarray:
    return np.maximum(seen.astype(np.float64) @ seen.T.astype(np.float64), 1)


def blocks_of(values: np.ndarray, rows: int) -> Iterator[LdBlock]:
    upper = np.triu(values, 1)
    for row0 in range(0, len(values), rows):
        yield LdBlock(row0, upper[row0 : row0 + rows, row0:])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sites=st.one_of(st.integers(1, 9), st.sampled_from([15, 16, 17, 63, 64, 65, 127, 128, 129, 200])),
    haplotypes=st.one_of(st.integers(2, 8), st.sampled_from([31, 32, 33, 63, 64, 65, 100])),
    data=st.sampled_from(["complete", "masked", "unphased", "unphased masked"]),
    measure=st.sampled_from(["r2", "nr2"]),
    seed=st.integers(0, 1000),
)
def test_matrix_agrees_with_the_oracle(shaped, sites, haplotypes, data, measure, seed):
    rng = np.random.default_rng(seed)
    unphased = "unphased" in data
    haplotypes += haplotypes % 2 if unphased else 0
    states = correlated_states(rng, sites, haplotypes)
    seen = rng.random(states.shape) < 0.8 if "masked" in data else None
    alignment = make_alignment(states, np.arange(sites), seen, unphased=unphased)
    matrix = ld_matrix(alignment, 0, sites - 1, engine=shaped, measure=measure)
    both = np.ones_like(states, bool) if seen is None else seen
    counted = observed_at_both(both)
    if unphased:
        whole = both[:, ::2] & both[:, 1::2]
        values = reference.pair_values(states[:, ::2] + states[:, 1::2], whole, unphased=True)
        counted = 2 * observed_at_both(whole)
    else:
        values = reference.pair_values(states, both)
    expected = values / np.maximum(counted, 1) if measure == "r2" else values
    np.fill_diagonal(expected, 1 if measure == "r2" else haplotypes)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix, expected, rtol=TOLERANCE, atol=1e-6)
    assert measure == "nr2" or matrix.max() <= 1


@pytest.mark.pairwise
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("measure", ["r2", "nr2"])
@pytest.mark.parametrize("sites", [2, 65, 130])
def test_sites_of_three_states_have_the_value_that_omega_sums(shaped, rng, sites, measure, masked):
    two = correlated_states(rng, sites, 70)
    states = np.where(rng.random(two.shape) < 0.1 * (np.arange(sites) % 3 == 0)[:, None], 2, two).astype(int)
    seen = rng.random(states.shape) < 0.9 if masked else np.ones_like(states, bool)
    alignment = make_multiallelic(states, np.arange(sites), seen if masked else None)
    assert 0 < len(set(alignment.multi_site.tolist())) < sites
    expected = reference.allele_values(np.where(seen, states, -1))
    expected = expected / observed_at_both(seen) if measure == "r2" else expected
    matrix = ld_matrix(alignment, 0, sites - 1, engine=shaped, measure=measure)
    np.fill_diagonal(expected, matrix[0, 0])
    np.testing.assert_allclose(matrix, expected, rtol=TOLERANCE, atol=1e-6)


@pytest.mark.parametrize("masked", [False, True])
def test_r2_never_passes_one(shaped, masked):
    """Equal sites of many frequencies: with its roundings n r2 comes out above n for some."""
    haplotypes = 15_013
    states = np.arange(haplotypes) < np.repeat(np.arange(2740, 2790), 2)[:, None]
    seen = np.ones_like(states)
    seen[:, 50] = not masked
    alignment = make_alignment(states.astype(np.uint8), np.arange(len(states)), seen if masked else None)
    matrix = ld_matrix(alignment, 0, len(states) - 1, engine=shaped, measure="r2")
    equal = np.diag(matrix, 1)[::2]
    assert equal.max() == 1
    assert equal.min() > 1 - TOLERANCE
    raw = ld_matrix(alignment, 0, len(states) - 1, engine=shaped, measure="nr2") / np.float32(haplotypes - masked)
    assert raw.max() > 1


def test_many_haplotypes_need_64_bits(shaped, rng):
    states = (rng.random((5, 70_000)) < 0.5).astype(np.uint8)
    states[1] = states[0]
    matrix = ld_matrix(make_alignment(states, np.arange(5)), 0, 4, engine=shaped)
    np.testing.assert_allclose(matrix, np.corrcoef(states) ** 2, rtol=1e-4, atol=1e-7)


def test_a_region_is_a_part_of_the_whole(shaped, rng):
    alignment = make_alignment(correlated_states(rng, 200, 50), np.arange(200))
    whole = ld_matrix(alignment, 0, 199, engine=shaped)
    np.testing.assert_array_equal(ld_matrix(alignment, 37, 150, engine=shaped), whole[37:151, 37:151])
    np.testing.assert_array_equal(whole, whole.T)


def test_blocks_do_not_change_values(shaped, rng, monkeypatch):
    alignment = make_alignment(correlated_states(rng, 300, 40), np.arange(300))
    whole = ld_matrix(alignment, 0, 299, engine=shaped)
    monkeypatch.setattr(ld, "BLOCK_BYTES", 1)
    blocks = list(ld_blocks(alignment, shaped))
    assert [(block.row0, block.values.shape) for block in blocks] == [
        (row0, (min(64, 300 - row0), 300 - row0)) for row0 in range(0, 300, 64)
    ]
    np.testing.assert_array_equal(ld_matrix(alignment, 0, 299, engine=shaped), whole)


def test_little_memory_is_enough_or_refused(device: Device, rng):
    alignment = make_alignment(correlated_states(rng, 300, 40), np.arange(300))
    with Engine(device) as engine:
        whole = ld_matrix(alignment, 0, 299, engine=engine)
    with Engine(device, max_memory=150_000) as engine:
        np.testing.assert_array_equal(ld_matrix(alignment, 0, 299, engine=engine), whole)
    with Engine(device, max_memory=50_000) as engine, pytest.raises(AllocationError, match="--max-memory"):
        ld_matrix(alignment, 0, 299, engine=engine)


def test_small_work_groups_change_nothing(shaped, rng):
    states = np.where(rng.random((200, 40)) < 0.02, 2, correlated_states(rng, 200, 40)).astype(int)
    alignment = make_multiallelic(states, np.arange(200))
    small = Engine(dataclasses.replace(shaped.device, max_work_group=16), tuning=shaped.tuning)
    whole = ld_matrix(alignment, 0, 199, engine=shaped)
    np.testing.assert_array_equal(ld_matrix(alignment, 0, 199, engine=small), whole)


def test_what_is_refused(shaped, rng, monkeypatch):
    alignment = make_alignment(correlated_states(rng, 10, 8), np.arange(10))
    for first, last in ((-1, 3), (3, 10), (5, 4)):
        with pytest.raises(UsageError, match="the alignment has 10 sites"):
            ld_matrix(alignment, first, last, engine=shaped)
    with pytest.raises(UsageError, match="measure='D': choose one of r2, nr2"):
        ld_matrix(alignment, 0, 9, engine=shaped, measure="D")
    monkeypatch.setattr(ld, "MAX_SITES", 9)
    with pytest.raises(UsageError, match="10 sites are in the region and at most 9 are possible"):
        ld_matrix(alignment, 0, 9, engine=shaped)


@given(
    sites=st.integers(2, 40), most=st.integers(1, 45), rows=st.integers(1, 45), seed=st.integers(0, 100),
)  # fmt: skip
def test_pixels_are_means_of_the_pairs_within_them(sites, most, rows, seed):
    values = np.random.default_rng(seed).random((sites, sites)).astype(np.float32)
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
            if i < j
        ]
        np.testing.assert_allclose(means[a, b], np.mean(pairs) if pairs else np.nan, rtol=1e-6)


@given(sites=st.integers(3, 40), rows=st.integers(1, 45), seed=st.integers(0, 100))
def test_parts_are_sums_over_their_pairs(sites, rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.random((sites, sites)).astype(np.float32)
    first, split, last = sorted(rng.choice(sites, 3, replace=False).tolist())
    parts = [*window_parts(first, split, last), LdPart("all", (0, sites - 1), (0, sites - 1))]
    for block in blocks_of(values, rows):
        parts = [part.plus(block) for part in parts]
    upper = np.triu(values, 1).astype(np.float64)
    left, right = slice(first, split + 1), slice(split + 1, last + 1)
    expected = [upper[left, left].sum(), upper[right, right].sum(), upper[left, right].sum(), upper.sum()]
    np.testing.assert_allclose([part.total for part in parts], expected, rtol=1e-6, atol=1e-9)
    k, m = split - first + 1, last - split
    pairs = [k * (k - 1) // 2, m * (m - 1) // 2, k * m, sites * (sites - 1) // 2]
    assert [part.pairs for part in parts] == pairs
    assert [part.sites for part in parts] == [k, m, k + m, sites]
    assert np.isnan(parts[0].mean) == (k < 2)
    omega = reference.omega_of_window(upper, split, first, last)
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
