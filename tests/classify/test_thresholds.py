"""Hits that reads need, and leads of their best candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oclgenomics.classify.options import METACACHE, QueryOptions, SketchOptions
from oclgenomics.classify.plan import (
    CHANCE,
    LEAD_FEATURES,
    MIN_HITS,
    MIN_LEAD,
    needed_hits,
    needed_lead,
    shared_features,
)
from oclgenomics.classify.result import Reads
from oclgenomics.sequence.name_list import NameList

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
