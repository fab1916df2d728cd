"""What the kernels that encode sections have in common, on CPUs and on GPUs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io import siphash
from oclgenomics.kmers.database.codec import DISORDER, Coded, table_of
from oclgenomics.kmers.database.layout import KEY, SECTION_KMERS, Tally
from oclgenomics.kmers.plan.memory import TALLIED
from oclgenomics.runtime import DeviceArray, Engine

SIP_KEY = siphash.key_words(KEY)


class Span(NamedTuple):
    """Neighbours among the k-mers of device arrays: uint64 (words, stride) and uint32 (stride,)."""

    keys: DeviceArray
    counts: DeviceArray
    start: int
    size: int

    @property
    def counts_of(self) -> dict[str, Any]:
        """What kernels call the counts."""
        return {"counts": self.counts, "start": self.start, "size": self.size}

    @property
    def keys_of(self) -> dict[str, Any]:
        """What kernels call the keys."""
        return {"keys": self.keys, "stride": self.keys.shape[1], "start": self.start, "size": self.size}


def sections_of(size: int) -> int:
    """Sections of so many k-mers."""
    return -(-size // SECTION_KMERS)


def large_counts(engine: Engine, span: Span, number: int) -> DeviceArray | None:
    """Pick the counts that are not tallied on the device, which are so many, if there are any."""
    if not number:
        return None
    large, picked = engine.empty(number, np.uint32), engine.empty(1, np.uint32)
    engine.fill(picked, 0)
    kernel = engine.kernel("kmers/tally.cl", "pick_large", TALLIED=TALLIED)
    engine.launch_items(kernel, span.size, **span.counts_of, picked=picked, large=large)
    return large


def coded_of(
    facts: NDArray[np.uint64], size: int, tally: NDArray[np.integer], large: NDArray[np.uint32] | None
) -> Coded:
    """Read what the kernels say of sections.

    Parameters
    ----------
    facts : uint64 (3 + 2 words, sections)
    size : int
        K-mers of all sections.
    tally : int (TALLIED + 2,)
        How many counts there are of 0, 1, ..., TALLIED - 1, and of more; keys that are not greater than the one before.
    large : uint32 (tally[TALLIED],), optional

    Raises
    ------
    ValueError
        Keys that do not ascend, or counts of 0.
    """
    if tally[TALLIED + 1]:
        raise ValueError(DISORDER)
    if tally[0]:
        raise ValueError("a count is 0")
    words = (len(facts) - 3) // 2
    table = table_of(facts[3 : 3 + words], size, facts[0] - np.uint64(8 * words), facts[1], facts[2])
    many = np.empty(0, np.uint32) if large is None else large
    return Coded(table, Tally.of(tally[:TALLIED], many), facts[3 : 3 + words, 0], facts[3 + words :, -1])
