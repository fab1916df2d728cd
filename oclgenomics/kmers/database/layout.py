"""What lies where in a k-mer database; docs/kmers-format.md tells it byte by byte.

A head, the sections, the table of sections, the histogram and a foot. All numbers are little-endian.
"""

from __future__ import annotations

import struct
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import checksum as checksum_under
from oclgenomics.kmers.options import CountOptions

MAGIC = b"\x89okmer\r\n"  # damaged by whatever takes the file for text
END = b"okmerend"
VERSION, COMPRESSED_VERSION = 1, 2  # the latter where sequences were compressed, which older programs do not know
CANONICAL, COMPRESSED = 1, 2  # bits of the kind of k-mers
SECTION_KMERS = 65_280  # k-mers of a section; a multiple of what Simple-8b encodes at a stretch
KEY = b"oclgenomics.kmer"  # of all checksums
HEAD = struct.Struct("<8sIIIIQQQ16sQ")
FOOT = struct.Struct("<QQQQQQ8s")
HEAD_BYTES, FOOT_BYTES = HEAD.size, FOOT.size
CHECKED_FOOT_BYTES = FOOT_BYTES - 16  # what is before the foot's own checksum and its end mark
PROGRAM_BYTES = 16
HISTOGRAM = np.dtype([("count", "<u8"), ("kmers", "<u8")])
FEW = 1 << 12  # counts below are tallied by NumPy


def checksum(*pieces: bytes | memoryview) -> int:
    """Return the checksum of some bytes, laid end to end, under the format's own key."""
    return checksum_under(KEY, *pieces)


def section_table(words: int) -> np.dtype:
    """An entry of the table: the section's place and sizes, its checksum, and its first key of so many words."""
    places = [("offset", "<u8"), ("kmers", "<u4"), ("gap_bytes", "<u4"), ("count_words", "<u4"), ("unused", "<u4")]
    return np.dtype([*places, ("checksum", "<u8"), ("first", "<u8", (words,))])


def section_bytes(table: NDArray[np.void]) -> NDArray[np.int64]:
    """Bytes of each section of a table."""
    key_bytes = table.dtype["first"].itemsize
    return key_bytes + table["gap_bytes"].astype(np.int64) + 8 * table["count_words"].astype(np.int64)


class Head(NamedTuple):
    """The first bytes of a database: what was counted, and the version of the program that wrote it."""

    options: CountOptions
    program: str

    def pack(self) -> bytes:
        """The head as bytes, its checksum last."""
        options = self.options
        bounds = options.min_count, options.max_count, options.counter_max
        program = self.program.encode()[:PROGRAM_BYTES]
        version = COMPRESSED_VERSION if options.compressed else VERSION
        kind = CANONICAL * options.canonical | COMPRESSED * options.compressed
        plain = HEAD.pack(MAGIC, version, options.k, kind, SECTION_KMERS, *bounds, program, 0)[:-8]
        return plain + checksum(plain).to_bytes(8, "little")

    @classmethod
    def unpack(cls, data: bytes) -> Head:
        """Read a head.

        Raises
        ------
        ValueError
            What is wrong with it.
        """
        magic, version, k, kind, section, low, high, counter, program, sum_ = HEAD.unpack(data)
        if magic != MAGIC:
            raise ValueError("is no k-mer database of oclgenomics")
        if checksum(data[:-8]) != sum_:
            raise ValueError("the head is damaged (its checksum differs)")
        if version not in (VERSION, COMPRESSED_VERSION) or section != SECTION_KMERS:
            known = f"{VERSION} or {COMPRESSED_VERSION}"
            raise ValueError(f"has version {version} of the format, not {known} as this program; update oclgenomics")
        compressed = version == COMPRESSED_VERSION and bool(kind & COMPRESSED)
        options = CountOptions(k, bool(kind & CANONICAL), low, high, counter, compressed)
        return cls(options, program.rstrip(b"\0").decode("latin-1"))


class Foot(NamedTuple):
    """The last bytes of a database: where the table begins, how long everything is, and what the k-mers add up to."""

    table_offset: int
    sections: int
    histogram: int
    distinct: int
    total: int

    def pack(self, tail: bytes) -> bytes:
        """The foot as bytes; its checksum covers the tail, which is the table and the histogram, too."""
        plain = FOOT.pack(*self, 0, END)[:CHECKED_FOOT_BYTES]
        return plain + checksum(tail, plain).to_bytes(8, "little") + END

    @classmethod
    def unpack(cls, data: bytes) -> tuple[Foot, int]:
        """Read a foot and the checksum in it.

        Raises
        ------
        ValueError
            These bytes are none.
        """
        *fields, sum_, end = FOOT.unpack(data)
        if end != END:
            raise ValueError("has no end mark: the file is cut off or damaged at its end; make it again")
        return cls(*fields), sum_


class Tally:
    """A histogram that grows, exact for counts of any size."""

    def __init__(self, counts: NDArray[np.uint32] | None = None) -> None:
        self._few = np.zeros(FEW + 1, np.int64)
        self._many: Counter[int] = Counter()
        if counts is not None:
            self._few += np.bincount(np.minimum(counts, FEW), minlength=FEW + 1)
            if self._few[FEW]:
                values, kmers = np.unique(counts[counts >= FEW], return_counts=True)
                self._many.update(dict(zip(values.tolist(), kmers.tolist(), strict=True)))

    @classmethod
    def of(cls, few: NDArray[np.integer], many: NDArray[np.uint32]) -> Tally:
        """Make one of what was tallied elsewhere.

        Parameters
        ----------
        few : int (n,)
            How many counts there are of 0, 1, ..., n - 1; at most `FEW` of them.
        many : uint32 (m,)
            All counts from n on, in any order.
        """
        tally = cls(many)
        tally._few[: len(few)] += few
        return tally

    def add(self, other: Tally) -> None:
        """Take in what another one holds."""
        self._few += other._few
        self._many.update(other._many)

    @property
    def distinct(self) -> int:
        """How many counts there are."""
        return int(self.histogram()["kmers"].sum())

    @property
    def total(self) -> int:
        """Their sum."""
        table = self.histogram()
        return int((table["count"] * table["kmers"]).sum())

    def histogram(self) -> NDArray[np.void]:
        """The counts that there are, ascending, and the k-mers of each: `HISTOGRAM` (n,)."""
        few = np.flatnonzero(self._few[:FEW])
        many = sorted(self._many)
        histogram = np.empty(len(few) + len(many), HISTOGRAM)
        histogram["count"] = [*few.tolist(), *many]
        histogram["kmers"] = [*self._few[few].tolist(), *(self._many[count] for count in many)]
        return histogram
