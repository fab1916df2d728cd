"""BED regions: reading them, uncompressed or compressed, and telling which positions they cover."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.numbers import whole_number
from oclgenomics.io.siphash import siphash
from oclgenomics.io.source import Source

_KEY = b"oclgenomics  bed"  # of checksums
_HEADERS = (b"track", b"browser")  # words that start a line which is no region
_MAX_LINE_BYTES = 1 << 20
_PLAIN = re.compile(rb"[\w.:*-]+")  # names of chromosomes, of ASCII
_PLAIN_NAME, _PLAIN_DIGITS = 32, 15
_PLAIN_LINE = len(b"1\t0\t1\n")  # bytes at least


@dataclass(frozen=True)
class BedRegions:
    """Regions by chromosome, disjoint and in ascending order.

    Attributes
    ----------
    starts, ends : dict of str to ndarray of int64, shape (regions,)
        0-based, half open: a region holds the base pairs `start` + 1 to `end`, counted from 1. Regions that overlap or
        touch are one.
    source : str
        Where they come from, for messages.
    """

    starts: dict[str, NDArray[np.int64]]
    ends: dict[str, NDArray[np.int64]]
    source: str = ""

    @classmethod
    def of(cls, regions: Iterable[tuple[str, int, int]], source: str = "") -> BedRegions:
        """Make disjoint regions from (chromosome, start, end) in any order."""
        found: dict[str, list[tuple[int, int]]] = {}
        for name, start, end in regions:
            found.setdefault(name, []).append((start, end))
        return cls.joined({name: np.array(pairs, np.int64) for name, pairs in found.items()}, source)

    @classmethod
    def joined(cls, regions: Mapping[str, NDArray[np.int64]], source: str = "") -> BedRegions:
        """Make disjoint regions from starts and ends in any order, int64 (regions, 2), by chromosome."""
        joined = {name: disjoint(pairs) for name, pairs in regions.items()}
        return cls({n: pair[0] for n, pair in joined.items()}, {n: pair[1] for n, pair in joined.items()}, source)

    @property
    def names(self) -> tuple[str, ...]:
        """The chromosomes."""
        return tuple(self.starts)

    @cached_property
    def _sums(self) -> dict[str, str]:
        """The checksum of the regions of each chromosome that has any."""
        pairs = ((name, np.concatenate([own, self.ends[name]])) for name, own in self.starts.items() if len(own))
        return {name: _sum_of(places.astype("<i8").tobytes()) for name, places in pairs}

    @cached_property
    def checksum(self) -> str:
        """Checksum of all regions and of the names of their chromosomes, whatever the order and layout of the file."""
        return _sum_of("".join(f"{name}\t{own}\n" for name, own in sorted(self._sums.items())).encode())

    def checksum_of(self, name: str) -> str:
        """Return the checksum of the regions of a chromosome, in which its name does not count."""
        return self._sums.get(name) or _sum_of(b"")

    def covers(self, name: str, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which positions of a chromosome lie in a region.

        Parameters
        ----------
        name : str
            The chromosome; one without regions is not covered anywhere.
        positions : ndarray of int64, shape (sites,)
            Base pairs, counted from 1.

        Returns
        -------
        ndarray of bool, shape (sites,)
        """
        if name not in self.starts:
            return np.zeros(len(positions), bool)
        zero_based = positions - 1
        before = np.searchsorted(self.starts[name], zero_based, side="right")
        ends = np.concatenate([[np.int64(-1)], self.ends[name]])
        return zero_based < ends[before]

    def outside(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return starts and ends of what lies outside the regions of a chromosome: all of one without regions."""
        none = np.zeros(0, np.int64)
        starts = np.concatenate([[0], self.ends.get(name, none)])
        ends = np.concatenate([self.starts.get(name, none), [MAX_BP]])
        return disjoint(np.stack([starts, ends], axis=1))

    def covered(self, name: str, first: int, last: int) -> int:
        """Count the bp from `first` to `last` of a chromosome, both counted from 1, that lie in regions."""
        if name not in self.starts:
            return 0
        starts = np.maximum(self.starts[name], first - 1)
        ends = np.minimum(self.ends[name], last)
        return int(np.maximum(ends - starts, 0).sum())


def _sum_of(data: bytes) -> str:
    return f"{siphash(_KEY, data):016x}"


def read_bed(path: str | os.PathLike[str]) -> BedRegions:
    """Read the first three columns of a BED file.

    Lines that are blank or begin with '#', 'track' or 'browser' are passed over. Columns are separated by tabs, or by
    blanks where a line holds no tab. A region of no length covers nothing.

    Parameters
    ----------
    path : str or path-like
        File, or "-" for standard input; uncompressed or compressed (gzip, bzip2, xz, zstd).

    Raises
    ------
    InputError
        The file cannot be read or is empty, or a line is no region; the message names the line.
    """
    parts: dict[str, list[NDArray[np.int64]]] = {}
    with Source(path) as source:
        number = 1
        for block in text_blocks(source):
            for name, pairs in _plain_regions(block) or _regions(block, source.name, number):
                parts.setdefault(name, []).append(pairs)
            number += block.count(b"\n")
        return BedRegions.joined({name: np.concatenate(own) for name, own in parts.items()}, source.name)


def bed_name(name: str) -> str:
    """A name as one BED column: blanks in it become underscores."""
    return "_".join(name.split())


def _regions(block: bytes, source: str, first: int) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Starts and ends of whole lines by chromosome, line by line."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(block.split(b"\n"), start=first):
        if is_region(line):
            name, start, end = region_of(columns_of(line), source, number)
            found.setdefault(name, []).append((start, end))
    yield from ((name, np.array(pairs, np.int64)) for name, pairs in found.items())


def _plain_regions(block: bytes) -> list[tuple[str, NDArray[np.int64]]] | None:
    """The same all at once, as masks have millions of lines; None if any line is more than three plain columns."""
    if _PLAIN_LINE * block.count(b"\n") > len(block):  # before they take memory
        return None
    data = np.frombuffer(block + b"\n" * (not block.endswith(b"\n")) + bytes(_PLAIN_NAME), np.uint8)
    ends = np.flatnonzero(data == ord("\n"))
    begins = np.concatenate([[0], ends[:-1] + 1])
    tabs = np.append(np.flatnonzero(data == ord("\t")), [len(data)] * 3)
    first = np.searchsorted(tabs, begins)
    borders = [begins - 1, tabs[first], tabs[first + 1], np.minimum(tabs[first + 2], ends)]
    if not (borders[2] < ends).all():
        return None
    size = borders[1] - begins
    digits = [borders[i + 1] - borders[i] - 1 for i in (1, 2)]
    if size.max() > _PLAIN_NAME or min(size.min(), *(one.min() for one in digits)) < 1:
        return None
    if max(one.max() for one in digits) > _PLAIN_DIGITS:
        return None
    places = np.zeros((len(begins), 2), np.int64)
    for column, width in enumerate(digits):
        for i in range(int(width.max())):
            inside = i < width
            byte = data[np.where(inside, borders[column + 1] + 1 + i, borders[column + 1])]
            if ((byte < ord("0")) | (byte > ord("9")))[inside].any():
                return None
            places[:, column] = np.where(inside, 10 * places[:, column] + byte - ord("0"), places[:, column])
    width = int(size.max())
    letters = np.where(np.arange(width) < size[:, None], data[begins[:, None] + np.arange(width)], 0).astype(np.uint8)
    changed = np.append(True, (letters[1:] != letters[:-1]).any(axis=1))
    runs = np.flatnonzero(changed)
    names = [bytes(letters[run, : size[run]]) for run in runs.tolist()]
    if (places[:, 1] < places[:, 0]).any() or not all(map(_PLAIN.fullmatch, names)):
        return None
    if any(name in _HEADERS for name in names):
        return None
    return list(zip((name.decode() for name in names), np.split(places, runs[1:]), strict=True))


def is_region(line: bytes) -> bool:
    """Say whether a line is one of a region: neither blank nor a comment nor a header of a browser."""
    return bool(line.strip()) and not line.startswith(b"#") and line.split(None, 1)[0] not in _HEADERS


def columns_of(line: bytes) -> list[bytes]:
    """Split a line at its tabs, or at blanks if it holds none."""
    return line.rstrip(b"\r\n").split(b"\t") if b"\t" in line else line.split()


def region_of(columns: list[bytes], source: str, line: int) -> tuple[str, int, int]:
    """Return chromosome, start and end of the columns of a BED line.

    Raises
    ------
    InputError
        They are no region.
    """
    if len(columns) < 3:
        raise InputError("a BED line has at least 3 columns: chromosome, start and end", source=source, line=line)
    name = columns[0].decode("utf-8", "replace").strip()
    words = [column.strip() for column in columns[1:3]]
    if not (name and all(word.isdigit() for word in words)):
        shown = b" ".join(columns[:3])[:60].decode("utf-8", "replace")
        raise InputError(
            f"{shown!r} is no region; it is a chromosome, then start and end as whole numbers from 0",
            source=source, line=line,
        )  # fmt: skip
    start, end = (whole_number(word) for word in words)
    if start is None or end is None:
        shown = max(words, key=len)[:40].decode()
        raise InputError(f"the place {shown} is beyond every chromosome", source=source, line=line)
    if end < start:
        raise InputError(f"the region ends at {end}, before its start {start}", source=source, line=line)
    return name, start, end


def text_lines(source: Source) -> Iterator[bytes]:
    """Give the lines of a file one by one.

    Yields
    ------
    bytes

    Raises
    ------
    InputError
        A line has more bytes than any region needs.
    """
    for block in text_blocks(source):
        yield from block.removesuffix(b"\n").split(b"\n")


def text_blocks(source: Source) -> Iterator[bytes]:
    """Give the lines of a file, some at a time; errors as of `text_lines`.

    Yields
    ------
    bytes
        Whole lines.
    """
    rest, number = b"", 1
    for chunk in source:
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline:
            yield whole + newline
        number += whole.count(b"\n") + len(newline)
        if len(rest) > _MAX_LINE_BYTES:
            raise InputError(f"a line of more than {_MAX_LINE_BYTES:,} bytes", source=source.name, line=number)
    if rest:
        yield rest


def disjoint(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return starts and ends of the union of regions, int64 (regions, 2)."""
    pairs = pairs[pairs[:, 1] > pairs[:, 0]]
    starts, ends = pairs[np.argsort(pairs[:, 0], kind="stable")].T
    reached = np.maximum.accumulate(ends) if len(ends) else ends
    first = np.concatenate([[True], starts[1:] > reached[:-1]])[: len(starts)]
    last = np.concatenate([first[1:], [True]])[: len(starts)]
    return starts[first], reached[last]


MAX_BP = 10**15 - 1  # of a position or a length: far beyond every chromosome, and exact in float64


def base_pairs(fractions: NDArray[np.float64], length: float) -> NDArray[np.int64]:
    """Base pairs of relative positions, int64, as OmegaPlus has them: trunc(float32(position) * float32(length))."""
    return (fractions.astype(np.float32) * np.float32(length)).astype(np.int64)
