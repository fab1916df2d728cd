"""The text of an input in blocks that the device can work on."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.formats.source import Source
from oclgenomics.runtime import Engine
from oclgenomics.sequence.parse import Text

__all__ = ["TextBlocks"]

LEAST_SHARED = 4096  # bytes; smaller arrays are copied
LINE_BREAKS = (ord("\n"), ord("\r"))
HEADROOM = 1 << 16  # before a block, for what the one before it did not use up


class TextBlocks:
    """Reads an input block by block into memory that the device reads directly or at full speed; a context manager.

    Two buffers take turns: while the device is at work on one block, a thread reads the next one.

    Parameters
    ----------
    engine : Engine
    source : Source
    block_bytes : int
        Bytes that are read at a time.

    Attributes
    ----------
    host : ndarray, uint8 (size,)
        The block, after `read`.
    size : int
    final : bool
        The text ends with this block.
    offset : int
        Place of the block's first byte in the whole text.
    """

    def __init__(self, engine: Engine, source: Source, block_bytes: int) -> None:
        self._engine, self._source, self._block_bytes = engine, source, block_bytes
        headroom = min(HEADROOM, block_bytes)
        self._at_work, self._next = (_Buffer(engine, headroom, block_bytes) for _ in range(2))
        self._thread = ThreadPoolExecutor(1, "next-block")
        self._coming: Future[int] | None = None
        self.host: NDArray[np.uint8] = self._at_work.memory[:0]
        self.offset = self._begin = 0
        self.final = False

    def __enter__(self) -> TextBlocks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        self._engine.finish()  # a device may still read the memory, which goes now

    @property
    def size(self) -> int:
        return len(self.host)

    def on_device(self, size: int) -> Text:
        """The first bytes of the block."""
        return Text(self._at_work.device, self._begin, size)

    def read(self, used: int) -> bool:
        """Read the next block; what the one before did not use up comes first.

        Parameters
        ----------
        used : int
            Bytes of the block before that are done with.

        Returns
        -------
        bool
            Whether there is anything.
        """
        kept = self.host[used:]
        self.offset += used
        count = 0 if self.final else self._read_next()
        buffer = self._next.with_headroom(len(kept), count)
        self._begin = buffer.headroom - len(kept)
        buffer.memory[self._begin : buffer.headroom] = kept
        self.host = buffer.memory[self._begin : buffer.headroom + count]
        self._at_work, self._next = buffer, self._at_work
        self.final = self.final or count < self._block_bytes
        buffer.send(self._begin, self.size)
        if not self.final and self._source.repeatable:  # a pipe may never give more, and has a thread of its own
            self._next.wait()
            self._coming = self._thread.submit(self._fill, self._next)
        return self.size > 0

    def first_letter(self) -> int:
        """Read the first block that begins with anything but line breaks, and return its first byte.

        Raises
        ------
        InputError
            There is nothing else.
        """
        used = 0
        while self.read(used):
            found = np.flatnonzero(~np.isin(self.host[:4096], LINE_BREAKS))
            used = int(found[0]) if len(found) else min(self.size, 4096)
            if len(found) and not used:
                return int(self.host[0])
        raise InputError("holds no sequence", source=self._source.name)

    def _read_next(self) -> int:
        coming, self._coming = self._coming, None
        if coming is not None:
            return coming.result()
        self._next.wait()
        return self._fill(self._next)

    def _fill(self, buffer: _Buffer) -> int:
        return self._source.read_into(buffer.memory[buffer.headroom : buffer.headroom + self._block_bytes])


class _Buffer:
    """Host memory and its place on the device: the same memory on CPU devices, or filled from it."""

    def __init__(self, engine: Engine, headroom: int, size: int) -> None:
        self._engine, self.headroom = engine, headroom
        self._shared = engine.tuning.cpu and engine.device.unified_memory
        self.memory: NDArray[np.uint8] = engine.pinned(max(headroom + size, LEAST_SHARED), np.uint8)
        size = len(self.memory)
        self.device = engine.upload(self.memory, share=True) if self._shared else engine.empty(size, np.uint8)

    def with_headroom(self, needed: int, count: int) -> _Buffer:
        """This buffer, or one with more headroom and the same `count` bytes."""
        if needed <= self.headroom:
            return self
        larger = _Buffer(self._engine, 2 * needed, len(self.memory) - self.headroom)
        larger.memory[larger.headroom : larger.headroom + count] = self.memory[self.headroom : self.headroom + count]
        return larger

    def wait(self) -> None:
        """Wait until the device is done with the buffer."""
        if self.device.used is not None:
            self._engine.wait(self.device.used)

    def send(self, begin: int, size: int) -> None:
        """Let the device see a part."""
        if not self._shared and size:
            self._engine.write(self.device, self.memory[begin : begin + size], begin, wait=False)
