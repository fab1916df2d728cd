"""Merging of grid positions into regions, reports read back, and BED to the base pair."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.errors import InputError, UsageError
from oclgenomics.omega import ScanOptions, find_peaks, make_report, write_report
from oclgenomics.omega.formats.scans import read_report
from oclgenomics.omega.formats.thresholds import write_peaks
from oclgenomics.omega.options import scan_parameters
from oclgenomics.omega.result import DataFacts, OmegaReport, Scan, Track
from oclgenomics.omega.significance.facts import NullFacts, grid_spacing, site_density
from oclgenomics.omega.significance.peaks import best_windows, merge_peaks, quantile_threshold, top_threshold
from oclgenomics.omega.significance.thresholds import PEAK_COLUMNS, Maxima, Peaks, Significance, thresholds


def track(rows, name="1", replicate=1) -> Track:
    """Rows of (position, omega, left, right)."""
    at, omega, left, right = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    floats, whole = np.float64, np.int64
    return Track(name, replicate, np.array(at, floats), np.array(omega, floats), np.array(left, whole),
                 np.array(right, whole))  # fmt: skip


ROWS = [(50, 9, 41, 60), (70, 5, 61, 80), (90, 1, 81, 99), (110, 8, 101, 120), (130, 7, 115, 200), (300, 6, 290, 310)]


@pytest.mark.parametrize(
    ("merge", "regions"),
    [
        (0, [(41, 80), (101, 200), (290, 310)]),
        (19, [(41, 80), (101, 200), (290, 310)]),
        (20, [(41, 200), (290, 310)]),
        (89, [(41, 310)]),
    ],
)
def test_windows_that_overlap_touch_or_lie_close_are_merged(merge, regions):
    peaks = merge_peaks([track(ROWS)], 4.0, merge)
    assert [(peak.start, peak.end) for peak in peaks] == regions
    assert (peaks[0].omega, peaks[0].position, peaks[0].left, peaks[0].right) == (9.0, 50.0, 41, 60)


def test_only_omegas_above_the_threshold_count():
    assert [peak.omega for peak in merge_peaks([track(ROWS)], 7.0)] == [9.0, 8.0]
    assert merge_peaks([track(ROWS)], 9.0) == []
    assert merge_peaks([track([(5, 0, 0, 0)])], 0.0) == []
    assert merge_peaks([], 1.0) == []


def test_a_window_inside_another_does_not_end_its_region():
    (peak,) = merge_peaks([track([(10, 5, 1, 100), (20, 6, 15, 25), (90, 7, 80, 120)])], 1.0)
    assert (peak.start, peak.end, peak.positions, peak.position) == (1, 120, 3, 90.0)


def test_alignments_are_never_merged():
    peaks = merge_peaks([track(ROWS[:1], "a"), track(ROWS[:1], "b"), track(ROWS[:1], "b", 2)], 1.0, 10**9)
    assert [(peak.chromosome, peak.replicate) for peak in peaks] == [("a", 1), ("b", 1), ("b", 2)]


@given(
    st.lists(st.tuples(st.integers(1, 200), st.integers(0, 9), st.integers(0, 30), st.integers(0, 30)), max_size=25),
    st.integers(0, 25),
)
def test_merging_agrees_with_painting(rows, merge):
    windows = [(at, omega, at - before, at + after) for at, omega, before, after in sorted(rows)]
    peaks = merge_peaks([track(windows)], 3.0, merge)
    painted = np.zeros(400, bool)
    for _, omega, left, right in windows:
        if omega > 3:
            painted[left + 100 : right + 101] = True
    inside = np.flatnonzero(painted)
    parts = np.split(inside, np.flatnonzero(np.diff(inside) - 1 > merge) + 1) if len(inside) else []
    assert [(peak.start + 100, peak.end + 100) for peak in peaks] == [(part[0], part[-1]) for part in parts]
    assert sum(peak.positions for peak in peaks) == sum(row[1] > 3 for row in windows)


def test_thresholds_by_rank_and_by_quantile():
    tracks = [track(ROWS), track([(5, 0, 0, 0), (6, 20, 1, 9)], "2")]
    assert top_threshold(tracks, 2) == 8.0
    assert sum(peak.positions for peak in merge_peaks(tracks, top_threshold(tracks, 2))) == 2
    assert top_threshold(tracks, 99) == 0.0
    assert quantile_threshold(tracks, 0.5) == 7.0
    assert quantile_threshold([], 0.5) == 0.0
    for wrong in (lambda: top_threshold(tracks, 0), lambda: quantile_threshold(tracks, 1.0)):
        with pytest.raises(UsageError):
            wrong()
    with pytest.raises(UsageError, match=r"^merge=-1: "):
        merge_peaks(tracks, 1.0, -1)


def test_best_windows_do_not_overlap():
    peaks = best_windows([track(ROWS), track([(5, 8.5, 1, 9), (7, 8.4, 2, 10)], "2")], 4)
    assert [(peak.chromosome, peak.omega) for peak in peaks] == [("1", 9.0), ("2", 8.5), ("1", 8.0), ("1", 6.0)]
    assert len(best_windows([track(ROWS)], 2)) == 2


# Reports


def make_scan(name="20", replicate=1) -> Scan:
    omega = np.array([0.0, 1.5, 0.0, 123.456789])
    return Scan(
        name, replicate, np.array([10.0, 20.25, 30.5, 40.75]), omega, np.array([1, 5, 6, 7]),
        np.array([20, 30, 40, 50]), np.array([False, True, True, True]), 9, 4, {}, True, 100,
        window_sites=np.array([-1, 4, 5, 6]),
    )  # fmt: skip


@pytest.mark.parametrize("format", ["tsv", "json"])
@pytest.mark.parametrize("packed", [False, True])
def test_reports_are_read_back(format, packed, tmp_path):
    stream = io.BytesIO()
    scans = [make_scan(), make_scan("X", 2), make_scan("X", 3)]
    provenance = {
        "program": "x",
        "parameters": {"grid": 4, "minwin": 100, "input": "a b=c.vcf", "no_singletons": False},
    }
    write_report(scans, stream, make_report(format, provenance=provenance))
    data = stream.getvalue().decode().encode()
    path = tmp_path / "report"
    path.write_bytes(gzip.compress(data) if packed else data)
    report = read_report(path)
    assert [(one.name, one.replicate) for one in report.tracks] == [("20", 1), ("X", 2), ("X", 3)]
    assert report.tracks[2].positions.tolist() == [10.0, 20.25, 30.5, 40.75]
    assert report.tracks[0].omega.tolist() == [0.0, 1.5, 0.0, 123.4568]
    assert report.tracks[0].left.tolist() == [0, 5, 0, 7]
    assert report.tracks[0].right.tolist() == [0, 30, 0, 50]
    assert {name: str(report.parameters[name]) for name in ("grid", "minwin", "no_singletons")} == {
        "grid": "4", "minwin": "100", "no_singletons": "False",
    }  # fmt: skip


HEAD = "chromosome\treplicate\tposition\tomega\tleft\tright\twindow_sites\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("//1\n1.0\t2.0\n", "is no report"),
        ("# nothing\n", "is no report"),
        (HEAD + "1\t1\t5.00\n", "line 2: 3 columns instead of 7"),
        (HEAD + "1\t1\t5.00\t1\t2\t3\t4\n1\t1\t5.00\thigh\t2\t3\t4\n", "line 3: 'high' is no number"),
        ('{"alignments": [', "line 1: broken JSON"),
        ('{"alignments": [{"chromosome": "1"}]}', "is no report"),
        ('{"kind": "omega thresholds"}', "is no report"),
    ],
)
def test_what_is_no_report(text, message, tmp_path):
    path = tmp_path / "x"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_report(path)


def test_a_report_without_rows(tmp_path):
    path = tmp_path / "x"
    path.write_text(HEAD)
    assert read_report(path).tracks == []


# Peaks as files


def some_peaks(maxima=None) -> Peaks:
    tracks = [track(ROWS, "chr2"), track([(5, 18, 1, 9)], "chr10 b")]
    return Peaks(tuple(merge_peaks(tracks, 4.0)), 4.0, maxima)


def lines(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines() if not line.startswith("# ")]


def test_bed_is_zero_based_half_open_and_sorted():
    maxima = Maxima(np.array([8.5, 1.0, 2.0]), np.zeros(3))
    head, *rows = lines(write_peaks(some_peaks(maxima), "bed", {"program": "x"}))
    assert head[0] == "#chrom"
    assert rows == [
        ["chr10_b", "0", "9", "peak1", "1000", ".", "0", "9", "18", "5.00", "0.25"],
        ["chr2", "40", "80", "peak2", "500", ".", "40", "60", "9", "50.00", "0.25"],
        ["chr2", "100", "200", "peak3", "444", ".", "100", "120", "8", "110.00", "0.5"],
        ["chr2", "289", "310", "peak4", "333", ".", "289", "310", "6", "300.00", "0.5"],
    ]


def test_tsv_and_json():
    head, first, *_ = lines(write_peaks(some_peaks(), "tsv", {}))
    row = dict(zip(head, first, strict=True))
    assert (row["chromosome"], row["start"], row["end"], row["positions"], row["p_value"]) == (
        "chr10 b", "1", "9", "1", "NA",
    )  # fmt: skip
    record = json.loads(write_peaks(some_peaks(), "json", {"program": "x"}))
    assert record["threshold"] == 4.0
    assert record["provenance"] == {"program": "x"}
    assert [peak["name"] for peak in record["peaks"]] == ["peak1", "peak2", "peak3", "peak4"]
    assert record["peaks"][1]["start"] == 41
    with pytest.raises(UsageError, match=r"^format='gff': "):
        write_peaks(some_peaks(), "gff", {})


@pytest.mark.parametrize("format", ["bed", "tsv", "json"])
def test_no_peaks(format):
    assert write_peaks(Peaks((), 4.0), format, {})


def test_peaks_from_python(monkeypatch):
    tracks = [track(ROWS, "chr2"), track([(5, 18, 1, 9)], "chr10 b")]
    assert find_peaks(tracks, threshold=4.0).records() == some_peaks().records()
    assert find_peaks(tracks, top=1).threshold == top_threshold(tracks, 1)
    assert find_peaks(tracks, quantile=0.5, merge=10**6).threshold == quantile_threshold(tracks, 0.5)
    maxima = Maxima(np.arange(1.0, 40.0), np.zeros(39))
    made = scan_parameters(ScanOptions(grid=4, minwin=1, maxwin=9))
    data = DataFacts(4, 9, False, 0.0, 0.0)
    tracks = [replace(one, data=data, parameters=made) for one in tracks]
    null = NullFacts.of([(data, site_density(tracks[0]), grid_spacing(tracks[0]))])
    neutral = Significance(made, None, 4, 9.5, maxima, tuple(thresholds(maxima.omega, [0.9])), data=null)
    found = find_peaks(tracks, threshold=neutral)
    assert (found.threshold, found.fpr) == (4.0, 0.9)
    assert [one["p_value"] for one in found.records()] == [0.575, 0.8, 0.825, 0.875]
    assert find_peaks(tracks, threshold=neutral, fpr=0.5).fpr == 0.5
    monkeypatch.setattr("oclgenomics.app.frames.to_frame", dict)
    assert tuple(found.to_frame()) == PEAK_COLUMNS
    assert found.to_frame()["name"] == ["peak1", "peak2", "peak3", "peak4"]
    assert repr(found) == "<Peaks: 4 regions with omega above 4, highest 18>"
    with pytest.raises(FrozenInstanceError):
        found.threshold = 5.0  # type: ignore[misc]


def test_scans_have_peaks_too():
    at, omega, border = np.arange(3.0), np.array([0.0, 5.0, 7.0]), np.array([0, 1, 2])
    scan = Scan("20", 1, at, omega, border, border, omega > 0, 9, 4, {}, True, 9)
    (one,) = find_peaks([scan], top=1).peaks
    assert (one.chromosome, one.omega, one.position) == ("20", 7.0, 2.0)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({}, "give one of threshold, top and quantile"),
        ({"top": 1, "quantile": 0.5}, "give one of threshold, top and quantile"),
        ({"top": 0}, "^top=0: "),
        ({"quantile": 2.0}, r"^quantile=2\.0: "),
        ({"threshold": 1.0, "fpr": 0.1}, "^fpr has no effect without a threshold from neutral"),
        ({"threshold": 1.0, "merge": -1}, "^merge=-1: "),
    ],
)
def test_questions_about_peaks(question, message):
    with pytest.raises(UsageError, match=message):
        find_peaks([track(ROWS)], **question)


def test_a_report_as_records_and_table(monkeypatch):
    report = OmegaReport([track(ROWS, "chr2"), track([(5, 0, 0, 0)], "3")], {}, "r.tsv")
    first, *_, last = report.records()
    assert first == {"chromosome": "chr2", "replicate": 1, "position": 50.0, "omega": 9.0, "left": 41, "right": 60}
    assert (last["omega"], last["left"], last["right"]) == (0.0, None, None)
    monkeypatch.setattr("oclgenomics.app.frames.to_frame", dict)
    assert report.to_frame()["chromosome"] == ["chr2"] * len(ROWS) + ["3"]
    assert repr(report) == "<OmegaReport 'r.tsv': 2 tracks>"
    assert repr(report.tracks[0]) == "<Track of 'chr2': 6 positions, highest omega 9>"


def test_peaks_are_sorted_by_the_bytes_of_the_chromosome_first():
    tracks = [track([(5, 18, 1, 9)], name) for name in ("é", "b", "B")] + [track(ROWS, "a")]
    found = find_peaks(tracks, threshold=8.5).records()
    assert [one["chromosome"] for one in found] == ["B", "a", "b", "é"]
