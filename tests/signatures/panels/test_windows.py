"""Windows: no match with so many edits leaves all of a pattern's windows with more than theirs."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.signature_samples import random_letters
from hypothesis import given, strategies as st

from oclgenomics.signatures.panels.letters import is_concrete
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.panels.windows import CHANCES, HEIGHT, Windows, cut_windows, useful_parts
from oclgenomics.signatures.reference import end_costs


@given(
    seed=st.integers(0, 1 << 32),
    lengths=st.lists(st.sampled_from([1, 2, 31, 32, 33, 64, 65, 500]), min_size=1, max_size=4),
    max_edits=st.one_of(st.integers(0, 12), st.integers(0, 100)),
    parts=st.integers(1, 14),
)
def test_windows_of_a_pattern(seed: int, lengths: list[int], max_edits: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    letters = [random_letters(rng, length, 0.3, "ACGTR") for length in lengths]
    patterns = Panel.from_signatures((str(number), text) for number, text in enumerate(letters)).patterns("+")
    windows = cut_windows(patterns, np.arange(len(patterns)), max_edits, parts)
    assert parts * (max_edits // parts + 1) > max_edits  # or else each window might get one edit more
    assert (windows.edits == max_edits // parts).all()
    assert (windows.edits < windows.height).all()
    heights = [min(length // parts, HEIGHT) for length in lengths]
    assert windows.patterns.tolist() == [n for n, height in enumerate(heights) if height > max_edits // parts]
    for pattern in windows.patterns.tolist():
        own = windows.take(windows.pattern == pattern)
        assert len(own) == parts
        assert own.begin[0] >= 0
        assert (own.begin[1:] >= own.behind[:-1]).all()
        assert own.behind[-1] <= lengths[pattern]
        assert (own.height >= min(HEIGHT, lengths[pattern] // parts)).all()
        assert (own.height <= HEIGHT).all()
        sets = patterns.of(pattern)
        known = [np.count_nonzero(is_concrete(sets[a:b])) for a, b in zip(own.begin, own.behind, strict=True)]
        assert own.known.tolist() == known


def test_a_window_lies_where_most_letters_are_known() -> None:
    patterns = Panel.from_signatures([("a", "N" * 40 + "ACGT" * 10 + "N" * 40)]).patterns("+")
    windows = cut_windows(patterns, np.array([0]), 2, 1)
    assert windows.known.tolist() == [HEIGHT]


def test_windows_are_joined_by_pattern_and_place() -> None:
    patterns = Panel.from_signatures([(name, "ACGT" * 30) for name in "ab"]).patterns("+")
    one, two = (cut_windows(patterns, np.array([number]), 3, parts) for number, parts in ((1, 2), (0, 3)))
    joined = Windows.joined([one, two])
    assert joined.pattern.tolist() == [0, 0, 0, 1, 1]
    assert (np.diff(joined.begin)[[0, 1, 3]] > 0).all()
    assert len(Windows.joined([])) == 0


@given(st.integers(0, 200))
def test_more_parts_allow_fewer_edits(max_edits: int) -> None:
    parts = useful_parts(max_edits, 1000)
    edits = [max_edits // part for part in parts]
    assert parts[0] == 1
    assert edits[-1] == 0
    assert edits == sorted(set(edits), reverse=True)
    assert set(edits) == {max_edits // part for part in range(1, max_edits + 2)}
    assert all(part == 1 or max_edits // (part - 1) > max_edits // part for part in parts)


@pytest.mark.parametrize("letters", [8, 12])
def test_chances_are_about_what_random_samples_have(letters: int) -> None:
    rng = np.random.default_rng(3)
    text = np.array([1, 2, 4, 8], np.uint8)[rng.integers(0, 4, 20_000)]
    distance = np.concatenate(
        [end_costs(text, np.array([1, 2, 4, 8], np.uint8)[rng.integers(0, 4, letters)])[0][30:] for _ in range(20)]
    )
    for edits in range(1, letters // 2):
        share = np.count_nonzero(distance <= edits) / len(distance)
        if share * len(distance) > 50:
            assert share / 2.5 < CHANCES[letters, edits] < share * 2.5


@pytest.mark.parametrize(("max_edits", "parts", "count"), [(31, 1, 1), (32, 1, 0), (50, 1, 0), (63, 2, 2), (64, 2, 0)])
def test_a_window_that_everything_matches_is_none(max_edits: int, parts: int, count: int) -> None:
    patterns = Panel.from_signatures([("a", "ACGT" * 125)]).patterns("+")
    assert len(cut_windows(patterns, np.array([0]), max_edits, parts)) == count
