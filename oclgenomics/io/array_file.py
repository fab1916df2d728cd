"""Files of named arrays with checksums: what a system builds once and opens often.

`array_layout` says what lies where. An array is read into memory, not mapped: what was verified stays as it is,
whatever becomes of the file, and a file that is cut off meanwhile is an error rather than a signal.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io import foreign
from oclgenomics.io.array_layout import (
    BLOCK_SUMS,
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
from oclgenomics.io.siphash import BLOCK_BYTES, block_sums, sum_of_sums
from oclgenomics.io.workers import Workers

THREADS = 8  # that read, and hash what they read
LEAST_BLOCKS = 32  # of a section that are worth a thread
Room = Callable[[int], NDArray[np.uint8]]  # gives memory for so many bytes
WORD = 8


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
    in_blocks : bool
        Whether the checksums of sections are those of the checksums of their blocks, as this version has it.

    Raises
    ------
    InputError
        The file cannot be read, or is of another kind or version, cut off or damaged.
    """

    def __init__(self, path: str | os.PathLike[str], kind: FileKind) -> None:
        self.name, self.kind = os.fspath(path), kind
        self._block_sums: NDArray[np.uint64] | None = None
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
            found = (self._sum_blocks if self.in_blocks else self._sum_whole)(data, start, threads)
        self._verify(section, found)
        array = data[: section.bytes].view(dtype).reshape(section.shape)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        array.flags.writeable = False
        return array

    def reader(self, name: str, dtype: str) -> SectionReader:
        """Open an array of one dimension that is read piece by piece; parameters and errors are those of `array`."""
        return SectionReader(self, *self._find(name, dtype, 1))

    def blocks(self, name: str, dtype: str) -> BlockReader:
        """Open an array of one dimension of which some blocks are read; parameters and errors are those of `array`."""
        section, start = self._find(name, dtype, 1)
        return BlockReader(self, section, start, self._sums_of(section))

    def _sums_of(self, section: Section) -> NDArray[np.uint64]:
        """The checksums of the blocks of a section, verified by the one that the description has."""
        if self._block_sums is None:
            self._block_sums = self.array(BLOCK_SUMS, "<u8")
        before = 0
        for one in self.sections.values():
            if one is section:
                break
            before += one.blocks
        sums = self._block_sums[before : before + section.blocks]
        if len(sums) != section.blocks or f"{sum_of_sums(KEY, sums):016x}" != section.checksum:
            trouble = (
                f"contradicts itself: the checksums of the blocks of {section.name!r} are not those of the section"
            )
            raise self.error(trouble, self._first + section.offset)
        return sums

    def _find(self, name: str, dtype: str, dimensions: int) -> tuple[Section, int]:
        """Return a section and the byte where it starts."""
        section = self.sections.get(name)
        if section is None or section.dtype != dtype or len(section.shape) != dimensions:
            raise self.error(f"has no section {name!r} of {dtype} with {dimensions} dimensions", 0)
        return section, self._first + section.offset

    def _sum_blocks(self, data: NDArray[np.uint8], start: int, threads: Workers) -> int:
        """Read an array, and return the checksum of what its blocks have."""

        def read(begin: int) -> NDArray[np.uint64]:
            piece = data[begin : begin + PIECE_BYTES]
            self._fill(piece, start + begin)
            return block_sums(KEY, piece)

        sums = list(threads.map(read, range(0, len(data), PIECE_BYTES)))
        return sum_of_sums(KEY, np.concatenate([np.empty(0, np.uint64), *sums]))

    def _sum_whole(self, data: NDArray[np.uint8], start: int, threads: Workers) -> int:
        """Read an array, and return the checksum of all of it."""
        begins = range(0, len(data), PIECE_BYTES)
        pieces = threads.map(lambda begin: self._fill(data[begin : begin + PIECE_BYTES], start + begin), begins)
        return checksum_of(KEY, pieces)

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
        self.version, self.in_blocks = version, version >= self.kind.blocks_since
        if HEAD.size + size > room:
            raise self.error("is cut off in its description, or damaged in its head", room + FOOT.size)
        return self._read(HEAD.size + size, 0).tobytes()

    def _foreign(self) -> InputError:
        begin = os.pread(self._handle, foreign.HEAD_BYTES, 0)
        known = foreign.format_name(begin, self.kind.mark)
        what = "" if known is None else f"{known}, and "
        tail = ", or cut off in its head" if known is None else ""
        told = f"is {what}no {self.kind.name}{tail}; {self.kind.remedy.replace('it again', 'one')}"
        return InputError(told, source=self.name, byte=0)

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


