"""A line on the terminal that tells how far the work is, how fast it goes and how long it will take."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from oclgenomics.app.streams import printable

REDRAW_SECONDS = 0.1
FIRST_ESTIMATE_SECONDS = 0.5  # before that, a rate says little


class Progress:
    """Shows one stage of the work at a time.

    Parameters
    ----------
    stream : TextIO, optional
        Where to draw; standard error. Nothing is drawn unless it is a terminal.
    enabled : bool
        False draws nothing at all.
    """

    def __init__(self, stream: TextIO | None = None, *, enabled: bool = True) -> None:
        self._stream = sys.stderr if stream is None else stream
        self.enabled = enabled and self._stream.isatty()
        self._label = ""
        self._unit = ""
        self._scale = 1.0
        self._began = 0.0
        self._drawn = 0.0
        self._width = 0

    def stage(self, label: str, unit: str, scale: float = 1.0) -> None:
        """Begin a stage: what is done, what is counted, and how many of them make one on display (1e6 bytes a MB)."""
        self._label, self._unit, self._scale = label, unit, scale
        self._began = time.monotonic()
        self._drawn = 0.0

    def update(self, done: int, total: int | None) -> None:
        """Show that `done` of `total` units of the stage are done; None where the total is unknown."""
        now = time.monotonic()
        if self.enabled and now - self._drawn >= REDRAW_SECONDS:
            self._drawn = now
            self._draw(describe(self._label, self._unit, done, total, now - self._began, self._scale))

    def clear(self) -> None:
        """Wipe the line, so that something else can be written."""
        if self._width:
            self._draw("")
            self._width = 0

    def _draw(self, text: str) -> None:
        text = printable(text)
        self._stream.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
        self._stream.flush()
        self._width = len(text)


def describe(label: str, unit: str, done: int, total: int | None, seconds: float, scale: float = 1.0) -> str:
    """The text of the line."""
    digits = 0 if scale == 1 else 1
    text = f"{label}: {done / scale:,.{digits}f}"
    text += f" of {total / scale:,.{digits}f} {unit} ({done / total:.0%})" if total else f" {unit}"
    if seconds < FIRST_ESTIMATE_SECONDS or not done:
        return text
    text += f", {done / seconds / scale:,.{digits}f}/s"
    if total and total > done:
        text += f", {_clock((total - done) * seconds / done)} left"
    return text


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
