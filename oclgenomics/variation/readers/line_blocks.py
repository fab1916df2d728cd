"""Blocks of whole lines in one array of bytes, for the readers that handle many lines at once in several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import FileRest
from oclgenomics.io.source import ReadingStoppedError
from oclgenomics.io.workers import Workers
from oclgenomics.variation.readers.input_buffer import MAX_LINE_BYTES, PADDING, InputBuffer

_NEWLINE, _RETURN = 10, 13
_TIMES, _BLOCKS = 4, 8  # the blocks of a large file are so many times as large, if each thread still has so many of them
_SEARCHED_AT_ONCE = 1 << 20  # bytes, a multiple of 64: few enough for a core's cache, and few steps between which threads wait

Parsed = TypeVar("Parsed")
_Lines: TypeAlias = tuple[Callable[[], NDArray[np.uint8]], int]
"""What gives whole lines with their padding, from any thread, and the byte at which they begin."""


@dataclass
class LineBlock:
    """Whole lines of an input.

    Attributes
    ----------
    data : ndarray of uint8
        The lines, then `PADDING` bytes of any value.
    starts, ends : ndarray of int64, shape (records,)
        Begin of each record and end without the end of line.
    lines : ndarray of int64, shape (records,)
        Line number of each record, counted from the first of the block.
    newlines : int
        Lines in all, blank ones included.
    byte : int
        Offset of the block in the decompressed input.
    source : str
        Name of the input.
    first_line : int
        Line number of the first line in the input, known when all blocks before have been parsed.
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]
    newlines: int
    byte: int
    source: str
    first_line: int = 1

    @classmethod
    def split(cls, data: NDArray[np.uint8], byte: int, source: str) -> LineBlock:
        """Find the lines of `data` (padded); blank ones are left out."""
        newlines = _newlines(data[:-PADDING])
        starts = np.concatenate([np.zeros(1, np.int64), newlines[:-1] + 1]) if len(newlines) else newlines
        ends = newlines - (data[newlines - 1] == _RETURN)
        lines = np.arange(len(newlines))
        count = len(newlines)
        if (ends <= starts).any():
            used = ends > starts
            starts, ends, lines = starts[used], ends[used], lines[used]
        return cls(data, starts, ends, lines, count, byte, source)

    def part(self, begin: int, end: int) -> LineBlock:
        """Some of the records."""
        return self.chosen(slice(begin, end))

    def chosen(self, records: slice | NDArray[np.int64]) -> LineBlock:
        """The records of these places."""
        return replace(self, starts=self.starts[records], ends=self.ends[records], lines=self.lines[records])

    def error(self, record: int, message: str, at: int | None = None) -> InputError:
        """An error in a record, at byte `at` of the block (its first byte if not given)."""
        place = int(self.starts[record]) if at is None else at
        line = self.first_line + int(self.lines[record])
        return InputError(message, source=self.source, line=line, byte=self.byte + place)

    def text(self, start: int, end: int) -> str:
        """Bytes of the block as text for a message."""
        return bytes(self.data[start:end]).decode("utf-8", "replace")


def parse_blocks(
    buffer: InputBuffer, block_bytes: int, workers: Workers, parse: Callable[[LineBlock], Parsed]
) -> Iterator[tuple[LineBlock, Parsed]]:
    """Parse the rest of an input, a block of whole lines at a time, in the order of the input.

    The threads read the blocks of a large uncompressed file themselves; the caller only looks where lines end. Its blocks
    are up to 4 times as large as others: many threads wait for each other after each array operation.

    A block in which something is wrong is parsed again in halves, and these in halves, so that it is the first bad line
    that is named, after all before it have been given out, whatever the size of the blocks.

    Parameters
    ----------
    buffer : InputBuffer
        The input.
    block_bytes : int
        Size of a block; longer lines make larger ones, and so does a large file.
    workers : Workers
        The threads.
    parse : callable
        Turns a block with at least one record into something; it must not depend on anything else and raises
        `InputError`.

    Yields
    ------
    block : LineBlock
        Its bytes are there until the next one is asked for.
    parsed : what `parse` made of it, which must not have views of the block

    Raises
    ------
    InputError
        A bad line, or an input that breaks off.
    """

    def attempt(lines: _Lines) -> tuple[LineBlock, Parsed | None]:
        read, byte = lines
        block = LineBlock.split(read(), byte, buffer.source)
        try:
            return block, parse(block) if len(block.starts) else None
        except InputError:
            return block, None

    line = buffer.line_number
    rest, memory = buffer.take_rest(), deque[NDArray[np.uint8]]()
    blocks = _cut(buffer, block_bytes) if rest is None else _cut_file(rest, buffer, block_bytes, workers, memory)
    try:
        for block, parsed in workers.map(attempt, blocks):
            block.first_line = line
            line += block.newlines
            if parsed is not None:
                yield block, parsed
            elif len(block.starts):
                yield from _in_pieces(block, parse)
            if rest is not None:
                memory.append(block.data)
    finally:
        if rest is not None:
            workers.settle()  # before the file is closed


