"""Results of the same reads in several databases made one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.calling.calls import call_reads
from oclgenomics.classify.candidates import NO_TARGET, Candidates
from oclgenomics.classify.options import METACACHE, QueryOptions
from oclgenomics.classify.reports.result_text import ResultText, read_result
from oclgenomics.classify.result import ClassifiedReads, QueryResult, Reads
from oclgenomics.classify.targets import Targets
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.classify.taxonomy.pruning import pruned
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy
from oclgenomics.errors import InputError, UsageError

__all__ = ["merge"]


def merge(
    results: Iterable[str | os.PathLike[str]],
    taxonomy: Taxonomy | str | os.PathLike[str],
    options: QueryOptions = QueryOptions(lowest="species"),
) -> QueryResult:
    """Merge results of the same reads, each with another database or a part of one.

    Of each read the best candidates of all results are kept, of each taxon the best one, and called anew. Of equal hits
    the one counts first that is in the file whose name comes first.

    Parameters
    ----------
    results : iterable of path
        Text of `--format native --queryids --tophits --lowest species`, or of MetaCache with these options.
    taxonomy : Taxonomy or path
        That of the databases.
    options : QueryOptions
        `hitmin` is 5 if not given, since the texts do not tell what chance may give.

    Returns
    -------
    QueryResult
        Its targets stand for the taxa of the candidates.

    Raises
    ------
    InputError
        A file is no such text or is of other reads, or the taxonomy lacks a taxon.

    Examples
    --------
    >>> from oclgenomics.classify import merge
    >>> merge(["part1.txt", "part2.txt"], "taxdump").to_frame()  # doctest: +SKIP
    """
    texts = [read_result(path) for path in sorted(os.fspath(path) for path in results)]
    if not texts:
        raise UsageError("there are no results to merge")
    _refuse_other_reads(texts)
    lineages = _lineages(texts, taxonomy if isinstance(taxonomy, Taxonomy) else read_taxonomy(taxonomy))
    candidates = _merged(texts, lineages, options)
    needed = np.full(len(candidates), METACACHE.hitmin if options.hitmin is None else options.hitmin, np.uint32)
    none = np.zeros(len(candidates), np.uint32)
    reads = Reads(0, texts[0].names, none, None, " + ".join([text.name for text in texts]))
    calls = call_reads(candidates, lineages, options, needed)
    return QueryResult(lineages, (ClassifiedReads(reads, candidates, calls),), options)


def _refuse_other_reads(texts: Sequence[ResultText]) -> None:
    first = texts[0]
    for text in texts[1:]:
        if not np.array_equal(text.numbers, first.numbers):
            other = np.setxor1d(text.numbers, first.numbers)[0]
            lacks = text if other in first.numbers else first
            raise InputError(
                f"lacks read {other}, which another result has; results of the same reads can be merged, with a line "
                "for each read", source=lacks.name,
            )  # fmt: skip
        same = np.array_equal(text.names.sizes, first.names.sizes)
        if not same or not np.array_equal(text.names.letters, first.names.letters):
            at = next(i for i in range(len(first.names)) if text.names[i] != first.names[i])
            raise InputError(
                f"read {text.numbers[at]} is {text.names[at]!r}, and {first.names[at]!r} in {first.name}; only results "
                "of the same reads can be merged", source=text.name,
            )  # fmt: skip


def _lineages(texts: Sequence[ResultText], taxonomy: Taxonomy) -> Lineages:
    """Taxa, each of which has a target that stands for it."""
    taxids = np.unique(np.concatenate([text.taxids for text in texts]))
    taxa = taxonomy.find(taxids)
    unknown = taxids[taxa == NO_TAXON]
    if len(unknown):
        one = next(text for text in texts if unknown[0] in text.taxids)
        raise InputError(f"the taxonomy lacks taxid {unknown[0]}; give that of the databases", source=one.name)
    tree, taxon = pruned(taxonomy, taxa)
    zeros = np.zeros(len(taxids), np.int64)
    names = tuple(map(str, taxids.tolist()))
    targets = Targets(names, ("",), zeros.astype(np.int32), zeros, taxon, zeros, zeros + 1)
    return Lineages.of(tree, targets)


def _merged(texts: Sequence[ResultText], lineages: Lineages, options: QueryOptions) -> Candidates:
    taxids = np.array(list(map(int, lineages.targets.names)), np.int64)
    columns = [_columns(text, taxids) for text in texts]
    targets, hits = (np.concatenate(arrays, axis=1) for arrays in zip(*columns, strict=True))
    order = np.argsort(-hits.astype(np.int64), axis=1, kind="stable")
    targets, hits = (np.take_along_axis(array, order, axis=1) for array in (targets, hits))
    groups = np.append(lineages.groups(options.lowest), np.int32(NO_TAXON))[np.minimum(targets, len(taxids))]
    kept = groups != NO_TAXON
    for place in range(1, groups.shape[1]):
        kept[:, place] &= (groups[:, :place] != groups[:, place : place + 1]).all(axis=1)
    order = np.argsort(~kept, axis=1, kind="stable")[:, : options.maxcand]
    kept, targets, hits = (np.take_along_axis(array, order, axis=1) for array in (kept, targets, hits))
    hits = np.where(kept, hits, np.uint32(0))
    none = np.zeros_like(hits)
    located = hits.sum(axis=1, dtype=np.uint32)
    return Candidates(np.where(kept, targets, np.uint32(NO_TARGET)), hits, none, none, located)


def _columns(text: ResultText, taxids: NDArray[np.int64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Targets and hits of all candidates, a row a read."""
    counts = np.diff(text.starts)
    width = max(int(counts.max(initial=0)), 2)
    targets = np.full((len(counts), width), NO_TARGET, np.uint32)
    hits = np.zeros((len(counts), width), np.uint32)
    rows = np.repeat(np.arange(len(counts)), counts)
    places = np.arange(len(rows)) - np.repeat(text.starts[:-1], counts)
    targets[rows, places] = np.searchsorted(taxids, text.taxids)
    hits[rows, places] = np.minimum(text.hits, NO_TARGET)
    return targets, hits
