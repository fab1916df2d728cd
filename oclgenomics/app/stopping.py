"""Signals that end a command in order: an interrupt (Ctrl-C), SIGTERM, and SIGHUP of a terminal that is gone.

They raise `KeyboardInterrupt` where the command is at work, so that all of them take the same way out. Before the
command is in charge and after it, there is nothing to put in order, and they end the process at once. Signals that
whoever started the process has it ignore stay ignored.
"""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import NoReturn

__all__ = ["exit_on_signals", "exit_quietly", "raise_on_signals", "received", "send_again"]

WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
if hasattr(signal, "SIGHUP"):  # not on Windows
    WORDS[signal.SIGHUP] = "hung up"
DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)

_handled: list[signal.Signals] = []
_program = ""
_received: signal.Signals | None = None


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
    """Return the exit status that the signal stands for and a word for it, or None if there was none."""
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
