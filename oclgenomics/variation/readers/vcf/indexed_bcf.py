"""The records of BCF that hold a region, found with its index (.csi).

The index says where some records of a chromosome begin. Since positions rise, all records before one of the chromosome
that lies before the region can be left out, and all from one on that lies behind it. Each such record is read first.
Where the region may reach to the first record, those before it are seen to be of another chromosome. So an index of
another file leads to an error, and never to other records.
"""

from __future__ import annotations

import os
import re
import struct
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from oclgenomics.errors import InputError
from oclgenomics.io.placed_text import Place, PlacedText, placed_text
from oclgenomics.variation.read_options import Region
from oclgenomics.variation.readers.vcf.index_file import Places, check_age, checked_index, read_index

_MAGIC = b"BCF\2"
_SHARED_BYTES = 24  # of a record's fields before its identifier; of which CHROM and POS are the first
_CONTIG = re.compile(rb"##contig=<(.*)>")
_ID, _NUMBER = re.compile(rb"(?:^|,)ID=([^,]+)"), re.compile(rb"(?:^|,)IDX=([0-9]+)")


def bcf_with_region(path: str, region: Region) -> tuple[str, Iterator[bytes]] | None:
    """Return the part of a BCF file that has all records of a region, and few others of the chromosome.

    Parameters
    ----------
    path : str
        A regular file.
    region : Region

    Returns
    -------
    part : str
        A `FileSlice`, without the header.
    records : iterator of bytes
        The header and these records, not compressed.

    None is returned for a file without an index, and for one that is no BCF of bgzip.

    Raises
    ------
    InputError
        The index is older than the file, damaged, or of another file, or the file has no such chromosome.
    """
    index = f"{path}.csi"
    if not os.path.isfile(index):
        return None
    with placed_text(path) as text:
        if not text.blocks or not next(iter(text.chunks(text.start)), (None, b""))[1].startswith(_MAGIC):
            return None
        check_age(index, path)
        header, first = _header(text)
        names = _names(header)
        if region.chromosome not in names:
            shown = ", ".join(list(names)[:3]) + (" and others" if len(names) > 3 else "")
            raise InputError(f"its header knows no chromosome {region.chromosome} (but {shown})", source=path)
        _, chromosomes = read_index(index)
        number = names[region.chromosome]
        if number >= len(chromosomes) or not chromosomes[number].begins:
            raise InputError(f"knows no record of chromosome {region.chromosome}", source=index)
        with checked_index(index, path):
            begin, end = _Records(text, first, chromosomes, number).around(region)
            return text.part(begin, end), _stored(path, header, begin, end)


def _stored(path: str, header: bytes, begin: Place, end: Place) -> Iterator[bytes]:
    """The header, and what lies between two places."""
    yield header
    with placed_text(path) as text:
        for place, chunk in text.chunks(begin):
            if place[0] >= end[0]:
                yield chunk[: max(0, end[1] - place[1])] if place[0] == end[0] else b""
                return
            yield chunk


def _bytes(text: PlacedText, place: Place, count: int) -> bytes:
    """Some bytes from a place on, fewer at the end of the file."""
    held = b""
    for _, chunk in text.chunks(place):
        held += chunk
        if len(held) >= count:
            break
    return held[:count]


def _header(text: PlacedText) -> tuple[bytes, Place]:
    """The header, and the place behind it."""
    (size,) = struct.unpack("<I", _bytes(text, text.start, 9)[5:])
    return _bytes(text, text.start, 9 + size), _behind(text, text.start, 9 + size)


def _behind(text: PlacedText, place: Place, count: int) -> Place:
    """The place so many bytes behind one; that of the next chunk where one ends there."""
    for at, chunk in text.chunks(place):
        if count < len(chunk):
            return text.moved(at, count)
        count -= len(chunk)
    if count:
        raise ValueError("the file ends within a record")
    return text.end


def _names(header: bytes) -> dict[str, int]:
    """The number of each chromosome: as its line says, or which line it is."""
    found: dict[str, int] = {}
    for line in _CONTIG.findall(header):
        name, number = _ID.search(line), _NUMBER.search(line)
        if name is not None:
            found.setdefault(name[1].decode("utf-8", "replace"), int(number[1]) if number else len(found))
    return found


class _Record(NamedTuple):
    """The start of a record: its bytes in all, the number of its chromosome, and POS, counted from 1."""

    size: int
    chromosome: int
    position: int


class _Records:
    """The records of a chromosome.

    Parameters
    ----------
    text : PlacedText
    first : Place
        The first record of the file.
    chromosomes : list of Places
        What the index says.
    number : int
        That of the chromosome.
    """

    def __init__(self, text: PlacedText, first: Place, chromosomes: list[Places], number: int) -> None:
        self._text, self._first, self._chromosomes, self._number = text, first, chromosomes, number
        self._places = chromosomes[number]

    def around(self, region: Region) -> tuple[Place, Place]:
        """Where the records of a region begin and end, with some others of its chromosome before and behind."""
        begins = self._places.begins
        low = bisect_left(begins, region.first, key=self._position)
        if low == 0:
            self._check_first(begins[0])
        high = bisect_left(begins, region.last + 1, low, key=self._position)
        if high == len(begins):
            behind = self._at(self._places.end)
            if behind is not None and behind.chromosome == self._number:
                raise ValueError("the chromosome goes on")
        return begins[max(0, low - 1)], begins[high] if high < len(begins) else self._places.end

    def _at(self, place: Place) -> _Record | None:
        """The record at a place; None at the end of the file."""
        stored = _bytes(self._text, place, 8 + _SHARED_BYTES)
        if not stored:
            return None
        shared, single, chromosome, position = struct.unpack_from("<IIii", stored)
        if len(stored) < 8 + _SHARED_BYTES or shared < _SHARED_BYTES or chromosome < 0:
            raise ValueError("no record begins there")
        return _Record(8 + shared + single, chromosome, position + 1)

    def _position(self, place: Place) -> int:
        """POS of a record of the chromosome."""
        record = self._at(place)
        if record is None or record.chromosome != self._number:
            raise ValueError("a record of another chromosome")
        return record.position

    def _check_first(self, place: Place) -> None:
        """Refuse a place before which there are records of the chromosome, or that is not where records begin."""
        self._position(place)
        known = [at for one in self._chromosomes for at in one.begins if at < place]
        at = max(known, default=self._first)
        while at < place:
            record = self._at(at)
            if record is None or record.chromosome == self._number:
                raise ValueError("the chromosome begins before")
            at = _behind(self._text, at, record.size)
        if at != place:
            raise ValueError("no record begins there")
