"""Files of named arrays with checksums: what a system builds once and opens often.

`array_layout` says what lies where. An array is read into memory, not mapped: what was verified stays as it is,
whatever becomes of the file. To map it would save a fifth of the time, as most of it goes into the checksum.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io import foreign
from oclgenomics.io.array_layout import (
    END,
    FOOT,
    HEAD,
    KEY,
    PIECE_BYTES,
    Checksum,
    Description,
    FileKind,
    Section,
    checksum,
    checksum_of,
)
from oclgenomics.io.closing import Closing
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.raw_file import begins_with, open_stored
from oclgenomics.io.workers import Workers

THREADS = 2


def is_of_kind(path: str | os.PathLike[str], kind: FileKind) -> bool:
    """Whether a file begins with the mark of a kind. Pipes and their like, from which it would be missing, do not."""
    return begins_with(path, kind.mark)


class ArrayFile(Closing):
    """An open file of arrays, its description verified; a context manager.

    Parameters
    ----------
    path : path
    kind : FileKind

    Attributes
    ----------
    program : str
        Version of the program that wrote it.
    metadata : mapping
        As `write_arrays` got it.
    sections : dict of str to Section
    version : int
        Of the format; that of the kind, or an older one.
    mark : int
        Checksum of the description, which differs from that of a file with other content.

    Raises
    ------
    InputError
        The file cannot be read, or is of another kind or version, cut off or damaged.
    """

    def __init__(self, path: str | os.PathLike[str], kind: FileKind) -> None:
        self.name, self.kind = os.fspath(path), kind
        self._handle = open_stored(self.name, kind.name)
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; arrays that were read stay."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def array(self, name: str, dtype: str, dimensions: int = 1) -> NDArray[Any]:
        """Read and verify an array. It cannot be written to.

        Parameters
        ----------
        name : str
        dtype : str
            What it has to be; one of `array_layout.TYPES`.
        dimensions : int
            What it has to have.

        Raises
        ------
        InputError
            It is not there, of another type, or damaged.
        """
        section, start = self._find(name, dtype, dimensions)
        data = np.empty(section.filled_bytes, np.uint8)
        with Workers(min(THREADS, usable_cores())) as threads:  # which read on while checksums are made
            begins = range(0, len(data), PIECE_BYTES)
            pieces = threads.map(lambda begin: self._fill(data[begin : begin + PIECE_BYTES], start + begin), begins)
            found = checksum_of(KEY, pieces)
        self._verify(section, found)
        array = data[: section.bytes].view(dtype).reshape(section.shape)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        array.flags.writeable = False
        return array

    def reader(self, name: str, dtype: str) -> SectionReader:
        """Open an array of one dimension that is read piece by piece; parameters and errors are those of `array`."""
        return SectionReader(self, *self._find(name, dtype, 1))

    def _find(self, name: str, dtype: str, dimensions: int) -> tuple[Section, int]:
        """Return a section and the byte where it starts."""
        section = self.sections.get(name)
        if section is None or section.dtype != dtype or len(section.shape) != dimensions:
            raise self.error(f"has no section {name!r} of {dtype} with {dimensions} dimensions", 0)
        return section, self._first + section.offset

    def _verify(self, section: Section, checksum: int) -> None:
        if f"{checksum:016x}" != section.checksum:
            start = self._first + section.offset
            raise self.error(f"section {section.name!r} is damaged (its checksum differs)", start)

    def error(self, trouble: str, byte: int) -> InputError:
        """Return the error for trouble with the file, which says what to do."""
        return InputError(f"{trouble}; {self.kind.remedy}", source=self.name, byte=byte)

    def _open(self) -> None:
        foot_at = os.fstat(self._handle).st_size - FOOT.size
        head = self._head(foot_at)
        sum_, end = FOOT.unpack(self._read(FOOT.size, foot_at).data)
        if end != END:
            raise self.error("has no end mark: the file is cut off, or damaged at its end", foot_at)
        self.mark, self._first = checksum(KEY, head), len(head)
        if self.mark != sum_:
            raise self.error("the description is damaged (its checksum differs)", 0)
        try:
            described = Description.unpack(head[HEAD.size :], foot_at - self._first)
        except ValueError as error:
            raise self.error(f"the description is malformed: {error}", HEAD.size) from error
        self.program, self.metadata = described.program, described.metadata
        self.sections = {section.name: section for section in described.sections}

    def _head(self, room: int) -> bytes:
        """The head and the description, which have so many bytes at most."""
        if room < HEAD.size:
            raise self._foreign()
        mark, version, size = HEAD.unpack(self._read(HEAD.size, 0).data)
        if mark != self.kind.mark:
            raise self._foreign()
        if version not in (self.kind.version, *self.kind.older):
            raise self.error(f"has version {version} of the format, not {self.kind.version} as this program", len(mark))
        self.version = version
        if HEAD.size + size > room:
            raise self.error("is cut off in its description, or damaged in its head", room + FOOT.size)
        return self._read(HEAD.size + size, 0).tobytes()

    def _foreign(self) -> InputError:
        begin = os.pread(self._handle, foreign.HEAD_BYTES, 0)
        known = foreign.format_name(begin, self.kind.mark)
        what = "" if known is None else f"{known}, and "
        tail = ", or cut off in its head" if known is None else ""
        return InputError(f"is {what}no {self.kind.name} of oclgenomics{tail}", source=self.name, byte=0)

    def _read(self, size: int, start: int) -> NDArray[np.uint8]:
        """Read bytes that the file had when it was opened."""
        data = np.empty(size, np.uint8)
        self._fill(data, start)
        return data

    def _fill(self, data: NDArray[np.uint8], start: int) -> memoryview:
        """Read as many bytes as the array takes."""
        if self._handle < 0:
            raise ValueError(f"{self.name} is closed")
        done = 0
        while done < len(data):
            try:
                count = os.preadv(self._handle, [data[done:].data], start + done)
            except OSError as error:
                raise InputError(f"cannot be read ({error.strerror})", source=self.name, byte=start + done) from error
            if not count:
                raise self.error("became shorter while it was read", start + done)
            done += count
        return data.data


class SectionReader:
    """An array in a file that is read from its start to its end, for what need not be in memory as a whole.

    What was read is verified when `finish` returns, and not before.

    Parameters
    ----------
    file : ArrayFile
        Open as long as there is something to read.
    section : Section
    start : int
        Byte of the file.

    Attributes
    ----------
    left : int
        Items still to be read.
    """

    def __init__(self, file: ArrayFile, section: Section, start: int) -> None:
        self._file, self._section, self._at = file, section, start
        self._end = start + section.filled_bytes
        self._checksum = Checksum(KEY)

        self.left = section.shape[0]

    def __len__(self) -> int:
        return self._section.shape[0]

    def read(self, items: int) -> NDArray[Any]:
        """Read the next items, `left` of them at most."""
        if items > self.left:
            raise ValueError(f"{self._section.name!r} has {self.left} items left, not {items}")
        self.left -= items
        dtype = np.dtype(self._section.dtype)
        return self._take(items * dtype.itemsize).view(dtype).astype(dtype.newbyteorder("="), copy=False)

    def finish(self) -> None:
        """Verify the array, all of which has been read.

        Raises
        ------
        InputError
            It is damaged.
        """
        self._take(self._end - self._at)
        self._file._verify(self._section, self._checksum.value)

    def _take(self, size: int) -> NDArray[np.uint8]:
        data = np.empty(size, np.uint8)
        self._checksum.update(self._file._fill(data, self._at))
        self._at += size
        return data
