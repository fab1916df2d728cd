"""The file of a k-mer database: its verified index, and sections, read as k-mers or as the bytes that they are."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, UsageError
from oclgenomics.io import foreign
from oclgenomics.io.raw_file import begins_with, open_stored
from oclgenomics.kmers.database.codec import check_ends, decode_section, greatest_keys
from oclgenomics.kmers.database.keys import is_ascending, key_words
from oclgenomics.kmers.database.kmer_set import KmerBlock
from oclgenomics.kmers.database.layout import (
    CHECKED_FOOT_BYTES,
    FOOT_BYTES,
    HEAD_BYTES,
    HISTOGRAM,
    MAGIC,
    SECTION_KMERS,
    Foot,
    Head,
    checksum,
    section_bytes,
    section_table,
)


def is_database(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a k-mer database does. Pipes, standard input and what cannot be read are none."""
    return begins_with(path, MAGIC)


STRETCH_SECTIONS = 4  # that are read together where sets are merged: of each set several are at hand


@dataclass(frozen=True, eq=False)
class Sections:
    """Sections that follow each other, as they lie in a file.

    Attributes
    ----------
    table : ndarray of `section_table` (n,)
        Its offsets do not matter.
    data : ndarray, uint8
        Their bytes.
    """

    table: NDArray[np.void]
    data: NDArray[np.uint8]

    @property
    def kmers(self) -> int:
        """K-mers of all of them."""
        return int(self.table["kmers"].sum())

    @property
    def first(self) -> tuple[int, ...]:
        """The first key, its most significant word first."""
        return tuple(self.table["first"][0][::-1].tolist())

    @property
    def firsts(self) -> NDArray[np.uint64]:
        """The first key of each, uint64 (words, n)."""
        return np.ascontiguousarray(self.table["first"].T.astype(np.uint64))

    def block(self, number: int) -> KmerBlock:
        """Decode one of them, whose bytes are what was written.

        Raises
        ------
        ValueError
            They are no such section.
        """
        entry, sizes = self.table[number], section_bytes(self.table)
        begin = int(sizes[:number].sum())
        data = self.data[begin : begin + int(sizes[number])].data
        words = self.table.dtype["first"].shape[0]
        block = decode_section(data, words, int(entry["kmers"]), int(entry["gap_bytes"]))
        if (block.keys[:, 0] != entry["first"]).any():
            raise ValueError("its first k-mer is not the one that the table of sections has")
        return block


@dataclass(frozen=True)
class FileIndex:
    """All of a database that is not k-mers.

    Attributes
    ----------
    head : Head
    table : ndarray of `section_table` (sections,)
    histogram : ndarray of `HISTOGRAM` (n,)
    foot : Foot
    """

    head: Head
    table: NDArray[np.void]
    histogram: NDArray[np.void]
    foot: Foot


def read_file_index(name: str, handle: int) -> FileIndex:
    """Read and verify the index of an open file.

    Raises
    ------
    InputError
        It is no database, cut off or damaged.
    """
    try:
        size = os.fstat(handle).st_size
        head_bytes = os.pread(handle, max(HEAD_BYTES, foreign.HEAD_BYTES), 0)
        foot_bytes = os.pread(handle, FOOT_BYTES, max(HEAD_BYTES, size - FOOT_BYTES))
        head = _head(name, head_bytes, size)
        foot, sum_ = _foot(name, foot_bytes, size)
        tail = os.pread(handle, max(0, size - FOOT_BYTES - foot.table_offset), min(foot.table_offset, size))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=name) from error
    table_bytes = foot.sections * section_table(key_words(head.options.k)).itemsize
    damaged = len(tail) != table_bytes + foot.histogram * HISTOGRAM.itemsize
    if damaged or checksum(tail, foot_bytes[:CHECKED_FOOT_BYTES]) != sum_:
        what = "the table of sections is damaged (its checksum differs); make the file again"
        raise InputError(what, source=name, byte=min(foot.table_offset, size))
    table = np.frombuffer(tail[:table_bytes], section_table(key_words(head.options.k)))
    index = FileIndex(head, table, np.frombuffer(tail[table_bytes:], HISTOGRAM), foot)
    if not _agrees(index):
        raise InputError("the table of sections contradicts itself", source=name, byte=foot.table_offset)
    return index


def _head(name: str, data: bytes, size: int) -> Head:
    """The head, unless it is that of another format or damaged."""
    known = foreign.format_name(data[: foreign.HEAD_BYTES], MAGIC)
    if known is not None:
        raise InputError(f"is {known}, and no k-mer database; `oclgenomics kmers count` makes one", source=name, byte=0)
    if size < HEAD_BYTES:
        raise InputError("is no k-mer database of oclgenomics, or cut off in its head", source=name, byte=size)
    try:
        return Head.unpack(data[:HEAD_BYTES])
    except (ValueError, UsageError) as error:
        raise InputError(str(error), source=name, byte=0) from error


def _foot(name: str, data: bytes, size: int) -> tuple[Foot, int]:
    if len(data) != FOOT_BYTES:
        raise InputError("is cut off after its head; make it again", source=name, byte=size)
    try:
        return Foot.unpack(data)
    except ValueError as error:
        raise InputError(str(error), source=name, byte=size - FOOT_BYTES) from error


