"""Device arrays on their way to a file, through pinned memory."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.append_file import Appending
from oclgenomics.runtime import DeviceArray, Engine

__all__ = ["PinnedWriter"]

PIECE_WORDS, MAX_PIECES = 1 << 21, 8  # of pinned memory: 16 MiB each


class PinnedWriter:
    """Appends device arrays to a file: the device fills pieces of pinned memory, and threads write them."""

    def __init__(self, engine: Engine, output: Appending) -> None:
        self._engine, self._output = engine, output
        self._writing: deque[tuple[NDArray[Any], Future[None]]] = deque()

    def put(self, source: DeviceArray, size: int) -> None:
        """Append the first bytes of an array of words."""
        for start in range(0, size, 8 * PIECE_WORDS):
            piece = self._free()
            length = min(size - start, 8 * PIECE_WORDS)
            words = -(-length // 8)
            self._engine.download(source, words, start // 8, out=piece[:words])
            self._writing.append((piece, self._output.put(piece.view(np.uint8)[:length].data)))

    def wait(self) -> None:
        """Wait until all is written."""
        for _, future in self._writing:
            future.result()

    def _free(self) -> NDArray[Any]:
        if self._writing and (len(self._writing) == MAX_PIECES or self._writing[0][1].done()):
            piece, future = self._writing.popleft()
            future.result()
            return piece
        return self._engine.pinned(PIECE_WORDS, np.uint64)
