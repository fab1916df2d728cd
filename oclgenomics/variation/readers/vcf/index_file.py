"""Indexes of bgzip files by chromosome and position (.csi and .tbi): where the records of each chromosome lie.

What they say is a hint: before a place is used, what is stored there is read.
"""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from oclgenomics.errors import InputError, library_errors
from oclgenomics.io.placed_text import Place

MAX_INDEX_BYTES = 1 << 29  # unpacked; that of a whole human genome has some MB
_TBI_DEPTH, _VCF = 5, 2
_REMEDY = "make it again (bcftools index -f), or remove it"


@dataclass(frozen=True)
class Places:
    """Where the records of a chromosome lie.

    Attributes
    ----------
    begins : list of Place
        In order: the first record, and some of the others; empty for a chromosome without records.
    end : Place
        Behind its last record.
    """

    begins: list[Place]
    end: Place


def check_age(index: str, path: str) -> None:
    """Refuse an index that is older than its file.

    Raises
    ------
    InputError
        It is.
    """
    if os.stat(index).st_mtime_ns < os.stat(path).st_mtime_ns:
        raise InputError(f"is older than {path}; {_REMEDY}", source=index)


@contextmanager
def checked_index(index: str, path: str) -> Iterator[None]:
    """Turn what is found where an index says into an error of the index.

    Raises
    ------
    InputError
        The places of the index hold something else.
    """
    try:
        yield
    except (InputError, ValueError) as error:
        raise InputError(f"is of another file than {path}, or that one is damaged; {_REMEDY}", source=index) from error


def read_index(index: str) -> tuple[list[str], list[Places]]:
    """Read an index.

    Returns
    -------
    names : list of str
        Of the chromosomes; empty for BCF, whose header has them.
    chromosomes : list of Places

    Raises
    ------
    InputError
        It is damaged.
    """
    with library_errors(f"damaged; {_REMEDY}", index):
        with gzip.open(index) as file:
            data = file.read(MAX_INDEX_BYTES + 1)
        if len(data) > MAX_INDEX_BYTES:
            raise ValueError(f"more than {MAX_INDEX_BYTES:,} bytes")
        reader = _Numbers(data)
        names, chromosomes = reader.names(), reader.places()
        if names and len(names) != len(chromosomes):
            raise ValueError(f"{len(names)} names of {len(chromosomes)} chromosomes")
        return names, chromosomes


class _Numbers:
    """The numbers of an index, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 8
        self._csi = data.startswith(b"CSI\1")
        if not self._csi and not data.startswith(b"TBI\1"):
            raise ValueError("neither CSI nor TBI")
        self._count, self._depth = 0, _TBI_DEPTH

    def _next(self, kinds: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f"<{kinds}", self._data, self._at)
        self._at += struct.calcsize(f"<{kinds}")
        return found

    def names(self) -> list[str]:
        """The chromosomes; has to be called first."""
        if self._csi:
            self._depth, extra = self._next("ii")
        else:
            self._at = 4
            (self._count,), extra = self._next("i"), 1
        names = self._text_names() if extra else []
        if self._csi:
            (self._count,) = self._next("i")
        return names

    def _text_names(self) -> list[str]:
        """Those of a file of lines."""
        kind, *_, size = self._next("7i")
        if kind != _VCF or not 0 <= size <= len(self._data) - self._at:
            raise ValueError("no index of a VCF")
        text = self._data[self._at : self._at + size]
        self._at += size
        return [name.decode() for name in text.split(b"\0")[:-1]]

    def places(self) -> list[Places]:
        """Those of each chromosome."""
        statistics = ((1 << 3 * (self._depth + 1)) - 1) // 7 + 1  # a bin that has other numbers in place of parts
        found: list[Places] = []
        for _ in range(self._count):
            begins: list[int] = []
            ends: list[int] = []
            for _ in range(self._next("i")[0]):
                number, *_, parts = self._next("IQi" if self._csi else "Ii")
                offsets = self._next(f"{2 * parts}Q")
                if number != statistics:
                    begins += offsets[::2]
                    ends += offsets[1::2]
            if not self._csi:
                (windows,) = self._next("I")  # where the records of 16 kb begin
                self._at += 8 * windows
            found.append(Places(list(map(_place, sorted(set(begins)))), _place(max(ends, default=0))))
        return found


def _place(offset: int) -> Place:
    return offset >> 16, offset & 0xFFFF
