"""The part of a VCF of bgzip that holds a region, found with its index (.csi or .tbi).

An index only says where the records of a chromosome begin and end, and the lines there have to confirm it. Between them
the region is searched by POS. So an index of another file leads to an error, and never to other records.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from oclgenomics.errors import InputError
from oclgenomics.io.placed_text import Place, PlacedText, placed_text
from oclgenomics.variation.read_options import Region
from oclgenomics.variation.readers.vcf.index_file import check_age, checked_index, read_index

NEAR_BYTES = 1 << 18  # as stored: the search ends in so small a part of the file
BACK_BYTES = 1 << 17  # more than a block of bgzip can have
_HEADERS = (b"##fileformat=VCF", b"#CHROM\t")


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
        check_age(index, path)
        begin, end = _span(index, region.chromosome)
        with checked_index(index, path):
            _check_span(text, region.chromosome, begin, end)
            search = _Search(text, region.chromosome, begin, end)
            first = search.borders(lambda position: position < region.first)[0]
            last = search.borders(lambda position: position <= region.last)[1]
            return text.part(first, last)


def _span(index: str, chromosome: str) -> tuple[Place, Place]:
    """Where the records of a chromosome begin and end, as an index says."""
    names, chromosomes = read_index(index)
    found = dict(zip(names, chromosomes, strict=False)).get(chromosome)
    if found is None or not found.begins:
        shown = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
        raise InputError(f"knows no chromosome {chromosome} (but {shown})", source=index)
    return found.begins[0], found.end


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
        text_before = b"".join(held)
        lines = text_before.removesuffix(b"\n")
        if start == text.start or b"\n" in lines:
            if lines == text_before and _head(text, place) != [b""]:
                raise ValueError("no line begins there")
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
