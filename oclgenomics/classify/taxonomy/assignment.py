"""The taxids of targets: from tables next to their files, from headers, and from maps of accessions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import IdFormat
from oclgenomics.classify.taxonomy.accession_maps import matching_entries
from oclgenomics.classify.taxonomy.identifiers import file_stem, raw_id, without_version
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.notices import number_of

DUMP_FILES = ("nodes.dmp", "names.dmp", "merged.dmp")
SUMMARY = "assembly_summary.txt"
SUMMARIES = tuple(f"assembly_summary_{bank}{age}.txt" for bank in ("refseq", "genbank") for age in ("", "_historical"))
FIRST_MAPS = tuple(f"nucl_{part}.accession2taxid" for part in ("gb", "wgs", "est", "gss"))
_MAP_ENDINGS = tuple(f".accession2taxid{packed}" for packed in ("", ".gz", ".bgz", ".bz2", ".xz", ".zst"))
_REPEATED = re.compile(r"![0-9]+$")  # what tells targets of one name apart
_SHOWN = 5  # targets in a message

PathLike = str | os.PathLike[str]


def assign_taxa(
    names: Sequence[str],
    taxids: NDArray[np.int64],
    sources: Sequence[str],
    folder: PathLike | None,
    *,
    maps: Sequence[PathLike] = (),
    reset: bool = False,
    id_format: IdFormat = "smart",
    taxonomy: Taxonomy | None = None,
) -> NDArray[np.int64]:
    """Find the taxid of each target.

    A target whose name has several words, since no rule finds an identifier in its header, is looked up by the name as
    it is, and then by its first word.

    The first of these that gives a taxid counts: the accession, or the name, of the target's file in an assembly
    summary (next to the file, or in the taxonomy's folder); the target's name there; its header; and then the maps of
    accessions, those that are given and those of the taxonomy's folder (*.accession2taxid, also packed).

    Parameters
    ----------
    names : sequence of str (targets,)
        See `identifiers.sequence_ids`.
    taxids : ndarray, int64 (targets,)
        What the headers say, 0 for nothing.
    sources : sequence of str (targets,)
        The file of each target.
    folder : path, optional
        Of the taxonomy.
    maps : sequence of path
        See `accession_maps`.
    reset : bool
        Maps of accessions are preferred to all else.
    id_format : {'smart', 'ncbi', 'gi', 'filename', 'leadingword'}
        What names a file.
    taxonomy : Taxonomy, optional
        A taxid that it does not know does not keep the maps from being asked.

    Returns
    -------
    ndarray, int64 (targets,)
        0 where nothing is found. The taxonomy need not know them; see `unknown_taxids`.

    Raises
    ------
    InputError
        A file cannot be read, or is no such map.
    """
    ids = _without_numbers(names)
    found = _from_summaries(ids, sources, folder, id_format)
    found = np.where(found != 0, found, taxids)
    left = np.ones(len(ids), np.bool_) if reset else found == 0
    if taxonomy is not None:
        left |= taxonomy.find(found) == NO_TAXON
    which = np.flatnonzero(left)
    mapped = _from_maps([ids[at] for at in which.tolist()], [*maps, *_maps_of(folder)])
    found[which] = np.where(mapped != 0, mapped, found[which])
    return found


def summaries_beside(sources: Sequence[str]) -> list[Path]:
    """Return the assembly summaries that may lie next to files of references."""
    folders = dict.fromkeys(os.path.dirname(source) or "." for source in dict.fromkeys(sources))
    return [Path(one, SUMMARY) for one in folders]


def taxonomy_files(folder: PathLike) -> list[Path]:
    """Return all files of a taxonomy's folder that are read, whether they are there or not."""
    maps = _maps_of(folder) if os.path.isdir(folder) else []
    return [*(Path(folder, name) for name in (*DUMP_FILES, *SUMMARIES)), *maps]


def unknown_taxids(names: Sequence[str], taxids: NDArray[np.int64], taxonomy: Taxonomy) -> str | None:
    """Say in a line which targets have a taxid that the taxonomy does not know; None if there are no such ones."""
    unknown = np.flatnonzero((taxids != 0) & (taxonomy.find(taxids) == NO_TAXON)).tolist()
    if not unknown:
        return None
    shown = ", ".join(f"{names[at]} ({taxids[at]})" for at in unknown[:_SHOWN])
    more = "" if len(unknown) <= _SHOWN else ", ..."
    return f"{number_of(len(unknown), 'target')} without a taxon, since the taxonomy lacks the taxid: {shown}{more}"


def _without_numbers(names: Sequence[str]) -> list[str]:
    """Names as headers give them: without what was added where another target has the name."""
    known = set(names)
    bare = [_REPEATED.sub("", name) for name in names]
    return [short if short in known else name for short, name in zip(bare, names, strict=True)]


def _from_summaries(
    ids: Sequence[str], sources: Sequence[str], folder: PathLike | None, id_format: IdFormat
) -> NDArray[np.int64]:
    """Taxids by files and by names of targets; 0 where assembly summaries have none."""
    files = [*summaries_beside(sources), *([] if folder is None else (Path(folder, name) for name in SUMMARIES))]
    files = [file for file in files if file.exists()]
    if not files:
        return np.zeros(len(ids), np.int64)
    of_files = {source: [raw_id(source, id_format)] for source in dict.fromkeys(sources)}
    if id_format == "smart":
        of_files = {source: [*words, file_stem(source)] for source, words in of_files.items()}
    of_targets = {name: _words(name) for name in ids}
    table = _Table({name for words in (*of_targets.values(), *of_files.values()) for name in words})
    for file in files:
        table.read(file)
    file_taxids = {source: table.first(words) for source, words in of_files.items()}
    found = [file_taxids[source] or table.first(of_targets[name]) for name, source in zip(ids, sources, strict=True)]
    return np.array(found, np.int64)


class _Table:
    """Taxids by accession, of those that are wanted, with their version or without."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self.wanted = {name for name in wanted if name}
        self._exact: dict[str, int] = {}
        self._versions: dict[str, tuple[str, int]] = {}

    def read(self, path: PathLike) -> None:
        """Add the entries of a file; those of files before it stay."""
        for key, taxid in matching_entries(path, self.wanted):
            self._exact.setdefault(key, taxid)
            bare = without_version(key)
            self._versions[bare] = min(self._versions.get(bare, (key, taxid)), (key, taxid))

    def first(self, names: Iterable[str]) -> int:
        """The taxid of the first name that has one, 0 if none has."""
        for name in names:
            if name and (taxid := self._exact.get(name) or self._versions.get(name, ("", 0))[1]):
                return taxid
        return 0


def _maps_of(folder: PathLike | None) -> list[Path]:
    """The maps of accessions in a taxonomy's folder, the biggest collections first."""
    if folder is None:
        return []
    found = [path for path in sorted(Path(folder).iterdir()) if path.name.endswith(_MAP_ENDINGS)]
    return sorted(found, key=lambda path: not path.name.startswith(FIRST_MAPS))


def _from_maps(ids: Sequence[str], maps: Sequence[PathLike]) -> NDArray[np.int64]:
    """Taxids by the accessions of targets; 0 where no map has any."""
    found = np.zeros(len(ids), np.int64)
    for path in maps:
        left = np.flatnonzero(found == 0)
        if not len(left):
            break
        found[left] = _from_map([ids[at] for at in left.tolist()], path)
    return found


def _from_map(ids: Sequence[str], path: PathLike) -> NDArray[np.int64]:
    """Taxids by accessions with their version, or, where the map lacks it, with another one or none."""
    words = [_words(name) for name in ids]
    wanted = {name for names in words for name in names if name}
    bare = {without_version(name) for name in wanted}
    exact: dict[str, int] = {}
    others: dict[str, int] = {}
    for key, taxid in matching_entries(path, wanted):
        if key in wanted:
            exact.setdefault(key, taxid)
        if (short := without_version(key)) in bare:
            others.setdefault(short, taxid)
        if len(exact) == len(wanted):
            break
    return np.array([_first_taxid(names, exact, others) for names in words], np.int64)


def _first_taxid(names: Iterable[str], exact: Mapping[str, int], others: Mapping[str, int]) -> int:
    """The taxid of the first name that has one, with its version or else without; 0 if none has."""
    return next((taxid for name in names if (taxid := exact.get(name) or others.get(without_version(name), 0))), 0)


def _words(name: str) -> list[str]:
    """What a target is looked up by: its name, and the first of several words."""
    first = next(iter(name.split()), "")
    return [name] if first in ("", name) else [name, first]
