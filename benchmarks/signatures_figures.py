"""The figure of the signatures benchmark: what the time of a scan depends on.

python benchmarks/signatures_figures.py RESULT.json FIGURE.png
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import draw_result

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, SKY, STYLE, plot_format, save_plot

__all__ = ["draw"]

Row = dict[str, Any]
Curve = tuple[str, str, str, Callable[[Row], float]]  # label, colour, line style, seconds of a row

# Seconds that the paper prints for its H100 and the set of 100 to 200 copies: files are read before its clock starts.
PUBLISHED = {"without optimisation": 3.3888, "course's bench": 3.0591, "with both": 2.0278}
PUBLISHED_AT = ("copies", 150)
PANELS = {
    "length": ("Length of samples and signatures", "letters of the longest sample"),
    "n": ("Unknown letters", "rate of N in samples"),
    "copies": ("Signatures in infected samples", "copies in each of them"),
    "samples": ("Number of samples", "samples"),
}
OWN: tuple[Curve, ...] = (
    ("this package: whole scan, from files to results", BLUE, "-", lambda row: row["total_s"]),
    ("waiting for the reader", SKY, "--", lambda row: row["reading_s"]),
    ("encoding and matching kernels", SKY, ":", lambda row: row["matching_s"]),
)
THEIRS: tuple[Curve, ...] = (
    (
        "the paper's method on this device: from files to results",
        ORANGE,
        "-",
        lambda row: _paper(row, "read_s") + _paper(row, "wall_s"),
    ),
    ("its kernels", ORANGE, ":", lambda row: _paper(row, "kernel_s")),
)
SHADES = {0: 1.0, 1: 0.65, 2: 0.4}  # opacity by number of signatures, the most first


def _paper(row: Row, name: str) -> float:
    """Seconds of the paper's method; NaN where it did not run."""
    return float(row["paper"][name]) if row["paper"] else math.nan


def draw(record: dict[str, Any], path: str) -> None:
    """Draw the four factors of a result.

    Parameters
    ----------
    record : dict
        As `signatures.py` writes it.
    path : str
        .png, .svg or .pdf
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    form, where = plot_format(path), record["machine"]
    with rc_context(STYLE):
        figure = Figure(figsize=(12.8, 8.2), layout="constrained")
        figure.get_layout_engine().set(rect=(0, 0, 1, 0.9), hspace=0.06, wspace=0.04)
        panels = figure.subplots(2, 2, sharey=True)
        for axes, (factor, (title, label)) in zip(panels.flat, PANELS.items(), strict=True):
            rows = [row for row in record["factors"] if row["factor"] == factor]
            axes.set_title(title, loc="left", fontsize=12.5, fontweight="bold", pad=8)
            axes.set(yscale="log", xlabel=label)
            axes.grid(axis="y", color=GREY, alpha=0.2, lw=0.6)
            _panel(axes, rows, factor)
        panels[0, 0].yaxis.set_major_formatter(lambda seconds, _: f"{seconds:g}")
        for axes in panels[:, 0]:
            axes.set_ylabel("seconds")
        if record["scale"] == 1 and not record["quick"]:
            _mark_published(panels.flat[list(PANELS).index(PUBLISHED_AT[0])])
        _head(figure, record, where)
    with Path(path).open("wb") as stream:
        save_plot(figure, stream, form)


def _head(figure: Any, record: dict[str, Any], where: dict[str, Any]) -> None:
    """Title, what is varied around, and what the lines are."""
    base = next(row for row in record["factors"] if row["factor"] == "copies")
    figure.text(0.01, 0.985, "What the time of a scan depends on", fontsize=17, fontweight="bold", va="top")
    note = f"{where['device']} ({where['platform']}), {where['cores']} processor cores. "
    note += f"Unless varied: {base['samples']:,} samples of {base['letters'] / 1e6:,.3g} million letters, "
    note += f"{base['signatures']:,} signatures, 10 % N, {base['label']} copies."
    figure.text(0.01, 0.935, note, color=GREY, fontsize=11, va="top")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=2, columnspacing=5, frameon=False)


def _panel(axes: Any, rows: list[Row], factor: str) -> None:
    """The curves of a factor: all for one number of signatures, else whole scans and kernels for each number."""
    counts = sorted({row["signatures"] for row in rows}, reverse=True)
    for place, count in enumerate(counts):
        some = [row for row in rows if row["signatures"] == count]
        for name, colour, style, seconds in (*OWN, *THEIRS) if place == 0 else (OWN[0], THEIRS[1]):
            values = [seconds(row) for row in some]
            if any(math.isfinite(value) for value in values):
                x = [row["value"] for row in some]
                axes.plot(
                    x, values, color=colour, ls=style, lw=2.2 if style == "-" else 1.8, marker="o", ms=4.5,
                    label=name if place == 0 else None, alpha=SHADES[place],
                )  # fmt: skip
    if len(counts) > 1:
        _name_counts(axes, counts)
    if factor == "length":
        axes.set_xscale("log")
        axes.minorticks_off()
    if factor != "n":
        axes.set_xticks([row["value"] for row in rows], [row["label"] for row in rows])
    if factor == "n":
        axes.xaxis.set_major_formatter(lambda rate, _: f"{rate:g}")


def _name_counts(axes: Any, counts: list[int]) -> None:
    """Say which shade is which number of signatures."""
    lines = [axes.plot([], [], color=INK, lw=2.2, alpha=SHADES[place])[0] for place in range(len(counts))]
    axes.legend(
        lines, [f"{count:,}" + " signatures" * (not place) for place, count in enumerate(counts)], frameon=False,
        fontsize=10, ncols=len(counts), loc="lower right", bbox_to_anchor=(1, 1), borderpad=0, columnspacing=1.2,
        handlelength=1.4,
    )  # fmt: skip


def _mark_published(axes: Any) -> None:
    """What the paper prints, where its set is."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * 4)  # for the text
    axes.plot([PUBLISHED_AT[1]] * len(PUBLISHED), PUBLISHED.values(), marker="D", color=INK, ms=5.5, ls="", zorder=5)
    seconds = ", ".join(f"{value:.2f} s {name}" for name, value in PUBLISHED.items())
    axes.annotate(
        f"◆ The paper's own seconds on an H100, without reading files:\n    {seconds}", (0.015, 0.985), va="top",
        xycoords="axes fraction", fontsize=10, color=INK,
    )  # fmt: skip


if __name__ == "__main__":
    draw_result(draw, __doc__)
