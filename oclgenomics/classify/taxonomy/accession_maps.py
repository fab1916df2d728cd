"""Files that map accessions to taxids: NCBI's accession2taxid, assembly summaries, and tables of two columns."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from oclgenomics.classify.taxonomy.dump_files import MAX_TAXID
from oclgenomics.classify.taxonomy.key_filter import KeyFilter
from oclgenomics.classify.taxonomy.text_fields import Fields, Lines, read_lines
from oclgenomics.errors import InputError

__all__ = ["MapEntry", "matching_entries"]

_KEYS = ("accession.version", "assembly_accession", "accession")
_HEAD_LINES = 10  # among which a line with the columns' names may be


class MapEntry(NamedTuple):
    """A word of a line, and the line's taxid."""

    key: str
    taxid: int


class _Columns(NamedTuple):
    """Where a file has its keys, taxids, and GenBank's old numbers, which are keys, too, but 0 for none."""

    keys: tuple[int, ...]
    taxid: int
    gi: int | None = None


def matching_entries(path: str | os.PathLike[str], wanted: Collection[str]) -> Iterator[MapEntry]:
    """Read the entries of a map whose accession is wanted.

    A line with the columns' names ("accession.version" or "assembly_accession", "taxid", perhaps "accession" and "gi")
    says which columns count. Without one, lines have an accession and a taxid, or the four columns of accession2taxid.
    Columns are separated by tabs.

    Parameters
    ----------
    path : str or path-like
        Plain or gzip.
    wanted : collection of str
        Accessions, with or without version.

    Yields
    ------
    MapEntry
        In the order of the file: all whose key is wanted, with or without its version, and perhaps others.

    Raises
    ------
    InputError
        The file cannot be read, has no columns, or what belongs to a wanted accession is no taxid.
    """
    keys = KeyFilter(wanted)
    numbers = any(name.isdigit() for name in wanted)
    columns: _Columns | None = None
    for lines in read_lines(path):
        if columns is None and len(lines):
            columns = _columns_of(lines)
        if columns is None:
            continue
        fields = lines.fields_by_tab(max(*columns.keys, columns.taxid) + 1)
        asked = [key for key in columns.keys if key != columns.gi or numbers]
        found = [keys.find(fields.text, fields.begins[key], fields.ends[key]) for key in asked]
        for row in np.unique(np.concatenate(found)).tolist():
            yield from _entries(fields, row, columns)


def _entries(fields: Fields, row: int, columns: _Columns) -> Iterator[MapEntry]:
    """The keys of a line; none where its taxid is 0, as NCBI writes for unknown ones, or where it has the names."""
    text = fields.shown(columns.taxid, row).strip()
    if text == "taxid":
        return
    if not (text.isascii() and text.isdigit() and int(text[:12]) <= MAX_TAXID):
        raise InputError(f"{text[:40]!r} is no taxid", source=fields.source, line=int(fields.lines[row]))
    if int(text):
        for column in columns.keys:
            key = fields.shown(column, row).strip()
            if column != columns.gi or key != "0":
                yield MapEntry(key, int(text))


def _columns_of(lines: Lines) -> _Columns:
    """Where the columns are, by their names or by their number."""
    texts = [
        lines.text[begin:end].tobytes().decode("utf-8", "replace")
        for begin, end in zip(lines.begins[:_HEAD_LINES].tolist(), lines.ends[:_HEAD_LINES].tolist(), strict=True)
    ]
    for text in texts:
        names = [name.strip() for name in text.lstrip("#").split("\t")]
        keys = tuple(names.index(key) for key in _KEYS if key in names)
        if "taxid" in names and keys:
            gi = names.index("gi") if "gi" in names else None
            return _Columns(keys if gi is None else (*keys, gi), names.index("taxid"), gi)
    first = next((at for at, text in enumerate(texts) if not text.startswith("#")), 0)
    count = texts[first].count("\t") + 1
    if count < 2:
        raise InputError(
            "has no columns, which tabs separate: accessions and taxids",
            source=lines.source,
            line=int(lines.numbers[first]),
        )
    return _Columns((1, 0, 3), 2, 3) if count == 4 else _Columns((0,), 1)
