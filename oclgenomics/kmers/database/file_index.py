"""What a k-mer database says of itself: its head, its table of sections, its histogram and its foot, all verified."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError, UsageError
from oclgenomics.io import foreign
from oclgenomics.kmers.arithmetic import is_ascending
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
from oclgenomics.kmers.keys import key_words

__all__ = ["FileIndex", "read_file_index"]


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
        head_bytes = os.pread(handle, HEAD_BYTES, 0)
        foot_bytes = os.pread(handle, FOOT_BYTES, max(HEAD_BYTES, size - FOOT_BYTES))
        _refuse_foreign(name, handle)
        head = _head(name, head_bytes, size)
        foot, sum_ = _foot(name, foot_bytes, size)
        tail = os.pread(handle, max(0, size - FOOT_BYTES - foot.table_offset), min(foot.table_offset, size))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=name) from error
    table_bytes = foot.sections * section_table(key_words(head.options.k)).itemsize
    damaged = len(tail) != table_bytes + foot.histogram * HISTOGRAM.itemsize
    if damaged or checksum(tail, foot_bytes[:CHECKED_FOOT_BYTES]) != sum_:
        raise InputError(
            "the table of sections is damaged (its checksum differs); make the file again",
            source=name,
            byte=min(foot.table_offset, size),
        )
    table = np.frombuffer(tail[:table_bytes], section_table(key_words(head.options.k)))
    index = FileIndex(head, table, np.frombuffer(tail[table_bytes:], HISTOGRAM), foot)
    if not _agrees(index):
        raise InputError("the table of sections contradicts itself", source=name, byte=foot.table_offset)
    return index


def _refuse_foreign(name: str, handle: int) -> None:
    """Refuse a file of another kind by that kind's name."""
    begin = os.pread(handle, foreign.HEAD_BYTES, 0)
    known = foreign.format_name(begin, MAGIC)
    if known is not None:
        raise InputError(f"is {known}, and no k-mer database; `oclgenomics kmers count` makes one", source=name, byte=0)


def _head(name: str, data: bytes, size: int) -> Head:
    try:
        if size >= HEAD_BYTES:
            return Head.unpack(data)
    except (ValueError, UsageError) as error:
        raise InputError(str(error), source=name, byte=0) from error
    raise InputError("is no k-mer database of oclgenomics, or cut off in its head", source=name, byte=size)


def _foot(name: str, data: bytes, size: int) -> tuple[Foot, int]:
    try:
        if len(data) == FOOT_BYTES:
            return Foot.unpack(data)
    except ValueError as error:
        raise InputError(str(error), source=name, byte=size - FOOT_BYTES) from error
    raise InputError("is cut off after its head; make it again", source=name, byte=size)


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
