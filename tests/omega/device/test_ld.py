"""Linkage disequilibrium of pairs on every device, against the oracle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, make_multiallelic
from helpers.linkage import ld_matrix
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.errors import AllocationError, UsageError
from oclgenomics.omega import reference
from oclgenomics.omega.device import ld
from oclgenomics.omega.device.ld import ld_blocks
from oclgenomics.runtime import Device, Engine

TOLERANCE = 1e-5


def both_vary(states: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Whether the sites of each pair show two states among what is observed at both."""
    x, v = np.where(seen, states, 0).astype(np.int64), seen.astype(np.int64)
    varies = (v @ v.T) * ((x * x) @ v.T) > (x @ v.T) ** 2
    return varies & varies.T


def observed_at_both(seen: np.ndarray) -> np.ndarray:
    return np.maximum(seen.astype(np.float64) @ seen.T.astype(np.float64), 1)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    if measure == "r2":
        shown, known = (states[:, ::2] + states[:, 1::2], whole) if unphased else (states, both)
        expected[~both_vary(shown, known)] = np.nan
    np.fill_diagonal(expected, 1 if measure == "r2" else haplotypes)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix, expected, rtol=TOLERANCE, atol=1e-6)
    assert measure == "nr2" or np.nanmax(matrix) <= 1


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
    if measure == "r2":
        one_state = np.array([[len(set(x[v & w])) < 2 for w in seen] for x, v in zip(states, seen, strict=True)])
        expected = np.where(one_state | one_state.T, np.nan, expected / observed_at_both(seen))
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
    with Engine(device, max_memory=50_000) as engine, pytest.raises(AllocationError, match="max_memory"):
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
