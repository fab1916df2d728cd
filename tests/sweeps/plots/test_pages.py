"""Pages of scans: panels of statistics, what they draw of many rows, thresholds, and the tables of windows."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.app.figures import ALPHA
from oclgenomics.sweeps.options import DEFAULT_STATISTICS
from oclgenomics.sweeps.plots import pages
from oclgenomics.sweeps.plots.pages import best_rows, scans_page
from oclgenomics.sweeps.result import LOW, SCALES, Scan
from oclgenomics.sweeps.significance.thresholds import NullFacts, Significance, SweepThreshold, sign_of
from oclgenomics.sweeps.sites.used import SweepFacts


def make_scan(
    name: str = "chr2", replicate: int = 1, rows: int = 60, seed: int = 1, names: Any = DEFAULT_STATISTICS
) -> Scan:
    """A noisy scan without some of its values."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.uniform(1e6, 4e6, rows))
    values = {one: np.where(rng.random(rows) < 0.9, rng.normal(1.0, 0.5, rows).round(1), np.nan) for one in names}
    half = rng.integers(100, 200_000, rows)
    return Scan(
        name, replicate, at, at - half, at + half, np.full(rows, 50), values, 400, 80, {},
        SweepFacts(80, 400, False, 0.0, 0.0), binary=True,
    )  # fmt: skip


def chart_of(scans: list[Scan], **how: Any) -> Any:
    return scans_page(scans, title="x", **how).parts[0]


def drawn(chart: Any, axis: str, mode: str = "markers") -> list[Any]:
    """The traces of a panel that values can be read from."""
    here = [trace for trace in chart.traces if trace["yaxis"] == axis and trace["mode"] == mode]
    return [trace for trace in here if trace.get("hoverinfo") != "skip"]


@given(st.integers(1, 4), st.integers(2, 40), st.integers(0, 1 << 32))
def test_all_rows_are_drawn_end_to_end(count: int, rows: int, seed: int) -> None:
    scans = [make_scan(f"chr{number}", number, rows, seed + number) for number in range(count)]
    scans = [scan for scan in scans if all(scan.best(name) is not None for name in DEFAULT_STATISTICS)]
    if not scans:
        return
    chart = chart_of(scans)
    for number, name in enumerate(DEFAULT_STATISTICS):
        traces = drawn(chart, f"y{number + 1}" if number else "y")
        assert [trace["name"] for trace in traces] == [scan.name for scan in scans]
        end = -np.inf
        for trace, scan in zip(traces, scans, strict=True):
            known = ~np.isnan(scan.values[name])
            np.testing.assert_allclose(trace["y"], scan.values[name][known] * SCALES.get(name, 1.0))
            np.testing.assert_array_equal(trace["customdata"][:, 0], scan.positions[known])
            np.testing.assert_array_equal(trace["customdata"][:, 2], scan.end[known])
            assert trace["x"][0] > end
            end = trace["x"][-1]


def test_panels_share_the_axis_of_positions_and_do_not_overlap() -> None:
    layout = chart_of([make_scan()]).layout
    domains = [layout[name]["domain"] for name in ("yaxis", "yaxis2", "yaxis3", "yaxis4", "yaxis5")]
    assert layout["xaxis"]["anchor"] == "y5"
    assert all(above[0] > below[1] for above, below in itertools.pairwise(domains))
    assert (domains[0][1], round(domains[-1][0], 9)) == (1, 0)


def test_many_chromosomes_have_short_names() -> None:
    for names in (["chr1", "chr2"], [*"123456789"], [f"chr{number}" for number in range(1, 10)]):
        scans = [make_scan(name, 100 + number, seed=number) for number, name in enumerate(names)]
        axis = chart_of(scans).layout["xaxis"]
        assert axis["ticktext"] == (names if len(names) < 9 else [*"123456789"])
        lines = drawn(chart_of(scans), "y")
        middles = [(trace["x"][0] + trace["x"][-1]) / 2 for trace in lines]
        np.testing.assert_allclose(axis["tickvals"], middles, atol=0.5)


def test_the_best_window_of_each_statistic_is_marked() -> None:
    scans = [make_scan("a", 1), make_scan("b", 2, seed=2)]
    chart = chart_of(scans)
    bands = [shape for shape in chart.layout["shapes"] if shape["type"] == "rect"]
    for name, band in zip(DEFAULT_STATISTICS, bands, strict=True):
        values = [sign_of(name) * np.nanmax(sign_of(name) * scan.values[name]) for scan in scans]
        scan = scans[int(np.argmax(np.multiply(sign_of(name), values)))]
        row = scan.best(name)
        assert band["x1"] - band["x0"] == pytest.approx((scan.end[row] - scan.start[row]) / 1e6)
        assert any(f"on {scan.name} at {scan.positions[row] / 1e6:.2f} Mb" in note["text"]
                   for note in chart.layout["annotations"])  # fmt: skip


def test_of_many_rows_the_extremes_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "COLUMNS", 50)
    scans = [make_scan("a", 1, 3_000), make_scan("b", 2, 900, 2)]
    chart = chart_of(scans)
    traces = drawn(chart, "y4")
    assert sum(len(trace["x"]) for trace in traces) <= 2 * 52
    for trace, scan in zip(traces, scans, strict=True):
        assert trace["y"].min() == np.nanmin(scan.values["tajima_d"])
        assert trace["y"].max() == np.nanmax(scan.values["tajima_d"])
    assert "of each of 50 stretches" in chart.description
    assert "stretches" not in chart_of([make_scan()]).description


