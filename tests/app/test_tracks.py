"""Values along chromosomes: end to end, quantiles of replicates, and lines for MultiQC."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.app import tracks
from oclgenomics.app.tracks import Track, end_to_end, quantiles_along, stretch_lines

SPANS = st.lists(st.tuples(st.integers(0, 1 << 30), st.integers(0, 1 << 20)), min_size=1, max_size=30)


def make_track(name: str, rows: int, seed: int) -> Track:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=rows)
    values[rng.random(rows) < 0.2] = np.nan
    return Track(name, np.sort(rng.uniform(0, 1000, rows)), values)


@given(SPANS)
def test_chromosomes_lie_end_to_end(spans: list[tuple[int, int]]) -> None:
    positions = [np.array([first, first + span], np.float64) for first, span in spans]
    shifts, gap = end_to_end(positions)
    ends = [(at + shift).tolist() for at, shift in zip(positions, shifts, strict=True)]
    assert ends[0][0] == (positions[0][0] if len(spans) == 1 else 0)
    for before, after in itertools.pairwise(ends):
        assert after[0] - before[1] == pytest.approx(gap)
    assert gap >= 1
    assert gap * len(spans) <= max(0.3 * sum(span for _, span in spans) + 1e-6, len(spans))


def test_quantiles_are_those_of_the_replicates_at_a_position() -> None:
    at = np.linspace(0, 100, 11)
    shown = [Track(str(number), at, at + number) for number in range(21)]
    positions, low, middle, high = quantiles_along(shown)
    np.testing.assert_allclose(positions, at)
    np.testing.assert_allclose([low - at, middle - at, high - at], np.repeat([[1.0], [10.0], [19.0]], 11, axis=1))
    assert len(quantiles_along(shown, 6)[0]) == 6
    few = [*shown[:2], *(Track("x", at, np.where(at > end, np.nan, at)) for end in (70, 30))]
    assert quantiles_along(few)[0].tolist() == at.tolist()  # half of them at least
    few.append(few[-1])
    assert quantiles_along(few)[0].tolist() == [one for one in at.tolist() if one <= 70]


@given(st.integers(1, 4), st.integers(0, 60), st.booleans(), st.integers(0, 1 << 32))
def test_the_extreme_of_each_stretch_is_shown(count: int, rows: int, lowest: bool, seed: int) -> None:
    shown = [make_track(f"chr{number}", rows, seed + number) for number in range(count)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tracks, "SHOWN_POSITIONS", 20)
        lines, words = stretch_lines("s", shown, lowest=lowest)
    stretch = max(sum(track.positions[-1] for track in shown if rows) / 20, 1.0)
    assert f"{'lowest' if lowest else 'highest'} value of each {stretch:,.0f} bp" in words
    assert list(lines) == ([f"s, {track.name}" for track in shown] if count > 1 else ["s"])
    offset = 0.0
    for track, line in zip(shown, lines.values(), strict=True):
        best: dict[float, tuple[float, float]] = {}
        for at, value in zip(track.positions.tolist(), track.values.tolist(), strict=True):
            place = at // stretch
            if value == value and (place not in best or (value < best[place][1] if lowest else value > best[place][1])):
                best[place] = at, value
        expected = [[(offset + at) / 1e6, value] for at, value in best.values()]
        assert len(line) == len(expected)
        if expected:
            np.testing.assert_allclose(line, expected)
        offset += float(track.positions[-1]) if rows else 0.0