def _in_pieces(block: LineBlock, parse: Callable[[LineBlock], Parsed]) -> Iterator[tuple[LineBlock, Parsed]]:
    """Parse what could not be parsed as a whole."""
    count = len(block.starts)
    if count == 1:
        yield block, parse(block)
        return
    for piece in (block.part(0, count // 2), block.part(count // 2, count)):
        try:
            parsed = parse(piece)
        except InputError:
            yield from _in_pieces(piece, parse)
        else:
            yield piece, parsed


def _newlines(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Places of the ends of lines: of eight bytes of bits those with any are sought, which are few in long lines."""
    packed = np.zeros(8 * -(-len(data) // 64), np.uint8)
    for begin in range(0, len(data), _SEARCHED_AT_ONCE):
        bits = np.packbits(data[begin : begin + _SEARCHED_AT_ONCE] == _NEWLINE, bitorder="little")
        packed[begin // 8 : begin // 8 + len(bits)] = bits
    words = packed.view(np.uint64)
    hits = np.flatnonzero(words)
    found = np.flatnonzero(np.unpackbits(words[hits].view(np.uint8), bitorder="little").view(np.bool_))
    places: NDArray[np.int64] = 64 * hits[found >> 6] + (found & 63)
    return places


def _cut_file(
    rest: FileRest, buffer: InputBuffer, block_bytes: int, workers: Workers, memory: deque[NDArray[np.uint8]]
) -> Iterator[_Lines]:
    """Whole lines of about `block_bytes`, at least one, which are read when they are asked for.

    `memory` has that of blocks that nobody needs any more: faults of fresh pages take longer than the reading.
    """
    at = rest.start
    block_bytes *= min(max((rest.stop - at) // (block_bytes * _BLOCKS * workers.threads), 1), _TIMES)
    while at < rest.stop:
        if workers.stopped:
            raise ReadingStoppedError
        size = _whole_lines_of(rest, at, buffer, block_bytes)
        yield partial(_read_lines, rest, at, size, max(size, block_bytes) + 1 + PADDING, memory), buffer.byte
        at += size
        buffer.byte += size
        rest.report(at)


def _whole_lines_of(rest: FileRest, at: int, buffer: InputBuffer, wanted: int) -> int:
    """Size of the longest run of whole lines within `wanted` bytes, or of one line, or of the unfinished last line."""
    while True:
        size = min(wanted, rest.stop - at)
        last = rest.last(b"\n", at, at + size)
        if last >= 0:
            return last + 1 - at
        buffer.refuse_length(size)
        if at + size == rest.stop:
            return size
        wanted = min(2 * wanted, MAX_LINE_BYTES + 1)


def _read_lines(rest: FileRest, at: int, size: int, room: int, memory: deque[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Lines of a file, the last of which may lack its end, with their padding."""
    try:
        data = memory.pop().base
    except IndexError:
        data = None
    if data is None or len(data) < room:
        data = np.empty(room, np.uint8)
    rest.read(at, data[:size].data)
    if data[size - 1] != _NEWLINE:
        data[size] = _NEWLINE
        size += 1
    data[size : size + PADDING] = 0
    return data[: size + PADDING]


def _cut(buffer: InputBuffer, block_bytes: int) -> Iterator[_Lines]:
    """Whole lines of about `block_bytes`, at least one."""
    while size := _whole_lines(buffer, block_bytes):
        data, byte = buffer.padded(size), buffer.byte
        if data[size - 1] != _NEWLINE:  # the last line of a file may lack it
            data = np.concatenate([data[:size], [np.uint8(_NEWLINE)], np.zeros(PADDING, np.uint8)])
        buffer.consume(size, 0)
        yield partial(np.asarray, data), byte


def _whole_lines(buffer: InputBuffer, wanted: int) -> int:
    """Size of the longest run of whole lines within `wanted` bytes, or of one line, or of the unfinished last line."""
    buffer.require(wanted)
    while True:
        size = min(wanted, len(buffer))
        last = _last_newline(buffer.held[:size])
        if last >= 0:
            return last + 1
        buffer.refuse_length(size)
        more = min(2 * wanted, MAX_LINE_BYTES + 1)  # bytes that show that a line is too long, and none beyond
        if size < wanted or (not buffer.require(more) and len(buffer) <= wanted):
            buffer.refuse_break()
            return size
        wanted = more


def _last_newline(data: NDArray[np.uint8]) -> int:
    """Index of the last newline, or -1; looks at growing pieces from the end."""
    end, piece = len(data), 4096
    while end > 0:
        begin = max(0, end - piece)
        hits = np.flatnonzero(data[begin:end] == _NEWLINE)
        if len(hits):
            return begin + int(hits[-1])
        end, piece = begin, 2 * piece
    return -1
