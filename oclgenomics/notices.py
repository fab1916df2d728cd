"""Short messages to people on standard error, from wherever they arise; results never go this way."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator

_silent = False
_told: set[str] = set()
_receiver: Callable[[str], None] | None = None


@contextlib.contextmanager
def of_command(*, quiet: bool = False) -> Iterator[None]:
    """Tell the body's messages as one command's: each once, or with --quiet none; then all is as before."""
    global _silent, _told
    before = _silent, _told
    _silent, _told = quiet, set()
    try:
        yield
    finally:
        _silent, _told = before


def send_to(receiver: Callable[[str], None]) -> None:
    """Have a function get all messages, in a process whose standard error nobody reads."""
    global _receiver
    _receiver = receiver


def number_of(count: int, noun: str, plural: str = "") -> str:
    """Return a count and its noun, as in "1 region" and "1,024 regions"."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def tell(text: str) -> None:
    """Write one line."""
    if _receiver is not None:
        _receiver(text)
    elif not _silent and sys.stderr is not None:
        sys.stderr.write(f"oclgenomics: {text}\n")
        sys.stderr.flush()


def tell_once(text: str) -> None:
    """Write one line that this process has not written yet."""
    if text not in _told:
        tell(text)
        _told.add(text)


@contextlib.contextmanager
def doing(text: str) -> Iterator[None]:
    """Show what is being done while the body runs, on a terminal only, and wipe it in the end."""
    if _silent or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    columns = shutil.get_terminal_size().columns - 1
    _draw(text[:columns].ljust(columns))
    try:
        yield
    finally:
        _draw(" " * columns)


def _draw(line: str) -> None:
    sys.stderr.write(f"\r{line}\r")
    sys.stderr.flush()
