"""Alignments scanned together give what each gives alone, and batches hold no more than they should."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, make_multiallelic, random_positions
from helpers.products import examples
from hypothesis import HealthCheck, given, settings, strategies as st

from oclgenomics.errors import UsageError
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.omega.options import Precision, ScanOptions
from oclgenomics.omega.plan.batch import FLOAT_BITS, MAX_FRACTION_BITS, fraction_bits, whole_unit
from oclgenomics.omega.result import Scan
from oclgenomics.runtime import Engine
from oclgenomics.variation.alignment import Alignment

KINDS = ("complete", "complete", "masked", "unphased", "multiallelic")


def alignment_of(kind: str, sites: int, haplotypes: int, seed: int) -> Alignment:
    rng = np.random.default_rng(seed)
    states, positions = correlated_states(rng, sites, haplotypes), random_positions(rng, sites)
    if kind == "multiallelic":
        return make_multiallelic(states * rng.integers(1, 4, states.shape), positions)
    seen = rng.random(states.shape) < 0.9 if kind == "masked" else None
    return make_alignment(states, positions, seen, unphased=kind == "unphased")


def assert_equal(found: Scan, other: Scan) -> None:
    for name in ("positions", "omega", "left", "right", "valid"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    for name in ("name", "sites", "haplotypes", "possible", "maxwin"):
        assert getattr(found, name) == getattr(other, name)
    for name in ("scores", "pairs"):
        assert getattr(found.stats, name) == getattr(other.stats, name)


members = st.tuples(
    st.sampled_from(KINDS),
    st.one_of(st.integers(1, 12), st.sampled_from([63, 64, 65, 128, 130, 200])),
    st.sampled_from([20, 20, 34]),
    st.integers(0, 1000),
)


@settings(deadline=None, max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(members, min_size=1, max_size=8),
    maxwin=st.sampled_from([5_000, 100_000]),
    kernel=st.sampled_from(["auto", "1", "2", "tiles"]),
    block_rows=st.sampled_from([None, 64]),
    chunk=st.sampled_from([None, 7]),
)
def test_a_batch_is_its_alignments_one_by_one(
    engine: Engine,
    chosen: list[tuple[str, int, int, int]],
    maxwin: int,
    kernel: str,
    block_rows: int | None,
    chunk: int | None,
) -> None:
    alignments = [alignment_of(*member) for member in chosen]
    options = ScanOptions(grid=12, minwin=100, maxwin=maxwin, minsnps=2, kernel=kernel, chunk_positions=chunk)
    together = OmegaScanner(engine, block_rows=block_rows).scan_batch(alignments, options)
    assert len(together) == len(alignments)
    for alignment, found in zip(alignments, together, strict=True):
        assert_equal(found, OmegaScanner(engine).scan(alignment, options))


@settings(deadline=None, max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chosen=st.lists(members.filter(lambda member: member[0] != "unphased"), min_size=2, max_size=5))
def test_a_batch_in_compat_precision(engine: Engine, chosen: list[tuple[str, int, int, int]]) -> None:
    alignments = [alignment_of(*member) for member in chosen]
    options = ScanOptions(grid=9, minwin=100, maxwin=30_000, minsnps=2, precision="compat")
    together = OmegaScanner(engine).scan_batch(alignments, options)
    for alignment, found in zip(alignments, together, strict=True):
        assert_equal(found, OmegaScanner(engine).scan(alignment, options))


ways = st.sampled_from(
    [
        {},
        {"kernel": "tiles"},
        {"kernel": "1", "border": 3},
        {"precision": "compat"},
        {"precision": "compat", "border": 4},
        {"ld": "DOM"},
        {"ld": "ABSD", "precision": "compat"},
    ]
)


@settings(deadline=None, max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chosen=st.lists(members, min_size=1, max_size=4),
    cuts=st.lists(st.integers(0, 15), min_size=2, max_size=2),
    way=ways,
    maxwin=st.sampled_from([3_000, 20_000, 100_000]),
    block_rows=st.sampled_from([None, 64]),
)
def test_positions_by_themselves_are_those_of_the_whole_scan(
    engine: Engine,
    chosen: list[tuple[str, int, int, int]],
    cuts: list[int],
    way: dict[str, Any],
    maxwin: int,
    block_rows: int | None,
) -> None:
    """Also where a window of the rest is wider, or a site of the rest has more states."""
    plain = {"ld", "precision"} & set(way)
    alignments = [alignment_of(*one) for one in chosen if not (plain and one[0] == "unphased")]
    if "ld" in way:
        alignments = [one for one in alignments if not one.multiallelic]
    options = ScanOptions(grid=15, minwin=100, maxwin=maxwin, minsnps=2, **way)
    whole = OmegaScanner(engine).scan_filtered(alignments, options)
    scanner, borders = OmegaScanner(engine, block_rows=block_rows), [0, *sorted(cuts), 15]
    parts = [
        scanner.scan_filtered(alignments, options, ranges=[(begin, end)] * len(alignments))
        for begin, end in pairwise(borders)
    ]
    for place, scan in enumerate(whole):
        of_parts = [part[place] for part in parts]
        for name in ("positions", "omega", "left", "right", "valid", "enough_sites"):
            if scan.possible:
                joined = np.concatenate([getattr(one, name) for one in of_parts])
                np.testing.assert_array_equal(joined, getattr(scan, name), name)
        for one in of_parts:
            assert (one.maxwin, one.sites, one.stats.pairs) == (scan.maxwin, scan.sites, scan.stats.pairs)
        assert sum(one.stats.scores for one in of_parts) == scan.stats.scores


def uneven(sites: int, haplotypes: int, states: int) -> Alignment:
    """Sites that are close together, of so many states, and then twice as many of two that are not."""
    rng = np.random.default_rng(8)
    positions = np.concatenate([np.arange(sites) * 5 + 1, 5 * sites + np.arange(1, 2 * sites + 1) * 200])
    drawn = correlated_states(rng, 3 * sites, haplotypes)
    if states == 2:
        return make_alignment(drawn, positions)
    drawn[:sites] *= rng.integers(1, states, (sites, haplotypes)).astype(drawn.dtype)
    return make_multiallelic(drawn, positions)


@pytest.mark.parametrize(
    ("alignment", "precision"), [(uneven(100, 2000, 2), "accurate"), (uneven(40, 30, 4), "compat")], ids=["bits", "dna"]
)
def test_what_the_rest_decides_is_decided_without_it_too(
    engine: Engine, alignment: Alignment, precision: Precision
) -> None:
    """Fraction bits follow from the widest window, and OmegaPlus' DNA mode from any site of three states."""
    options = ScanOptions(grid=40, minwin=100, maxwin=1_500, minsnps=2, precision=precision)
    (whole,) = OmegaScanner(engine).scan_filtered([alignment], options)
    (last,) = OmegaScanner(engine).scan_filtered([alignment], options, ranges=[(25, 39)])
    assert last.valid.all()
    np.testing.assert_array_equal(last.omega, whole.omega[25:39])
    np.testing.assert_array_equal(last.left, whole.left[25:39])


