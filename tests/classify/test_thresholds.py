"""Hits that reads need, and leads of their best candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.calling.thresholds import CHANCE, LEAD_FEATURES, MIN_HITS, needed_hits, needed_lead
from oclgenomics.classify.options import METACACHE, QueryOptions, SketchOptions

SKETCH = SketchOptions(winlen=91)


def hits(letters: int, windows: int, sketch: SketchOptions = SKETCH) -> int:
    return int(needed_hits(np.array([letters]), windows, sketch, QueryOptions())[0])


@pytest.mark.parametrize(
    ("letters", "megabases", "expected"),
    [
        (100, 0.7, 2),
        (250, 0.7, 2),
        (100, 36, 3),
        (150, 36, 3),
        (300, 36, 4),
        (100, 1_000, 5),
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
    letters = np.array([0, 10, 75, 100, 150, 250, 300, 10_000])
    assert needed_lead(letters, SKETCH, QueryOptions()).tolist() == [1, 1, 1, 2, 2, 4, 4, 132]
    halves = needed_lead(letters, SketchOptions(sketchlen=8, winlen=91), QueryOptions())
    assert halves.tolist() == [1 + (max(one - 15, 0) * 8 // 76) // LEAD_FEATURES for one in letters.tolist()]


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
