"""The files of references as callers name them: files, and folders of files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from oclgenomics.app.files import FileKey, file_key
from oclgenomics.errors import InputError

__all__ = ["files_of", "reference_files", "stored_letters"]

ENDINGS = (".fa", ".fasta", ".fna", ".ffn", ".frn", ".fas")
PACKED = (".gz", ".bgz", ".bz2", ".xz", ".zst")
STANDARD_INPUT = 0
PACKED_LETTERS = 5  # of a packed byte, about; letters pack to two bits and a bit


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
            raise InputError(f"the folder holds no FASTA (files that end in {', '.join(ENDINGS)}, or these and "
                             f"{', '.join(PACKED)})", source=reference)  # fmt: skip
        files += found
    files.sort()
    known: dict[FileKey, str] = {}
    for name in files:
        key = file_key(name, STANDARD_INPUT)
        if key in known:
            raise InputError(f"the same file as {known[key]}; name it once", source=name)
        if key is not None:  # else it is a pipe
            known[key] = name
    return files


def files_of(reference: str) -> list[str]:
    """Return the files of a folder, in any order, or the file itself."""
    if not os.path.isdir(reference):
        return [reference]
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(reference)
        for name in names
        if _unpacked_name(name).endswith(ENDINGS)
    ]


def _unpacked_name(name: str) -> str:
    """The name in lower case, without the ending that says how the file is packed."""
    lower = name.lower()
    return next((lower.removesuffix(ending) for ending in PACKED if lower.endswith(ending)), lower)


def stored_letters(files: Sequence[str]) -> int | None:
    """Return about how many letters files have; None where nobody knows, as of standard input."""
    letters = 0
    for name in files:
        try:
            size = os.stat(name).st_size
        except OSError:
            return None
        if not size:
            return None
        letters += size * (PACKED_LETTERS if name.lower().endswith(PACKED) else 1)
    return letters
