"""Names of files of reads."""

from __future__ import annotations

__all__ = ["output_names"]


def output_names(name: str) -> list[str]:
    """Return the files that a name stands for: two where it has a #, for first and second mates."""
    return [name] if "#" not in name else [name.replace("#", "_1"), name.replace("#", "_2")]
