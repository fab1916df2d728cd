"""The figure of the sDTW benchmark: samples a second by reference, with what the paper prints.

python benchmarks/sdtw_figures.py RESULT.json FIGURE.png
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from measure import draw_result

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, STYLE, TONES, plot_format, save_plot

__all__ = ["draw"]

Row = dict[str, Any]
COLOURS = {"default": BLUE, "step 1": TONES[4], "Crescent": TONES[2]}
NAMES = {
    "default": "this package, default: a row of 3 samples",
    "step 1": "this package, a row of each sample",
    "Crescent": "this package, Crescent's algorithm",
}
MARKS = {"Crescent, A100": "D", "Crescent, RTX 3090": "o", "Crescent, 16 threads of a CPU": "s"}
WIDTH = 0.28


def draw(record: dict[str, Any], path: str) -> None:
    """Draw bars for each reference.

    Parameters
    ----------
    record : dict
        As `sdtw.py` writes it.
    path : str
        .png, .svg or .pdf
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    form, where, names = plot_format(path), record["machine"], list(record["columns"])
    with rc_context(STYLE):
        figure = Figure(figsize=(11, 6.4), layout="constrained")
        figure.get_layout_engine().set(rect=(0, 0, 1, 0.87))
        axes = figure.subplots()
        for number, variant in enumerate(COLOURS):
            _bars(axes, best_rows(record["throughput"], variant), names, variant, (number - 1) * WIDTH)
        for name, values in record["published"].items():
            axes.plot(
                [0, len(names) - 1], values, MARKS[name], color=ORANGE, mec="white", mew=1.5, ms=9,
                label=f"{name}: published",
            )  # fmt: skip
        axes.set(yscale="log", ylabel="samples per second")
        axes.set_xticks(range(len(names)), [f"{name}\n{record['columns'][name]:,} k-mers" for name in names])
        axes.tick_params(axis="x", length=0)
        axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:,.0f}" if rate < 1e6 else f"{rate / 1e6:,.0f} M")
        axes.set_ylim(1e3, 2 * axes.get_ylim()[1])
        axes.grid(axis="y", color=GREY, alpha=0.2, lw=0.6)
        axes.set_axisbelow(True)
        _head(figure, record, where)
    with Path(path).open("wb") as stream:
        save_plot(figure, stream, form)


def best_rows(rows: list[Row], variant: str) -> dict[str, Row]:
    """The fastest number of reads of each reference."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["variant"] == variant:
            best = found.setdefault(row["reference"], row)
            if row["samples_per_s"] > best["samples_per_s"]:
                found[row["reference"]] = row
    return found


def _bars(axes: Any, rows: dict[str, Row], names: list[str], variant: str, shift: float) -> None:
    places = np.array([names.index(name) for name in rows], float) + shift
    heights = [row["samples_per_s"] for row in rows.values()]
    bars = axes.bar(places, heights, WIDTH * 0.94, color=COLOURS[variant], label=NAMES[variant])
    labels = [f"{height / 1e6:.2g} M" if height < 1e7 else f"{height / 1e6:,.0f} M" for height in heights]
    axes.bar_label(bars, labels, padding=2, fontsize=9, color=INK)


def _head(figure: Any, record: dict[str, Any], where: dict[str, Any]) -> None:
    """Title, the device, and what the bars are."""
    figure.text(0.012, 0.985, "Samples aligned per second", fontsize=17, fontweight="bold", va="top")
    counts = sorted({row["reads"] for row in record["throughput"]})
    note = f"{where['device']} ({where['platform']}). Reads of {record['prefix']:,} samples, "
    note += f"{counts[0]:,} to {counts[-1]:,} at a time; references of the paper's lengths, both strands."
    figure.text(0.012, 0.925, note, color=GREY, fontsize=11, va="top")
    entries = list(zip(*figure.axes[0].get_legend_handles_labels(), strict=True))
    handles, labels = zip(*sorted(entries, key=lambda entry: entry[1] not in NAMES.values()), strict=True)
    figure.legend(handles, labels, loc="outside lower left", ncols=2, columnspacing=3, frameon=False)


if __name__ == "__main__":
    draw_result(draw, __doc__)
