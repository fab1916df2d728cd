"""The file of a k-mer database, of which sections are read: as k-mers, verified, or as the bytes that they are."""

from __future__ import annotations

import os
import stat

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.kmers.database.file_index import read_file_index
from oclgenomics.kmers.database.layout import checksum, section_bytes
from oclgenomics.kmers.database.sections.key_order import check_ends, greatest_keys
from oclgenomics.kmers.database.sections.section import decode_section
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock

__all__ = ["SectionFile"]


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
        try:
            handle = os.open(name, os.O_RDONLY)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", source=name) from error
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError("is no file; a k-mer database is read from a file only", source=name)
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

    def read_raw(self, table: NDArray[np.void], room: NDArray[np.uint64]) -> None:
        """Read the bytes of sections that follow each other; where some are missing, checksums will differ.

        Parameters
        ----------
        table : ndarray of `section_table`
            A slice of the index's table.
        room : uint64
            Gets the bytes; what is behind them stays as it is.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        start = int(table["offset"][0])
        rest = room.view(np.uint8).data[: int(section_bytes(table).sum())]
        try:
            while len(rest) and (done := os.preadv(self._handle, [rest], start)):
                rest, start = rest[done:], start + done
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", source=self.name, byte=start) from error
