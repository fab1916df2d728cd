"""What reads are of, in truth."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

import numpy as np

from oclgenomics.classify.taxonomy.evaluation import CLASSES, Truth
from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

__all__ = [
    "read_calls",
    "read_name",
    "read_truth",
]

_FIELDS = 4
_MAX_DIGITS = 10  # of a taxid
_MATES = ("/1", "/2")


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


_LAYOUT = "TABLE_LAYOUT: "
_SEPARATOR = "\t|\t"
_BEFORE_CALLS = ("query_id", "query_header", "all_hits", "top_hits", "candidate_locations")
_IN_BRACKETS = re.compile(r"\((-?[0-9]{1,10})\)(?=,|$)")
_BARE = re.compile(r"(?:^|:)(-?[0-9]{1,10})(?=,|$)")
_TAXID = re.compile(r"[0-9]{1,10}")
_KNOWN = "lines of Kraken, MetaCache's with -taxids or -taxids-only, or the table of --format tsv"

Row = tuple[int, str, int]  # number of the line, name, taxid


def read_calls(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read the taxid of each read; 0 for unclassified ones.

    Parameters
    ----------
    path : str or path-like
        Lines of Kraken (of any version, or of `--format kraken`); native lines of MetaCache or of this package, that
        hold taxids and, if they tell candidates, the line with their layout; or the table of `--format tsv`. Of a
        native lineage the lowest taxon counts.

    Returns
    -------
    dict of str to int
        By the names of reads and pairs, without /1.

    Raises
    ------
    InputError
        The file cannot be read, holds something else, or names a read twice.
    """
    text, source = read_text(path)
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.split("\n"), 1)]
    calls: dict[str, int] = {}
    for number, name, taxid in _rows(lines, source):
        if name in calls:
            raise InputError(f"names the read {name} a second time", source=source, line=number)
        calls[name] = taxid
    return calls


def _rows(lines: list[tuple[int, str]], source: str) -> Iterator[Row]:
    first = next((line for _, line in lines if line.strip() and not line.startswith("#")), "")
    layout = next((line.split(_LAYOUT, 1)[1] for _, line in lines if _LAYOUT in line), None)
    rows = [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]
    if layout is not None or _SEPARATOR in first:
        return _native(rows, layout, source)
    if first.startswith(("C\t", "U\t")) or not first:
        return _columns(rows, 1, 2, source)
    heads = first.split("\t")
    if "read" in heads and "taxid" in heads:
        return _columns(rows[1:], heads.index("read"), heads.index("taxid"), source)
    raise InputError(f"is none of these: {_KNOWN}", source=source)


def _columns(rows: Iterable[tuple[int, str]], name: int, taxid: int, source: str) -> Iterator[Row]:
    for number, line in rows:
        fields = line.split("\t")
        found = _TAXID.fullmatch(_number_of(fields[taxid])) if len(fields) > max(name, taxid) else None
        if found is None:
            raise InputError("has no name and taxid of a read where others have them", source=source, line=number)
        yield number, read_name(fields[name]), int(found[0])


def _number_of(field: str) -> str:
    """A taxid, also where `kraken2 --use-names` writes it: "name (taxid 9606)"."""
    return field.rsplit("(taxid ", 1)[-1].removesuffix(")") if field.endswith(")") else field


def _native(rows: Iterable[tuple[int, str]], layout: str | None, source: str) -> Iterator[Row]:
    heads = (layout or "query_header").split(_SEPARATOR)
    if "query_header" not in heads:
        raise InputError("tells a layout without names of reads", source=source)
    before = [head for head in heads if head in _BEFORE_CALLS]
    pattern = _IN_BRACKETS if any("taxname" in head for head in heads) else _BARE
    if layout is not None and not any("taxid" in head for head in heads):
        raise InputError("has no taxids; classify with -taxids or -taxids-only", source=source)
    name = heads.index("query_header")
    for number, line in rows:
        fields = line.split(_SEPARATOR)
        if len(fields) <= len(before):
            raise InputError("has fewer columns than its layout", source=source, line=number)
        yield number, read_name(fields[name]), _lowest(fields[len(before) :], pattern, source, number)


def _lowest(fields: list[str], pattern: re.Pattern[str], source: str, line: int) -> int:
    taxids = [int(found) for field in fields for found in pattern.findall(field)]
    if any(taxid < 0 for taxid in taxids) and not any(taxid > 0 for taxid in taxids):
        raise InputError("is a call of a sequence, without its species; classify with -lowest species or -lineage",
                         source=source, line=line)  # fmt: skip
    return next((taxid for taxid in taxids if taxid > 0), 0)
