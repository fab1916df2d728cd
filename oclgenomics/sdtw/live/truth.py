"""Which reads are of the target, where that is known."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

__all__ = ["named_classes", "of_class", "read_classes"]


def read_classes(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read the class of each read from a table.

    Parameters
    ----------
    path : path
        Columns with tabs between them, among them `read` and `class`, which the first line names; lines that start
        with # are comments. What `oclgenomics simulate signals --truth` writes is one.

    Raises
    ------
    InputError
        It cannot be read, lacks one of the columns, or tells two classes of a read.
    """
    text, source = read_text(path)
    lines = [(number, line.split("\t")) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("#")]
    first, head = lines[0] if lines else (1, [])
    if "read" not in head or "class" not in head:
        raise InputError('the first line has to name the columns "read" and "class"', source=source, line=first)
    name, kind = head.index("read"), head.index("class")
    classes: dict[str, str] = {}
    for number, fields in lines[1:]:
        if len(fields) != len(head):
            raise InputError(f"{len(fields)} columns, not {len(head)}", source=source, line=number)
        if classes.setdefault(fields[name], fields[kind]) != fields[kind]:
            raise InputError(f"read {fields[name]} is of two classes", source=source, line=number)
    return classes


def named_classes(names: Sequence[str]) -> dict[str, str]:
    """Return the classes that names of reads begin with, before their first `_`: names of simulated reads do."""
    return {name: name.partition("_")[0] for name in names if "_" in name}


def of_class(names: Sequence[str], classes: Mapping[str, str], wanted: str, source: str) -> NDArray[np.bool_]:
    """Return which reads are of a class.

    Raises
    ------
    InputError
        The class of a read is not told, or none is of the class.
    """
    missing = next((name for name in names if name not in classes), None)
    if missing is not None:
        raise InputError(f"does not tell the class of read {missing}", source=source)
    found = np.array([classes[name] == wanted for name in names], np.bool_)
    if not found.any():
        others = ", ".join(sorted(set(classes.values()))[:5])
        raise InputError(f"no read is of class {wanted}; there are {others}", source=source)
    return found
