"""The files of references as callers name them: files, and folders of files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from oclgenomics.errors import InputError

__all__ = ["files_of", "reference_files"]

ENDINGS = (".fa", ".fasta", ".fna", ".ffn", ".frn", ".fas")
PACKED = ".gz"


def reference_files(references: Sequence[str]) -> list[str]:
    """Return all files of references, by name; an order that does not depend on the file system.

    Parameters
    ----------
    references : sequence of str
        Files, and folders, of which all files are taken whose names end as those of FASTA do, also in folders below.

    Raises
    ------
    InputError
        A file twice, by whatever names, or a folder without FASTA.
    """
    files = []
    for reference in references:
        found = files_of(reference)
        if not found:
            raise InputError(f"the folder holds no FASTA (files that end in {', '.join(ENDINGS)}, or these and .gz)",
                             source=reference)  # fmt: skip
        files += found
    files.sort()
    known: dict[tuple[int, int], str] = {}
    for name in files:
        try:
            status = os.stat(name)
        except OSError:
            continue  # reading it tells
        other = known.setdefault((status.st_dev, status.st_ino), name)
        if other is not name:
            raise InputError(f"the same file as {other}; name it once", source=name)
    return files


def files_of(reference: str) -> list[str]:
    """Return the files of a folder, in any order, or the file itself."""
    if not os.path.isdir(reference):
        return [reference]
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(reference)
        for name in names
        if name.lower().removesuffix(PACKED).endswith(ENDINGS)
    ]
