"""Lines of text made of columns, and how the host joins them.

Columns follow each other without anything between them: what separates them belongs to their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.formats.text_table import TextTable
from oclgenomics.sequence.name_list import NameList

__all__ = ["NO_NUMBER", "Column", "HostJoiner", "LineJoiner", "NameColumn", "NumberColumn", "TextColumn", "clean_names"]

NO_NUMBER = (1 << 64) - 1  # nothing is written


@dataclass(frozen=True)
class NameColumn:
    """Names, each one mostly used once.

    Attributes
    ----------
    names : NameList
    which : ndarray of int (lines,), optional
        The name of each line; if not given, line i has name i.
    """

    names: NameList
    which: NDArray[np.signedinteger[Any]] | None = None


@dataclass(frozen=True)
class TextColumn:
    """Texts of a table, which stays the same from part to part or grows.

    Attributes
    ----------
    table : TextTable
    which : ndarray, int32 (lines,)
        Of each line, the place of its text in `table.texts`; see `TextTable.places`.
    """

    table: TextTable
    which: NDArray[np.int32]


@dataclass(frozen=True)
class NumberColumn:
    """Whole numbers in decimal digits.

    Attributes
    ----------
    values : ndarray, uint64 (lines,)
        `NO_NUMBER` where nothing is written.
    """

    values: NDArray[np.uint64]


Column = NameColumn | TextColumn | NumberColumn


class LineJoiner(Protocol):
    """What joins columns: on the host or on a device, with the same bytes as the result."""

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview: ...


class HostJoiner:
    """Joins columns with Python's own lists of bytes: no device is needed."""

    def join(self, lines: int, columns: Sequence[Column]) -> memoryview:
        """Return so many lines, each of which has its piece of every column."""
        pieces = [_pieces(column) for column in columns]
        return memoryview(b"".join(chain.from_iterable(zip(*pieces, strict=True))) if lines else b"")


def _pieces(column: Column) -> Iterable[bytes]:
    if isinstance(column, NumberColumn):
        return [b"%d" % value if value != NO_NUMBER else b"" for value in column.values.tolist()]
    if isinstance(column, TextColumn):
        texts = column.table.bytes
        return [texts[place] for place in column.which.tolist()]
    letters, starts = column.names.letters.tobytes(), column.names.starts
    if column.which is None:
        return [letters[begin:end] for begin, end in pairwise(starts.tolist())]
    begins, ends = starts[column.which].tolist(), starts[column.which + 1].tolist()
    return [letters[begin:end] for begin, end in zip(begins, ends, strict=True)]


def clean_names(names: NameList) -> NameList:
    """Return names that stay in their column: control characters become underscores, as of `one_field`."""
    odd = (names.letters < ord(" ")) | (names.letters == 127)
    return NameList(np.where(odd, np.uint8(ord("_")), names.letters), names.starts) if odd.any() else names