def test_one_alignment_with_sums_too_large_leaves_the_others_alone(engine: Engine) -> None:
    """Complete LD between many haplotypes outgrows the format; independent sites beside it do not."""
    haplotypes, sites = 100_000, 520
    rng = np.random.default_rng(3)
    pattern = (rng.random(haplotypes) < 0.4).astype(np.uint8)
    full = make_alignment(np.repeat(pattern[None], sites, axis=0), np.arange(sites) * 10 + 1)
    other = make_alignment(
        (rng.integers(0, 256, (sites, haplotypes), np.uint8) < 77).astype(np.uint8), np.arange(sites) * 10 + 1
    )
    options = ScanOptions(grid=5, minwin=10, maxwin=10_000)
    together = OmegaScanner(engine).scan_batch([other, full, other], options)
    for alignment, found in zip([other, full, other], together, strict=True):
        assert_equal(found, OmegaScanner(engine).scan(alignment, options))


def test_progress_of_a_batch_is_told_in_order(engine: Engine) -> None:
    alignments = [alignment_of(kind, 100, 20, 1) for kind in ("complete", "masked", "complete", "multiallelic")]
    told: list[tuple[int, int]] = []
    options = ScanOptions(grid=10, minwin=100, maxwin=30_000)
    OmegaScanner(engine, block_rows=64).scan_batch(alignments, options, lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert {total for _, total in told} == {40}
    assert told[-1][0] > 30  # positions of all four


def test_what_one_alignment_does_not_allow_is_refused(engine: Engine) -> None:
    alignments = [alignment_of("complete", 20, 20, 1), alignment_of("unphased", 20, 20, 2)]
    with pytest.raises(UsageError, match="needs haplotypes"):
        OmegaScanner(engine).scan_batch(alignments, ScanOptions(grid=5, minwin=1, maxwin=10_000, ld="D"))


# The format of the exact sums: what it holds, and what it keeps

OPTIONS = ScanOptions(grid=2, minwin=0, maxwin=1)


@given(haplotypes=st.integers(2, 1 << 20), span=st.integers(2, 200_000))
def test_values_keep_their_digits_and_fit(haplotypes: int, span: int) -> None:
    """n r^2 of two singletons averages 1/n; its rounding stays below 1e-5 of that. The largest value is n."""
    bits = fraction_bits(haplotypes, span, OPTIONS)
    assert bits <= MAX_FRACTION_BITS
    assert haplotypes * 2**bits < 2**55  # what fixed_point() in pair_value.clh takes
    if bits < min(MAX_FRACTION_BITS, FLOAT_BITS - haplotypes.bit_length()):
        assert 0.5 * 2**-bits < 1e-5 / haplotypes


@given(haplotypes=st.integers(2, 1 << 20), span=st.integers(2, 200_000))
def test_bits_beyond_the_digits_are_taken_only_where_no_sum_can_outgrow_them(haplotypes: int, span: int) -> None:
    bits = fraction_bits(haplotypes, span, OPTIONS)
    wanted = haplotypes.bit_length() + 17
    assert bits <= wanted or haplotypes * (span * span // 2) * 2**bits < 2**62


def test_covariances_have_bits_of_their_own() -> None:
    assert fraction_bits(100, 1000, ScanOptions(grid=2, minwin=0, maxwin=1, ld="D")) == 30


@pytest.mark.parametrize(
    ("haplotypes", "ld", "precision", "complete", "unit"),
    [
        (2048, "D", "accurate", True, 2048**2), (2049, "D", "accurate", True, 0), (50, "ABSD", "accurate", False, 0),
        (50, "RSQUARE", "accurate", True, 0), (50, "DOM", "compat", True, 0),
    ],
)  # fmt: skip
def test_whole_numbers_where_float32_restores_them(haplotypes, ld, precision, complete, unit) -> None:
    options = ScanOptions(grid=2, minwin=0, maxwin=1, ld=ld, precision=precision)
    assert whole_unit(haplotypes, options, complete=complete) == unit


@pytest.mark.parametrize("haplotypes", [1999, 2048])
def test_float32_restores_the_whole_covariance(haplotypes: int) -> None:
    """As pair_value.clh divides by N twice and fixed_point multiplies, and adds a half in single precision."""
    most = haplotypes**2 // 4
    whole = np.concatenate([np.arange(1, 100_000), np.arange(most - 300_000, most + 1)])
    units, scale = np.float32(haplotypes), np.float32(haplotypes**2)
    found = np.trunc(whole.astype(np.float32) / units / units * scale + np.float32(0.5))
    np.testing.assert_array_equal(found, whole)
