"""What the figures have in common: colours, type, and how they are saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hls_model.errors import ModelError
from hls_model.files import open_output
from oclgenomics.app.figures import drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "INK",
    "ORANGE",
    "PALE",
    "PHASE_COLOURS",
    "PURPLE",
    "SKY",
    "YELLOW",
    "new_figure",
    "save",
]

# Okabe and Ito's colours keep apart for every kind of colour vision.
BLUE, SKY, ORANGE, GREEN = "#0072B2", "#56B4E9", "#D55E00", "#009E73"
YELLOW, PURPLE, INK, GREY, PALE = "#E69F00", "#CC79A7", "#262626", "#6B6B6B", "#E4E4E4"
COLOURS = (BLUE, ORANGE, GREEN, SKY, PURPLE, YELLOW)
PHASE_COLOURS = {  # one for each of hls_model.timing.result.PHASES
    "prefetch": PURPLE,
    "fill": SKY,
    "stream": BLUE,
    "stall": ORANGE,
    "drain": YELLOW,
    "merge": GREEN,
    "overhead": GREY,
}
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.parse_math": False,  # a $ in a name is a $
    "svg.fonttype": "none",  # text stays text, which a talk's author can edit
    "svg.hashsalt": "hls_model",
    "pdf.fonttype": 42,
}
DATES = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}  # equal runs give equal bytes


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float], **options: Any
) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure of `size` inches and its axes, row by row; `options` go to `Figure.subplots`.

    Raises
    ------
    ModelError
        Matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ModelError("--plot needs Matplotlib; install it with `pip install matplotlib`") from error
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def save(figure: Figure, name: str) -> None:
    """Write a figure; the file's ending says which format.

    Raises
    ------
    ModelError
        No such format.
    ModelOutputError
        The file cannot be written.
    """
    import matplotlib

    ending = Path(name).suffix[1:].lower()
    known = figure.canvas.get_supported_filetypes()
    if ending not in known:
        raise ModelError(f"--plot {name}: no picture format; let it end in .png, .svg or .pdf")
    with matplotlib.rc_context(STYLE), open_output(name, "wb") as stream, drawn(figure):
        figure.savefig(stream, format=ending, dpi=200, metadata=DATES.get(ending))
