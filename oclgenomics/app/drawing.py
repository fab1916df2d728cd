"""Figures of commands that take long enough for another process to import Matplotlib meanwhile.

Matplotlib takes as long to import as a small scan, and Python imports in one thread at a time. So a command that will
draw forks a process when it begins, and sends it the data of the figure when it has them. The figure is the same,
byte by byte, as where this process draws it: with one core, on other systems than Linux, in programs that call commands
as functions, and whenever the other process fails.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pickle
import sys
import warnings
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from oclgenomics.app import stopping
from oclgenomics.errors import OutputError
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.io.children import ForkedChild, LostChildError
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.processes import has_one_thread
from oclgenomics.lazy_names import late

figures = late("oclgenomics.app.figures")

# What Matplotlib imports only when it draws, too.
MODULES = ("matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.patheffects")
UNUSED = "mpl_toolkits.mplot3d"  # a seventh of what Matplotlib imports; it does without
_Task = tuple[str, str, str, tuple[Any, ...], dict[str, Any]]

_drawer: ForkedChild | None = None


def begin_drawing(plots: str, name: str) -> None:
    """Have another process make ready to draw, if this one may be forked: before anything has started a thread.

    Parameters
    ----------
    plots : str
        The package of what will draw: "oclgenomics.omega.plots".
    name : str
        The function of the package that will.
    """
    global _drawer
    if stopping.is_program() and usable_cores() > 1 and has_one_thread():
        with contextlib.suppress(OSError):
            _drawer = ForkedChild(_answer, partial(_make_ready, plots, name))


def draw_figure(path: str | Path, plots: ModuleType, name: str, *data: Any, **shown: Any) -> None:
    """Draw a figure into a file that is there whole or not at all, in the format of its suffix.

    Parameters
    ----------
    path : str or Path
    plots : module
        The package of what draws it.
    name : str
        The function of the package that does; this process need not import its module.
    *data, **shown
        What the function is called with.

    Raises
    ------
    OutputError
        The file cannot be written; what was there before is still there.
    """
    drawn = _figure((figures.plot_format(path), plots.__name__, name, data, shown))
    with open_whole(path, "wb", OutputError) as stream:
        stream.write(drawn)


def _figure(task: _Task) -> bytes:
    global _drawer
    if _drawer is not None:
        try:
            _drawer.ask(task)
            drawn: bytes = _drawer.answer()
            return drawn
        except LostChildError:  # for want of memory, or by an error that is better raised here
            _drawer.end()
            _drawer = None
    return _draw(task)


def _draw(task: _Task) -> bytes:
    suffix, plots, name, data, shown = task
    plot, stream = getattr(importlib.import_module(plots), name), io.BytesIO()
    figures.save_plot(plot(*data, **shown), stream, suffix)
    return stream.getvalue()


def _answer(task: _Task) -> bytes:
    return pickle.dumps(_draw(task), protocol=5)


def _no_text(_: object) -> str:
    """Return no table of properties for a docstring; those of all artists take a third of Matplotlib's import."""
    return ""


def _make_ready(plots: str, name: str) -> None:
    sys.modules[UNUSED] = None  # type: ignore[assignment]  # as if it were not installed
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unable to import Axes3D")
        importlib.import_module("matplotlib.artist").kwdoc = _no_text  # type: ignore[attr-defined]
        for module in MODULES:
            importlib.import_module(module)
    getattr(importlib.import_module(plots), name)  # which imports its module
