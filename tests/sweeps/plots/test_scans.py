"""The figure: one panel for each statistic, in every format, with what the scans hold."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from oclgenomics.app.figures import save_plot
from oclgenomics.sweeps.options import DEFAULT_STATISTICS
from oclgenomics.sweeps.plan import SweepFacts
from oclgenomics.sweeps.plots.scans import COLUMNS, drawn_rows, plot_scans, value_text
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance import SweepThreshold

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def make_scan(
    name: str = "chr2", replicate: int = 1, rows: int = 300, names: tuple[str, ...] = DEFAULT_STATISTICS
) -> Scan:
    rng = np.random.default_rng(replicate)
    at = np.sort(rng.uniform(1e6, 4e6, rows))
    values = {one: rng.normal(1.0, 0.2, rows) for one in names}
    if rows:
        values[names[0]][rows // 2] = np.nan
        values[names[0]][rows // 3] = 9.0
    return Scan(
        name, replicate, at, at - 100, at + 100, np.full(rows, 50), values, 400, 80, {},
        SweepFacts(80, 400, False, 0.0, 0.0),
    )  # fmt: skip


def texts(figure) -> str:
    return " ".join(one.get_text() for one in figure.findobj(lambda one: hasattr(one, "get_text")))


@pytest.mark.parametrize("kind", MAGIC)
def test_every_format(kind: str) -> None:
    out = io.BytesIO()
    save_plot(plot_scans([make_scan()], title="a $ in a name"), out, kind)
    assert out.getvalue().startswith(MAGIC[kind])


def test_one_chromosome_names_its_best_window() -> None:
    scan = make_scan()
    figure = plot_scans([scan], title="x.vcf")
    assert len(figure.axes) == len(DEFAULT_STATISTICS)
    place = f"{scan.positions[100] / 1e6:.2f} Mb"
    assert f"Highest μ: 9 at {place}" in texts(figure)
    assert "x.vcf  ·  80 haplotypes, 400 sites" in texts(figure)
    assert "Position on chromosome chr2 (Mb)" in texts(figure)


def test_chromosomes_lie_end_to_end_in_bands() -> None:
    scans = [make_scan(f"chr{number}", number) for number in (2, 5, 7)]
    figure = plot_scans(scans)
    assert "on chr" in texts(figure)
    points = [line for line in figure.axes[0].get_lines() if line.get_marker() == "."]
    ends = [(line.get_xdata().min(), line.get_xdata().max()) for line in points]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ends))
    assert len({line.get_color() for line in points}) == 2
    assert len(figure.axes[0].patches) == 2
    many = plot_scans([make_scan(f"chr{number}", number, names=("mu",)) for number in range(2, 24)])
    assert [tick.get_text() for tick in many.axes[0].get_xticklabels()] == [str(number) for number in range(2, 24)]


def test_replicates_lie_over_each_other() -> None:
    scans = [make_scan(str(number), number) for number in range(1, 9)]
    figure = plot_scans(scans)
    assert "of 8 replicates: 9 (median)" in texts(figure)
    (best,) = (line for line in figure.axes[0].get_lines() if line.get_marker() == "o")
    assert len(best.get_xdata()) == 8


def test_thresholds_are_lines_in_the_panels_of_their_statistics() -> None:
    lines = [SweepThreshold("mu", 0.05, 20.0, 5, 99), SweepThreshold("mu", 0.01, math.inf, 1, 99),
             SweepThreshold("pi", 0.05, 0.002, 5, 99)]  # fmt: skip
    figure = plot_scans([make_scan()], thresholds=lines)
    drawn = [[line.get_ydata()[0] for line in axes.get_lines() if line.get_linestyle() == "--"] for axes in figure.axes]
    assert drawn == [[20.0], [2.0], [], [], []]  # pi for each kb
    assert figure.axes[0].get_ylim()[1] > 20.0
    assert texts(figure).count("5 %") == 2


@pytest.mark.parametrize(
    ("value", "text"), [(-2.5, "\u22122.5"), (1234.4, "1,234"), (-1234.4, "\u22121,234"), (1e-9, "1e-09")]
)
def test_values_have_three_digits(value: float, text: str) -> None:
    assert value_text(value) == text


def test_nothing_to_draw() -> None:
    assert "Nothing to draw: no alignment" in texts(plot_scans([]))
    assert "no window with enough sites" in texts(plot_scans([make_scan(rows=0)]))
    nothing = dict.fromkeys(DEFAULT_STATISTICS, np.full(300, np.nan))
    partly = plot_scans([make_scan(), replace(make_scan("chr3", 2), values=nothing)])
    assert "Highest μ: 9 at" in texts(partly)


def test_of_many_points_extremes_are_drawn() -> None:
    x = np.arange(50_000.0)
    y = np.random.default_rng(1).normal(size=len(x))
    y[[5, 777]] = 50, -50
    rows = drawn_rows(x, y)
    shown = dict(zip(x[rows].tolist(), y[rows].tolist(), strict=True))
    assert len(shown) <= 2 * COLUMNS + 2
    assert (shown[5.0], shown[777.0]) == (50.0, -50.0)
