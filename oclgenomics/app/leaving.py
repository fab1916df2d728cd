"""The end of the process of a command, without taking the interpreter and the OpenCL runtimes apart first.

That takes longer than the start of a small command, and the system gives all memory back anyway.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys

__all__ = ["leave_at_once", "leaves_with"]

_status: int | None = None


def leave_at_once() -> None:
    """Have the process end as soon as all handlers of its exit have run that are registered later.

    It changes nothing unless `leaves_with` is called, too.
    """
    atexit.register(_leave)


def leaves_with(status: int) -> int:
    """Say that a command is over and with what exit status, and return that."""
    global _status
    _status = status
    return status


def _leave() -> None:
    if _status is None:  # an error that nobody took, whose status is the interpreter's business
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or trouble that the command has told
            stream.flush()
    os._exit(_status)
