"""The taxa of targets, and the part of a taxonomy that a database keeps."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics import notices
from oclgenomics.classify.building.target_naming import NewTargets
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.options import IdFormat
from oclgenomics.classify.taxonomy.assignment import assign_taxa, unknown_taxids
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.pruning import pruned
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.errors import InputError, UsageError

__all__ = ["TaxonSources", "open_taxonomy", "rank_targets"]

SHOWN = 5  # targets in a message


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
        nothing = np.empty(0, np.int64)
        return Taxonomy(nothing, nothing.astype(np.int32), nothing.astype(np.int8), (), nothing, nothing)
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
    taxids = assign_taxa(
        new.ids,
        new.taxids,
        [new.sources[file] for file in new.source.tolist()],
        sources.folder,
        maps=sources.maps,
        reset=sources.reset,
        id_format=id_format,
        taxonomy=taxonomy,
    )
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
            f"lacks the taxa of {len(lost):,} targets of the database: {some}; take the taxonomy that it was built "
            "with, or a newer one",
            source=os.fspath(folder),
        )
