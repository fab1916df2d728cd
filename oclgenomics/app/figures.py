"""What all figures have in common: colours, type, numbers as people read them, names from the data, and their files."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.streams import drawable
from oclgenomics.errors import OutputError, ParameterError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from matplotlib.figure import Figure

agg = late("matplotlib.backends.backend_agg")
image = late("PIL.Image")
matplotlib = late("matplotlib")
ticker = late("matplotlib.ticker")


SUFFIXES = ("png", "svg", "pdf")
# Okabe and Ito's colours keep apart for every kind of colour vision.
BLUE, SKY, ORANGE, INK, GREY = "#0072B2", "#56B4E9", "#D55E00", "#262626", "#6B6B6B"
GREEN = "#009E73"
WHITE, LINE = "#FFFFFF", "#DCDCDC"
# White to navy in even steps of lightness (CIELAB), in tones that every kind of colour vision tells from orange.
TONES = ("#FFFFFF", "#C2E5F8", "#89C9EB", "#52ADDB", "#0090C8", "#0072AF", "#00548C", "#003867", "#071F40")
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
    "svg.hashsalt": "oclgenomics",
    "pdf.fonttype": 42,
}
DPI = 200
PNG_LEVEL = 3  # of compression; level 6 takes a half longer for files a sixth smaller
EN_DASH, ALPHA = "\N{EN DASH}", "\N{GREEK SMALL LETTER ALPHA}"


def plot_format(path: str | Path) -> str:
    """Return the format of a figure's file from its suffix: 'png', 'svg' or 'pdf'.

    Raises
    ------
    UsageError
        For any other suffix.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in SUFFIXES:
        raise ParameterError("plot", "the name has to end in .png, .svg or .pdf", str(path))
    return suffix


def save_plot(figure: Figure, stream: IO[bytes], format: str) -> None:
    """Write a figure to a binary stream as 'png', 'svg' or 'pdf'; equal figures give equal bytes."""
    date = {"svg": "Date", "pdf": "CreationDate"}
    with matplotlib.rc_context(STYLE), drawn(figure):
        if format == "png":
            picture = image.fromarray(np.ascontiguousarray(_pixels(figure)[:, :, :3]))  # nothing shows through
            picture.save(stream, format, compress_level=PNG_LEVEL, dpi=(DPI, DPI))
        else:
            figure.savefig(stream, format=format, dpi=DPI, metadata={date[format]: None})


def _pixels(figure: Figure) -> NDArray[np.uint8]:
    """Draw a figure once, where Matplotlib's `savefig` first draws it for its layout alone."""
    canvas, dpi = figure.canvas, figure.dpi
    try:
        figure.dpi = DPI
        drawing = agg.FigureCanvasAgg(figure)
        drawing.draw()
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)
    return np.asarray(drawing.buffer_rgba())


def write_figure(path: str | Path, figure: Figure) -> None:
    """Write a figure to a file that is there whole or not at all, in the format of its suffix.

    Raises
    ------
    OutputError
        The file cannot be written; what was there before is still there.
    """
    with open_whole(path, "wb", OutputError) as stream:
        save_plot(figure, stream, plot_format(path))


def round_ticks(first: float, last: float, count: int) -> NDArray[np.float64]:
    """Return at most about `count` round numbers from `first` to `last`."""
    ticks = np.asarray(ticker.MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(first, last))
    return ticks[(ticks >= first) & (ticks <= last)]


def tick_texts(ticks: NDArray[np.float64]) -> list[str]:
    """Write round numbers with as many digits after the point as the one that has most."""
    digits = max((len(f"{tick:.10g}".partition(".")[2]) for tick in ticks.tolist()), default=0)
    return [f"{tick:,.{digits}f}" for tick in ticks.tolist()]


def position_unit(positions: NDArray[np.float64]) -> tuple[float, str]:
    """Return the largest unit that suits, in bp, and its name."""
    last = float(positions.max())
    if last >= 1e6:
        return 1e6, "Mb"
    return (1e3, "kb") if last >= 1e4 else (1.0, "bp")


def distance_text(bp: float) -> str:
    """Write a distance with three digits, in the largest unit that suits."""
    scale, unit = (1e6, "Mb") if bp >= 1e6 else (1e3, "kb") if bp >= 1e3 else (1.0, "bp")
    return f"{bp / scale:,.3g} {unit}"


def short_text(name: str, letters: int) -> str:
    """Return a name, without its middle if it is too long."""
    if len(name) <= letters:
        return name
    half = (letters - 1) // 2
    return f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}"


def number_text(value: float) -> str:
    """Write a number with three digits, or all those before its point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@contextlib.contextmanager
def drawn(figure: Any) -> Iterator[None]:
    """Prepare a figure of Matplotlib to be drawn in the `with` block.

    What no figure can hold (control characters, bytes of file names that are no text) is shown as escapes. Letters that
    the font lacks are drawn as boxes, without a warning for each.
    """
    for artist in figure.findobj(lambda artist: hasattr(artist, "get_text") and hasattr(artist, "set_text")):
        artist.set_text(drawable(artist.get_text()))
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            formatter = axis.get_major_formatter()
            if hasattr(formatter, "func"):  # ticks that were given their texts
                formatter.func = _escaped(formatter.func)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def _escaped(text_of: Callable[[float, int], str]) -> Callable[[float, int], str]:
    return lambda value, place: drawable(text_of(value, place))
