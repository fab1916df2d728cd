"""The figure: one panel for each statistic, in every format, with what the scans hold."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.app.figures import save_plot
from oclgenomics.sweeps import scan
from oclgenomics.sweeps.options import DEFAULT_STATISTICS, STATISTICS, SweepOptions
from oclgenomics.sweeps.plots.scans import COLUMNS, are_replicates, drawn_rows, gene_text, plot_scans, value_text
from oclgenomics.sweeps.result import Scan
from oclgenomics.sweeps.significance.thresholds import SweepThreshold
from oclgenomics.sweeps.sites.used import SweepFacts
from oclgenomics.variation import ReadOptions
from oclgenomics.variation.genes import Genes

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
        SweepFacts(80, 400, False, 0.0, 0.0), binary=True,
    )  # fmt: skip


def texts(figure) -> str:
    return " ".join(one.get_text() for one in figure.findobj(lambda one: hasattr(one, "get_text")))


@pytest.mark.parametrize("kind", MAGIC)
def test_every_format(kind: str) -> None:
    out = io.BytesIO()
    names = DEFAULT_STATISTICS if kind == "svg" else ("mu",)
    save_plot(plot_scans([make_scan(names=names)], title="a $ in a name"), out, kind)
    assert out.getvalue().startswith(MAGIC[kind])


def test_every_statistic_has_a_panel() -> None:
    figure = plot_scans([make_scan(names=STATISTICS)])
    assert len(figure.axes) == len(STATISTICS)


def test_one_chromosome_names_its_best_window() -> None:
    scan = make_scan()
    figure = plot_scans([scan], title="x.vcf")
    assert len(figure.axes) == len(DEFAULT_STATISTICS)
    place = f"{scan.positions[100] / 1e6:.2f} Mb"
    assert f"Highest μ: 9 at {place}" in texts(figure)
    assert "x.vcf  ·  80 haplotypes, 400 sites" in texts(figure)
    assert "Position on chr2 (Mb)" in texts(figure)


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


def test_chromosomes_with_numbers_are_no_replicates(tmp_path: Path) -> None:
    calls = "\t.\tA\tC\t.\t.\t.\tGT\t0|1\t1|0\n"
    rows = "".join(f"{name}\t{10 * at}{calls}" for name in (1, 2) for at in range(1, 30))
    head = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ta\tb\n"
    (tmp_path / "x.vcf").write_text(head + rows)
    scans = scan(tmp_path / "x.vcf", SweepOptions(statistics=("pi",), width=6))
    assert not are_replicates(scans)
    block = "\n//\nsegsites: 9\npositions: " + " ".join(f"0.{at}" for at in range(1, 10)) + "\n010101010\n101010101\n"
    (tmp_path / "x.ms").write_text("ms 2 2\n1 2 3\n" + block + block)
    assert are_replicates(
        scan(tmp_path / "x.ms", SweepOptions(statistics=("pi",), width=6), reading=ReadOptions(length=1000))
    )


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


def test_genes_are_named_at_peaks() -> None:
    scan = make_scan()
    values = {name: np.full(300, 5.0) for name in ("mu", "pi")}
    for row, value in ((30, 9.0), (31, 8.9), (150, 8.0), (270, 7.0), (200, 6.0)):
        values["mu"][row] = value
    scan = replace(scan, values=values)
    first, low, near, third = (int(scan.positions[row]) for row in (30, 200, 150, 270))
    spans = sorted([(first, first + 5, "FIRST"), (low, low + 5, "LOW"), (near - 20, near - 1, "NEAR"),
                    (third, third + 5, "THIRD")])  # fmt: skip
    starts, ends, names = zip(*spans, strict=True)
    genes = Genes({scan.name: np.array(starts)}, {scan.name: np.array(ends)}, {scan.name: list(names)})
    labels = labels_of(plot_scans([scan], genes=genes))
    assert any(label.startswith("μ 9 ") and label.endswith(", FIRST") for label in labels)
    assert any(label.startswith("NEAR (") for label in labels)
    assert "THIRD" in labels
    assert "LOW" not in labels
    lines = [SweepThreshold("mu", 0.01, 8.5, 1, 99), SweepThreshold("mu", 0.05, 7.5, 5, 99)]
    passing = labels_of(plot_scans([scan], genes=genes, thresholds=lines))
    assert any(label.startswith("NEAR (") for label in passing)
    assert not {"THIRD", "LOW", "FIRST"} & set(passing)
    assert not any("FIRST" in label for label in labels_of(plot_scans([scan])))
    elsewhere = replace(scan, name="other")
    assert not any("NEAR" in label for label in labels_of(plot_scans([elsewhere], genes=genes)))


def peaky_scan(seed: int, rows: int) -> Scan:
    """Noise with some peaks, at the borders among them, of a statistic that a sweep raises and one that it lowers."""
    rng = np.random.default_rng(seed)
    at = np.sort(rng.uniform(1e6, 4e6, rows))
    values = {"mu": rng.gamma(2.0, 1.0, rows), "tajima_d": rng.normal(0.0, 1.0, rows)}
    for middle in rng.choice([0, rows - 1, *rng.integers(0, rows, 8)], 6, replace=False):
        shape = rng.uniform(4, 12) * np.exp(-np.abs(at - at[middle]) / rng.choice([1e4, 2e5]))
        values = {"mu": values["mu"] + shape, "tajima_d": values["tajima_d"] - shape}
    return replace(make_scan(rows=rows), positions=at, start=at - 100, end=at + 100, values=values)


@pytest.mark.parametrize(("seed", "rows", "line"), [(1, 40, None), (2, 900, 6.0), (3, 6_000, 4.0), (4, 300, 30.0)])
def test_labels_hide_no_point_and_no_other_label(seed: int, rows: int, line: float | None) -> None:
    scan = peaky_scan(seed, rows)
    starts = np.arange(1_000_000, 4_000_000, 60_000)
    genes = Genes({"chr2": starts}, {"chr2": starts + 9_000}, {"chr2": [f"GENE{i:0{3 + i % 9}}" for i in range(50)]})
    limits = {} if line is None else {"mu": line, "tajima_d": -line}
    lines = [SweepThreshold(name, 0.05, value, 5, 99) for name, value in limits.items()]
    figure = plot_scans([scan], genes=genes, thresholds=lines)
    figure.draw_without_rendering()
    for name, axes in zip(scan.values, figure.axes, strict=True):
        points = np.concatenate([one.get_xydata() for one in axes.get_lines() if one.get_marker() == "."])
        points = axes.transData.transform(points)
        names = [one for one in axes.texts if "Mb" in one.get_text() or "GENE" in one.get_text()]
        marks = [axes.transData.transform(one.get_xydata())[0] for one in axes.get_lines() if one.get_marker() == "o"]
        assert len(names) == len(marks) >= (2 if line is None else 1)
        panel, boxes = axes.get_window_extent(), [one.get_window_extent() for one in names]
        for number, box in enumerate(boxes):
            assert not any(box.contains(x, y) for x, y in points)
            assert not any(box.overlaps(other) for other in boxes[:number])
            assert panel.x0 <= box.x0 < box.x1 <= panel.x1
            assert panel.y0 <= box.y0 < box.y1 <= panel.y1
            x, y = marks[number]
            assert box.x0 - 3 <= x <= box.x1 + 3
            assert y >= box.y1 if name == "tajima_d" else y <= box.y0
        for leader in (one for one in axes.texts if not one.get_text()):
            (x, y), shift = axes.transData.transform(leader.xy), leader.xyann[1] * figure.dpi / 72
            assert leader.xyann[0] == 0
            ends = sorted([y, y + shift])
            crossed = [one for one in boxes if one.x0 < x < one.x1 and one.y0 < ends[1] - 1 and one.y1 > ends[0] + 1]
            assert not crossed
            own = [one for one in boxes if one.x0 <= x <= one.x1]
            assert min(abs(border - y - shift) for one in own for border in (one.y0, one.y1)) < 1


def test_values_that_cannot_be_negative_have_no_negative_ticks() -> None:
    for axes, lowest in zip(plot_scans([peaky_scan(1, 40)]).axes, (True, False), strict=True):
        assert (min(axes.get_yticks()) >= 0) == lowest
    (axes,) = plot_scans([make_scan(names=("pi",))]).axes
    assert axes.get_ylim()[0] < 0 <= min(axes.get_yticks())


def labels_of(figure) -> list[str]:
    return [one.get_text() for one in figure.axes[0].texts]


@pytest.mark.parametrize(("far", "text"), [(0, "A"), (7, "A (7 bp)"), (1_240, "A (1.24 kb)"), (2.5e6, "A (2.5 Mb)")])
def test_distances_of_genes(far: float, text: str) -> None:
    genes = Genes({"1": np.array([10])}, {"1": np.array([20])}, {"1": ["A"]})
    assert gene_text(genes, "1", 20 + far) == text
    assert gene_text(genes, "2", 20) is None
