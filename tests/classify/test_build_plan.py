"""How much is built at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.options import METACACHE_SKETCH, SketchOptions
from oclgenomics.classify.plan import (
    BYTES_OF_PAIR,
    MIN_BLOCK,
    MIN_PAIRS,
    PAIR_BYTES,
    TEXT_COPIES,
    plan_build,
)
from oclgenomics.errors import AllocationError
from oclgenomics.runtime import DeviceLimits

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
