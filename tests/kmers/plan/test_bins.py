"""Decisions of counting by bins, without a device."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.kmers.plan.bins import (
    CHUNK_BYTES,
    BinPlan,
    PrefixDensity,
    PrefixSpan,
    SlotLayout,
    chunk_keys,
    key_bytes,
    plan_span,
    planned_spans,
    stage_bytes,
    stage_keys,
)
from oclgenomics.runtime import DeviceLimits

LAPTOP = DeviceLimits(budget=8 << 30, max_allocation=4 << 30, compute_units=2, cpu=True)
MB = 1 << 20

limits = st.builds(
    DeviceLimits,
    budget=st.just(1 << 40),
    max_allocation=st.integers(1 << 17, 1 << 36),
    compute_units=st.integers(1, 256),
    cpu=st.just(True),
)
plans = st.builds(
    BinPlan, limits=limits, k=st.integers(8, 256), free=st.integers(1 << 17, 1 << 38), kmers=st.integers(0, 1 << 36)
)


@pytest.mark.parametrize("rest", [1, 31, 32, 33, 56, 57, 64, 65, 118, 120, 121, 128, 129, 511])
def test_layout_holds_rest_and_count(rest: int) -> None:
    slot = SlotLayout(rest)
    assert 8 <= slot.count_bits <= 32
    assert rest + slot.count_bits <= 64 * slot.words
    assert rest + 8 > 64 * (slot.words - 1)
    assert slot.many == 2**slot.count_bits - 1
    assert 8 * key_bytes(rest) >= rest
    assert stage_keys(rest) * key_bytes(rest) <= stage_bytes(rest) < (stage_keys(rest) + 1) * key_bytes(rest)
    assert chunk_keys(rest) // stage_keys(rest) * stage_bytes(rest) <= CHUNK_BYTES
    assert slot.key_words in (slot.words, slot.words - 1)


@given(plan=plans)
def test_all_fits_into_the_memory_that_is_free(plan: BinPlan) -> None:
    words = -(-2 * plan.k // 64)
    slot = 8 * SlotLayout(2 * plan.k).words
    tables = plan.walkers * (plan.table_lines + 16) * 8 * (slot + 4)
    stage = max(map(stage_bytes, range(max(1, 2 * plan.k - 32), 2 * plan.k + 1)))
    stages = plan.max_bins * (plan.walkers * (stage + 16) + 64)
    parts = [
        plan.part_slots(rest) * (8 * SlotLayout(rest).words + 8 * words + 4)
        for rest in range(max(1, 2 * plan.k - 32), 2 * plan.k + 1)
    ]
    taken = tables + stages + max(parts)
    assert all(plan.part_slots(rest) >= 8 * (plan.table_lines + 16) + 16 for rest in (1, 2 * plan.k))
    taken += plan.pool_bytes + plan.pool_bytes // CHUNK_BYTES * 16
    least = plan.walkers * (2 * CHUNK_BYTES + 48 * 8 * (slot + 4)) + 1024 * (slot + 8 * words + 4)
    assert taken <= max(plan.free, 2 * least + plan.free // 8)
    assert plan.max_bins >= 2
    assert plan.pool_bytes % CHUNK_BYTES == 0
    assert plan.pool_bytes <= max(plan.limits.max_allocation, 2 * plan.walkers * CHUNK_BYTES)


@pytest.mark.parametrize(
    ("k", "kmers", "free", "pool"),
    [
        (21, 209_000_000, 8 << 30, 256 * MB),
        (31, 192_000_000, 8 << 30, 256 * MB),
        (31, 3_000_000_000, 32 << 30, 2386 * MB),  # ten spans
        (55, 154_000_000, 8 << 30, 256 * MB),
        (31, 192_000_000, 200 * MB, 136 * MB),  # what tables and parts leave
        (31, 1_000_000, 8 << 30, 40 * MB),  # all at once
    ],
)
def test_pool(k: int, kmers: int, free: int, pool: int) -> None:
    assert BinPlan(LAPTOP, k, free, kmers).pool_bytes == pytest.approx(pool, rel=0.03)


@pytest.mark.parametrize(
    ("kmers", "bins", "rest", "bits"),
    [
        (1000, 1, 52, 0),
        (1 << 16, 1, 52, 0),
        ((1 << 16) + 1, 1, 52, 1),
        (1 << 14, 1, 100, 0),  # slots of two words
        ((1 << 14) + 1, 1, 100, 1),
        (1 << 14, 1, 98, 2),  # keys of 12 bytes instead of 16
        (1000, 1, 49, 1),  # and of 6 instead of 8
        (1 << 40, 1, 511, 12),
        (1 << 27, 1, 52, 11),
        (1 << 40, 1, 62, 12),  # no more than fit the cache
        (1 << 40, 1024, 52, 2),
        (1 << 20, 1024, 34, 2),  # keys of 4 bytes instead of 8
        (1 << 20, 1024, 35, 0),
        (1 << 40, 16, 3, 2),  # a bit is left
    ],
)
def test_bits_that_bins_are_divided_by(kmers: int, bins: int, rest: int, bits: int) -> None:
    assert BinPlan(LAPTOP, 31, 8 << 30, 1 << 30).bin_bits(kmers, bins, rest) == bits


@given(plan=plans, kmers=st.integers(1, 1 << 40), rest=st.integers(40, 511))
def test_bins_fit_the_tables_unless_there_may_be_no_more_of_them(plan: BinPlan, kmers: int, rest: int) -> None:
    bits = plan.bin_bits(kmers, 1, rest)
    assert kmers <= (8 * plan.table_lines // 2) << bits or 2 << bits > plan.max_bins
    assert kmers <= (1 << 16) << bits or 2 << bits > plan.max_bins


@pytest.mark.parametrize(("k", "shift", "bits"), [(31, 20, 12), (31, 7, 7), (31, 0, 0), (14, 8, 3), (14, 5, 0)])
def test_bits_that_divide_a_prefix(k: int, shift: int, bits: int) -> None:
    assert BinPlan(LAPTOP, k, 8 << 30).finer_bits(shift) == bits


def whole(plan: BinPlan, kmers: np.ndarray) -> PrefixDensity:
    """A density of all prefixes; `kmers` are those of the first bins."""
    bins = 1 << plan.density_bits
    return PrefixDensity(PrefixSpan(0, 32 - plan.density_bits, bins), np.resize(kmers, bins).astype(np.int64))


@given(
    plan=plans,
    weights=st.lists(st.sampled_from([0, 1, 1000]), min_size=1, max_size=30),
    spans=st.floats(0.1, 40),
    seed=st.integers(0, 1 << 32),
)
def test_spans_hold_all_prefixes_and_fit(plan: BinPlan, weights: list[int], spans: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    known: dict[tuple[int, int], int] = {}
    kmers = np.resize(weights, 1 << plan.density_bits)
    kmers = kmers * spans * plan.span_kmers(plan.k) / max(1, kmers.sum())

    def finer(span: PrefixSpan) -> PrefixDensity:
        parent = known[span.low, (span.bins << span.shift)]
        shares = rng.multinomial(parent, rng.dirichlet(np.full(span.bins, 0.05)))
        for number, share in enumerate(shares.tolist()):
            known[span.low + (number << span.shift), 1 << span.shift] = share
        return PrefixDensity(span, shares)

    density = whole(plan, kmers)
    for number, some in enumerate(density.kmers.tolist()):
        known[number << density.span.shift, 1 << density.span.shift] = some
    cut = list(planned_spans(plan, density, finer))
    assert (cut[0].low, cut[-1].high) == (0, 1 << 32)  # a sample may have missed k-mers of any prefix
    assert all(before.high == after.low for before, after in itertools.pairwise(cut))
    for span in cut:
        assert 1 <= span.bins <= plan.max_bins
        assert span.low % (1 << span.shift) == 0
        assert span.rest(plan.k) >= 1


def test_spans_are_about_even() -> None:
    plan = BinPlan(LAPTOP, 31, 8 << 30, 192_000_000)
    bins = 1 << plan.density_bits
    skewed = np.linspace(2, 0, bins) * 192_000_000 / bins
    density = whole(plan, skewed)
    spans = list(planned_spans(plan, density, lambda _: pytest.fail("no bin is too large")))
    assert 6 <= len(spans) <= 8
    assert max(span.bins for span in spans) <= plan.max_bins
    assert {key_bytes(span.rest(31)) for span in spans} == {6, 8}  # the last one has too many bins to be divided


@pytest.mark.parametrize("k", [21, 31, 55])
@pytest.mark.parametrize("kmers", range(60_000_000, 300_000_000, 20_000_000))
def test_spans_fit_the_pool_in_the_bins_they_get(k: int, kmers: int) -> None:
    plan = BinPlan(LAPTOP, k, 8 << 30, kmers)
    bins = 1 << plan.density_bits
    density = whole(plan, np.linspace(2, 0, bins) * kmers / bins)
    for span in planned_spans(plan, density, lambda _: pytest.fail("no bin is too large")):
        held = density.kmers[span.low >> density.span.shift : span.high >> density.span.shift].sum()
        assert held <= plan.span_kmers(span.rest(k))


def test_a_span_of_few_k_mers_is_one_bin() -> None:
    plan = BinPlan(LAPTOP, 31, 8 << 30, 1000)
    assert plan_span(plan, PrefixSpan(1 << 31, 31, 1), 1000) == PrefixSpan(1 << 31, 31, 1)
