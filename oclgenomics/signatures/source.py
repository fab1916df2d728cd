"""Where signatures come from: FASTA, FASTQ, or the file of a panel that was built."""

from __future__ import annotations

import os

from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.panel_file import is_built, open_panel
from oclgenomics.signatures.panel_text import read_panel_text

__all__ = ["read_panel"]


def read_panel(path: str | os.PathLike[str]) -> Panel:
    """Read signatures from FASTA or FASTQ, plain or packed, or from a file of `build_panel`.

    Parameters
    ----------
    path : path
        "-" is standard input, which is FASTA or FASTQ.

    Returns
    -------
    Panel
        A `BuiltPanel` from a file of `build_panel`.

    Raises
    ------
    InputError
        The file cannot be read or is damaged, or `Panel.from_signatures` refuses what it holds.
    """
    if is_built(path):
        return open_panel(path)
    held = read_panel_text(path)
    return Panel.from_lists(held.names, held.letters, os.fspath(path), held.byte_of)
