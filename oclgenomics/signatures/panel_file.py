"""Panels on disk, with the seed tables that were made of them; docs/signatures-format.md tells them byte by byte."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.io.array_file import ArrayFile, is_of_kind
from oclgenomics.io.array_layout import FileKind
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.signatures.kept_tables import KeptTables, TableKey, check_table, keys_of, table_arrays, table_facts
from oclgenomics.signatures.options import Strand
from oclgenomics.signatures.panel import Panel, Patterns
from oclgenomics.signatures.seed_table import SeedTable

__all__ = ["BuiltPanel", "BuiltPatterns", "has_table", "is_built", "open_panel", "ready_table", "write_panel"]

KIND = FileKind(b"\x89osig\r\n\x1a", 1, "panel of signatures", "make it again with `oclgenomics signatures build`")


@dataclass(frozen=True, repr=False)
class BuiltPanel(Panel):
    """Signatures from a file of `write_panel`.

    Attributes
    ----------
    program : str
        Version of the program that wrote the file.
    tables : KeptTables
        Those in the file.
    """

    program: str
    tables: KeptTables

    def __repr__(self) -> str:
        return f"BuiltPanel(signatures={len(self)}, letters={len(self.sets)}, tables={len(self.tables.numbers)})"

    def patterns(self, strand: Strand) -> BuiltPatterns:
        """As `Panel.patterns`; they know their tables."""
        plain = super().patterns(strand)
        return BuiltPatterns(plain.sets, plain.offsets, plain.signature, plain.strand, strand, self.tables)


@dataclass(frozen=True)
class BuiltPatterns(Patterns):
    """Patterns of a panel from a file.

    Attributes
    ----------
    of_strand : {'+', '-', 'both'}
    tables : KeptTables
    """

    of_strand: Strand
    tables: KeptTables


def has_table(patterns: Patterns, max_mismatches: int) -> bool:
    """Whether a table of patterns is ready in a file; `ready_table` reads it."""
    return isinstance(patterns, BuiltPatterns) and patterns.tables.holds(patterns.of_strand, max_mismatches)


def ready_table(patterns: Patterns, max_mismatches: int, head: int) -> SeedTable | None:
    """Read the table of patterns that is ready in a file.

    Parameters
    ----------
    patterns : Patterns
    max_mismatches : int
    head : int
        Letters of a head. Tables with other heads find the same; of several, the one closest to it is read.

    Returns
    -------
    SeedTable or None
        None where the table has to be made.

    Raises
    ------
    InputError
        The file is damaged, or another one has taken its place.
    """
    if not isinstance(patterns, BuiltPatterns):
        return None
    return patterns.tables.find(patterns.of_strand, max_mismatches, head)


def write_panel(path: str | os.PathLike[str], panel: Panel, tables: Iterable[tuple[Strand, SeedTable]] = ()) -> None:
    """Write a panel to a file, whole or not at all. Equal panels and tables give equal bytes.

    Parameters
    ----------
    path : path
    panel : Panel
    tables : iterable of (strand, SeedTable)
        Tables of `panel.patterns(strand)` in any order, each for other mismatches or with other heads.

    Raises
    ------
    OutputError
        The file cannot be written; nothing half written is left.
    ValueError
        A table of other patterns, or two that are for the same.
    """
    names = [name.encode("utf-8", "surrogatepass") for name in panel.names]
    arrays: dict[str, NDArray[Any]] = {
        "names": np.frombuffer(b"".join(names), np.uint8),
        "name_offsets": np.cumsum([0, *map(len, names)], dtype=np.int64),
        "sets": panel.sets,
        "offsets": panel.offsets,
    }
    facts: list[dict[str, Any]] = []
    for number, (strand, table) in enumerate(sorted(tables, key=_order)):
        check_table(table, panel.patterns(strand).lengths)
        facts.append(table_facts(strand, table))
        arrays |= table_arrays(number, table)
    if len(keys_of(facts)) != len(facts):
        raise ValueError("two of the tables are for the same strand and mismatches, and have the same heads")
    write_arrays(path, KIND, __version__, {"tables": facts}, arrays)


def is_built(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file of `write_panel`; of pipes and their like nothing is read."""
    return is_of_kind(path, KIND)


def open_panel(path: str | os.PathLike[str]) -> BuiltPanel:
    """Read a panel from a file of `write_panel`; tables are left until they are asked for.

    Raises
    ------
    InputError
        The file cannot be read, is of another kind or version, cut off or damaged.
    """
    with ArrayFile(path, KIND) as file:
        try:
            numbers = keys_of(file.metadata.get("tables"))
        except ValueError as error:
            raise file.error(f"the description is malformed: {error}", 0) from error
        text, ends = file.array("names", "|u1"), file.array("name_offsets", "<i8")
        sets, offsets = file.array("sets", "|u1"), file.array("offsets", "<i8")
        sound = _cuts(ends, text) and _cuts(offsets, sets) and len(ends) == len(offsets) and len(ends) > 1
        if not sound or np.diff(offsets).min() < 1 or sets.min() < 1 or sets.max() > 15:
            raise file.error("the signatures contradict each other", 0)
        joined = text.tobytes()
        try:
            names = tuple(joined[a:b].decode("utf-8", "surrogatepass") for a, b in itertools.pairwise(ends.tolist()))
        except UnicodeDecodeError as error:
            raise file.error("a name of a signature is no UTF-8", 0) from error
        if len(set(names)) < len(names):
            raise file.error("two signatures have the same name", 0)
        tables = KeptTables(file.name, KIND, file.mark, numbers, np.diff(offsets))
        return BuiltPanel(names, sets, offsets, file.program, tables)


def _order(of_strand: tuple[Strand, SeedTable]) -> TableKey:
    strand, table = of_strand
    return TableKey(strand, table.mismatches, table.head)


def _cuts(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> bool:
    """Whether offsets cut an array into pieces that follow each other."""
    return bool(len(offsets) and offsets[0] == 0 and offsets[-1] == len(data) and (np.diff(offsets) >= 0).all())
