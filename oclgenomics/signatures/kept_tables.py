"""Seed tables in the file of a panel: as arrays, and read back when a scan asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_file import ArrayFile
from oclgenomics.io.array_layout import FileKind
from oclgenomics.signatures.options import MAX_MISMATCHES, STRANDS, Strand
from oclgenomics.signatures.seed_table import ROW_WORDS, SeedTable
from oclgenomics.signatures.seeds import CHECKED, MAX_HEAD, MAX_SEEDS, MIN_HEAD, STEP, TAIL

__all__ = ["KeptTables", "TableKey", "check_table", "keys_of", "table_arrays", "table_facts"]

ARRAYS = {
    "pattern": "<u4", "offset": "<u4", "barred": "<u8", "bits": "<u4", "first": "<u4", "lists": "<u4",
    "unseeded": "<i4",
}  # fmt: skip
SHAPE = {"step": STEP, "tail": TAIL, "checked": CHECKED}  # a table of other seeds than these is of no use


class TableKey(NamedTuple):
    """What a table is for: the patterns on a strand or both, so many mismatches, heads of so many letters."""

    strand: Strand
    max_mismatches: int
    head: int


def table_facts(strand: Strand, table: SeedTable) -> dict[str, Any]:
    """What the file's description says of a table."""
    return {**TableKey(strand, table.mismatches, table.head)._asdict(), **SHAPE}


def table_arrays(number: int, table: SeedTable) -> dict[str, NDArray[Any]]:
    """The sections of a table."""
    return {f"tables/{number}/{name}": getattr(table, name) for name in ARRAYS}


def keys_of(facts: object) -> dict[TableKey, int]:
    """Find the tables that this program can use among those of a description.

    Returns
    -------
    dict of TableKey to int
        The number of each.

    Raises
    ------
    ValueError
        These describe no tables.
    """
    found: dict[TableKey, int] = {}
    names = sorted([*TableKey._fields, *SHAPE])
    if not isinstance(facts, list) or any(not isinstance(each, dict) or sorted(each) != names for each in facts):
        raise ValueError("it describes no tables")
    for number, each in enumerate(facts):
        key = TableKey(*(each[name] for name in TableKey._fields))
        whole = type(key.max_mismatches) is int and type(key.head) is int
        if not whole or key.strand not in STRANDS or not 0 <= key.max_mismatches <= MAX_MISMATCHES:
            raise ValueError(f"it does not say what table {number} is for")
        if all(each[name] == value for name, value in SHAPE.items()) and MIN_HEAD <= key.head <= MAX_HEAD:
            found[key] = number
    return found


@dataclass(frozen=True)
class KeptTables:
    """The tables in a file, which is opened again for each one that is read.

    Attributes
    ----------
    path : str
    kind : FileKind
    mark : int
        Of the file that the panel came from.
    numbers : mapping of TableKey to int
    lengths : ndarray, int64 (signatures,)
        Of the panel's signatures.
    """

    path: str
    kind: FileKind
    mark: int
    numbers: Mapping[TableKey, int]
    lengths: NDArray[np.int64]

    def holds(self, strand: Strand, max_mismatches: int) -> bool:
        """Whether there is a table for a strand, or both, and so many mismatches."""
        return bool(self._suiting(strand, max_mismatches))

    def find(self, strand: Strand, max_mismatches: int, head: int) -> SeedTable | None:
        """Read a table for a strand, or both, and so many mismatches: of several, the one whose head is closest.

        Raises
        ------
        InputError
            The file is damaged, or another one has taken its place.
        """
        keys = self._suiting(strand, max_mismatches)
        return self.read(min(keys, key=lambda key: abs(key.head - head))) if keys else None

    def _suiting(self, strand: Strand, max_mismatches: int) -> list[TableKey]:
        return [key for key in self.numbers if key[:2] == (strand, max_mismatches)]

    def read(self, key: TableKey) -> SeedTable:
        """Read the table of a key; errors are those of `find`."""
        with ArrayFile(self.path, self.kind) as file:
            if file.mark != self.mark:
                raise file.error("is not the file any more that the panel was read from", 0)
            begin = f"tables/{self.numbers[key]}/"
            arrays = {name: file.array(begin + name, dtype) for name, dtype in ARRAYS.items()}
            table = SeedTable(head=key.head, mismatches=key.max_mismatches, **arrays)
            try:
                check_table(table, self.lengths if key.strand != "both" else np.tile(self.lengths, 2))
            except ValueError as error:
                raise file.error(f"table {self.numbers[key]} contradicts {error}", 0) from error
        return table


def check_table(table: SeedTable, lengths: NDArray[np.int64]) -> None:
    """Check that a table is one of patterns of some lengths: that seeds lie where they have to, and none is missing.

    Raises
    ------
    ValueError
        It is not; says what it contradicts.
    """
    seeds, rows, size = len(table.pattern), 5**table.head, table.head + TAIL
    sizes = [len(table.offset), len(table.barred), len(table.bits), len(table.first)]
    if sizes != [seeds, seeds, rows * ROW_WORDS, rows + 1] or seeds % (STEP * (table.mismatches + 1)):
        raise ValueError("itself: arrays have sizes that do not go together")
    if seeds > MAX_SEEDS:
        raise ValueError(f"this program: it has {seeds:,} seeds, and {MAX_SEEDS:,} are the most")
    owner = table.pattern.reshape(-1, STEP * (table.mismatches + 1))
    if not _ascend(owner[:, 0]) or not _ascend(table.unseeded):
        raise ValueError("itself: patterns are out of order, or twice")
    everyone = np.sort(np.concatenate([owner[:, 0], table.unseeded]))
    if not np.array_equal(everyone, np.arange(len(lengths))) or (owner != owner[:, :1]).any():
        raise ValueError("the panel: a pattern is not there, or twice")
    offset = table.offset.astype(np.int64).reshape(-1, table.mismatches + 1, STEP)
    apart = (offset % STEP == np.arange(STEP)).all() and (np.diff(offset, axis=1) >= size).all()
    if not apart or (offset.ravel() + size > lengths[table.pattern]).any():
        raise ValueError("the panel: a seed lies where it must not")
    first, lists = table.first, table.lists
    if first[0] or first[-1] != len(lists) or (first[1:] < first[:-1]).any() or (lists >= seeds).any():
        raise ValueError("itself: a row lists seeds that are not there")
    follows = lists[1:] > lists[:-1]
    follows[first[(first > 0) & (first < len(lists))].astype(np.int64) - 1] = True  # where a row begins
    if not follows.all():
        raise ValueError("itself: a row lists seeds out of order, or twice")


def _ascend(numbers: NDArray[np.integer]) -> bool:
    return bool((numbers[1:] > numbers[:-1]).all())
