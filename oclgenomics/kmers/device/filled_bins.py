"""K-mers dealt out to bins by prefix, in chunks of lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.prefix_span import PrefixSpan
from oclgenomics.runtime import DeviceArray

__all__ = ["FilledBins"]


@dataclass(frozen=True)
class FilledBins:
    """The k-mers of a span, by bin.

    A key is the bits of a k-mer behind the prefix of its bin, a little-endian number of `key_bytes(rest)` bytes. Whole
    lines lie in chunks of `CHUNK_LINES`; keys that fill none lie in a line that each walker has for each bin: its
    stage.

    Attributes
    ----------
    span : PrefixSpan
    rest : int
        Bits of a key.
    sizes : ndarray, int64 (bins,)
        K-mers of each bin, those in stages included.
    pool : DeviceArray, uint8
        The chunks.
    begins : DeviceArray, uint32 (bins + 1,)
        Chunks of bin b are chunks[begins[b]] to chunks[begins[b + 1] - 1].
    chunks : DeviceArray, uint32 (n,)
        Numbers of chunks in the pool.
    lines : DeviceArray, uint32 (n,)
        Whole lines that each of `chunks` has.
    stages : DeviceArray, uint8 (walkers, bins, LINE_BYTES)
    staged : DeviceArray, uint32 (walkers, bins)
        Keys in each stage, fewer than a line takes.
    """

    span: PrefixSpan
    rest: int
    sizes: NDArray[np.int64]
    pool: DeviceArray
    begins: DeviceArray
    chunks: DeviceArray
    lines: DeviceArray
    stages: DeviceArray
    staged: DeviceArray
