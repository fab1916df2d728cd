"""The candidates in MetaCache's text, of `--format native` with `--tophits --queryids`, read and merged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.options import QueryOptions
from oclgenomics.classify.taxonomy.calls import NO_TARGET, Candidates, best_of_groups
from oclgenomics.classify.taxonomy.lineages import Lineages, Targets
from oclgenomics.classify.taxonomy.text_fields import read_lines
from oclgenomics.classify.taxonomy.tree import NO_TAXON, Taxonomy, pruned
from oclgenomics.errors import InputError
from oclgenomics.sequence.name_list import NameList

LAYOUT = b"# TABLE_LAYOUT: query_id\t|\tquery_header\t|\ttop_hits\t|\t"
AS_WRITTEN = "write it with --queryids --tophits --lowest species and no other option for its lines"
MAX_DIGITS = 18
NEWLINE, TAB, COMMENT, COMMA, COLON, ZERO = b"\n\t#,:0"


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
    texts: list[NDArray[np.uint8]] = []
    numbers: list[NDArray[np.int64]] = []
    for lines in read_lines(path):
        if not texts and LAYOUT not in lines.text[: 1 << 16].tobytes():
            raise InputError(f"is no result that can be merged: {AS_WRITTEN}", source=lines.source)
        reads = lines.text[lines.begins] != COMMENT
        texts.append(_lines_alone(lines.text, lines.begins[reads], lines.ends[reads]))
        numbers.append(lines.numbers[reads])
        name = lines.source
    return _Parser(name, np.concatenate(texts), np.concatenate(numbers)).result()


def _lines_alone(text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Some lines of a text, each with a newline, and nothing between them."""
    marks = np.zeros(len(text) + 1, np.int8)
    marks[begins] = 1
    marks[ends + 1] -= 1  # behind the line break; another line may begin there
    lines = text.copy()
    lines[ends] = NEWLINE  # or a carriage return is there
    return lines[np.cumsum(marks[:-1], dtype=np.int8) > 0]


class _Parser:
    """Finds the columns of lines, whose numbers in the file are given, by the places of their tabs."""

    def __init__(self, name: str, text: NDArray[np.uint8], numbers: NDArray[np.int64]) -> None:
        self._name, self._text, self._lines = name, text, numbers
        ends = np.flatnonzero(text == NEWLINE)
        self._begins = np.append(0, ends + 1)[: len(ends)]
        tabs = np.flatnonzero(text == TAB)
        first = np.searchsorted(tabs, self._begins)
        self._refuse(np.searchsorted(tabs, ends) - first != 6, "has not the four columns of a result")
        self._tabs = tabs[first[:, np.newaxis] + np.arange(6)] if len(ends) else np.zeros((0, 6), np.int64)

    def result(self) -> ResultText:
        tabs = self._tabs
        numbers = self._numbers(self._begins, tabs[:, 0], np.arange(len(self._lines)), "the number of the read")
        starts, taxids, hits = self._candidates(tabs[:, 3] + 1, tabs[:, 4])
        order = np.argsort(numbers, kind="stable")
        again = np.flatnonzero(np.diff(numbers[order]) == 0)
        if len(again):
            raise InputError(f"has two lines for read {numbers[order][again[0]]}", source=self._name)
        names = self._names(tabs[:, 1] + 1, tabs[:, 2]).take(order)
        counts = np.diff(starts)[order]
        ends = np.cumsum(counts)
        places = np.repeat(starts[:-1][order] - (ends - counts), counts) + np.arange(len(taxids))
        return ResultText(self._name, numbers[order], names, np.append(0, ends), taxids[places], hits[places])

    def _names(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NameList:
        bounds = np.stack([begins, ends], axis=1).ravel()
        every = NameList(self._text, np.append(bounds, bounds[-1] if len(bounds) else 0))  # names and what is between
        return every.take(2 * np.arange(len(begins)))

    def _candidates(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Starts, taxids and hits: each candidate ends with a comma or with the column."""
        commas, colons = (self._inside(mark, begins, ends) for mark in (COMMA, COLON))
        filled = ends > begins
        counts = np.where(filled, _within(commas, begins, ends) + 1, 0)
        self._refuse(_within(colons, begins, ends) != counts, "has candidates that are not taxid:hits")
        starts = np.append(0, np.cumsum(counts))
        heads = np.zeros(starts[-1], np.bool_)
        heads[starts[:-1][filled]] = True
        tails = np.append(heads[1:], True)[: len(heads)]
        first, last = np.empty(len(heads), np.int64), np.empty(len(heads), np.int64)
        first[heads], first[~heads] = begins[filled], commas + 1
        last[tails], last[~tails] = ends[filled], commas
        lines = np.repeat(np.arange(len(counts)), counts)
        self._refuse_candidates((colons < first) | (colons >= last), lines)
        taxids = self._numbers(first, colons, lines, "a taxid")
        return starts, taxids, self._numbers(colons + 1, last, lines, "a number of hits")

    def _inside(self, mark: int, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of a byte within columns."""
        found = np.flatnonzero(self._text == mark)
        column = np.searchsorted(begins, found, "right") - 1
        return found[(column >= 0) & (found < np.append(ends, 0)[column])]

    def _numbers(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64], lines: NDArray[np.int64], what: str
    ) -> NDArray[np.int64]:
        """Read whole numbers."""
        sizes = ends - begins
        wrong = (sizes < 1) | (sizes > MAX_DIGITS)
        values = np.zeros(len(begins), np.int64)
        for place in range(min(int(sizes.max(initial=0)), MAX_DIGITS)):
            there = place < sizes
            digits = self._text[begins[there] + place].astype(np.int64) - ZERO
            wrong[there] |= (digits < 0) | (digits > 9)
            values[there] = 10 * values[there] + digits
        if wrong.any():
            at = int(np.argmax(wrong))
            shown = self._text[begins[at] : ends[at]][:40].tobytes().decode("utf-8", "replace")
            raise self._error(int(lines[at]), f"{shown!r} is not {what}; {AS_WRITTEN}")
        return values

    def _refuse(self, wrong: NDArray[np.bool_], what: str) -> None:
        if wrong.any():
            raise self._error(int(np.argmax(wrong)), f"{what}; {AS_WRITTEN}")

    def _refuse_candidates(self, wrong: NDArray[np.bool_], lines: NDArray[np.int64]) -> None:
        if wrong.any():
            raise self._error(int(lines[np.argmax(wrong)]), f"has candidates that are not taxid:hits; {AS_WRITTEN}")

    def _error(self, row: int, message: str) -> InputError:
        return InputError(message, source=self._name, line=int(self._lines[row]))


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
        Each taxon of a candidate has a target that stands for it.
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
