"""Draft."""

from __future__ import annotations

from collections.abc import Sequence


def cut_files(names: Sequence[str], number: int, of: int) -> list[str]:
    """Return whole files by turns."""
    return [name for place, name in enumerate(names) if place * of // len(names) + 1 == number]
