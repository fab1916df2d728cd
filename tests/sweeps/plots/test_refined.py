"""Fine rows and refined places of peaks in figures and on pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.app.figures import ALPHA, GREEN, ORANGE
from oclgenomics.sweeps import find_peaks
from oclgenomics.sweeps.plots.pages import scans_page
from oclgenomics.sweeps.plots.refined import fine_line, fine_stretches, position_text, refined_place, step_of
from oclgenomics.sweeps.plots.scans import labelled_peaks, peak_rows, plot_scans
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance.combined import COMBINED
from oclgenomics.sweeps.significance.thresholds import NullFacts, Significance, SweepThreshold, sign_of
from oclgenomics.sweeps.sites.used import SweepFacts

STEP, REFINE = 10_000, 1_000
NAMES = ("mu", "tajima_d")


def refined_scan(seed: int = 1, rows: int = 100, name: str = "chr2") -> Scan:
    """Noise with two peaks, which have fine rows around them."""
    rng = np.random.default_rng(seed)
    at = 1_000_000 + STEP * np.arange(1.0, rows + 1)
    values = {one: sign_of(one) * rng.integers(0, 12, rows).astype(np.float64) for one in NAMES}
    for row, high in ((rows // 5, 40.0), (rows // 2, 30.0)):
        for one in NAMES:
            values[one][row] = sign_of(one) * high
    near = [at[rows // 5] + REFINE * np.arange(-15, 16), at[rows // 2] + REFINE * np.arange(-15, 16)]
    fine = np.concatenate(near)
    closer = {one: sign_of(one) * rng.integers(0, 50, len(fine)).astype(np.float64) for one in NAMES}
    closer["mu"][:3] = np.nan
    scan = Scan(
        name, 1, at, at - STEP / 2, at + STEP / 2, np.full(rows, 9), values, 400, 80, {},
        SweepFacts(80, 400, False, 0.0, 0.0), {"step": STEP, "refine": REFINE, "window": None}, gridded=True,
    )  # fmt: skip
    window = fine - STEP / 2, fine + STEP / 2, np.full(len(fine), 9)
    return replace(
        scan, fine=replace(scan, positions=fine, start=window[0], end=window[1], window_sites=window[2], values=closer)
    )


def fine_of(scan: Scan) -> Scan:
    assert scan.fine is not None
    return scan.fine


def texts(axes: Any) -> list[str]:
    return [one.get_text() for one in axes.texts]


def test_stretches_are_broken_where_a_step_is_left_out() -> None:
    scan = refined_scan()
    assert [len(rows) for rows in fine_stretches(scan)] == [31, 31]
    assert not list(fine_stretches(replace(scan, fine=None)))
    left = np.arange(62) != 4
    values = {name: one[left] for name, one in fine_of(scan).values.items()}
    holed = replace(scan, fine=replace(fine_of(scan), positions=fine_of(scan).positions[left], values=values))
    assert [len(rows) for rows in fine_stretches(holed)] == [4, 26, 31]
    x, y = fine_line("mu", scan)
    assert len(x) == 63
    assert np.flatnonzero(np.isnan(x)).tolist() == [31]
    np.testing.assert_array_equal(np.delete(y, 31), fine_of(scan).values["mu"])
    x, _ = fine_line("mu", scan, np.array([1, 2, 40]))
    np.testing.assert_array_equal(x, [*fine_of(scan).positions[[1, 2]], np.nan, fine_of(scan).positions[40]])
    assert step_of(replace(scan, parameters={"refine": "None"})) is None
    assert step_of(replace(scan, parameters={"refine": "1000"})) == 1_000


@given(st.integers(0, 1 << 32), st.sampled_from([*NAMES, COMBINED]), st.integers(0, 13))
def test_a_refined_place_is_that_of_the_table_of_peaks(seed: int, name: str, limit: int) -> None:
    scan = refined_scan(seed)
    if name == COMBINED:  # with plateaus, and every other time with coarse rows above all fine ones
        both = (scan, 1.0), (fine_of(scan), 1 / (1 + seed % 2))
        scan, fine = (replace(one, values={name: share * (one.values["mu"] // 6) * 6}) for one, share in both)
        scan.values[name][20:23] = 36.0
        scan = replace(scan, fine=fine)
    cut = float(sign_of(name) * limit)
    peaks = find_peaks([scan], name, threshold=cut).peaks
    assert peaks
    for peak in peaks:
        row = int(np.flatnonzero(scan.positions == peak.position)[0])
        found = refined_place(name, scan, row, cut)
        assert found == (None if peak.fine_position is None else (peak.fine_position, peak.fine_value))


def test_without_thresholds_a_peak_is_refined_within_its_window() -> None:
    scan = refined_scan()
    row, fine = 20, fine_of(scan)
    within = (fine.positions >= scan.start[row]) & (fine.positions < scan.end[row])
    best = int(np.argmax(np.where(within, fine.values["mu"], -1)))
    assert refined_place("mu", scan, row, None) == (fine.positions[best], fine.values["mu"][best])
    assert refined_place("mu", scan, 90, None) is None
    assert refined_place("mu", replace(scan, fine=None), row, None) is None


def plainly_peaks(scans: list[Scan], least: float, apart: float, most: int) -> list[tuple[int, int]]:
    """Of the rows that no row of their scan within reach is above, the best ones that have room."""
    tops = [
        (-value, owner, row, at)
        for owner, scan in enumerate(scans)
        for row, (value, at) in enumerate(zip(scan.values["mu"], scan.positions, strict=True))
        if value > least and value >= np.nanmax(scan.values["mu"][np.abs(scan.positions - at) <= apart])
    ]
    found: list[tuple[int, int]] = []
    places: list[float] = []
    for _, owner, row, at in sorted(tops):
        x, values = at + owner * 1e9, scans[owner].values["mu"]
        others = [min(row, other) for place, other in found if place == owner]
        ends = [max(row, other) for place, other in found if place == owner]
        joined = any((values[low : high + 1] > least).all() for low, high in zip(others, ends, strict=True))
        if len(found) < most and not joined and all(abs(x - other) > apart for other in places):
            found.append((owner, row))
            places.append(x)
    return found


@given(st.integers(0, 1 << 32), st.sampled_from([0, 9_000, 55_000]), st.integers(0, 20))
def test_the_shoulder_of_a_peak_is_no_peak(seed: int, apart: int, most: int) -> None:
    scans = [refined_scan(seed, name="a"), refined_scan(seed + 1, 40, name="b")]
    for scan in scans:  # no two are equal
        scan.values["mu"][:] += np.random.default_rng(seed).permutation(len(scan.positions)) / 1_000
    scans[0].values["mu"][[3, 50]] = np.nan
    rows = peak_rows("mu", scans, [0.0, 1e9], 5.0, apart, most)
    assert rows == plainly_peaks(scans, 5.0, apart, most)


def test_fine_rows_lie_below_those_of_the_grid_in_their_own_tone() -> None:
    scan = refined_scan()
    figure = plot_scans([scan])
    for name, axes in zip(NAMES, figure.axes, strict=True):
        (fine,) = (line for line in axes.get_lines() if line.get_color() == GREEN)
        (grid,) = (line for line in axes.get_lines() if line.get_marker() == "." and line.get_color() != GREEN)
        np.testing.assert_array_equal(grid.get_xdata(), scan.positions)
        np.testing.assert_array_equal(grid.get_ydata(), scan.values[name])
        np.testing.assert_array_equal(fine.get_ydata(), fine_line(name, scan)[1])
        bands = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]
        ends = [fine_of(scan).positions[rows[[0, -1]]] for rows in fine_stretches(scan)]
        np.testing.assert_allclose(bands, ends)
        assert max(patch.get_zorder() for patch in axes.patches) < fine.get_zorder() < grid.get_zorder()
        low, high = axes.get_ylim()
        assert low < np.nanmin(fine_of(scan).values[name]) <= np.nanmax(fine_of(scan).values[name]) < high
    assert not any(line.get_color() == GREEN for line in plot_scans([replace(scan, fine=None)]).axes[0].get_lines())


def test_labels_are_at_refined_places() -> None:
    scan = refined_scan()
    lines = [SweepThreshold("mu", 0.05, 15.0, 5, 99)]
    figure = plot_scans([scan], thresholds=lines, null="99 neutral replicates of 500 kb (history.yaml)")
    axes = figure.axes[0]
    (best, other) = labelled_peaks("mu", [scan], [0.0], lines)
    assert (best.place, best.value, best.refined) == (scan.positions[20], 40.0, refined_place("mu", scan, 20, 15.0))
    assert best.refined is not None
    diamonds = [(line.get_xdata()[0], line.get_ydata()[0]) for line in axes.get_lines() if line.get_marker() == "D"]
    assert diamonds == [best.refined, other.refined]
    dots = [line.get_xdata()[0] for line in axes.get_lines() if line.get_marker() == "o"]
    assert sorted(dots) == [scan.positions[20], scan.positions[50]]
    where = f"{best.refined[0] / 1e6:.3f} Mb"
    assert f"μ 40 at {where} (refined)" in texts(axes)
    points = {one.get_text(): one.xy for one in axes.texts if hasattr(one, "xy")}
    assert points[f"μ 40 at {where} (refined)"] == best.refined
    assert points[other.text] == other.refined
    assert axes.get_title(loc="left") == f"Highest μ: 40 at {scan.positions[20] / 1e6:.2f} Mb, refined to {where}"
    (legend,) = figure.legends
    words = [one.get_text() for one in legend.get_texts()]
    assert f"{ALPHA}: share of 99 neutral replicates of 500 kb (history.yaml) that go beyond the line" in words
    assert any("every 1 kb" in word and "not tested" in word for word in words)
    assert not plot_scans([replace(scan, fine=None)]).legends


def test_the_page_marks_fine_rows_and_refined_places() -> None:
    scan = refined_scan()
    page = scans_page([scan], title="x")
    chart: Any = page.parts[0]
    mine = [trace for trace in chart.traces if trace["yaxis"] == "y"]
    (line,) = (trace for trace in mine if trace["mode"] == "lines+markers")
    np.testing.assert_array_equal(line["y"], fine_line("mu", scan)[1])
    (diamond,) = (trace for trace in mine if trace["marker"].get("symbol") == "diamond-open")
    place = refined_place("mu", scan, 20, None)
    assert place is not None
    assert diamond["x"][0] == pytest.approx(place[0] / 1e6)
    bands = [shape for shape in chart.layout["shapes"] if shape["yref"] == "y domain"]
    assert [band["fillcolor"] for band in bands] == [GREEN, GREEN, ORANGE]
    assert "every 1 kb" in chart.description
    table: Any = page.parts[1]
    assert table.columns[:3] == ["Chromosome", "Position (bp)", "Fine position (bp)"]
    assert table.rows[0][1:3] == (round(scan.positions[20]), round(place[0]))
    assert None in [row[2] for row in table.rows]
    assert page.title.endswith(f"refined to {place[0] / 1e6:.3f} Mb")
    bare: Any = scans_page([replace(scan, fine=None)], title="x").parts[1]
    assert "Fine position (bp)" not in bare.columns


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beyond", [0.5, 1.0, 3.0])
def test_what_names_the_best_row_of_a_page_lies_off_thresholds(name: str, beyond: float) -> None:
    scan = replace(refined_scan(), fine=None)
    sign, height = sign_of(name), 16
    values = {"mu": SweepThreshold("mu", 0.05, 99.0, 1, 19), name: SweepThreshold(name, 0.05, 0.0, 1, 19)}
    values[name] = SweepThreshold(name, 0.05, sign * (40.0 + beyond), 1, 19)
    extremes = {one: sign_of(one) * np.arange(1.0, 20.0) for one in NAMES}
    null = Significance({}, None, NullFacts(80, 80, False, 0, 1, 1, 1), extremes, extremes, tuple(values.values()))
    chart: Any = scans_page([scan], title="x", null=null).parts[0]
    axis = "y" if name == "mu" else "y2"
    (note,) = (one for one in chart.layout["annotations"] if one.get("yref") == axis and "<b>" in one["text"])
    low, high = chart.layout[axis.replace("y", "yaxis")]["range"]
    line = beyond / (high - low) * 165  # pixels from the point
    near = sign * note["yshift"]
    assert near > 0
    assert not near < line < near + height


@pytest.mark.parametrize(
    ("ends", "step", "text"),
    [((2e6,), 10_000, "1.20 Mb"), ((2e6,), 1_000, "1.200 Mb"), ((9e5, 2e6), 2_500, "1.2000 Mb"),
     ((9e5,), None, "1,200.0 kb"), ((9e5,), 20_000, "1,200 kb"), ((9e3,), 7, "1,200,000 bp")],
)  # fmt: skip
def test_positions_have_the_digits_of_their_step(ends: tuple[float, ...], step: float | None, text: str) -> None:
    scans = [replace(refined_scan(), positions=np.array([1.0, end])) for end in ends]
    assert position_text(scans, 1.2e6, step) == text
