"""Files that are there whole or not at all, with the errors of this package."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

import oclgenomics.commandkit.whole
from oclgenomics.commandkit.whole import WholeFile
from oclgenomics.errors import OutputError

__all__ = ["WholeFile", "whole_file"]


def whole_file(path: str | os.PathLike[str]) -> AbstractContextManager[WholeFile]:
    """Open a binary file that takes its name when the `with` block ends, and vanishes if that fails.

    Raises
    ------
    OutputError
        The file cannot be written; what was there before is still there.
    """
    return oclgenomics.commandkit.whole.whole_file(path, OutputError)
