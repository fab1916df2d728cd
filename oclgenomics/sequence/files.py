"""Files of sequences as callers name them."""

from __future__ import annotations

import os
from collections.abc import Iterable

__all__ = ["SequenceFiles", "file_names"]

SequenceFiles = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def file_names(source: SequenceFiles) -> list[str]:
    """Return the names of one file or of several; "-" is standard input."""
    paths = [source] if isinstance(source, (str, os.PathLike)) else source
    return [os.fspath(path) for path in paths]
