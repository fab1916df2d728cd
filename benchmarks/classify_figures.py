"""The paper's Figs. 4 and 5 for the device at hand: one process or two, and what kernels take of a query.

python benchmarks/classify_figures.py RESULT.json FIGURE.png
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measure import draw_result

from oclgenomics.app.figures import BLUE, GREY, INK, ORANGE, SKY, STYLE, TONES, plot_format, save_plot

__all__ = ["draw"]

Row = dict[str, Any]


def draw(record: dict[str, Any], path: str) -> None:
    """Draw a result.

    Parameters
    ----------
    record : dict
        As `classify.py` writes it, with the parts `otf` and `breakdown`.
    path : str
        File, of a suffix that `plot_format` knows.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(11, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_processes(left, record["otf"])
        _draw_shares(right, record["breakdown"])
        figure.suptitle(record["machine"]["device"], color=INK, fontsize=12)
        with Path(path).open("wb") as stream:
            save_plot(figure, stream, plot_format(path))


def _draw_processes(axes: Any, rows: list[Row]) -> None:
    """Bars of each sample: a database written and loaded again, and one that never leaves the device."""
    width = 0.36
    for place, row in enumerate(rows):
        build, query, fly = row["build and write s"], row["load and query s"], row["on the fly s"]
        labels = place == 0
        axes.bar(place - width / 2, build, width, color=BLUE, label="build and write" if labels else None)
        axes.bar(place - width / 2, query, width, bottom=build, color=SKY, label="load and query" if labels else None)
        axes.bar(place + width / 2, fly, width, color=ORANGE, label="on the fly" if labels else None)
        for at, top in ((place - width / 2, build + query), (place + width / 2, fly)):
            axes.text(at, top, f"{top:.1f} s", ha="center", va="bottom", fontsize=9, color=GREY)
    axes.set_xticks(range(len(rows)), [row["reads"] for row in rows])
    axes.set_xlabel("letters of reads")
    axes.set_ylabel("seconds of whole processes")
    axes.set_title("One process or two", loc="left", fontsize=11)
    axes.margins(y=0.25)
    axes.legend(frameon=False, fontsize=9, loc="upper left", ncols=3)


def _draw_shares(axes: Any, rows: list[Row]) -> None:
    """A stacked bar of the kernels of each sample, in the order in which they run."""
    samples = list(dict.fromkeys(row["reads"] for row in rows))
    totals = {
        name: sum(row["share"] for row in rows if row["stage"] == name) for name in {row["stage"] for row in rows}
    }
    stages = sorted(totals, key=lambda name: -totals[name])
    shades = [TONES[1 + index * (len(TONES) - 2) // max(len(stages) - 1, 1)] for index in range(len(stages))]
    bottom = dict.fromkeys(samples, 0.0)
    for stage, shade in zip(stages, reversed(shades), strict=True):
        shares = {row["reads"]: row["share"] for row in rows if row["stage"] == stage}
        heights = [100 * shares.get(name, 0.0) for name in samples]
        axes.bar(samples, heights, 0.55, bottom=list(bottom.values()), color=shade, label=stage)
        bottom = {name: bottom[name] + height for name, height in zip(samples, heights, strict=True)}
    axes.set_xlabel("letters of reads")
    axes.set_ylabel("share of the kernels' time, %")
    axes.set_title("Kernels of a query", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)


if __name__ == "__main__":
    draw_result(draw, __doc__)