@dataclass(frozen=True)
class Window:
    """Items of a section that follow each other, and its bytes from the beginning of a block on.

    Attributes
    ----------
    data : ndarray, uint8
        The bytes, and what makes them a multiple of 8, which is undefined.
    dtype : dtype
        Of the items, as they lie in the file.
    first : int
        Number of the block with which the bytes begin.
    begin, end : int
        Where the items are.
    last : int
        Where the section ends, which may be behind the items; 0 where they are not its last ones.
    """

    data: NDArray[np.uint8]
    dtype: np.dtype[Any]
    first: int
    begin: int
    end: int
    last: int

    @property
    def items(self) -> NDArray[Any]:
        """The items."""
        return self.data[self.begin : self.end].view(self.dtype).astype(self.dtype.newbyteorder("="), copy=False)

    @property
    def words(self) -> NDArray[np.uint64]:
        """The bytes as words."""
        return self.data.view(np.uint64)

    @property
    def skipped(self) -> int:
        """Items before those of the window."""
        return self.begin // self.dtype.itemsize

    @property
    def blocks(self) -> int:
        """Blocks that end in it."""
        return -(-self.last // BLOCK_BYTES) if self.last else self.end // BLOCK_BYTES

    @property
    def summed(self) -> int:
        """Bytes of these blocks."""
        return self.last or self.blocks * BLOCK_BYTES

    def part(self, begin: int, end: int) -> Window:
        """Return some of the items, with the bytes that go with them. Each block ends in one of neighbouring parts."""
        at, behind = self.begin + begin * self.dtype.itemsize, self.begin + end * self.dtype.itemsize
        low = at // BLOCK_BYTES * BLOCK_BYTES
        last = self.last - low if self.last and behind == self.end else 0
        data = self.data[low : -(-max(behind, low + last) // WORD) * WORD]
        return replace(
            self, data=data, first=self.first + low // BLOCK_BYTES, begin=at - low, end=behind - low, last=last
        )


def _new_room(size: int) -> NDArray[np.uint8]:
    return np.empty(size, np.uint8)


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
    room : callable
        Gives memory for so many bytes of the next window; new memory unless somebody sets it.
    threads : Workers, optional
        Read a large window together, if somebody sets it.
    """

    room: Room
    threads: Workers | None = None

    def __init__(self, file: ArrayFile, section: Section, start: int) -> None:
        self._file, self._section, self._start = file, section, start
        self._dtype = np.dtype(section.dtype)
        self._begun: NDArray[np.uint8] = np.empty(0, np.uint8)  # what was read of a block that has not ended
        self._read = 0  # bytes
        self._whole, self._sums = Checksum(KEY), np.empty(section.blocks, np.uint64)
        self.room = _new_room
        self.left = section.shape[0]

    def __len__(self) -> int:
        return self._section.shape[0]

    @property
    def blocks(self) -> int:
        """Blocks of the section."""
        return self._section.blocks

    def read(self, items: int) -> NDArray[Any]:
        """Read the next items, `left` of them at most."""
        return self.summed_window(items).items

    def summed_window(self, items: int) -> Window:
        """Read the next items, with the bytes that `window` has of them, and make their checksums."""
        window = self.window(items)
        self.sum(window)
        return window

    def sum(self, window: Window) -> None:
        """Make the checksums of a window; where these are of blocks, threads may do so side by side."""
        if self._file.in_blocks:
            self._sums[window.first : window.first + window.blocks] = block_sums(KEY, window.data[: window.summed])
        else:
            self._whole.update(window.data[window.begin : window.last or window.end].data)

    def window(self, items: int) -> Window:
        """Read the next items, `left` of them at most, for somebody who makes the checksums of their blocks."""
        if items > self.left:
            raise ValueError(f"{self._section.name!r} has {self.left} items left, not {items}")
        self.left -= items
        begin, size = len(self._begun), items * self._dtype.itemsize
        end = begin + size
        last = begin + self._section.filled_bytes - self._read if not self.left else 0
        filled = last or end
        data = self.room(-(-filled // WORD) * WORD)
        data[:begin] = self._begun
        self._fill(data[begin:filled])
        window = Window(data, self._dtype, self._read // BLOCK_BYTES, begin, end, last)
        self._read += filled - begin
        self._begun = data[window.summed : filled]
        return window

    def _fill(self, data: NDArray[np.uint8]) -> None:
        """Read the next bytes."""
        start, begins = self._start + self._read, range(0, len(data), PIECE_BYTES)

        def read(begin: int) -> None:
            self._file._fill(data[begin : begin + PIECE_BYTES], start + begin)

        for _ in map(read, begins) if self.threads is None else self.threads.map(read, begins):
            pass

    def finish(self, sums: NDArray[np.uint64] | None = None) -> None:
        """Verify the array, all of which has been read.

        Parameters
        ----------
        sums : ndarray, uint64 (blocks,), optional
            Checksums of the blocks of windows.

        Raises
        ------
        InputError
            It is damaged.
        """
        in_blocks = self._file.in_blocks
        found = sum_of_sums(KEY, self._sums if sums is None else sums) if in_blocks else self._whole.value
        self._file._verify(self._section, found)


class Taken(NamedTuple):
    """Ranges of the bytes of a section.

    Attributes
    ----------
    data : ndarray, uint8
        The blocks that hold them, those that are neighbours next to each other.
    places : ndarray, int64 (ranges,)
        Where each range begins in the data, all of which it has.
    """

    data: NDArray[np.uint8]
    places: NDArray[np.int64]


class Blocks(NamedTuple):
    """Neighbouring blocks of a section that nobody has verified yet.

    Attributes
    ----------
    data : ndarray, uint8
    first : int
        The number of the first one in its section.
    """

    data: NDArray[np.uint8]
    first: int


class BlockReader:
    """An array in a file, of which some blocks are read, each of them verified before it is used.

    Parameters
    ----------
    file : ArrayFile
        Open as long as there is something to read.
    section : Section
    start : int
        Byte of the file.
    sums : ndarray, uint64 (blocks,)
        What the checksums of the blocks have to be.
    """

    def __init__(self, file: ArrayFile, section: Section, start: int, sums: NDArray[np.uint64]) -> None:
        self._file, self._section, self._start, self._sums = file, section, start, sums

    def __len__(self) -> int:
        return self._section.shape[0]

    def take(
        self, begins: NDArray[np.int64], ends: NDArray[np.int64], threads: Workers | None = None, room: Room = _new_room
    ) -> Taken:
        """Read ranges of bytes.

        Parameters
        ----------
        begins, ends : ndarray, int64 (ranges,)
            Within the array; neither descends.
        threads : Workers, optional
            Read and verify many blocks together.
        room : callable, optional
            Gives memory for so many bytes, or for more.

        Raises
        ------
        InputError
            A block is damaged.
        """
        blocks, begins = self._blocks_of(begins, ends), np.asarray(begins)
        size = self._bytes_of(blocks)
        data = room(size)

        def verify(part: NDArray[np.uint8], first: int) -> None:
            self.verify(first, block_sums(KEY, part))

        self._read(blocks, data[:size], threads, verify)
        places = np.searchsorted(blocks, begins // BLOCK_BYTES) * BLOCK_BYTES + begins % BLOCK_BYTES
        return Taken(data, places)

    def unverified(self, begin: int, end: int, threads: Workers | None = None, room: Room | None = None) -> Blocks:
        """Read the blocks that hold the bytes from one to before another, for somebody who makes their checksums.

        `verify` says whether these are right. Parameters are those of `take`.
        """
        blocks = self._blocks_of(np.array([begin]), np.array([end]))
        size = self._bytes_of(blocks)
        data = (room or _new_room)(size)[:size]
        self._read(blocks, data, threads, lambda part, first: None)
        return Blocks(data, int(blocks[0]) if len(blocks) else 0)

    def verify(self, first: int, sums: NDArray[np.uint64]) -> None:
        """Compare the checksums of neighbouring blocks, from the one with the number `first` on.

        Raises
        ------
        InputError
            One differs: the block is damaged.
        """
        wrong = np.flatnonzero(sums != self._sums[first : first + len(sums)])
        if len(wrong):
            place = self._start + (first + int(wrong[0])) * BLOCK_BYTES
            trouble = f"section {self._section.name!r} is damaged (the checksum of a block differs)"
            raise self._file.error(trouble, place)

    def _bytes_of(self, blocks: NDArray[np.int64]) -> int:
        """Bytes of blocks, which ascend."""
        size = len(blocks) * BLOCK_BYTES
        if len(blocks) and blocks[-1] + 1 == self._section.blocks:  # the last one may be shorter
            size -= self._section.blocks * BLOCK_BYTES - self._section.filled_bytes
        return size

    def _read(
        self, blocks: NDArray[np.int64], data: NDArray[np.uint8], threads: Workers | None,
        then: Callable[[NDArray[np.uint8], int], None],
    ) -> None:  # fmt: skip
        """Read blocks, and call `then` with neighbours as soon as they are there, and the number of the first one."""

        def read(piece: tuple[int, int]) -> None:
            first, end = piece
            part = data[first * BLOCK_BYTES : end * BLOCK_BYTES]
            self._file._fill(part, self._start + int(blocks[first]) * BLOCK_BYTES)
            then(part, int(blocks[first]))

        share = len(blocks) if threads is None else max(-(-len(blocks) // threads.threads), LEAST_BLOCKS)
        pieces = list(self._pieces(blocks, share))
        for _ in map(read, pieces) if threads is None else threads.map(read, pieces):
            pass

    @staticmethod
    def _blocks_of(begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """The blocks of ranges, each once, ascending."""
        first, last = begins // BLOCK_BYTES, (ends - 1) // BLOCK_BYTES
        first = np.maximum(first, np.append(0, last[:-1] + 1)) if len(first) else first
        counts = np.maximum(last - first + 1, 0)
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        blocks: NDArray[np.int64] = np.repeat(first, counts) + within
        return blocks

    @staticmethod
    def _pieces(blocks: NDArray[np.int64], share: int) -> Iterator[tuple[int, int]]:
        """Neighbouring blocks that are read together, at most a share, as places in `blocks`."""
        most = min(PIECE_BYTES // BLOCK_BYTES, max(share, 1))
        cuts = np.flatnonzero(np.diff(blocks) != 1) + 1
        for begin, end in itertools.pairwise([0, *cuts.tolist(), len(blocks)]):
            for first in range(begin, end, most):
                yield first, min(first + most, end)