def _agrees(index: FileIndex) -> bool:
    """Whether the table, the histogram and the foot tell the same, and what the format asks of them."""
    table, foot = index.table, index.foot
    ends = HEAD_BYTES + np.cumsum(section_bytes(table))
    starts = [HEAD_BYTES, *ends.tolist()]
    kmers = [SECTION_KMERS] * (len(table) - 1) + [foot.distinct - SECTION_KMERS * (len(table) - 1)] * bool(len(table))
    counts = zip(index.histogram["count"].tolist(), index.histogram["kmers"].tolist(), strict=True)
    return (
        [*table["offset"].tolist(), foot.table_offset] == starts
        and table["kmers"].tolist() == kmers
        and 1 <= min(kmers, default=1) <= max(kmers, default=1) <= SECTION_KMERS
        and is_ascending(table["first"].T.astype(np.uint64))
        and foot.distinct == int(index.histogram["kmers"].sum())
        and foot.total == sum(count * number for count, number in counts)
    )


class SectionFile:
    """An open database; several threads may read at the same time.

    Parameters
    ----------
    name : str
        What errors call it.
    handle : int
        Of a file that is open for reading.

    Attributes
    ----------
    name : str
    index : FileIndex
    greatest : ndarray, uint64 (words, sections)
        The greatest key that each section may hold.

    Raises
    ------
    InputError
        It is no database, cut off or damaged.
    """

    def __init__(self, name: str, handle: int) -> None:
        self.name, self._handle = name, handle
        self.index = read_file_index(name, handle)
        self._sizes = section_bytes(self.index.table)
        firsts = np.ascontiguousarray(self.index.table["first"].T.astype(np.uint64))
        self.greatest = greatest_keys(firsts, self.index.head.options.k)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> SectionFile:
        """Open a file.

        Raises
        ------
        InputError
            The file is missing, no database, cut off or damaged.
        """
        name = os.fspath(path)
        handle = open_stored(name, "k-mer database")
        try:
            return cls(name, handle)
        except BaseException:
            os.close(handle)
            raise

    def close(self) -> None:
        """Close the file; nothing can be read afterwards."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __len__(self) -> int:
        """Sections."""
        return len(self._sizes)

    def section(self, number: int) -> KmerBlock:
        """Read and verify one section, counted from 0.

        Raises
        ------
        InputError
            It is damaged.
        """
        entry, data = self.index.table[number], self._bytes(number)
        words, start = key_words(self.index.head.options.k), int(entry["offset"])
        if checksum(data) != entry["checksum"]:
            message = f"{self._place(number)} is damaged (its checksum differs); make the file again"
            raise InputError(message, source=self.name, byte=start)
        try:
            block = decode_section(data, words, int(entry["kmers"]), int(entry["gap_bytes"]))
            check_ends(block.keys, entry["first"], self.greatest[:, number])
            return block
        except ValueError as error:
            raise InputError(f"{self._place(number)} is malformed: {error}", source=self.name, byte=start) from error

    def _bytes(self, number: int) -> bytes:
        start, size = int(self.index.table["offset"][number]), int(self._sizes[number])
        try:
            data = os.pread(self._handle, size, start)
        except OSError as error:
            message = f"{self._place(number)} cannot be read ({error.strerror})"
            raise InputError(message, source=self.name, byte=start) from error
        if len(data) != size:
            raise InputError(f"{self._place(number)} is cut off", source=self.name, byte=start + len(data))
        return data

    def _place(self, number: int) -> str:
        return f"section {number + 1} of {len(self)}"

    def stretches(self) -> Iterator[Sections]:
        """All sections, a few at a time, unverified.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        for start in range(0, len(self), STRETCH_SECTIONS):
            table = self.index.table[start : start + STRETCH_SECTIONS]
            data = np.zeros(int(section_bytes(table).sum()), np.uint8)
            self.read_raw(table, data)
            yield Sections(table, data)

    def read_raw(self, table: NDArray[np.void], room: NDArray[np.unsignedinteger[Any]]) -> None:
        """Read the bytes of sections; where some are missing, checksums will differ.

        Parameters
        ----------
        table : ndarray of `section_table`
            Entries of the index's table, ascending.
        room : uint64 or uint8
            Gets the bytes, one section behind the other; what is behind them stays as it is.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        sizes = section_bytes(table)
        begins = table["offset"].astype(np.int64)
        apart = np.flatnonzero(begins[1:] != begins[:-1] + sizes[:-1]) + 1  # sections before which others are left out
        ends = np.cumsum(sizes)
        data, done = room.view(np.uint8).data, 0
        for first, last in zip([0, *apart.tolist()], [*(apart - 1).tolist(), len(table) - 1], strict=True):
            end = int(ends[last])
            self._read(int(begins[first]), data[done:end])
            done = end

    def _read(self, start: int, rest: memoryview) -> None:
        try:
            while len(rest) and (done := os.preadv(self._handle, [rest], start)):
                rest, start = rest[done:], start + done
            rest[:] = bytes(len(rest))  # where the file is cut off: a sound section may have been there before
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", source=self.name, byte=start) from error
