"""The text of an input in blocks that the device can work on."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import EmptyInputError, InputError
from oclgenomics.io.closing import Closing
from oclgenomics.io.source import Source
from oclgenomics.runtime import Engine, SharedArray
from oclgenomics.sequence.device_text import Text
from oclgenomics.sequence.line_breaks import NEWLINE, is_break
from oclgenomics.sequence.parse import MAX_BYTES

if TYPE_CHECKING:
    from oclgenomics.io.joined_source import JoinedSource
    from oclgenomics.sequence.rewritten_source import RewrittenSource


MIN_HEADROOM = 1 << 16  # before a block, for what the one before it did not use up
HEADROOM_SHARE = 16  # of a block, one part in so many: enough for all but the longest reads
CPU_BUFFERS, GPU_BUFFERS = 2, 3  # one at work, the others being read


class TextBlocks(Closing):
    """Reads an input block by block into memory that the device reads directly or at full speed; a context manager.

    Buffers take turns: while the device is at work on one block, threads read the next ones.

    Parameters
    ----------
    engine : Engine
    source : Source, JoinedSource or RewrittenSource
    block_bytes : int
        Bytes that are read at a time.

    Attributes
    ----------
    name : str
        Of the source.
    live : bool
        The source comes live: a block is what has come.
    block_bytes : int
    host : ndarray, uint8 (size,)
        The block, after `read`.
    size : int
    final : bool
        The text ends with this block.
    offset : int
        Place of the block's first byte in the whole text, a byte-order mark before it included.
    """

    def __init__(self, engine: Engine, source: Source | JoinedSource | RewrittenSource, block_bytes: int) -> None:
        self._engine, self._source, self.block_bytes = engine, source, block_bytes
        self.name, self.live = source.name, source.live
        self._buffers = ExitStack()
        self._at_work: _Buffer | None = None
        self._free: deque[_Buffer] = deque()
        self._still_to_make = CPU_BUFFERS if engine.tuning.cpu else GPU_BUFFERS
        self._threads = ThreadPoolExecutor(source.readers, "next-block")
        self._coming: deque[tuple[_Buffer, Iterator[tuple[int, int]]]] = deque()
        self.host: NDArray[np.uint8] = np.empty(0, np.uint8)
        self.offset = self._begin = 0
        self.final = False

    def close(self) -> None:
        """Stop reading ahead, and give the memory back."""
        self._threads.shutdown(cancel_futures=True)
        self._buffers.close()

    @property
    def size(self) -> int:
        return len(self.host)

    def on_device(self, size: int) -> Text:
        """The first bytes of the block, after `read`."""
        assert self._at_work is not None
        return Text(self._at_work.shared.device, self._begin, size)

    def read(self, used: int, *, lines: int = 0) -> bool:
        """Read the next block; the unused end of the block before comes first.

        Of an input that comes live, a block is what has come.

        Parameters
        ----------
        used : int
            Bytes of the block before that are no longer needed.
        lines : int
            Lines that a block of an input that comes live has to have, unless there is no room for them.

        Returns
        -------
        bool
            Whether the block has any bytes.

        Raises
        ------
        InputError
            So much is not used up that the block would be longer than `MAX_BYTES`.
        AllocationError
            The device has no room for the block.
        """
        kept = self.host[used:]
        self.offset += used
        buffer, count = self._next(lines - _newlines(kept) if self.live else 0)
        if self._at_work is None:  # the begin of the text has been unpacked
            self.offset = self._source.skipped
        if len(kept) and len(kept) + count > MAX_BYTES:
            raise InputError(
                f"a record of FASTQ, or a header, takes more than {len(kept):,} bytes, too many to be read at once",
                source=self.name,
                byte=self.offset,
            )
        buffer = self._with_headroom(buffer, len(kept), count)
        self._begin = buffer.headroom - len(kept)
        buffer.memory[self._begin : buffer.headroom] = kept
        buffer.shared.send(self._begin, len(kept))
        self.host = buffer.memory[self._begin : buffer.headroom + count]
        if self._at_work is not None:
            self._free.append(self._at_work)
        self._at_work = buffer
        self.final = self.final or (count < self.block_bytes and not self.live)
        if not self.final and self._source.repeatable:  # a pipe may never give more, and has a thread of its own
            while self._free or self._still_to_make:
                self._start_reading()
        return self.size > 0

    def first_letter(self) -> int:
        """Read the first block that begins with anything but line breaks, and return its first byte.

        Raises
        ------
        EmptyInputError
            The input holds only line breaks.
        """
        used = 0
        while self.read(used):
            found = np.flatnonzero(~is_break(self.host[:4096]))
            used = int(found[0]) if len(found) else min(self.size, 4096)
            if len(found) and not used:
                return int(self.host[0])
        raise EmptyInputError("holds no sequence", source=self.name)

    def _next(self, lines: int) -> tuple[_Buffer, int]:
        """A buffer with the next bytes, and how many these are; `lines` as in `_read_live`."""
        if not self._coming and not self.final and self._source.repeatable:
            self._start_reading()
        if self._coming:
            buffer, parts = self._coming.popleft()
            count = 0
            for begin, end in parts:
                buffer.shared.send(buffer.headroom + begin, end - begin)
                count = end
            buffer.shared.wait()  # NVIDIA's driver would wait within the next launch, and hold Python's lock meanwhile
            return buffer, count
        buffer = self._free_buffer()
        if self.final:
            return buffer, 0
        buffer.shared.wait()
        room = self._room(buffer)  # filled here, where a signal ends the waiting for a pipe
        count = self._read_live(room, lines) if self.live else self._source.read_into(room)
        buffer.shared.send(buffer.headroom, count)
        return buffer, count

    def _read_live(self, room: NDArray[np.uint8], lines: int) -> int:
        """Read what comes until so many lines have ended, the room is full or the input ends; return its bytes."""
        count = 0
        while count < len(room):
            more = self._source.read_some_into(room[count:])
            if not more:
                self.final = True
                break
            lines -= _newlines(room[count : count + more])
            count += more
            if lines <= 0:
                break
        return count

    def _start_reading(self) -> None:
        buffer = self._free_buffer()
        buffer.shared.wait()
        self._coming.append((buffer, self._source.start_reading(self._room(buffer), self._threads)))

    def _room(self, buffer: _Buffer) -> NDArray[np.uint8]:
        return buffer.behind_headroom(self.block_bytes)

    def _free_buffer(self) -> _Buffer:
        if self._free:
            return self._free.popleft()
        self._still_to_make -= 1
        return self._new_buffer()

    def _new_buffer(self) -> _Buffer:
        headroom = min(max(MIN_HEADROOM, self.block_bytes // HEADROOM_SHARE), self.block_bytes)
        return self._buffer_of(headroom + self.block_bytes, headroom)

    def _buffer_of(self, size: int, headroom: int) -> _Buffer:
        return _Buffer(self._buffers.enter_context(self._engine.shared(size, np.uint8)), headroom)

    def _with_headroom(self, buffer: _Buffer, needed: int, count: int) -> _Buffer:
        """The buffer, or one with more headroom and the same `count` bytes."""
        if needed <= buffer.headroom:
            return buffer
        larger = self._buffer_of(2 * needed + len(buffer.memory) - buffer.headroom, 2 * needed)
        larger.behind_headroom(count)[:] = buffer.behind_headroom(count)
        larger.shared.send(larger.headroom, count)
        buffer.shared.release()
        return larger


def _newlines(text: NDArray[np.uint8]) -> int:
    return int(np.count_nonzero(text == NEWLINE))


class _Buffer:
    """Room for a block, and for what the one before it did not use up."""

    def __init__(self, shared: SharedArray, headroom: int) -> None:
        self.shared, self.headroom = shared, headroom
        self.memory: NDArray[np.uint8] = shared.host

    def behind_headroom(self, count: int) -> NDArray[np.uint8]:
        """The bytes behind the headroom."""
        return self.memory[self.headroom : self.headroom + count]
