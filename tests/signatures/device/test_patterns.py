"""Patterns on the device, and the least that matches need."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, strategies as st

from oclgenomics.runtime import Engine
from oclgenomics.signatures.device.patterns import DevicePatterns, least_counts
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panels.panel import Panel


@given(st.integers(1, 1 << 20), st.one_of(st.floats(0, 93), st.floats(0, 1), st.integers(0, 93).map(float)))
@example(49, 1 / 49)
@example(10, 0.3)
def test_least_counts_are_the_smallest_that_suffice(length: int, share: float) -> None:
    (count,) = least_counts(np.array([length]), share).tolist()
    assert count / length >= share
    assert count == 0 or (count - 1) / length < share


@given(st.integers(1, 1 << 20), st.integers(0, 93 << 20))
def test_a_share_that_a_count_has_is_met(length: int, count: int) -> None:
    assert least_counts(np.array([length]), count / length).tolist() == [count]


def test_upload(engine: Engine) -> None:
    patterns = Panel.from_signatures([("one", "ACGTN"), ("two", "GATTACA")]).patterns("both")
    uploaded = DevicePatterns.upload(engine, patterns, ScanOptions(max_mismatches=2))
    np.testing.assert_array_equal(engine.download(uploaded.sets), patterns.sets)
    records = engine.download(uploaded.on_device)
    np.testing.assert_array_equal(records[:, 0], patterns.offsets[:-1])
    np.testing.assert_array_equal(records[:, 1], patterns.lengths)
    assert not uploaded.filtered
    assert uploaded.max_mismatches == 2
    uploaded = DevicePatterns.upload(engine, patterns, ScanOptions(min_informative=0.5, min_score=30))
    assert uploaded.filtered
    assert engine.download(uploaded.on_device)[:, 3].tolist() == [3, 4, 3, 4]
    assert engine.download(uploaded.on_device)[:, 2].tolist() == [150, 210, 150, 210]
