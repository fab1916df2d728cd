"""The part of a VCF of bgzip that holds a region, found with its index (.csi or .tbi).

An index only says where the records of a chromosome begin and end, and the lines there have to confirm it. Between them
the region is searched by POS. So an index of another file leads to an error, and never to other records.
"""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Callable
from typing import Any

from oclgenomics.errors import InputError, library_errors
from oclgenomics.io.placed_text import Place, PlacedText, placed_text
from oclgenomics.variation.read_options import Region

MAX_INDEX_BYTES = 1 << 29  # unpacked; that of a whole human genome has some MB
NEAR_BYTES = 1 << 18  # as stored: the search ends in so small a part of the file
BACK_BYTES = 1 << 17  # more than a block of bgzip can have
_HEADERS = (b"##fileformat=VCF", b"#CHROM\t")
_TBI_DEPTH, _VCF = 5, 2


def part_with_region(path: str, region: Region) -> str | None:
    """Return the part of a file, a `FileSlice`, that has all records of a region, and few others of the chromosome.

    Parameters
    ----------
    path : str
        A regular file.
    region : Region

    Returns
    -------
    str or None
        None for a file without an index, and for one that is no VCF of bgzip.

    Raises
    ------
    InputError
        The index is older than the file, damaged, or of another file, or has no such chromosome.
    """
    index = next((path + suffix for suffix in (".csi", ".tbi") if os.path.isfile(path + suffix)), None)
    if index is None:
        return None
    with placed_text(path) as text:
        if not text.blocks or not next(iter(text.chunks(text.start)), (None, b""))[1].startswith(_HEADERS):
            return None
        if os.stat(index).st_mtime_ns < os.stat(path).st_mtime_ns:
            raise InputError(f"is older than {path}; make it again (bcftools index -f), or remove it", source=index)
        begin, end = _span(index, region.chromosome)
        trouble = (
            f"is of another file than {path}, or that one is damaged; make it again (bcftools index -f), or remove it"
        )
        try:
            _check_span(text, region.chromosome, begin, end)
            search = _Search(text, region.chromosome, begin, end)
            first = search.borders(lambda position: position < region.first)[0]
            last = search.borders(lambda position: position <= region.last)[1]
            return text.part(first, last)
        except (InputError, ValueError) as error:
            raise InputError(trouble, source=index) from error


def _span(index: str, chromosome: str) -> tuple[Place, Place]:
    """Where the records of a chromosome begin and end, as an index says."""
    with library_errors("damaged; make it again (bcftools index -f), or remove it", index):
        with gzip.open(index) as file:
            data = file.read(MAX_INDEX_BYTES + 1)
        if len(data) > MAX_INDEX_BYTES:
            raise ValueError(f"more than {MAX_INDEX_BYTES:,} bytes")
        reader = _Numbers(data)
        names = reader.names()
        span = dict(zip(names, reader.spans(), strict=True)).get(chromosome)
    if span is None:
        shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
        raise InputError(f"knows no chromosome {chromosome} (but {shown})", source=index)
    return span


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
            self._depth, _size = self._next("ii")
        else:
            self._at = 4
            (self._count,) = self._next("i")
        kind, *_, size = self._next("7i")
        if kind != _VCF or not 0 <= size <= len(self._data) - self._at:
            raise ValueError("no index of a VCF")
        text = self._data[self._at : self._at + size]
        self._at += size
        if self._csi:
            (self._count,) = self._next("i")
        return [name.decode() for name in text.split(b"\0")[:-1]]

    def spans(self) -> list[tuple[Place, Place] | None]:
        """Begin of the first record and end of the last one of each chromosome; None where it has none."""
        statistics = ((1 << 3 * (self._depth + 1)) - 1) // 7 + 1  # a bin that has other numbers in place of parts
        found: list[tuple[Place, Place] | None] = []
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
            found.append((_place(min(begins)), _place(max(ends))) if begins else None)
        return found


def _place(offset: int) -> Place:
    return offset >> 16, offset & 0xFFFF


def _check_span(text: PlacedText, chromosome: str, begin: Place, end: Place) -> None:
    """Refuse places that are not the first record of a chromosome, and the end of its last one."""
    name = chromosome.encode()
    names = [_name_before(text, begin), _name_at(text, begin), _name_before(text, end), _name_at(text, end)]
    if begin >= end or names[1:3] != [name, name] or name in (names[0], names[3]):
        raise ValueError(f"the records there are of {names}")


def _head(text: PlacedText, place: Place) -> list[bytes]:
    """CHROM and POS of the line at a place, and some of what follows; [b""] at the end of the file."""
    data = b""
    for _, chunk in text.chunks(place):
        data += chunk
        if data.count(b"\t") >= 2 or b"\n" in chunk:
            break
    return data.split(b"\t", 2)


def _name_at(text: PlacedText, place: Place) -> bytes:
    return _head(text, place)[0]


def _name_before(text: PlacedText, place: Place) -> bytes:
    """CHROM of the line that ends before a place; of a header another text."""
    back = BACK_BYTES
    while True:
        start = text.before(place[0] - back) if place[0] > back else text.start
        held = []
        for (at, skip), chunk in text.chunks(start):
            if at >= place[0]:
                held.append(chunk[: place[1] - skip] if at == place[0] else b"")
                break
            held.append(chunk)
        lines = b"".join(held)
        if not lines.endswith(b"\n") and _head(text, place) != [b""]:
            raise ValueError("no line begins there")
        lines = lines.removesuffix(b"\n")
        if start == text.start or b"\n" in lines:
            return lines.rpartition(b"\n")[2].partition(b"\t")[0]
        back *= 2


class _Search:
    """Searches the records of a chromosome by POS."""

    def __init__(self, text: PlacedText, chromosome: str, begin: Place, end: Place) -> None:
        self._text, self._name, self._begin, self._end = text, chromosome.encode(), begin, end

    def borders(self, is_before: Callable[[int], bool]) -> tuple[Place, Place]:
        """Return a record near the border that is before it, or the first one, and one that is not, or the end."""
        low, high = self._begin, self._end
        first, last = low[0], high[0]
        while last - first > NEAR_BYTES:
            middle = (first + last) // 2
            place = self._line_behind(self._text.before(middle))
            name, *rest = _head(self._text, place)
            ours = name == self._name
            if ours and is_before(int(rest[0])):
                first, low = middle, place
                continue
            last = middle
            if ours:
                high = place
        return low, high

    def _line_behind(self, place: Place) -> Place:
        """Where the first line begins that begins behind a place."""
        for at, chunk in self._text.chunks(place):
            if (newline := chunk.find(b"\n")) >= 0:
                return self._text.moved(at, newline + 1)
        return self._text.end
