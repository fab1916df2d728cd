"""Short messages to people on standard error, from wherever they arise; results never go this way."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator

__all__ = ["doing", "silence", "tell", "tell_once"]

_silent = False
_told: set[str] = set()


def silence(silent: bool = True) -> None:
    """Let no message through, as --quiet asks for, or let them through again."""
    global _silent
    _silent = silent


def tell(text: str) -> None:
    """Write one line."""
    if not _silent and sys.stderr is not None:
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
