"""Sections of k-mers that are in device memory, encoded there: the same bytes as `section` makes on the host."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oclgenomics.io.append_file import Appending
from oclgenomics.kmers.database.encode_cpu_device import CpuDeviceEncoder
from oclgenomics.kmers.database.encode_gpu import GpuEncoder
from oclgenomics.kmers.database.encode_kernels import Span
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.section import Coded
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["DeviceEncoder"]


class DeviceEncoder:
    """Gathers runs into sections, encodes these and appends them to a file.

    What does not fill sections is held in arrays of its own, which are there from the start, so that whoever plans
    with the device's memory afterwards knows of them, as is the room for encoded sections on CPU devices; what GPUs
    encode with is there only while runs are taken.

    Parameters
    ----------
    engine : Engine
    words : int
        Words of a key.
    output : Appending

    Raises
    ------
    AllocationError
        The device's memory does not hold a section.
    """

    def __init__(self, engine: Engine, words: int, output: Appending) -> None:
        self._engine = engine
        self._coder = (CpuDeviceEncoder if engine.tuning.cpu else GpuEncoder)(engine, words, output)
        self._room = self._coder.held * SECTION_KMERS
        self._keys, self._counts = engine.empty((words, self._room), np.uint64), engine.empty(self._room, np.uint32)
        self._size = 0
        self._hold = engine.kernel("kmers/hold_kmers.cl", "hold_kmers", WORDS=words)

    def take(self, runs: Runs) -> Iterator[Coded]:
        """Take k-mers; yield what was encoded, all but what is held.

        Raises
        ------
        ValueError
            Keys that do not ascend, or counts of 0.
        """
        taken = 0
        while taken < runs.size:
            left = runs.size - taken
            if not self._size and left >= self._room:
                size = min(left // SECTION_KMERS, self._coder.batch) * SECTION_KMERS
                yield from self._coder.encode(Span(runs.keys, runs.counts, taken, size))
            else:
                size = min(left, self._room - self._size)
                self._copy(runs, taken, size)
                if self._size == self._room:
                    yield from self._encode_held()
            taken += size
        yield from self._coder.settle()

    def rest(self) -> Iterator[Coded]:
        """Yield what is held."""
        if self._size:
            yield from self._encode_held()
        yield from self._coder.drain()

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it to the file any more."""
        self._coder.close()
        self._keys.release()
        self._counts.release()

    def _copy(self, runs: Runs, start: int, size: int) -> None:
        stride, place = np.uint64(runs.keys.shape[1]), (np.uint64(self._room), np.uint64(self._size))
        span = stride, np.uint64(start), np.uint32(size)
        self._engine.launch_items(self._hold, size, runs.keys, runs.counts, *span, *place, self._keys, self._counts)
        self._size += size

    def _encode_held(self) -> Iterator[Coded]:
        size, self._size = self._size, 0
        yield from self._coder.encode(Span(self._keys, self._counts, 0, size))
