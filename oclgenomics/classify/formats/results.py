"""The candidates in MetaCache's text, of `--format native` with `--tophits --queryids`, read and merged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import QueryOptions
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates, best_of_groups
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.text_fields import NOT_A_NUMBER, Lines, read_lines, whole_numbers
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy, pruned
from oclgenomics.errors import InputError
from oclgenomics.sequence.name_list import NameList

LAYOUT = b"# TABLE_LAYOUT: query_id\t|\tquery_header\t|\ttop_hits\t|\t"
AS_WRITTEN = "write it with --queryids --tophits --lowest species and no other option for its lines"
TABS, NAME, CANDIDATES = 6, 2, 4  # of a line, and the fields between them
TAB, COMMENT, COMMA, COLON = b"\t#,:"


@dataclass(frozen=True)
class ResultText:
    """Reads and the taxa of their candidates.

    Attributes
    ----------
    name : str
        Of the file.
    numbers : ndarray, int64 (reads,)
        Of the reads; ascending.
    names : NameList
    starts : ndarray, int64 (reads + 1,)
        The candidates of read i are those from starts[i] on, before starts[i + 1].
    taxids, hits : ndarray, int64
        Of each candidate, those of a read in the order of the text.
    """

    name: str
    numbers: NDArray[np.int64]
    names: NameList
    starts: NDArray[np.int64]
    taxids: NDArray[np.int64]
    hits: NDArray[np.int64]


def read_result(path: str | os.PathLike[str]) -> ResultText:
    """Read a result, uncompressed or compressed.

    Raises
    ------
    InputError
        It is no such text; with the line.
    """
    found: list[tuple[Any, ...]] = []  # without the blocks, which hold the text
    for lines in read_lines(path):
        if not found and LAYOUT not in lines.text[: 1 << 16].tobytes():
            raise InputError(f"is no result that can be merged: {AS_WRITTEN}", source=lines.source)
        block = _Block(lines)
        found.append((block.names, *block.columns))
    every, *columns = zip(*found, strict=True)
    numbers, counts, taxids, hits = map(np.concatenate, columns)
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(np.diff(numbers[order]) == 0)
    if len(again):
        raise InputError(f"has two lines for read {numbers[order][again[0]]}", source=lines.source)
    names = NameList.joined(every).take(order)
    starts, counts = (np.cumsum(counts) - counts)[order], counts[order]
    ends = np.cumsum(counts)
    places = np.repeat(starts - (ends - counts), counts) + np.arange(len(taxids))
    return ResultText(lines.source, numbers[order], names, np.append(0, ends), taxids[places], hits[places])


class _Block:
    """Some lines, without those that are no reads.

    Attributes
    ----------
    names : NameList
    columns : tuple of ndarray, int64
        Numbers of the reads, and how many candidates each has; taxids and hits of these.
    """

    def __init__(self, lines: Lines) -> None:
        about = lines.text[lines.begins] != COMMENT
        begins, ends, numbers = lines.begins[about], lines.ends[about], lines.numbers[about]
        self._lines = Lines(lines.source, lines.text, begins, ends, numbers)
        each = np.arange(len(begins))
        tabs = _within(np.flatnonzero(lines.text == TAB), begins, ends)
        self._refuse(tabs != TABS, each, "has not the four columns of a result")
        fields = self._lines.fields_by_tab(TABS - 1)
        begins, ends = fields.begins[NAME], fields.ends[NAME]
        bounds = np.stack([begins, ends], axis=1).ravel()
        every = NameList(lines.text, np.append(bounds, bounds[-1] if len(bounds) else 0))  # names and what is between
        self.names = every.take(2 * each)
        reads = self._numbers(fields.begins[0], fields.ends[0], each, "the number of the read")
        self.columns = (reads, *self._candidates(fields.begins[CANDIDATES], fields.ends[CANDIDATES]))

    def _candidates(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Counts, taxids and hits: each candidate ends with a comma or with the column."""
        commas, colons = (self._inside(mark, begins, ends) for mark in (COMMA, COLON))
        filled, each = ends > begins, np.arange(len(begins))
        counts = np.where(filled, _within(commas, begins, ends) + 1, 0)
        self._refuse(_within(colons, begins, ends) != counts, each, "has candidates that are not taxid:hits")
        lines = np.repeat(each, counts)
        heads = np.ones(len(lines), np.bool_)
        heads[1:] = lines[1:] != lines[:-1]
        tails = np.append(heads[1:], True)[: len(heads)]
        first, last = np.empty(len(heads), np.int64), np.empty(len(heads), np.int64)
        first[heads], first[~heads] = begins[filled], commas + 1
        last[tails], last[~tails] = ends[filled], commas
        self._refuse((colons < first) | (colons >= last), lines, "has candidates that are not taxid:hits")
        taxids = self._numbers(first, colons, lines, "a taxid")
        return counts, taxids, self._numbers(colons + 1, last, lines, "a number of hits")

    def _inside(self, mark: int, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of a byte within columns."""
        found = np.flatnonzero(self._lines.text == mark)
        column = np.searchsorted(begins, found, "right") - 1
        return found[(column >= 0) & (found < np.append(ends, 0)[column])]

    def _numbers(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64], lines: NDArray[np.int64], what: str
    ) -> NDArray[np.int64]:
        """Read whole numbers."""
        text = self._lines.text
        values = whole_numbers(text, begins, ends)
        wrong = values == NOT_A_NUMBER
        at = int(np.argmax(wrong)) if len(wrong) else 0
        shown = text[begins[at] : ends[at]][:40].tobytes().decode("utf-8", "replace") if len(wrong) else ""
        self._refuse(wrong, lines, f"{shown!r} is not {what}")
        return values

    def _refuse(self, wrong: NDArray[np.bool_], lines: NDArray[np.int64], what: str) -> None:
        """Refuse a line with something wrong, the first one."""
        if wrong.any():
            line = int(self._lines.numbers[lines[np.argmax(wrong)]])
            raise InputError(f"{what}; {AS_WRITTEN}", source=self._lines.source, line=line)


def _within(places: NDArray[np.int64], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many places are in each column."""
    return np.searchsorted(places, ends) - np.searchsorted(places, begins)


def merged_candidates(
    texts: Sequence[ResultText], taxonomy: Taxonomy, options: QueryOptions
) -> tuple[Lineages, Candidates]:
    """Put together the candidates of reads in several results, of each taxon the best one.

    Parameters
    ----------
    texts : sequence of ResultText
        At least one; of equal hits those of the first one come first.
    taxonomy : Taxonomy
    options : QueryOptions

    Returns
    -------
    lineages : Lineages
        Each taxon of a candidate has a target in its place.
    candidates : Candidates

    Raises
    ------
    InputError
        Results are of other reads, or the taxonomy lacks a taxon.
    """
    _refuse_other_reads(texts)
    lineages = _lineages(texts, taxonomy)
    return lineages, _merged(texts, lineages, options)


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
    """Taxa, each of which has a target in its place."""
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
    none = np.zeros_like(hits)
    every = Candidates(targets, hits, none, none, none[:, 0])
    every = every.reordered(np.argsort(-hits.astype(np.int64), axis=1, kind="stable"))
    groups = lineages.groups(options.lowest)
    grouped = np.append(groups, np.int32(NO_TAXON))[np.minimum(every.targets, len(groups))] != NO_TAXON
    best = best_of_groups(every.where(grouped), groups, options.maxcand)
    return replace(best, located=best.hits.sum(axis=1, dtype=np.uint32))


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
