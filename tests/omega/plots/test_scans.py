"""Figures: they can be written in every format, and show what the scans hold."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

import numpy as np
import pytest

from oclgenomics.app.figures import plot_format, save_plot
from oclgenomics.errors import UsageError
from oclgenomics.omega.plots.scans import peak_windows, plot_scans
from oclgenomics.omega.result import Scan

MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def make_scan(name="20", replicate=1, grid=200, first=1_000_000, last=4_000_000, peak=0.4, height=30.0) -> Scan:
    """A noisy scan with one peak and one stretch without windows."""
    rng = np.random.default_rng(replicate)
    positions = np.linspace(first, last, grid)
    omega = np.exp(rng.normal(0.7, 0.3, grid))
    omega[int(peak * grid) : int(peak * grid) + 1] = height
    valid = np.ones(grid, bool)
    valid[:1] = valid[-1:] = False
    valid[grid // 2 : grid // 2 + 5] = False
    half = (last - first) // 100
    return Scan(
        name=name, replicate=replicate, positions=positions, omega=np.where(valid, omega, 0.0),
        left=(positions - half).astype(np.int64), right=(positions + half).astype(np.int64), valid=valid, sites=500,
        haplotypes=40, discarded={}, possible=True, maxwin=half, window_sites=np.where(valid, 33, -1),
    )  # fmt: skip


def empty_scan(name="X", replicate=1) -> Scan:
    return replace(make_scan(name, replicate, grid=0), possible=False)


def texts(figure) -> str:
    (axes,) = figure.axes
    parts = [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
    parts += [text.get_text() for text in axes.texts] + [label.get_text() for label in axes.get_xticklabels()]
    return "\n".join(parts)


def save(figure, format="png") -> bytes:
    stream = io.BytesIO()
    save_plot(figure, stream, format)
    return stream.getvalue()


@pytest.mark.parametrize("format", ["png", "svg", "pdf"])
def test_every_format_is_written_and_repeatable(format):
    first, second = (save(plot_scans([make_scan()], title="a.vcf"), format) for _ in range(2))
    assert first.startswith(MAGIC[format])
    assert first == second


@pytest.mark.parametrize(("name", "format"), [("a.png", "png"), ("b.PDF", "pdf"), ("dir.x/c.svg", "svg")])
def test_format_follows_the_suffix(name, format):
    assert plot_format(name) == format


@pytest.mark.parametrize("name", ["a.jpg", "a", "png", "a.png.gz", ""])
def test_unknown_suffix(name):
    with pytest.raises(UsageError, match=r"has to end in \.png, \.svg or \.pdf"):
        plot_format(name)


def test_one_alignment_names_its_best_window():
    shown = texts(plot_scans([make_scan()], title="a.vcf", layout="chromosomes"))
    assert "Largest ω 30 at 2.206 Mb" in shown
    assert "ω 30, 33 sites\n2.176\N{EN DASH}2.236 Mb" in shown
    assert "a.vcf, 40 haplotypes, 500 sites" in shown
    assert "Position (Mb)" in shown


@pytest.mark.parametrize(("last", "unit"), [(9_000, "bp"), (90_000, "kb"), (9_000_000, "Mb")])
def test_axis_has_the_unit_that_suits(last, unit):
    assert f"Position ({unit})" in texts(plot_scans([make_scan(first=100, last=last)], layout="chromosomes"))


def test_line_breaks_where_no_window_is_valid():
    scan = make_scan()
    line = plot_scans([scan], layout="chromosomes").axes[0].lines[0]
    assert np.array_equal(np.isnan(line.get_ydata()), ~scan.valid)


def test_logarithmic_axis_only_where_one_peak_would_flatten_the_rest():
    assert plot_scans([make_scan(height=30.0)]).axes[0].get_yscale() == "linear"
    assert plot_scans([make_scan(height=3000.0)]).axes[0].get_yscale() == "log"


def test_chromosomes_lie_end_to_end():
    scans = [make_scan(f"chr{n}", n, last=5_000_000 - 100_000 * n, height=20.0 + n) for n in range(1, 23)]
    figure = plot_scans(scans, title="all.vcf")
    shown = texts(figure)
    assert "Largest ω 42 on chr22" in shown
    assert "22 chromosomes, 11,000 sites" in shown
    assert {"1", "13", "22"} <= set(shown.split("\n"))
    spans = [
        (line.get_xdata()[0], line.get_xdata()[-1]) for line in figure.axes[0].lines if len(line.get_xdata()) == 200
    ]
    assert len(spans) == 22
    assert all(left[1] < right[0] for left, right in itertools.pairwise(spans))


def test_few_chromosomes_show_their_own_positions():
    shown = texts(plot_scans([make_scan("2L", 1), make_scan("2R", 2)]))
    assert shown.split("\n").count("2") == 2  # 2 Mb on both
    assert "2R" in shown


def test_many_chromosomes_with_long_names_fit():
    scans = [make_scan(f"unplaced_scaffold_{n:06}", n, first=1, last=100_000 // n) for n in range(1, 121)]
    figure = plot_scans(scans, title="a_long_name_" * 30 + ".vcf.gz")
    assert save(figure).startswith(MAGIC["png"])  # without a warning that things do not fit
    assert "unplaced_scaffold" not in texts(figure)
    assert "\N{HORIZONTAL ELLIPSIS}" in texts(figure)


def test_many_replicates_are_summarised():
    scans = [make_scan(str(n), n, peak=0.6 + 0.001 * n) for n in range(1, 41)]
    figure = plot_scans(scans, title="a.ms")
    (axes,) = figure.axes
    assert "of 40 replicates: 30 (median)" in texts(figure)
    assert len(axes.lines) == 1
    assert len(axes.collections[-1].get_offsets()) == 40
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "middle 90 % of replicates", "median", "largest of each",
    ]  # fmt: skip


def test_few_replicates_are_drawn_one_by_one():
    assert len(plot_scans([make_scan(str(n), n) for n in (1, 2, 3)]).axes[0].lines) >= 3


@pytest.mark.parametrize("scans", [[], [empty_scan()], [empty_scan("1", 1), empty_scan("2", 2)]])
def test_nothing_to_draw_still_gives_a_figure(scans):
    figure = plot_scans(scans)
    assert "Nothing to draw" in texts(figure)
    assert save(figure).startswith(MAGIC["png"])


def test_alignments_without_windows_are_left_out():
    shown = texts(plot_scans([empty_scan("A", 1), make_scan("B", 2)]))
    assert "on B at" in shown


def test_one_position():
    scan = make_scan(grid=2)
    scan.valid[:] = True
    scan.omega[:] = [1.0, 0.0]
    assert save(plot_scans([scan])).startswith(MAGIC["png"])


def test_omega_of_zero_everywhere():
    scan = make_scan()
    scan.omega[:] = 0.0
    assert save(plot_scans([scan])).startswith(MAGIC["png"])


def test_peak_windows_do_not_overlap():
    scan = make_scan()
    peaks = peak_windows(scan, 5)
    assert peaks[0] == scan.best
    assert len(peaks) == 5
    assert all(
        scan.right[one] < scan.left[other] or scan.left[one] > scan.right[other]
        for one in peaks for other in peaks if one != other
    )  # fmt: skip
    assert peak_windows(empty_scan()) == []


def test_unknown_layout():
    with pytest.raises(UsageError, match="choose one of"):
        plot_scans([], layout="pie")


@pytest.mark.parametrize("scans", [1, 2, 8])
def test_thresholds_are_lines_with_labels_that_the_axis_reaches(scans):
    shown = [make_scan(str(number), number) for number in range(1, scans + 1)]
    figure = plot_scans(shown, thresholds=[(5.0, "5 % of neutral"), (500.0, "mine")])
    (axes,) = figure.axes
    assert "ω 5\n5 % of neutral" in texts(figure)
    assert "ω 500\nmine" in texts(figure)
    assert axes.get_ylim()[1] > 500
    flat = [line for line in axes.lines if len(line.get_ydata()) == 2 and line.get_linestyle() == "--"]
    assert sorted(float(line.get_ydata()[0]) for line in flat) == [5.0, 500.0]
    assert save(figure) == save(plot_scans(shown, thresholds=[(5.0, "5 % of neutral"), (500.0, "mine")]))
