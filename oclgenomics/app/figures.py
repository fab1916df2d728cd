"""Figures whose text holds names from the data and from file names."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from oclgenomics.app.streams import drawable

__all__ = ["drawn"]


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
