"""What is decided before a device does anything."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from oclgenomics.classify import plan
from oclgenomics.classify.options import METACACHE, METACACHE_SKETCH, QueryOptions, SketchOptions
from oclgenomics.classify.plan import (
    BYTES_OF_PAIR,
    CHANCE,
    LEAD_FEATURES,
    MIN_BLOCK,
    MIN_HITS,
    MIN_LEAD,
    MIN_PAIRS,
    PAIR_BYTES,
    TEXT_COPIES,
    by_length,
    confidences,
    needed_hits,
    needed_lead,
    plan_build,
    shared_features,
)
from oclgenomics.classify.result import Reads
from oclgenomics.errors import AllocationError, ParameterError
from oclgenomics.runtime import DeviceLimits
from oclgenomics.sequence.name_list import NameList


@pytest.mark.parametrize(
    ("features", "bits"),
    [(0, 16), (1, 16), (1 << 18, 16), ((1 << 18) + 1, 17), (5_000_000, 21), (1 << 28, 26), (1 << 31, 26)],
)
def test_prefixes_hold_a_few_keys_each(features: int, bits: int) -> None:
    assert plan.prefix_bits(features) == bits


@given(needs=st.lists(st.integers(0, 9)), room=st.integers(1, 20))
def test_batches_are_as_large_as_fits(needs: list[int], room: int) -> None:
    found = list(plan.batches(np.cumsum(needs, dtype=np.int64), room))
    assert [item for begin, end in found for item in range(begin, end)] == list(range(len(needs)))
    for begin, end in found:
        assert end == begin + 1 or sum(needs[begin:end]) <= room
        assert end == len(needs) or sum(needs[begin : end + 1]) > room


def test_powers_of_two() -> None:
    sizes = np.array([n for k in range(31) for n in ((1 << k) - 1, 1 << k, (1 << k) + 1) if n], np.uint32)
    assert plan.powers_of_two(sizes).tolist() == [1 << (n - 1).bit_length() for n in sizes.tolist()]


@pytest.mark.parametrize("shape", ["cpu", "gpu"])
def test_batches_take_a_share_of_the_memory(shape: str) -> None:
    most = plan.MAX_ROOM[shape]
    assert plan.batch_bytes(1 << 40, shape) == most
    assert plan.batch_bytes(4 * most, shape) == 4 * most // plan.ROOM_SHARE
    assert plan.batch_bytes(-5, shape) == plan.MIN_ROOM


def test_an_index_takes_what_its_buffers_take() -> None:
    need = plan.IndexNeed.of(5_000_000, 6_000_000, 325_000, 36)
    assert need.largest == 8 * 5_000_001
    loading = 14 * (1 << 21) + 4 * 6_000_000
    loading += (
        8 * (4 * 11_000_000 // 16_384) + 3 * 16_384
    )  # checksums of blocks, and a block of each array that is begun
    assert need.all == need.largest + 4 * 6_000_000 + 4 * ((1 << 21) + 1) + 4 * 5080 + 8 * 37 + loading
    assert plan.IndexNeed.of(10, 1 << 30, 0, 0).largest == 1 << 32


SIZES = plan.IndexSizes(1 << 20, 1000, 9)


def limits_for(locations: int) -> DeviceLimits:
    """Limits that a part with so many locations, and no larger one, is within."""
    return DeviceLimits(plan.IndexNeed.of(locations, locations, SIZES.windows, SIZES.targets).all, 1 << 40)


@given(counts=st.lists(st.integers(0, 1000), min_size=1), room=st.integers(500, 3000))
def test_ranges_of_targets_are_as_large_as_fits(counts: list[int], room: int) -> None:
    before = np.append(0, np.cumsum(counts))
    limits, names = limits_for(room), [str(number) for number in range(len(counts))]
    if max(counts) > room:
        with pytest.raises(AllocationError, match=f"target {[count > room for count in counts].index(True)} alone"):
            list(plan.target_ranges(before, before, SIZES, limits, names))
        return
    found = list(plan.target_ranges(before, before, SIZES, limits, names))
    assert [target for begin, end in found for target in range(begin, end)] == list(range(len(counts)))
    for begin, end in found:
        assert sum(counts[begin:end]) <= room
        assert end == len(counts) or sum(counts[begin : end + 1]) > room


def test_a_buffer_may_be_too_large_by_itself() -> None:
    sizes, limits = plan.IndexSizes(1000, 1000, 9), DeviceLimits(1 << 40, 4 * (1 << 16) + 4)
    assert sizes.fit(1 << 16, limits)
    assert not sizes.fit((1 << 16) + 2, limits)
    assert not plan.IndexSizes(10, 10, 10).fit(1 << 32, DeviceLimits(1 << 50, 1 << 50))


GIB = 1 << 30


@given(
    st.integers(16 << 20, 256 * GIB), st.integers(8 << 20, 64 * GIB), st.booleans(), st.integers(1, 64),
    st.integers(4, 16), st.integers(16, 200), st.integers(0, 1 << 40),
)  # fmt: skip
def test_a_plan_fits(
    budget: int, largest: int, cpu: bool, sketchlen: int, kmerlen: int, winlen: int, letters: int
) -> None:
    options = SketchOptions(kmerlen, sketchlen, winlen, max(1, winlen // 2))
    limits = DeviceLimits(budget, min(budget, largest), cpu=cpu)
    try:
        plan = plan_build(limits, options, letters, 254)
    except AllocationError:
        assert budget < 64 << 20
        return
    assert plan.block_bytes >= MIN_BLOCK
    assert plan.pairs >= MIN_PAIRS
    assert plan.pairs * PAIR_BYTES <= limits.max_allocation
    assert TEXT_COPIES * plan.block_bytes + BYTES_OF_PAIR * plan.pairs <= budget


def test_few_letters_take_little_memory() -> None:
    limits = DeviceLimits(64 * GIB, 16 * GIB, cpu=False)
    options = METACACHE_SKETCH
    small, large = (plan_build(limits, options, letters, 254).pairs for letters in (100_000_000, None))
    assert 21_000_000 < small < 22_000_000
    assert large == 16 * GIB // PAIR_BYTES


def test_a_run_takes_a_hot_feature_twice() -> None:
    plan = plan_build(DeviceLimits(GIB, GIB, cpu=True), METACACHE_SKETCH, 0, 65_535)
    assert plan.pairs >= 2 * 65_535


def test_too_little_memory_is_an_error() -> None:
    with pytest.raises(AllocationError, match="max_memory"):
        plan_build(DeviceLimits(1 << 20, 1 << 20, cpu=True), METACACHE_SKETCH, 1000, 254)


@given(st.lists(st.integers(0, 40), max_size=60) | st.lists(st.integers(0, (1 << 32) - 1), max_size=5))
def test_is_what_the_lengths_themselves_give(lengths: list[int]) -> None:
    def halves(values: NDArray[np.int64]) -> NDArray[np.float64]:
        return values / 2

    for dtype in (np.uint32, np.int64):
        found = by_length(halves, np.array(lengths, dtype))
        assert found.dtype == np.float64
        assert found.tolist() == [length / 2 for length in lengths]


def test_many_reads_take_few_values() -> None:
    asked = []

    def values(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        asked.append(len(lengths))
        return lengths

    by_length(values, np.append(np.full(1000, 100, np.uint32), 20))
    by_length(values, np.full(1000, 100, np.uint32))
    assert asked == [101, 1]


SKETCH = SketchOptions(winlen=91)


def kmers(letters: int, sketch: SketchOptions = SKETCH) -> np.ndarray:
    return np.array([max(letters - sketch.kmerlen + 1, 0)])


def hits(letters: int, windows: int, sketch: SketchOptions = SKETCH) -> int:
    return int(needed_hits(kmers(letters, sketch), windows, sketch, QueryOptions())[0])


@pytest.mark.parametrize(
    ("letters", "megabases", "expected"),
    [
        (100, 0.7, 2),
        (250, 0.7, 2),
        (75, 21, 2),
        (75, 22, 3),  # where two hits are no longer enough
        (100, 36, 3),
        (150, 36, 3),
        (300, 36, 3),
        (5_000, 18, 4),
        (100, 1_000, 4),
        (100, 74_000, 6),
        (300, 74_000, 7),
    ],
)
def test_hits_grow_with_reads_and_databases(letters: int, megabases: float, expected: int) -> None:
    assert hits(letters, round(megabases * 1e6 / SKETCH.winstride)) == expected


@given(letters=st.integers(0, 100_000), windows=st.integers(0, 1 << 32), sketchlen=st.integers(1, 64))
def test_chance_gives_the_hits_seldom(letters: int, windows: int, sketchlen: int) -> None:
    sketch = SketchOptions(sketchlen=sketchlen)
    needed = hits(letters, windows, sketch)
    features = max(letters - 15, 0) * sketchlen / sketch.winstride
    chance = 0.8 * features * windows * sketch.winstride / 2**31
    assert needed >= MIN_HITS
    assert chance * 0.1 ** (needed - 1) <= CHANCE * (1 + 1e-9)
    assert needed == MIN_HITS or chance * 0.1 ** (needed - 2) > CHANCE * (1 - 1e-9)


def test_lead_of_reads_of_many_lengths() -> None:
    letters = np.array([0, 10, 75, 100, 128, 129, 150, 204, 205, 250, 280, 281, 5_000, 10_000])
    counts = np.maximum(letters - 15, 0)
    leads = needed_lead(counts, SKETCH, QueryOptions())
    assert leads is not None
    assert leads.tolist() == [2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 67, 132]
    halves = SketchOptions(sketchlen=8, winlen=91)
    expected = [max(MIN_LEAD, round(1 + one * 8 / 76 / LEAD_FEATURES + 1e-9)) for one in counts.tolist()]
    assert needed_lead(counts, halves, QueryOptions()).tolist() == expected  # type: ignore[union-attr]


def test_lead_of_long_reads_by_their_errors() -> None:
    """An eighth of the 1,052 features of 5,000 bp that have no error."""
    counts = np.array([0, 300, 4985])
    rates = {0.0: 67, 0.002: 128, 0.02: 96, 0.05: 59, 0.08: 36, 0.5: 2}
    found = {rate: needed_lead(counts, SKETCH, QueryOptions(error_rate=rate)) for rate in rates}
    assert {rate: int(lead[-1]) for rate, lead in found.items() if lead is not None} == rates
    for rate, lead in found.items():
        whole = (1 - rate) ** 16 / 8 if rate else 1 / LEAD_FEATURES
        assert lead is not None
        assert lead.tolist() == [max(2, 1 + int(one * 16 / 76 * whole + 0.5)) for one in counts.tolist()]
    for options in ({"error_rate": 0.6}, {"error_rate": -0.1}, {"error_rate": 0.1, "hitmin": 2}):
        with pytest.raises(ParameterError, match="error_rate"):
            QueryOptions(**options)  # type: ignore[arg-type]


@given(kmers=st.integers(0, 500), hits=st.integers(0, 200), confidence=st.integers(0, 100))
def test_confidence_is_what_the_threshold_asks_for(kmers: int, hits: int, confidence: int) -> None:
    share = confidence / 100
    needed = needed_hits(np.array([kmers]), 1000, SKETCH, QueryOptions(hitmin=1, confidence=share))
    sure = confidences(np.array([hits], np.uint32), np.array([kmers]), SKETCH)
    able = kmers * 16 / 76
    assert needed[0] == max(1, math.ceil(share * able - 1e-9))
    assert sure[0] == (min(1000, int(1000 * hits / able + 1e-9)) if able else 1000 * (hits > 0))
    if able and hits:
        assert (hits >= needed[0]) == (sure[0] >= 10 * confidence)


@given(one=st.integers(0, 1_000), other=st.integers(0, 1_000))
def test_mates_have_no_kmers_across_their_seam(one: int, other: int) -> None:
    lengths = np.array([[one, other]], np.uint32)
    pair = Reads(0, NameList.of(("r",)), lengths[:, 0], lengths[:, 1], "")
    assert pair.kmers(16).tolist() == [max(one - 15, 0) + max(other - 15, 0)]
    single = Reads(0, NameList.of(("r",)), lengths[:, 0], None, "")
    assert single.kmers(16).tolist() == [max(one - 15, 0)]
    assert shared_features(pair.kmers(16), SKETCH)[0] <= shared_features(np.array([one + other]), SKETCH)[0]


def test_what_a_pair_spans() -> None:
    assert QueryOptions().spanned(pairs=True) == 600
    assert QueryOptions().spanned(pairs=False) == METACACHE.spanned(pairs=True) == 0
    assert QueryOptions(insertsize=300).spanned(pairs=True) == 300


def test_hitmin_is_what_all_reads_need() -> None:
    letters = np.array([20, 100, 100_000])
    assert needed_hits(letters, 1 << 30, SKETCH, METACACHE).tolist() == [5, 5, 5]
    assert needed_lead(letters, SKETCH, METACACHE) is None
    assert needed_hits(letters, 1 << 30, SKETCH, QueryOptions()).dtype == np.uint32


def test_no_reads_and_no_windows() -> None:
    nothing = np.empty(0, np.int64)
    assert needed_hits(nothing, 5, SKETCH, QueryOptions()).shape == (0,)
    assert needed_lead(nothing, SKETCH, QueryOptions()).shape == (0,)
    assert hits(100, 0) == MIN_HITS
