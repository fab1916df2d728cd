"""Pages of scans and of linkage disequilibrium: what they draw of many positions and sites."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.omega.plots.pages import DRAWN, PIXELS, _coarser, _site_names, scans_page
from oclgenomics.omega.result import Scan
from oclgenomics.omega.significance.peaks import best_windows


def make_scan(name: str = "20", replicate: int = 1, grid: int = 200, seed: int = 1) -> Scan:
    """A noisy scan with stretches without windows."""
    rng = np.random.default_rng(seed)
    positions = np.linspace(1_000_000, 4_000_000, grid)
    valid = rng.random(grid) < 0.9
    omega = np.where(valid, np.exp(rng.normal(1, 1, grid)), 0.0)
    half = rng.integers(1_000, 40_000, grid)
    return Scan(
        name=name, replicate=replicate, positions=positions, omega=omega, left=(positions - half).astype(np.int64),
        right=(positions + half).astype(np.int64), valid=valid, sites=500, haplotypes=40, discarded={}, possible=True,
        maxwin=40_000, window_sites=np.where(valid, 33, -1),
    )  # fmt: skip


def lines(scans: list[Scan], **how: object) -> list[dict[str, object]]:
    return [trace for trace in scans_page(scans, title="x", **how).parts[0].traces if trace["mode"] == "lines"]


@given(st.integers(1, 4), st.integers(2, 60), st.integers(0, 1 << 32))
def test_all_positions_are_drawn(count: int, grid: int, seed: int) -> None:
    scans = [make_scan(f"chr{number}", number, grid, seed + number) for number in range(count)]
    scans = [scan for scan in scans if scan.best is not None]
    if not scans:
        return
    drawn = lines(scans, layout="chromosomes")
    assert [trace["name"] for trace in drawn] == [scan.name for scan in scans]
    ends = [-np.inf]
    for trace, scan in zip(drawn, scans, strict=True):
        np.testing.assert_array_equal(trace["y"], np.where(scan.valid, scan.omega, np.nan))
        np.testing.assert_array_equal(trace["customdata"][:, 0], scan.positions)
        assert trace["x"][0] > ends[-1]  # end to end
        ends.append(trace["x"][-1])


@pytest.mark.parametrize("grid", [DRAWN, DRAWN + 1, 3 * DRAWN + 7])
def test_of_many_positions_the_highest_are_drawn(grid: int) -> None:
    scan = make_scan(grid=grid)
    chart = scans_page([scan], title="x").parts[0]
    line = chart.traces[0]
    assert len(line["x"]) <= DRAWN
    assert np.nanmax(line["y"]) == scan.omega.max()
    every = -(-grid // DRAWN)
    expected = [scan.omega[begin : begin + every].max() for begin in range(0, grid, every)]
    np.testing.assert_array_equal(np.nan_to_num(line["y"]), expected)
    assert (f"Of each {every:,} neighbouring positions" in chart.description) == (grid > DRAWN)


def test_windows_are_the_best_that_do_not_overlap() -> None:
    scans = [make_scan("a", 1, 400, 1), make_scan("b", 2, 400, 2)]
    table = scans_page(scans, title="x", layout="chromosomes", more="in x.tsv").parts[1]
    best = best_windows(scans, len(table.rows))
    assert [(row[0], *row[3:5]) for row in table.rows] == [(peak.chromosome, peak.left, peak.right) for peak in best]
    np.testing.assert_allclose([row[2] for row in table.rows], [peak.omega for peak in best], rtol=1e-6)
    assert table.note.endswith("all grid positions are in x.tsv.")


def test_thresholds_are_lines_with_names() -> None:
    chart = scans_page([make_scan()], title="x", thresholds=[(5.0, "5 % of neutral"), (9.0, "1 % of neutral")]).parts[0]
    across = [shape for shape in chart.layout["shapes"] if shape["type"] == "line"]
    assert [shape["y0"] for shape in across] == [9.0, 5.0]
    named = [trace["name"] for trace in chart.traces if trace.get("showlegend", True)]
    assert named == ["\u03c9 9, 1 % of neutral", "\u03c9 5, 5 % of neutral"]


def test_replicates_have_a_dot_each() -> None:
    scans = [make_scan(str(number), number, 50, number) for number in range(1, 9)]
    *_, dots = scans_page(scans, title="x").parts[0].traces
    assert dots["text"] == [scan.name for scan in scans]
    assert dots["y"].tolist() == [scan.omega.max() for scan in scans]


@pytest.mark.parametrize("scans", [[], [replace(make_scan(), valid=np.zeros(200, bool), omega=np.zeros(200))]])
def test_nothing_to_draw(scans: list[Scan]) -> None:
    page = scans_page(scans, title="x")
    assert page.title.startswith("No omega: no ")
    assert not page.parts


@settings(max_examples=10)
@given(st.integers(2, 3 * PIXELS))
def test_a_map_has_so_many_pixels_at_most(bins: int) -> None:
    rng = np.random.default_rng(bins)
    means = np.triu(rng.random((bins, bins)), 1)
    means[np.tril_indices(bins)] = np.nan
    coarse, starts = _coarser(means, 3 * np.arange(bins + 1))
    step = -(-bins // PIXELS)
    assert len(coarse) == -(-bins // step) <= PIXELS
    assert starts[0] == 0
    assert starts[-1] == 3 * bins
    assert starts[:-1].tolist() == [3 * step * place for place in range(len(coarse))]
    row, column = rng.integers(0, len(coarse), 2)
    part = means[row * step : (row + 1) * step, column * step : (column + 1) * step]
    expected = np.nan if np.isnan(part).all() else np.nanmean(part)
    np.testing.assert_allclose(coarse[row, column], expected)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=30))
def test_sites_of_one_position_have_names_of_their_own(steps: list[int]) -> None:
    positions = np.sort(np.array(steps))
    names = _site_names(positions, np.arange(len(positions) + 1))
    assert len(set(names)) == len(names)
    assert [int(name.split(" ")[0]) for name in names] == positions.tolist()
