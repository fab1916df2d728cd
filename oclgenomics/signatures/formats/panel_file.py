"""Panels on disk, with the seed tables that were made of them; docs/signatures-format.md tells them byte by byte."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics import __version__
from oclgenomics.app.run import Run
from oclgenomics.io.array_layout import FileKind
from oclgenomics.io.raw_file import begins_with
from oclgenomics.lazy_names import late
from oclgenomics.signatures.formats.panel_text import read_panel_text
from oclgenomics.signatures.options import MAX_MISMATCHES, STRANDS, Strand
from oclgenomics.signatures.panels.panel import Panel, Patterns
from oclgenomics.signatures.panels.seeds import (
    CHECKED,
    MAX_HEAD,
    MAX_SEEDS,
    MIN_HEAD,
    ROW_WORDS,
    STEP,
    TAIL,
    SeedTable,
)

array_file = late("oclgenomics.io.array_file")
array_writing = late("oclgenomics.io.array_writing")

KIND = FileKind(
    b"\x89osig\r\n\x1a", 2, "panel of signatures", "make it again with `oclgenomics signatures build`",
    older=(1,), blocks_since=2,
)  # fmt: skip
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


@dataclass(frozen=True)
class KeptTables:
    """The tables in a file, which is opened again for each one that is read.

    Attributes
    ----------
    path : str
    mark : int
        Of the file that the panel came from.
    numbers : mapping of TableKey to int
    lengths : ndarray, int64 (signatures,)
        Of the panel's signatures.
    """

    path: str
    mark: int
    numbers: Mapping[TableKey, int]
    lengths: NDArray[np.int64]

    def read(self, key: TableKey) -> SeedTable:
        """Read the table of a key.

        Raises
        ------
        InputError
            The file is damaged, or another one has taken its place.
        """
        with array_file.ArrayFile(self.path, KIND) as file:
            if file.mark != self.mark:
                raise file.error("is not the file any more that the panel was read from", 0)
            begin = f"tables/{self.numbers[key]}/"
            arrays = {name: file.array(begin + name, dtype) for name, dtype in ARRAYS.items()}
            table = SeedTable(head=key.head, mismatches=key.max_mismatches, **arrays)
            try:
                _check_table(table, self.lengths if key.strand != "both" else np.tile(self.lengths, 2))
            except ValueError as error:
                raise file.error(f"table {self.numbers[key]} contradicts {error}", 0) from error
        return table


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

    def facts(self) -> dict[str, Any]:
        """As `Panel.facts`, with the tables and the program."""
        return super().facts() | {"tables": [key._asdict() for key in self.tables.numbers], "program": self.program}

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
    keyed = [(TableKey(strand, table.mismatches, table.head), table) for strand, table in tables]
    for number, (key, table) in enumerate(sorted(keyed, key=lambda each: each[0])):
        _check_table(table, panel.patterns(key.strand).lengths)
        facts.append({**key._asdict(), **SHAPE})
        arrays |= {f"tables/{number}/{name}": getattr(table, name) for name in ARRAYS}
    if len(_keys_of(facts)) != len(facts):
        raise ValueError("two of the tables are for the same strand and mismatches, and have the same heads")
    array_writing.write_arrays(path, KIND, __version__, {"tables": facts}, arrays)


def is_built(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file of `write_panel`; of pipes and their like nothing is read."""
    return begins_with(path, KIND.mark)


def open_panel(path: str | os.PathLike[str]) -> BuiltPanel:
    """Read a panel from a file of `write_panel`; tables are left until they are asked for.

    Raises
    ------
    InputError
        The file cannot be read, is of another kind or version, cut off or damaged.
    """
    with array_file.ArrayFile(path, KIND) as file:
        try:
            numbers = _keys_of(file.metadata.get("tables"))
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
        tables = KeptTables(file.name, file.mark, numbers, np.diff(offsets))
        return BuiltPanel(names, sets, offsets, file.program, tables)


def has_table(patterns: Patterns, max_mismatches: int) -> bool:
    """Whether a table of patterns is ready in a file; `ready_table` reads it."""
    return bool(_ready_keys(patterns, max_mismatches))


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
        See `KeptTables.read`.
    """
    keys = _ready_keys(patterns, max_mismatches)
    if not isinstance(patterns, BuiltPatterns) or not keys:
        return None
    return patterns.tables.read(min(keys, key=lambda key: abs(key.head - head)))


def _ready_keys(patterns: Patterns, max_mismatches: int) -> list[TableKey]:
    """The tables of patterns in a file, each with other heads."""
    if not isinstance(patterns, BuiltPatterns):
        return []
    return [key for key in patterns.tables.numbers if key[:2] == (patterns.of_strand, max_mismatches)]


def _keys_of(facts: object) -> dict[TableKey, int]:
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


def _check_table(table: SeedTable, lengths: NDArray[np.int64]) -> None:
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


def _cuts(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> bool:
    """Whether offsets cut an array into pieces that follow each other."""
    return bool(len(offsets) and offsets[0] == 0 and offsets[-1] == len(data) and (np.diff(offsets) >= 0).all())


def read_panel(path: str | os.PathLike[str], *, run: Run | None = None) -> Panel:
    """Read signatures from FASTA or FASTQ, uncompressed or compressed, or from a file of `build_panel`.

    Parameters
    ----------
    path : path
        "-" is standard input, which is FASTA or FASTQ.
    run : Run, optional
        Whom to tell how far reading is.

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
    held = read_panel_text(path, None if run is None else run.progress)
    return Panel.from_lists(held.names, held.letters, os.fspath(path), held.byte_of)
