"""Parts of SLOW5 and BLOW5, whose library reads a file from its first record on and no other way.

Records of a part are copied, some at a time, behind the head of the file to a small one, and the library reads one such
file after the other. To find a place in BLOW5 takes the sizes of the records before it; in SLOW5 a record is a line.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from typing import IO

from oclgenomics.signals.file_part import FilePart

BLOW5_HEAD = 64  # bytes before the size of the text
TEXT_SIZE, RECORD_SIZE = struct.Struct("<I"), struct.Struct("<Q")
BLOW5_END = b"5WOLB"
LAST_LINE = b"#read_id"  # of the head of SLOW5
COPIED = 1 << 25  # bytes of records that are copied at a time, or one record
BLOCK = 1 << 20  # bytes that are copied at once
NextRecord = Callable[[int], int]


def small_files(part: FilePart) -> Iterator[tuple[str, float]]:
    """Yield files with the records that begin in a part of a file, one after the other.

    What lies behind the last record, such as the end mark of BLOW5, is copied as it is, so the library tells a file
    that is cut off.

    Yields
    ------
    path : str
        Of a file that is there until the next one is asked for.
    share : float
        How much of the whole file lies before the end of its records.

    Raises
    ------
    OSError, ValueError
        The file cannot be read, or its sizes cannot be.
    """
    with open(part.path, "rb") as file, tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as small:
        binary = file.read(1) == b"B"
        first, behind, start = (_blow5 if binary else _slow5)(file, part)
        path = os.path.join(folder, "x.blow5" if binary else "x.slow5")
        os.symlink(f"/dev/fd/{small.fileno()}", path)  # the file itself has no name, so that none can be left behind
        while start < part.end:
            stop = behind(start)
            while stop < part.end and stop - start < COPIED:
                stop = behind(stop)
            small.seek(0)
            for begin, end in ((0, first), (start, stop)):
                _copy(file, small, begin, end)
            if binary and stop < part.size:
                small.write(BLOW5_END)
            small.truncate()
            small.flush()
            yield path, stop / part.size
            start = stop


def _blow5(file: IO[bytes], part: FilePart) -> tuple[int, NextRecord, int]:
    """Where records begin, what lies behind one, and the first one of the part. The end mark is like a record."""

    def behind(start: int) -> int:
        if part.size - start < RECORD_SIZE.size:
            return part.size
        file.seek(start)
        stop: int = start + RECORD_SIZE.size + RECORD_SIZE.unpack(file.read(RECORD_SIZE.size))[0]
        if stop > part.size:
            raise ValueError(f"the record at byte {start:,} is longer than the file")
        return stop

    file.seek(BLOW5_HEAD)
    first = start = BLOW5_HEAD + TEXT_SIZE.size + TEXT_SIZE.unpack(file.read(TEXT_SIZE.size))[0]
    while start < part.begin:
        start = behind(start)
    return first, behind, start


def _slow5(file: IO[bytes], part: FilePart) -> tuple[int, NextRecord, int]:
    """Where records begin, what lies behind one, and the first one of the part."""

    def behind(start: int) -> int:
        file.seek(start)
        file.readline()
        return file.tell()

    file.seek(0)
    while (line := file.readline()) and not line.startswith(LAST_LINE):
        pass
    first = file.tell()
    return first, behind, first if part.begin <= first else behind(part.begin - 1)


def _copy(source: IO[bytes], target: IO[bytes], begin: int, end: int) -> None:
    source.seek(begin)
    while begin < end:
        data = source.read(min(end - begin, BLOCK))
        if not data:
            raise EOFError("records are missing")
        target.write(data)
        begin += len(data)
