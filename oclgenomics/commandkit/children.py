"""Python processes that a command starts: they import this package and what its user installed, nothing else.

A file such as `numpy.py` in the current folder, which may hold anybody's data, must not run because a command was given
there. So children start with ``-P``, which keeps the current folder off the path of imports, and where `PYTHONPATH`
names it by a dot or an empty name, as ``PYTHONPATH=$PYTHONPATH:/lib`` does without a value before, that is left out.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["child_environment", "child_python"]

_HOME = str(Path(__file__).resolve().parents[2])  # the folder that this package lies in


def child_python(*words: str) -> list[str]:
    """Return the command of a Python process: ``-m`` and a module, or ``-c`` and a program, and their words.

    Parameters
    ----------
    *words : str
        What comes behind the interpreter.
    """
    return [sys.executable, "-P", *words]


def child_environment() -> dict[str, str]:
    """Return the environment of a process that imports this very package, wherever it was found.

    The folder of this package comes last: where it is installed, that of all other libraries is the same one.
    """
    given = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", os.curdir)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*given, _HOME])}
