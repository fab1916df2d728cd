"""The text of an input in blocks that the device can work on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.formats.source import Source
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["TextBlocks"]

LEAST_SHARED = 4096  # bytes; smaller arrays are copied
LINE_BREAKS = (ord("\n"), ord("\r"))


class TextBlocks:
    """Reads an input block by block into memory that the device reads directly or at full speed.

    Two buffers take turns, so that a block is filled while the device may still be at work on the one before.

    Parameters
    ----------
    engine : Engine
    source : Source
    block_bytes : int
        Bytes of a block.

    Attributes
    ----------
    host : ndarray, uint8 (size,)
        The block, after `read`.
    device : DeviceArray
        The same on the device, whose first `size` bytes count.
    size : int
    final : bool
        The text ends with this block.
    offset : int
        Place of the block's first byte in the whole text.
    """

    def __init__(self, engine: Engine, source: Source, block_bytes: int) -> None:
        self._engine, self._source = engine, source
        self._buffers = [_Buffer(engine, block_bytes), _Buffer(engine, block_bytes)]
        self._ended = False
        self.size = self.offset = 0
        self.final = False

    @property
    def host(self) -> NDArray[np.uint8]:
        return self._buffers[0].host[: self.size]

    @property
    def device(self) -> DeviceArray:
        return self._buffers[0].device

    def read(self, used: int) -> bool:
        """Read the next block; what the one before did not use up comes first.

        Parameters
        ----------
        used : int
            Bytes of the block before that are done with. Where nothing fits behind what is left, the block grows.

        Returns
        -------
        bool
            Whether there is anything.
        """
        kept = self.host[used:]
        self.offset += used
        target = self._buffers[1]
        if len(kept) >= len(target.host):
            target = _Buffer(self._engine, 2 * len(kept))
        target.wait()
        target.host[: len(kept)] = kept
        self.size = len(kept)
        if not self._ended:
            room = len(target.host) - self.size
            count = self._source.read_into(target.host[self.size :])
            self.size += count
            self._ended = count < room
        self._buffers = [target, self._buffers[0]]
        self.final = self._ended
        target.send(self.size)
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


class _Buffer:
    """Host memory and its place on the device: the same memory on CPU devices, or filled from it."""

    def __init__(self, engine: Engine, size: int) -> None:
        self._engine = engine
        shared = engine.tuning.cpu and engine.device.unified_memory
        memory = engine.pinned(max(size, LEAST_SHARED), np.uint8)
        self.host: NDArray[np.uint8] = memory[:size]
        self.device = engine.upload(memory, share=True) if shared else engine.empty(size, np.uint8)
        self._shared = shared

    def wait(self) -> None:
        """Wait until the device is done with the buffer."""
        if self.device.used is not None:
            self._engine.wait(self.device.used)

    def send(self, size: int) -> None:
        """Let the device see the first bytes."""
        if not self._shared and size:
            self._engine.write(self.device, self.host[:size], wait=False)
