"""Missing states that RAiSD draws, or lets match anything, against their definitions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from helpers.alignments import make_alignment
from helpers.sweep_sites import SEEDS, random_states, rows_of, states_of
from hypothesis import example, given, settings, strategies as st

from oclgenomics.errors import ParameterError
from oclgenomics.runtime import Engine
from oclgenomics.sweeps import SweepOptions, reference, scan
from oclgenomics.sweeps.sites.missing import Draws, imputed, matched, pool_size
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import unpack_sites

WIDTH = 8
FACTORS = ("mu_var", "mu_sfs", "mu_ld", "mu")


def lacking(seed: int, sites: int, haplotypes: int, missing: float) -> Alignment:
    states, seen = random_states(np.random.default_rng(seed), sites, haplotypes, missing)
    return make_alignment(states, np.arange(1, sites + 1) * 10, seen)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), parts=st.lists(st.integers(0, 50), max_size=5))
@example(seed=0, parts=[1, 30, 31, 32, 400])
def test_draws_are_those_of_the_c_library(seed: int, parts: list[int]) -> None:
    draws = Draws(seed)
    found = [one for count in parts for one in draws.take(count).tolist()]
    assert found == reference.glibc_rand(seed, sum(parts))
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:  # another C library has other numbers
        return
    libc.srand(ctypes.c_uint(seed))
    assert found == [libc.rand() for _ in found]


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, sites=st.integers(0, 12), haplotypes=st.integers(1, 70), missing=st.sampled_from([0.05, 0.5, 0.95]),
       block=st.sampled_from([1, 100, 1 << 22]))  # fmt: skip
def test_imputed_states(seed: int, sites: int, haplotypes: int, missing: float, block: int) -> None:
    alignment = lacking(seed, sites, haplotypes, missing)
    expected = reference.raisd_imputed(rows_of(*states_of(alignment)), seed % 1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oclgenomics.sweeps.sites.missing._AT_ONCE", block)
        found = imputed(alignment, Draws(seed % 1000))
    found.validate()
    assert rows_of(*states_of(found)) == expected


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, sites=st.integers(0, 60), haplotypes=st.integers(1, 70), missing=st.sampled_from([0.02, 0.2, 0.7]),
       capacity=st.integers(10, 14), width=st.sampled_from([2, 6, 10]))  # fmt: skip
def test_missing_states_match_anything(
    seed: int, sites: int, haplotypes: int, missing: float, capacity: int, width: int
) -> None:
    alignment = lacking(seed, sites, haplotypes, missing)
    assert alignment.valid is not None
    found = matched(alignment.bits, alignment.valid, haplotypes, width, capacity)
    ids, counts = reference.raisd_matches(rows_of(*states_of(alignment)), width, capacity)
    assert found.patterns.tolist() == ids
    assert list(zip(found.derived.tolist(), found.observed.tolist(), strict=True)) == counts
    half = width // 2
    windows = [reference.pattern_counts(ids[i : i + half], ids[i + half : i + width]) for i in range(sites - width + 1)]
    assert list(zip(*(one.tolist() for one in found.counts(width)), strict=True)) == windows


def test_the_pool_is_as_large_as_that_of_raisd() -> None:
    few = np.zeros((1, 2), np.uint32)
    with pytest.raises(ParameterError, match="RAiSD's pool holds 5 patterns of 2 haplotypes; use smaller windows"):
        matched(few, few, 2, 6, 5)
    assert [pool_size(haplotypes) for haplotypes in (1, 60, 64, 65, 140, 4000)] == [
        65536,
        65536,
        65536,
        43690,
        32768,
        2048,
    ]


def test_states_are_drawn_up_to_their_chance_where_a_haplotype_is() -> None:
    class Least:
        def take(self, count: int) -> np.ndarray:
            return np.zeros(count, np.int64)

    calls = np.array([[[0, 0], [-1, -2], [0, -2], [-1, 0]], [[1, 0], [0, -2], [0, -2], [-1, -1]]], np.int8)
    alignment = Alignment.from_genotypes([1, 2], calls)
    found = imputed(alignment, Least())  # type: ignore[arg-type]
    assert alignment.valid is not None
    assert found.valid is not None
    assert unpack_sites(found.bits, 8).tolist() == [[0, 0, 1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0, 1, 1]]
    assert unpack_sites(found.valid, 8).tolist() == [[1, 1, 1, 0, 1, 0, 1, 1], [1, 1, 1, 0, 1, 0, 1, 1]]


def mu_of(at: list[int], length: float, total: int, patterns: list[object], edges: list[int], row: int) -> list[float]:
    """The factors of mu and mu of a window of 10 haplotypes."""
    half, stop = row + WIDTH // 2, row + WIDTH
    pair = reference.pattern_counts(patterns[row:half], patterns[half:stop])
    span = float(at[stop - 1] - at[row])
    return [float(x) for x in reference.raisd_mu(span, length, total, WIDTH, sum(edges[row:stop]), 10, pair)]


def test_one_sequence_of_draws_for_all_alignments_and_sites_before_they_are_drawn(engine: Engine) -> None:
    parts = [lacking(seed, 60, 10, 0.2) for seed in (1, 2)]
    options = SweepOptions(statistics=["mu"], width=WIDTH, precision="compat", missing="impute", impute_seed=5, maf=0.2)
    rows = [row for part in parts for row in rows_of(*states_of(part))]
    drawn = reference.raisd_imputed(rows, 5)
    totals = []
    for number, found in enumerate(scan(parts, options, engine=engine)):
        own, after = rows[60 * number :][:60], drawn[60 * number :][:60]
        seen = [(row.count(1), 10 - row.count(None)) for row in own]
        before = sum(0 < d < t and min(d, t - d) / t >= 0.2 for d, t in seen)
        kept = [i for i, row in enumerate(after) if None not in row and 2 <= row.count(1) <= 8]
        totals.append(before == len(kept))
        assert found.sites == len(kept) == 60 - sum(found.discarded.values())
        assert found.facts.missing == pytest.approx(sum(own[i].count(None) for i in kept) / (10 * len(kept)))
        patterns: list[object] = [reference.pattern(after[i]) for i in kept]
        edges = [reference.edges(after[i].count(1), 10, 1) for i in kept]
        at, last = [int(parts[number].positions[i]) for i in kept], float(parts[number].positions[-1])
        for row in range(len(kept) - WIDTH + 1):
            expected = mu_of(at, last, before, patterns, edges, row)
            assert [found.values[name][row] for name in FACTORS] == expected
    assert not all(totals)


def test_mu_where_missing_states_match_anything(engine: Engine) -> None:
    parts = [lacking(seed, 90, 10, 0.2) for seed in (3, 4, 5)]
    states, _ = random_states(np.random.default_rng(6), 90, 10)
    parts.insert(1, make_alignment(states, np.arange(1, 91) * 10))
    options = SweepOptions(statistics=["mu"], width=WIDTH, precision="compat", missing="match", edge=2)
    for part, found in zip(parts, scan(parts, options, engine=engine), strict=True):
        rows = rows_of(*states_of(part))
        kept = [i for i, row in enumerate(rows) if 0 < row.count(1) < 10 - row.count(None)]
        ids, counts = reference.raisd_matches([rows[i] for i in kept], WIDTH, pool_size(10))
        edges = [reference.edges(*one, 2) for one in counts]
        at = [int(part.positions[i]) for i in kept]
        for row in range(len(kept) - WIDTH + 1):
            expected = mu_of(at, float(part.positions[-1]), len(kept), [*ids], edges, row)
            assert [found.values[name][row] for name in FACTORS] == expected
