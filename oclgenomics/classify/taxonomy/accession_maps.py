"""Files that map accessions to taxids: NCBI's accession2taxid, assembly summaries, and tables of two columns.

They have hundreds of millions of lines, so a filter of whole columns says which words may be among those wanted.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.taxonomy.ncbi import MAX_TAXID
from oclgenomics.classify.taxonomy.text_fields import Fields, Lines, read_lines
from oclgenomics.errors import InputError

_KEYS = ("accession.version", "assembly_accession", "accession")
_HEAD_LINES = 10  # among which a line with the columns' names may be


_WORDS = 3  # of 8 letters, by which words differ; what is behind them does not count
_PADDING = np.zeros(8 * _WORDS, np.uint8)
_INSIDE = np.array([(1 << 8 * letters) - 1 for letters in range(9)], np.uint64)  # the first letters of a word
_ONE = np.uint64(1)
_LOW_BITS = np.uint64(0x0101010101010101)
_HIGH_BITS = _LOW_BITS << np.uint64(7)
_POINTS = _LOW_BITS * np.uint64(ord("."))
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
MIN_BITS, MAX_BITS = 16, 26
_SPREAD = 16  # places of the first table for each word


class MapEntry(NamedTuple):
    """A word of a line, and the line's taxid."""

    key: str
    taxid: int


class _Columns(NamedTuple):
    """Where a file has its keys, taxids, and GenBank's old numbers, which are keys, too, but 0 for none."""

    keys: tuple[int, ...]
    taxid: int
    gi: int | None = None


def matching_entries(path: str | os.PathLike[str], wanted: Collection[str]) -> Iterator[MapEntry]:
    """Read the entries of a map whose accession is wanted.

    A line with the columns' names ("accession.version" or "assembly_accession", "taxid", perhaps "accession" and "gi")
    says which columns count. Without one, lines have an accession and a taxid, or the four columns of accession2taxid.
    Columns are separated by tabs.

    Parameters
    ----------
    path : str or path-like
        Plain or gzip.
    wanted : collection of str
        Accessions, with or without version.

    Yields
    ------
    MapEntry
        In the order of the file: all whose key is wanted, with or without its version, and perhaps others.

    Raises
    ------
    InputError
        The file cannot be read, has no columns, or what belongs to a wanted accession is no taxid.
    """
    keys = KeyFilter(wanted)
    numbers = any(name.isdigit() for name in wanted)
    columns: _Columns | None = None
    for lines in read_lines(path):
        if columns is None and len(lines):
            columns = _columns_of(lines)
        if columns is None:
            continue
        fields = lines.fields_by_tab(max(*columns.keys, columns.taxid) + 1)
        asked = [key for key in columns.keys if key != columns.gi or numbers]
        found = [keys.find(fields.text, fields.begins[key], fields.ends[key]) for key in asked]
        for row in np.unique(np.concatenate(found)).tolist():
            yield from _entries(fields, row, columns)


def _entries(fields: Fields, row: int, columns: _Columns) -> Iterator[MapEntry]:
    """The keys of a line; none where its taxid is 0, as NCBI writes for unknown ones, or where it has the names."""
    text = fields.shown(columns.taxid, row).strip()
    if text == "taxid":
        return
    if not (text.isascii() and text.isdigit() and int(text[:12]) <= MAX_TAXID):
        raise fields.error(f"{text[:40]!r} is no taxid", row)
    if int(text):
        for column in columns.keys:
            key = fields.shown(column, row).strip()
            if column != columns.gi or key != "0":
                yield MapEntry(key, int(text))


def _columns_of(lines: Lines) -> _Columns:
    """Where the columns are, by their names or by their number."""
    texts = [
        lines.text[begin:end].tobytes().decode("utf-8", "replace")
        for begin, end in zip(lines.begins[:_HEAD_LINES].tolist(), lines.ends[:_HEAD_LINES].tolist(), strict=True)
    ]
    for text in texts:
        names = [name.strip() for name in text.lstrip("#").split("\t")]
        keys = tuple(names.index(key) for key in _KEYS if key in names)
        if "taxid" in names and keys:
            gi = names.index("gi") if "gi" in names else None
            return _Columns(keys if gi is None else (*keys, gi), names.index("taxid"), gi)
    first = next((at for at, text in enumerate(texts) if not text.startswith("#")), 0)
    count = texts[first].count("\t") + 1
    if count < 2:
        what = "has no columns, which tabs separate: accessions and taxids"
        raise InputError(what, source=lines.source, line=int(lines.numbers[first]))
    return _Columns((1, 0, 3), 2, 3) if count == 4 else _Columns((0,), 1)


class KeyFilter:
    """Finds words that are equal to wanted ones up to the first point, and a few others.

    Parameters
    ----------
    wanted : iterable of str
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        words = [word.encode() for word in wanted]
        text = np.frombuffer(b"".join(words), np.uint8)
        sizes = np.array([len(word) for word in words], np.int64)
        ends = np.cumsum(sizes)
        self._hashes = np.unique(_hashes(text, ends - sizes, ends))
        bits = min(max((_SPREAD * len(words)).bit_length(), MIN_BITS), MAX_BITS)
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.bool_)
        self._table[self._hashes >> self._shift] = True

    def find(self, text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which words may be wanted ones.

        Parameters
        ----------
        text : ndarray, uint8
        begins, ends : ndarray, int64 (words,)
            Where in the text the words lie.
        """
        hashes = _hashes(text, begins, ends)
        likely = np.flatnonzero(self._table[hashes >> self._shift])
        if not len(likely):
            return likely
        at = np.minimum(np.searchsorted(self._hashes, hashes[likely]), len(self._hashes) - 1)
        found: NDArray[np.int64] = likely[self._hashes[at] == hashes[likely]]
        return found


def _hashes(text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of words by their first letters, up to the first point."""
    padded = np.concatenate([text, _PADDING])
    at_each = np.ndarray((len(text) + 1,), "<u8", buffer=padded, strides=(1,))  # the 8 letters from each place on
    sizes = ends - begins
    hashes = np.zeros(len(sizes), np.uint64)
    goes_on = np.full(len(sizes), _INSIDE[8])  # no bit is set where a point came before
    for word in range(_WORDS):
        inside = _INSIDE[np.clip(sizes - 8 * word, 0, 8)] & goes_on
        letters = at_each[np.minimum(begins + 8 * word, len(text))] & inside
        points = _points(letters)
        letters &= ((points & (~points + _ONE)) >> np.uint64(7)) - _ONE  # what is below the lowest point
        goes_on[points != 0] = 0
        hashes = (hashes ^ letters) * _FACTOR
        hashes ^= hashes >> np.uint64(29)
    return hashes * _FACTOR


def _points(letters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The highest bit of each byte that is a point, up to the first one; bits above it may be wrong."""
    differs = letters ^ _POINTS
    return (differs - _LOW_BITS) & ~differs & _HIGH_BITS
