"""What reads are of, in truth."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

__all__ = ["CLASSES", "Truth", "read_name", "read_truth"]

# What a database can know of reads of a class: all, all above the species, nothing.
CLASSES = ("reference", "strain", "novel", "alien")
_FIELDS = 4
_MAX_DIGITS = 10  # of a taxid
_MATES = ("/1", "/2")


@dataclass(frozen=True)
class Truth:
    """Reads and what they are of.

    Attributes
    ----------
    names : tuple of str
        No two equal; those of pairs without /1.
    species, genus : ndarray, int64 (reads,)
        Taxids; 0 for none.
    classes : ndarray, int8 (reads,)
        Numbers in `CLASSES`.
    """

    names: tuple[str, ...]
    species: NDArray[np.int64]
    genus: NDArray[np.int64]
    classes: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.names)


def read_name(text: str) -> str:
    """Return the name of a read or pair: the first word, without what tells mates apart."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    return word[:-2] if word.endswith(_MATES) else word


def read_truth(path: str | os.PathLike[str]) -> Truth:
    """Read a table of reads: name, taxids of the species and the genus, and class, with tabs between them.

    Parameters
    ----------
    path : str or path-like
        As `oclgenomics simulate reads --truth` writes it; lines that start with # are left out.

    Raises
    ------
    InputError
        The file cannot be read, a line is something else, or two have the same name.
    """
    text, source = read_text(path)
    rows: dict[str, tuple[int, int, int]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) != _FIELDS or not (_is_taxid(fields[1]) and _is_taxid(fields[2])) or fields[3] not in CLASSES:
            what = f"is not a name, the taxids of a species and a genus, and one of {', '.join(CLASSES)}"
            raise InputError(what, source=source, line=number)
        name = read_name(fields[0])
        if name in rows:
            raise InputError(f"names the read {name} a second time", source=source, line=number)
        rows[name] = int(fields[1]), int(fields[2]), CLASSES.index(fields[3])
    table = np.array(list(rows.values()), np.int64).reshape(-1, 3)
    return Truth(tuple(rows), table[:, 0], table[:, 1], table[:, 2].astype(np.int8))


def _is_taxid(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
