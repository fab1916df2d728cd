"""Reports of samples as Kraken 2 and this package write them, read back as counts of taxa."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from oclgenomics.classify.formats.kreport import RANK_LETTERS
from oclgenomics.classify.formats.tally import Tally
from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.dump_files import MAX_TAXID
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ranks import NO_RANK
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

__all__ = ["read_kreport"]

SLOTS = {letter: slot for slot, letter in RANK_LETTERS.items()}
COLUMNS = {6: (1, 2, 3, 4, 5), 8: (1, 2, 5, 6, 7)}  # clade, taxon, rank, taxid, name; eight with counts of minimizers
UNCLASSIFIED = "U"
INDENT = 2  # spaces for a level
MAX_DIGITS = 15  # so no sum of reads of a report leaves 64 bits
WHAT = "is no line of a report of Kraken 2: share, reads of the clade, reads of the taxon, rank, taxid and name"


class _Line(NamedTuple):
    """A line of a report, its number in the file, and how many levels below the root it is."""

    number: int
    clade: int
    direct: int
    rank: str
    taxid: int
    depth: int
    name: str


def read_kreport(path: str | os.PathLike[str]) -> Tally:
    """Read a report.

    Parameters
    ----------
    path : str or path-like
        As `--kreport` writes it, or `kraken2 --report`, also with --report-minimizer-data.

    Returns
    -------
    Tally
        Of a tree with the taxa of the report and no targets.

    Raises
    ------
    InputError
        The file cannot be read or is no such report, its taxa are no tree, or its counts contradict each other.
    """
    text, source = read_text(path)
    lines = list(_lines(text, source))
    if not lines:
        raise InputError("holds no taxon", source=source)
    none = [line for line in lines if line.rank == UNCLASSIFIED]
    if len(none) > 1:
        raise InputError("tells of unclassified reads a second time", source=source, line=none[1].number)
    taxa = [line for line in lines if line.rank != UNCLASSIFIED]
    parents = _parents(taxa, source)
    _check_clades(taxa, parents, source)
    order = sorted(range(len(taxa)), key=lambda at: taxa[at].taxid)
    again = next((b for a, b in pairwise(order) if taxa[a].taxid == taxa[b].taxid), None)
    if again is not None:
        raise InputError(f"has taxid {taxa[again].taxid} a second time", source=source, line=taxa[again].number)
    tally = Tally(Lineages.of(_taxonomy(taxa, parents, order), _no_targets()))
    tally.counts[:] = [*(taxa[at].direct for at in order), sum(line.clade for line in none)]
    tally.sequences = tally.reads
    return tally


def _lines(text: str, source: str) -> Iterator[_Line]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        columns = COLUMNS.get(len(fields))
        if columns is None:
            raise InputError(WHAT, source=source, line=number)
        clade, direct, rank, taxid, name = (fields[column] for column in columns)
        numbers = [_whole(one) for one in (clade, direct, taxid)]
        shown = name.lstrip(" ")
        depth, odd = divmod(len(name) - len(shown), INDENT)
        rank = rank.strip()
        if min(numbers) < 0 or numbers[2] > MAX_TAXID or odd or (not numbers[2] and rank != UNCLASSIFIED):
            raise InputError(WHAT, source=source, line=number)
        if not rank[:1].isalpha():
            raise InputError(
                f"taxid {numbers[2]} has no rank; some builds of Kraken 2 leave ranks out, so use another one",
                source=source, line=number,
            )  # fmt: skip
        yield _Line(number, numbers[0], numbers[1], rank, numbers[2], depth, shown)


def _whole(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else -1


def _parents(taxa: Sequence[_Line], source: str) -> list[int]:
    """The line of the taxon above each one, by the depths of names; that of the root is its own."""
    parents, path = [], list[int]()
    for at, line in enumerate(taxa):
        if line.depth > len(path) or (at and not line.depth):
            what = "lies more than a level below the line before" if line.depth else "is a second root"
            raise InputError(f"taxid {line.taxid} {what}", source=source, line=line.number)
        del path[line.depth :]
        parents.append(path[-1] if path else at)
        path.append(at)
    return parents


def _check_clades(taxa: Sequence[_Line], parents: Sequence[int], source: str) -> None:
    """Refuse a clade that has not as many reads as its parts."""
    sums = [line.direct for line in taxa]
    for at in range(len(taxa) - 1, 0, -1):
        sums[parents[at]] += sums[at]
    for line, found in zip(taxa, sums, strict=True):
        if line.clade != found:
            what = f"taxid {line.taxid} has {line.clade:,} reads in its clade, and what is in the clade {found:,}"
            raise InputError(what, source=source, line=line.number)


def _taxonomy(taxa: Sequence[_Line], parents: Sequence[int], order: Sequence[int]) -> Taxonomy:
    places = {at: place for place, at in enumerate(order)}
    none = np.zeros(0, np.int64)
    return Taxonomy(
        np.array([taxa[at].taxid for at in order], np.int64),
        np.array([places[parents[at]] for at in order], np.int32),
        np.array([SLOTS.get(taxa[at].rank, NO_RANK) for at in order], np.int8),
        tuple(taxa[at].name for at in order),
        none,
        none,
    )


def _no_targets() -> Targets:
    none = np.zeros(0, np.int64)
    return Targets((), (), none.astype(np.int32), none, none.astype(np.int32), none, none)
