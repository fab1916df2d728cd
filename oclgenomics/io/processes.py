"""Python processes that a command starts: they import this package and what its user installed, nothing else.

A file such as `numpy.py` in the current folder, which may hold anybody's data, must not run because a command was given
there. So children start with ``-P``, which keeps the current folder off the path of imports, and where `PYTHONPATH`
names it by a dot or an empty name, as ``PYTHONPATH=$PYTHONPATH:/lib`` does without a value before, that is left out.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

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


def has_one_thread() -> bool:
    """Return whether this process surely has a single thread, those of libraries counted, so that it may be forked."""
    with contextlib.suppress(OSError):  # only Linux says so
        return len(os.listdir("/proc/self/task")) == 1
    return False


@contextlib.contextmanager
def changed_environment() -> Iterator[Callable[[dict[str, str]], None]]:
    """Give the body a way to set environment variables; they are as before when it ends."""
    before: dict[str, str | None] = {}

    def change(values: dict[str, str]) -> None:
        for name, value in values.items():
            before.setdefault(name, os.environ.get(name))
            os.environ[name] = value

    try:
        yield change
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


with contextlib.suppress(ImportError):  # not on Windows
    import resource


def process_limit(name: str) -> int | None:
    """Return a limit of this process, such as ``RLIMIT_AS``; None where there is none."""
    if "resource" not in globals():
        return None
    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit


def memory_limit(below: int) -> tuple[int, str] | None:
    """Return the first limit of memory that is lower than so many bytes, and its letter in `ulimit`."""
    for name, letter in (("RLIMIT_AS", "v"), ("RLIMIT_DATA", "d")):
        limit = process_limit(name)
        if limit is not None and limit < below:
            return limit, letter
    return None


def said_of_limit(limit: str, consequence: str, letter: str) -> str:
    """Say that memory is limited, what follows, and what to do.

    Parameters
    ----------
    limit : str
        A size with its unit.
    consequence : str
        What comes behind the limit and a comma.
    letter : str
        Of the limit in `ulimit`.
    """
    raised = f"raise the limit: ulimit -{letter} unlimited"
    return f"the memory of this process is limited to {limit}, {consequence}; {raised}"
