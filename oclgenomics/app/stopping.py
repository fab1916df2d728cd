"""How the process of a command begins and ends.

Signals end it in order: an interrupt (Ctrl-C), SIGTERM, and SIGHUP of a terminal that is gone. They raise
`KeyboardInterrupt` where the command is at work, so that all of them take the same way out. Before the command is in
charge and after it, there is nothing to put in order, and they end the process at once. Signals that the process was
started to ignore stay ignored.

A command that has ended leaves its process at once: taking the interpreter and the OpenCL runtimes apart takes longer
than the start of a small command, and the system gives all memory back anyway. And NumPy's linear algebra starts no
threads of its own, since the matrices of commands are small: its library starts one for every core as soon as NumPy is
imported, which look for work without a rest at first, at the cost of all others.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if hasattr(signal, "SIGHUP"):  # not on Windows
    WORDS[signal.SIGHUP] = "hung up"
VARIABLES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")  # in which a user may ask for threads
NEW_OBJECTS = 20_000  # between two looks for cycles among the youngest objects
DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)

_handled: list[signal.Signals] = []
_program = ""
_received: signal.Signals | None = None
_status: int | None = None
_is_program = False


def exit_on_signals(program: str) -> None:
    """Have signals end the process at once.

    Parameters
    ----------
    program : str
        Named in the line that says so.
    """
    global _program
    _program = program
    _handled[:] = [number for number in WORDS if signal.getsignal(number) in DEFAULTS]
    _exit_at_once()
    if hasattr(signal, "SIGXFSZ"):
        # A file that outgrows its limit is an error of the write. OpenCL runtimes take the signal, and talk of a crash.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXFSZ])


def raise_on_signals() -> None:
    """Have the first signal raise `KeyboardInterrupt`; the next one ends the process at once.

    It changes nothing in a process that has not called `exit_on_signals`.
    """
    global _program, _received
    _program, _received = "", None  # something may be saved from now on
    for number in _handled:
        signal.signal(number, _raise)


def exit_quietly() -> None:
    """Have signals end the process at once again, without a word, when the command is over.

    It changes nothing in a process that has not called `exit_on_signals`.
    """
    global _program
    _program = ""
    _exit_at_once()


def received() -> tuple[int, str] | None:
    """Return the exit status for the signal that came, and a word for it, or None if there was none."""
    return None if _received is None else (128 + _received, WORDS[_received])


def send_again(thread: int) -> None:
    """Send a thread the signal that was received, as its exception got lost."""
    global _received
    number, _received = _received or signal.SIGINT, None
    signal.pthread_kill(thread, number)


def _exit_at_once() -> None:
    for number in _handled:
        signal.signal(number, _exit)


def _raise(number: int, frame: FrameType | None) -> None:
    global _received
    if _received is not None:
        _exit(number, frame)
    _received = signal.Signals(number)
    raise KeyboardInterrupt


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    if _program:
        os.write(2, f"{_program}: {WORDS[signal.Signals(number)]}; saved: nothing\n".encode())
    os._exit(128 + number)


def leave_at_once() -> None:
    """Have the process end as soon as all handlers of its exit have run that are registered later.

    It changes nothing unless `leaves_with` is called, too.
    """
    global _is_program
    _is_program = True
    atexit.register(_leave)


def is_program() -> bool:
    """Return whether this process is that of a command, and not one in which others call commands as functions."""
    return _is_program


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


def collect_seldom() -> None:
    """Have Python look for cycles of objects after so many new ones that imports, which make none, are not held up."""
    gc.set_threshold(NEW_OBJECTS, *gc.get_threshold()[1:])


def without_algebra_threads() -> None:
    """Have NumPy, which is not imported yet, start no threads in this process nor its children.

    Nothing changes where the user says how many there shall be.
    """
    if not any(name in os.environ for name in VARIABLES):
        os.environ[VARIABLES[0]] = "1"
