"""Which sites and which window are shown, and reports that do not belong to the sites."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment

from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega.ld.region import GridPoint, choose_peak, choose_position, plain_region, window_region
from oclgenomics.omega.result import OmegaReport, Track

POSITIONS = np.array([100, 200, 300, 300, 400, 500, 600, 700, 800, 900, 1000])


def track(rows, name="1", replicate=1) -> Track:
    at, omega, left, right = (list(column) for column in zip(*rows, strict=True))
    floats, whole = np.float64, np.int64
    return Track(name, replicate, np.array(at, floats), np.array(omega, floats), np.array(left, whole),
                 np.array(right, whole))  # fmt: skip


ROWS = [(100, 0, 0, 0), (400, 9, 300, 600), (700, 5, 500, 900), (1000, 4, 700, 1000)]
REPORT = OmegaReport([track(ROWS), track([(5, 7, 1, 9)], "X")], {}, "r.tsv")


@pytest.fixture
def alignment(rng):
    return make_alignment(correlated_states(rng, len(POSITIONS), 12), POSITIONS)


def test_peaks_are_counted_from_the_highest_and_do_not_overlap():
    chosen = [choose_peak(REPORT, number) for number in (1, 2, 3)]
    assert [(point.track.name, point.position, point.omega) for point in chosen] == [
        ("1", 400.0, 9.0), ("X", 5.0, 7.0), ("1", 1000.0, 4.0),
    ]  # fmt: skip
    assert chosen[0].window == (300, 600)


def test_peaks_that_are_not_there():
    with pytest.raises(UsageError, match=r"peak=4: r.tsv has 3 peaks .* choose one from 1 to 3"):
        choose_peak(REPORT, 4)
    with pytest.raises(UsageError, match="the highest peak is 1"):
        choose_peak(REPORT, 0)
    with pytest.raises(InputError, match=r"r.tsv: holds no omega above 0"):
        choose_peak(OmegaReport([track(ROWS[:1])], {}, "r.tsv"), 1)


def test_the_nearest_position_is_taken():
    assert choose_position(REPORT, "1", 560).position == 700
    with pytest.raises(InputError, match=r"position 100 of 1 has no window .* the nearest with one is 400"):
        choose_position(REPORT, "1", 120)
    with pytest.raises(InputError, match=r"r.tsv: holds no chromosome Y \(but 1, X\)"):
        choose_position(REPORT, "Y", 120)


def test_a_window_is_found_among_the_sites(alignment):
    region = window_region(alignment, choose_peak(REPORT, 1), 100)
    assert region.positions.tolist() == [200, 300, 300, 400, 500, 600, 700]
    assert (region.start, region.end) == (200, 700)
    left, right, across = region.parts
    assert (left.rows, right.rows) == ((1, 3), (4, 5))  # both sites at 300 bp
    assert (across.rows, across.columns) == (left.rows, right.rows)


def test_the_margin_ends_with_the_sites(alignment):
    region = window_region(alignment, choose_peak(REPORT, 1), 10_000)
    assert (region.start, region.end) == (100, 1000)
    assert window_region(alignment, choose_peak(REPORT, 1)).positions.tolist()[0] == 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda at: at + 5, "its grid covers 100 to 1,000 bp of 1, and the sites that are left cover 105 to 1,005 bp"),
        (lambda at: np.where(at == 600, 601, at), "no site is left at 600 bp, a border of its window"),
        (lambda at: at[:1], "1 site left"),
    ],
)
def test_a_report_of_other_sites_is_told(rng, change, message):
    at = change(POSITIONS)
    other = make_alignment(correlated_states(rng, len(at), 12), at)
    with pytest.raises(InputError, match=r"r.tsv: is no report of this input") as caught:
        window_region(other, choose_peak(REPORT, 1))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_window_beside_its_position_is_told(alignment):
    point = GridPoint("r.tsv", track([(100, 0, 0, 0), (400, 9, 500, 600), (700, 0, 0, 0), (1000, 0, 0, 0)]), 1)
    with pytest.raises(InputError, match="has no site on one side of 400 bp"):
        window_region(alignment, point)


def test_a_plain_region_needs_two_sites(alignment):
    assert plain_region(alignment, 300, 300).positions.tolist() == [300, 300]
    with pytest.raises(InputError, match="1 site left between 350 and 450 bp of 1"):
        plain_region(alignment, 350, 450)
