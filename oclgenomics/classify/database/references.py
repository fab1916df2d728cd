"""References as callers name them: their files, their records as targets, and the taxa of these."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics import notices
from oclgenomics.app.files import FileKey, file_key
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.options import BuildOptions, IdFormat
from oclgenomics.classify.plan import count_windows
from oclgenomics.classify.taxonomy.assignment import assign_taxa, summaries_beside, unknown_taxids
from oclgenomics.classify.taxonomy.identifiers import header_taxids, sequence_ids, told_apart
from oclgenomics.classify.taxonomy.lineages import Targets
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy, pruned
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io.file_slice import stored_size
from oclgenomics.notices import number_of
from oclgenomics.sequence import LetterBlock

NUMBER = re.compile(r"![0-9]+$")  # what tells targets of one name apart
ENDINGS = (".fa", ".fasta", ".fna", ".ffn", ".frn", ".fas")
PACKED = (".gz", ".bgz", ".bz2", ".xz", ".zst")
STANDARD_INPUT = 0
PACKED_LETTERS = 5  # bases of a compressed byte, about: they take two bits and a bit


SHOWN = 5  # targets in a message


def reference_files(references: Sequence[str]) -> list[str]:
    """Return all files of references, by name; an order that does not depend on the file system.

    Parameters
    ----------
    references : sequence of str
        Files, and folders, of which all files are taken whose names end as those of FASTA do, also in folders below.

    Raises
    ------
    InputError
        A file twice, by whatever names, or a folder without FASTA.
    """
    files = []
    for reference in references:
        found = files_of(reference)
        if not found:
            raise InputError(f"the folder holds no FASTA (files that end in {', '.join(ENDINGS)}, or these and "
                             f"{', '.join(PACKED)})", source=reference)  # fmt: skip
        files += found
    files.sort()
    known: dict[FileKey, str] = {}
    for name in files:
        key = file_key(name, STANDARD_INPUT)
        if key in known:
            raise InputError(f"the same file as {known[key]}; name it once", source=name)
        if key is not None:  # else it is a pipe
            known[key] = name
    return files


def files_of(reference: str) -> list[str]:
    """Return the files of a folder, in any order, or the file itself."""
    if not os.path.isdir(reference):
        return [reference]
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(reference)
        for name in names
        if _unpacked_name(name).endswith(ENDINGS)
    ]


def _unpacked_name(name: str) -> str:
    """The name in lower case, without the ending that says how the file is packed."""
    lower = name.lower()
    return next((lower.removesuffix(ending) for ending in PACKED if lower.endswith(ending)), lower)


def stored_letters(files: Sequence[str]) -> int | None:
    """Return about how many bases files have; None where nobody knows, as of standard input."""
    letters = 0
    for name in files:
        size = stored_size(name)
        if not size:
            return None
        letters += size * (PACKED_LETTERS if name.lower().endswith(PACKED) else 1)
    return letters


@dataclass(frozen=True)
class NewTargets:
    """Records that become targets.

    Attributes
    ----------
    ids : list of str
        What the records are called; several may have one name.
    taxids : ndarray, int64 (records,)
        That headers give; 0 where they give none.
    sources : list of str
        Files, each once.
    source : ndarray, int32 (records,)
        The file of each record.
    record, letters, windows : ndarray, int64 (records,)
        See `Targets`.
    """

    ids: list[str]
    taxids: NDArray[np.int64]
    sources: list[str]
    source: NDArray[np.int32]
    record: NDArray[np.int64]
    letters: NDArray[np.int64]
    windows: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[NewTargets]) -> NewTargets:
        """Put records behind each other, one part at least; those of a file that is in several are numbered through."""
        numbers: dict[str, int] = {}
        records = np.zeros(sum(len(part.sources) for part in parts), np.int64)  # of each file
        columns = []
        for part in parts:
            places = np.array([numbers.setdefault(name, len(numbers)) for name in part.sources], np.int32)
            source = places[part.source]
            columns.append((part.taxids, source, part.record + records[source], part.letters, part.windows))
            records += np.bincount(source, minlength=len(records))
        taxids, *others = map(np.concatenate, zip(*columns, strict=True))
        return cls([one for part in parts for one in part.ids], taxids, [*numbers], *others)


class TargetTable:
    """The references of a build, gathered block by block."""

    def __init__(self) -> None:
        self._headers: list[str] = []  # without > or @; bytes that are not UTF-8 are replaced
        self._numbers: dict[str, int] = {}
        self._source: list[NDArray[np.int32]] = []
        self._record: list[NDArray[np.int64]] = []
        self._letters: list[NDArray[np.int64]] = []

    def add(self, block: LetterBlock) -> None:
        """Take down the records that begin or end in a block."""
        pieces, begun = block.pieces, len(block.names)
        self._letters.append((pieces.start + pieces.size)[pieces.ends])
        self._headers += block.headers()
        if block.origins is None:
            self._source.append(np.full(begun, self._number(block.source), np.int32))
            self._record.append(np.arange(begun) + (block.first - block.before))
        else:
            files, places = np.unique(block.origins.file, return_inverse=True)
            numbers = [self._number(block.origins.source.paths[file]) for file in files.tolist()]
            self._source.append(np.array(numbers, np.int32)[places])
            self._record.append(block.origins.record)

    def _number(self, source: str) -> int:
        return self._numbers.setdefault(source, len(self._numbers))

    def named(self, options: BuildOptions) -> NewTargets:
        """Name all records, once they have ended."""
        source = np.concatenate([np.empty(0, np.int32), *self._source])
        record, letters = (np.concatenate([np.empty(0, np.int64), *parts]) for parts in (self._record, self._letters))
        sources, windows = list(self._numbers), count_windows(letters, options.sketch)
        ids = sequence_ids(self._headers, [sources[file] for file in source.tolist()], options.sequence_id_format)
        return NewTargets(ids, header_taxids(self._headers), sources, source, record, letters, windows)


def refuse_known(targets: Targets, new: NewTargets) -> None:
    """Refuse a file that a database has already: the name of the file, its records' names and their lengths are one's.

    Raises
    ------
    InputError
        There is such a file.
    """
    wanted = {os.path.basename(name) for name in new.sources}
    known: dict[tuple[object, ...], str] = {}
    for number, name in enumerate(targets.sources):
        if os.path.basename(name) in wanted:
            mine = np.flatnonzero(targets.source == number).tolist()
            records = [(NUMBER.sub("", targets.names[target]), int(targets.letters[target])) for target in mine]
            known[os.path.basename(name), *records] = name
    for number, name in enumerate(new.sources):
        mine = np.flatnonzero(new.source == number).tolist()
        other = known.get(
            (os.path.basename(name), *((NUMBER.sub("", new.ids[one]), int(new.letters[one])) for one in mine))
        )
        if other is not None:
            place = "" if other == name else f", as {other}"
            raise InputError(f"is in the database already{place}; leave it out", source=name)


def join_targets(before: Targets | None, new: NewTargets) -> Targets:
    """Put records behind the targets that are there; none of the new ones has a taxon yet."""
    before = before or Targets.none()
    numbers = {name: number for number, name in enumerate(before.sources)}
    places = np.array([numbers.setdefault(name, len(numbers)) for name in new.sources], np.int32)
    return Targets(
        (*before.names, *told_apart(new.ids, before.names)),
        tuple(numbers),
        np.concatenate([before.source, places[new.source]]),
        np.concatenate([before.record, new.record]),
        np.concatenate([before.taxon, np.full(len(new.ids), NO_TAXON, np.int32)]),
        np.concatenate([before.letters, new.letters]),
        np.concatenate([before.windows, new.windows]),
    )


@dataclass(frozen=True)
class TaxonSources:
    """Where taxa come from.

    Attributes
    ----------
    folder : path, optional
        Of the taxonomy.
    maps : sequence of path
        Files that map accessions to taxa.
    reset : bool
        These are preferred.
    """

    folder: str | os.PathLike[str] | None = None
    maps: Sequence[str | os.PathLike[str]] = ()
    reset: bool = False


def taxon_files(sources: TaxonSources, references: Sequence[str]) -> list[str]:
    """Return the files and folders in which the taxa of references are looked up, as far as they are there."""
    if sources.folder is None:
        return []
    summaries = [path for path in summaries_beside(references) if path.exists()]
    return [os.fspath(path) for path in (sources.folder, *sources.maps, *summaries)]


def open_taxonomy(sources: TaxonSources, before: Database | None) -> Taxonomy:
    """Return the taxonomy that targets' taxa are looked up in.

    Parameters
    ----------
    sources : TaxonSources
    before : Database, optional
        Its taxonomy is taken where the sources have no folder; without either there are no taxa.

    Raises
    ------
    UsageError
        There are maps, or taxa are to be reset, but there is no taxonomy.
    InputError
        A file of the taxonomy is missing or damaged, or the taxonomy lacks a taxon of the database before.
    """
    if sources.folder is None:
        if before is None or not len(before.taxonomy):
            if sources.maps:
                raise UsageError("`taxpostmap` maps accessions to taxa, so it needs a `taxonomy` that knows these")
            if sources.reset:
                raise UsageError("`reset_taxa` prefers some taxa to others, so it needs a `taxonomy`")
        if before is not None:
            return before.taxonomy
        return Taxonomy.none()
    taxonomy = read_taxonomy(sources.folder)
    if before is not None:
        _refuse_lost(before, _found_again(before, taxonomy), sources.folder)
    return taxonomy


def rank_targets(
    new: NewTargets, before: Database | None, taxonomy: Taxonomy, sources: TaxonSources, id_format: IdFormat
) -> tuple[Taxonomy, NDArray[np.int32]]:
    """Find the taxa of targets, and tell of taxids that the taxonomy does not know.

    Parameters
    ----------
    new : NewTargets
        Targets that follow those of the database before.
    before : Database, optional
    taxonomy : Taxonomy
        See `open_taxonomy`.
    sources : TaxonSources
    id_format : str
        See `BuildOptions`.

    Returns
    -------
    taxonomy : Taxonomy
        Of the targets' taxa and those above them.
    taxon : ndarray, int32 (targets,)
        See `Targets`.
    """
    known = np.empty(0, np.int32) if before is None else _found_again(before, taxonomy)
    if not len(taxonomy):
        return taxonomy, np.full(len(known) + len(new.ids), NO_TAXON, np.int32)
    files = [new.sources[file] for file in new.source.tolist()]
    taxids = assign_taxa(
        new.ids, new.taxids, files, sources.folder, maps=sources.maps, reset=sources.reset, id_format=id_format,
        taxonomy=taxonomy,
    )  # fmt: skip
    unknown = unknown_taxids(new.ids, taxids, taxonomy)
    if unknown is not None:
        notices.tell(f"warning: {unknown}")
    return pruned(taxonomy, np.concatenate([known, taxonomy.find(taxids)]))


def _found_again(before: Database, taxonomy: Taxonomy) -> NDArray[np.int32]:
    """The taxa of a database's targets in another taxonomy."""
    taxon = before.targets.taxon
    ranked = taxon != NO_TAXON
    found = np.full(len(taxon), NO_TAXON, np.int32)
    found[ranked] = taxonomy.find(before.taxonomy.taxids[taxon[ranked]])
    return found


def _refuse_lost(before: Database, found: NDArray[np.int32], folder: str | os.PathLike[str]) -> None:
    """Refuse a taxonomy that lacks taxa of a database."""
    taxon = before.targets.taxon
    lost = np.flatnonzero((taxon != NO_TAXON) & (found == NO_TAXON)).tolist()
    if lost:
        some = ", ".join([f"{before.taxonomy.taxids[taxon[target]]} of {before.targets.names[target]}"
                          for target in lost[:SHOWN]])  # fmt: skip
        raise InputError(
            f"lacks the taxa of {number_of(len(lost), 'target')} of the database: {some}; take the taxonomy "
            "that it was built with, or a newer one",
            source=os.fspath(folder),
        )
