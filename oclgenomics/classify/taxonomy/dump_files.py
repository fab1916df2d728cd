"""Readers of NCBI's dump files: nodes.dmp, names.dmp and merged.dmp."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.taxonomy.ranks import NO_RANK, RANK_SLOTS
from oclgenomics.classify.taxonomy.text_fields import Fields, read_lines
from oclgenomics.errors import InputError

__all__ = ["MAX_TAXID", "Links", "read_merged", "read_names", "read_nodes"]

MAX_TAXID = (1 << 31) - 1


@dataclass(frozen=True)
class Links:
    """Lines that lead from a taxid to another one.

    Attributes
    ----------
    source : str
    taxids, others : ndarray, int64 (lines,)
        A taxon and its parent, or one that is used no more and the one that took its place.
    ranks : ndarray, int8 (lines,)
        Slots of the taxa's ranks; nothing in merged.dmp.
    lines : ndarray, int64 (lines,)
        Numbers of the lines in the file.
    """

    source: str
    taxids: NDArray[np.int64]
    others: NDArray[np.int64]
    ranks: NDArray[np.int8]
    lines: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.taxids)


def read_nodes(path: str | os.PathLike[str]) -> Links:
    """Read nodes.dmp: taxa, their parents and ranks, in the order of the file.

    Raises
    ------
    InputError
        It cannot be read, has a line with too few fields or what is no taxid, or no line at all.
    """
    return _read_links(path, ranked=True)


def read_merged(path: str | os.PathLike[str]) -> Links:
    """Read merged.dmp, which may be empty: taxids that are used no more, and those that took their place.

    Raises
    ------
    InputError
        See `read_nodes`.
    """
    return _read_links(path, ranked=False)


def _read_links(path: str | os.PathLike[str], *, ranked: bool) -> Links:
    name = os.fspath(path)
    none = np.zeros(0, np.int64)
    parts = [(none, none, np.zeros(0, np.int8), none)]
    if ranked or os.path.getsize(name):
        for lines in read_lines(path):
            fields = lines.fields_of_dump(3 if ranked else 2)
            ranks = _ranks(fields) if ranked else np.full(len(fields), NO_RANK, np.int8)
            parts.append((_taxids(fields, 0), _taxids(fields, 1), ranks, fields.lines))
    taxids, others, slots, numbers = (np.concatenate(column) for column in zip(*parts, strict=True))
    if ranked and not len(taxids):
        raise InputError("holds no taxon", source=name)
    return Links(name, taxids, others, slots.astype(np.int8), numbers)


def _taxids(fields: Fields, field: int) -> NDArray[np.int64]:
    """A field as taxids."""
    taxids = fields.numbers(field)
    wrong = np.flatnonzero((taxids < 1) | (taxids > MAX_TAXID))
    if len(wrong):
        raise InputError(
            f"{fields.shown(field, wrong[0])[:40]!r} is no taxid, which is a number from 1 to {MAX_TAXID:,}",
            source=fields.source,
            line=int(fields.lines[wrong[0]]),
        )
    return taxids


def _ranks(fields: Fields) -> NDArray[np.int8]:
    """The slots of the ranks in the third field."""
    slots = np.full(len(fields), NO_RANK, np.int8)
    for rank, slot in RANK_SLOTS.items():
        slots[fields.starting_with(2, rank.encode(), whole=True)] = slot
    return slots


def read_names(path: str | os.PathLike[str], taxids: NDArray[np.int64]) -> tuple[str, ...]:
    """Read the scientific names of taxa from names.dmp.

    Parameters
    ----------
    path : str or path-like
    taxids : ndarray, int64 (taxa,)
        Ascending, one at least.

    Returns
    -------
    tuple of str
        "" for taxa without one; the first one of several.

    Raises
    ------
    InputError
        It cannot be read, or has a line with too few fields or what is no taxid.
    """
    names = np.full(len(taxids), "", object)
    for lines in read_lines(path):
        fields = lines.fields_of_dump(4)
        found = _taxids(fields, 0)
        at = np.minimum(np.searchsorted(taxids, found), len(taxids) - 1)
        wanted = np.flatnonzero(fields.starting_with(3, b"scientific", whole=False) & (taxids[at] == found))[::-1]
        texts = _texts(fields, 1, wanted)
        new = names[at[wanted]] == ""
        names[at[wanted][new]] = texts[new]
    return tuple(names.tolist())


def _texts(fields: Fields, field: int, lines: NDArray[np.int64]) -> NDArray[np.object_]:
    """A field of some lines as texts."""
    begins, ends = fields.begins[field, lines].tolist(), fields.ends[field, lines].tolist()
    text = fields.text.tobytes()
    texts = np.empty(len(begins), object)
    texts[:] = [text[begin:end].decode("utf-8", "replace") for begin, end in zip(begins, ends, strict=True)]
    return texts
