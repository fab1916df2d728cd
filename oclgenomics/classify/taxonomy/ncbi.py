"""Taxonomies from NCBI's nodes.dmp, names.dmp and merged.dmp, and what a folder of them must be to be a tree."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import NO_RANK, RANK_SLOTS, RANKS
from oclgenomics.classify.taxonomy.text_fields import Fields, read_lines
from oclgenomics.classify.taxonomy.tree import Taxonomy
from oclgenomics.errors import InputError

_SHOWN = 5  # taxids in a message at most
_ROOT = RANKS.index("root")


MAX_TAXID = (1 << 31) - 1


def read_taxonomy(folder: str | os.PathLike[str]) -> Taxonomy:
    """Read a taxonomy from a folder with nodes.dmp and, if they are there, names.dmp and merged.dmp.

    A parent that was merged into another taxon is replaced by that one. The root, whatever its rank, fills that slot.

    Parameters
    ----------
    folder : str or path-like

    Returns
    -------
    Taxonomy

    Raises
    ------
    InputError
        nodes.dmp is missing, or a file cannot be read or is malformed; or taxa are no tree: there is no root or several
        ones, a parent is missing, taxa are their own ancestors, or two lines with one taxid differ.
    """
    path = Path(folder)
    if not (path / "nodes.dmp").is_file():
        what = "holds no nodes.dmp" if path.is_dir() else "is no folder"
        raise InputError(
            f"{what}; a taxonomy folder holds nodes.dmp, names.dmp and merged.dmp of NCBI's taxdump.tar.gz, unpacked",
            source=os.fspath(folder),
        )
    nodes = _without_repeats(read_links(path / "nodes.dmp", ranked=True))
    merged_from, merged_to = np.zeros((2, 0), np.int64)
    if (path / "merged.dmp").exists():
        merged_from, merged_to = _final_merges(_without_repeats(read_links(path / "merged.dmp", ranked=False)), nodes)
    parents = _numbers_of_parents(nodes, merged_from, merged_to)
    root = _root(nodes, parents)
    _refuse_cycles(nodes, parents, root)
    ranks = nodes.ranks.copy()
    ranks[ranks == _ROOT] = -1
    ranks[root] = _ROOT
    names = read_names(path / "names.dmp", nodes.taxids) if (path / "names.dmp").exists() else ("",) * len(nodes)
    return Taxonomy(nodes.taxids, parents, ranks, names, merged_from, merged_to)


def _some(taxids: NDArray[np.int64]) -> str:
    """The first taxids, and how many there are."""
    shown = ", ".join(map(str, taxids[:_SHOWN].tolist()))
    return shown if len(taxids) <= _SHOWN else f"{shown} and {len(taxids) - _SHOWN:,} more"


def _without_repeats(links: Links) -> Links:
    """Links in ascending order of their taxids, each once."""
    order = np.argsort(links.taxids, kind="stable")
    taxids, others, ranks = links.taxids[order], links.others[order], links.ranks[order]
    again = taxids[1:] == taxids[:-1]
    differs = np.flatnonzero(again & ((others[1:] != others[:-1]) | (ranks[1:] != ranks[:-1])))
    if len(differs):
        first, second = order[differs[0] : differs[0] + 2]
        where = f"taxid {taxids[differs[0]]} is in line {links.lines[first]}, too, with another parent or rank"
        raise links.error(f"{where}; remove one of the lines", second)
    kept = order[np.append(True, ~again)[: len(order)]]
    return Links(links.source, links.taxids[kept], links.others[kept], links.ranks[kept], links.lines[kept])


def _find(taxids: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where taxids lie among ascending ones, and whether they do."""
    if not len(taxids):
        return np.zeros(wanted.shape, np.int64), np.zeros(wanted.shape, np.bool_)
    at = np.minimum(np.searchsorted(taxids, wanted), len(taxids) - 1)
    return at, taxids[at] == wanted


