"""NumPy's linear algebra without threads of its own, for commands, whose matrices are small.

Its library starts a thread for every core as soon as NumPy is imported. They look for work without a rest at first, at
the cost of all others.
"""

from __future__ import annotations

import os

__all__ = ["without_algebra_threads"]

VARIABLES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")  # in which a user may ask for threads


def without_algebra_threads() -> None:
    """Have NumPy, which is not imported yet, start no threads in this process nor its children.

    Nothing changes where the user says how many there shall be.
    """
    if not any(name in os.environ for name in VARIABLES):
        os.environ[VARIABLES[0]] = "1"
