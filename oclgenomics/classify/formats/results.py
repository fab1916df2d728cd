"""The candidates in MetaCache's text, as `--format native` with `--tophits --queryids` writes it, read as arrays."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.taxonomy.text_fields import read_lines
from oclgenomics.errors import InputError
from oclgenomics.sequence.name_list import NameList

__all__ = ["ResultText", "read_result"]

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
    """Read a result, plain or packed.

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