def _final_merges(merged: Links, nodes: Links) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merged taxids and the nodes that took their places, in one or several steps; those that lead nowhere are left."""
    both = np.flatnonzero(_find(nodes.taxids, merged.taxids)[1])
    if len(both):
        raise merged.error(
            f"taxid {merged.taxids[both[0]]} is merged into {merged.others[both[0]]}, but {nodes.source} has it, too; "
            "take both files from one release",
            both[0],
        )
    ends = merged.others
    for _ in range(len(merged).bit_length() + 1):
        at, again = _find(merged.taxids, ends)
        ends = np.where(again, ends[at], ends) if len(ends) else ends
    stuck = np.flatnonzero(_find(merged.taxids, ends)[1])
    if len(stuck):
        raise merged.error(f"taxid {merged.taxids[stuck[0]]} is merged into one that is merged into it", stuck[0])
    known = _find(nodes.taxids, ends)[1]
    return merged.taxids[known], ends[known]


def _numbers_of_parents(
    nodes: Links, merged_from: NDArray[np.int64], merged_to: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The number of each node's parent."""
    at, merged = _find(merged_from, nodes.others)
    wanted = np.where(merged, merged_to[at], nodes.others) if len(merged_from) else nodes.others
    parents, known = _find(nodes.taxids, wanted)
    missing = np.flatnonzero(~known)
    if len(missing):
        first = missing[np.argmin(nodes.lines[missing])]
        count = len(np.unique(nodes.others[missing]))
        raise nodes.error(
            f"taxid {nodes.others[first]}, the parent of taxid {nodes.taxids[first]}, has no line; "
            f"{count:,} {'parents are' if count > 1 else 'parent is'} missing in all",
            first,
        )
    return parents.astype(np.int32)


def _root(nodes: Links, parents: NDArray[np.int32]) -> int:
    """The number of the one node that is its own parent."""
    roots = np.flatnonzero(parents == np.arange(len(parents)))
    if len(roots) > 1:
        second = roots[np.argsort(nodes.lines[roots])[1]]
        raise nodes.error(
            f"taxids {_some(nodes.taxids[roots])} are all roots, their own parents; only one may be", second
        )
    if not len(roots):
        raise InputError("has no root: no taxid is its own parent, as 1 is in NCBI's", source=nodes.source)
    return int(roots[0])


def _refuse_cycles(nodes: Links, parents: NDArray[np.int32], root: int) -> None:
    """Refuse taxa that are their own ancestors."""
    above = parents
    for _ in range(len(parents).bit_length()):  # each round looks twice as many taxa up
        if (above == root).all():
            break
        above = above[above]
    elsewhere = above[above != root]
    if not len(elsewhere):
        return
    at = int(elsewhere[0])  # so many steps up that it lies in a cycle
    cycle = [at]
    while (at := int(parents[at])) != cycle[0]:
        cycle.append(at)
    first = min(cycle, key=lambda one: int(nodes.lines[one]))
    taxids = nodes.taxids[cycle[cycle.index(first) :] + cycle[: cycle.index(first)]]
    raise nodes.error(f"taxids {_some(taxids)} are each the parent of the one before: a cycle", first)


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

    def error(self, what: str, at: int | np.intp) -> InputError:
        """Return the error that a line is wrong in some way."""
        return InputError(what, source=self.source, line=int(self.lines[at]))


def read_links(path: str | os.PathLike[str], *, ranked: bool) -> Links:
    """Read links in the order of the file.

    Parameters
    ----------
    path : str or path-like
    ranked : bool
        It is nodes.dmp: taxa, their parents and ranks. Else merged.dmp, which may be empty: taxids that are used no
        more, and those that took their place.

    Raises
    ------
    InputError
        It cannot be read, has a line with too few fields or what is no taxid, or, of nodes.dmp, no line at all.
    """
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
        raise fields.error(
            f"{fields.shown(field, wrong[0])[:40]!r} is no taxid, which is a number from 1 to {MAX_TAXID:,}", wrong[0]
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
