"""Checksums of the blocks of files of arrays, made on the device: of what lies there, and of what the host has."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import KEY
from oclgenomics.io.array_writing import BlockSummer
from oclgenomics.io.siphash import BLOCK_BYTES, key_words
from oclgenomics.runtime import DeviceArray, Engine

WORD = 8
STEP_BYTES = 1 << 27  # that are brought to the device at a time: all threads that copy have something to do
STEP_SHARE = 4  # of the memory that is left, one part in so many


def sum_blocks(engine: Engine, words: DeviceArray, size: int, blocks: int, sums: DeviceArray, first: int = 0) -> None:
    """Make the checksums of blocks.

    Parameters
    ----------
    engine : Engine
    words : DeviceArray, uint64
        The bytes, from the beginning of a block on.
    size : int
        Bytes of the blocks, a multiple of 64. Only the last block may be shorter than others.
    blocks : int
    sums : DeviceArray, uint64
        Gets them from item `first` on.
    first : int
    """
    kernel = engine.kernel("common/sum_blocks.cl", "sum_blocks", BLOCK=BLOCK_BYTES // WORD)
    engine.launch_items(
        kernel, blocks, **key_words(KEY), data=words, size=size // WORD, blocks=blocks, first=first, sums=sums
    )


def block_summer(engine: Engine) -> BlockSummer | None:
    """Return what makes checksums of whole blocks of the host's bytes; None where the host is as fast.

    A device with memory of its own has them as soon as the bytes are there. Threads of the host wait for each other:
    a block takes little longer than the interpreter needs to have the next one hashed.
    """
    return None if engine.tuning.shares_memory else partial(summed, engine)


def summed(engine: Engine, data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Bring whole blocks to the device, and return the checksum of each, uint64 (blocks,)."""
    blocks = len(data) // BLOCK_BYTES
    sums = engine.empty(max(blocks, 1), np.uint64)
    most = min(STEP_BYTES, (engine.budget - engine.memory.used) // STEP_SHARE, engine.max_allocation)
    step = max(most // BLOCK_BYTES, 1)
    for first in range(0, blocks, step):
        count = min(step, blocks - first)
        begin, size = first * BLOCK_BYTES, count * BLOCK_BYTES
        words = engine.upload(data[begin : begin + size].view(np.uint64))
        sum_blocks(engine, words, size, count, sums, first)
        words.release()
    found = engine.download(sums, blocks)
    sums.release()
    return found