@pytest.mark.parametrize(("count", "mode"), [(4, "markers"), (9, "lines")])
def test_replicates_have_a_dot_each(count: int, mode: str) -> None:
    scans = [make_scan(str(number), number, 50, number) for number in range(1, count + 1)]
    page = scans_page(scans, title="x")
    *others, dots = drawn(page.parts[0], "y4")
    assert dots["text"] == [scan.name for scan in scans]
    assert dots["y"].tolist() == [np.nanmin(scan.values["tajima_d"]) for scan in scans]
    assert len(others) == (count if mode == "markers" else 0)
    assert [line["name"] for line in drawn(page.parts[0], "y4", "lines")] == ["median"] * (mode == "lines")
    assert page.title.endswith(f"of {count} replicates: {np.median([np.nanmax(s.values['mu']) for s in scans]):.3g} "
                               "(median)")  # fmt: skip


def null_of(*lines: SweepThreshold) -> Significance:
    extremes = {"mu": np.arange(1.0, 20.0), "pi": np.linspace(0.1, 1, 19)}
    return Significance({}, None, NullFacts(80, 80, False, 0, 1, 1, 1), extremes, extremes, lines)


def test_thresholds_are_lines_with_their_rates() -> None:
    null = null_of(
        SweepThreshold("mu", 0.05, 20.0, 1, 19), SweepThreshold("mu", 0.1, 12.0, 1, 19),
        SweepThreshold("mu", 0.01, math.inf, 1, 19), SweepThreshold("pi", 0.05, -0.5, 1, 19),
    )  # fmt: skip
    page = scans_page([make_scan()], title="x", null=null)
    chart = page.parts[0]
    across = [shape for shape in chart.layout["shapes"] if shape["type"] == "line"]
    assert [(one["yref"], one["y0"]) for one in across] == [("y", 12.0), ("y", 20.0), ("y2", -500.0)]  # pi for each kb
    assert across[1]["line"]["dash"] == across[2]["line"]["dash"] != across[0]["line"]["dash"]
    rates = [(note["yref"], note["text"]) for note in chart.layout["annotations"] if note["text"].endswith(" %")]
    assert rates == [("y", f"{ALPHA} = 10 %"), ("y", f"{ALPHA} = 5 %"), ("y2", f"{ALPHA} = 5 %")]
    assert chart.layout["yaxis"]["range"][1] > 20
    assert chart.layout["yaxis2"]["range"][0] < -500
    mu, _, theta = page.parts[1:4]
    assert mu.columns[3] == "p-value"
    assert [row[3] for row in mu.rows] == pytest.approx([float(null.p_values("mu", row[2])) for row in mu.rows])
    assert "p-value" not in theta.columns
    assert "p\xa0=\xa0" in page.facts["Highest \u03bc"]


def plainly_best(scans: list[Scan], name: str, count: int) -> list[tuple[int, int]]:
    """Each window is compared with those chosen before."""
    rows = [(float(-sign_of(name) * value), owner, row)
            for owner, scan in enumerate(scans) for row, value in enumerate(scan.values[name])]  # fmt: skip
    chosen: list[tuple[int, int]] = []
    for _, owner, row in sorted(one for one in rows if not math.isnan(one[0])):
        scan = scans[owner]
        apart = (
            scan.end[row] - scan.by_bp < scan.start[other] or scan.end[other] - scan.by_bp < scan.start[row]
            for place, other in chosen if place == owner
        )  # fmt: skip
        if len(chosen) < count and all(apart):
            chosen.append((owner, row))
    return chosen


@given(
    st.integers(1, 3),
    st.integers(1, 40),
    st.integers(1, 30),
    st.booleans(),
    st.sampled_from([0, 10]),
    st.integers(0, 1 << 32),
)
def test_windows_are_the_best_that_do_not_overlap(
    count: int, rows: int, most: int, by_bp: bool, width: int, seed: int
) -> None:
    scans = []
    for number in range(count):
        scan = make_scan(f"chr{number}", number, rows, seed + number)
        start = np.sort(np.random.default_rng(seed).integers(0, 300, rows)).astype(np.float64)  # some touch
        scans.append(replace(scan, start=start, end=start + width, gridded=by_bp))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "AT_ONCE", 7)
        for name in ("mu", LOW[0]):
            assert best_rows(scans, name, most) == plainly_best(scans, name, most)


def test_tables_have_all_statistics_of_a_row() -> None:
    scans = [make_scan("a", 1), make_scan("b", 2, seed=2)]
    table = scans_page(scans, title="x", more="in x.tsv").parts[4]
    assert table.title == "Windows with the lowest D"
    assert table.columns[2:7] == ["Tajima's D", "\u03bc", "\u03c0 per kb", "\u03b8 per kb", "Fay and Wu's H"]
    for (owner, row), shown in zip(best_rows(scans, "tajima_d", 200), table.rows, strict=True):
        scan = scans[owner]
        assert shown[0] == scan.name
        values = [scan.values[name][row] * SCALES.get(name, 1) for name in ("tajima_d", "mu", "pi")]
        np.testing.assert_allclose(shown[2:5], values)
        assert shown[7:] == (round(scan.start[row]), round(scan.end[row]), 50)
    assert table.note.endswith("all rows are in x.tsv.")


def test_nothing_to_draw() -> None:
    nothing = dict.fromkeys(DEFAULT_STATISTICS, np.full(60, np.nan))
    for scans in ([], [make_scan(rows=0)], [replace(make_scan(), values=nothing)]):
        page = scans_page(scans, title="x")
        assert page.title.startswith("No statistics: no ")
        assert not page.parts
    partly = {**make_scan().values, "mu": np.full(60, np.nan)}
    page = scans_page([replace(make_scan(), values=partly), replace(make_scan("chr3", 2), values=nothing)], title="x")
    assert page.title == "No \u03bc"
    assert len(page.parts) == 5
