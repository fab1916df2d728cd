"""Blocks of prefixes that go through the device at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime.memory import chunks
from oclgenomics.signals import Signals

__all__ = ["MAX_BLOCK_SAMPLES", "PrefixBlock", "block_reads", "prefix_blocks"]

MAX_BLOCK_SAMPLES = 1 << 22  # of prefixes; more would let results wait, and make nothing faster


@dataclass(frozen=True, eq=False)
class PrefixBlock:
    """Reads without what comes after the longest prefix.

    Attributes
    ----------
    signals : Signals
        Cut at that prefix.
    samples : ndarray, int64, (reads,)
        That each read had before.
    """

    signals: Signals
    samples: NDArray[np.int64]

    @classmethod
    def of(cls, signals: Signals, prefix: int) -> PrefixBlock:
        """Cut reads at a prefix of so many samples."""
        none = np.zeros(len(signals), np.int64)
        return cls(signals.cut(none, none + prefix), signals.lengths)

    @classmethod
    def joined(cls, parts: list[PrefixBlock]) -> PrefixBlock:
        """Join parts, at least one, in their order."""
        if len(parts) == 1:
            return parts[0]
        return cls(Signals.joined([part.signals for part in parts]), np.concatenate([part.samples for part in parts]))

    def __len__(self) -> int:
        return len(self.samples)

    def take(self, which: NDArray[Any]) -> PrefixBlock:
        """Return some reads, given by their numbers or by a truth value for each."""
        return PrefixBlock(self.signals.take(which), self.samples[which])


def block_reads(prefix: int) -> int:
    """Return how many reads to cut at a prefix of so many samples and take at a time."""
    return max(1, MAX_BLOCK_SAMPLES // prefix)


def prefix_blocks(blocks: Iterable[Signals], prefix: int, reads: int) -> Iterator[PrefixBlock]:
    """Cut reads at a prefix of so many samples and yield `reads` of them at a time, in their order; at last the rest.

    There is one block at least, if only of no reads.
    """
    held: list[PrefixBlock] = []
    count, begun = 0, False
    for block in blocks:
        for first, stop in chunks(len(block), reads):
            part = block.take(np.arange(first, stop)) if stop - first < len(block) else block
            held.append(PrefixBlock.of(part, prefix))
            count += stop - first
            if count >= reads:
                joined = PrefixBlock.joined(held)
                yield joined.take(np.arange(reads)) if count > reads else joined
                held = [joined.take(np.arange(reads, count))]
                count, begun = count - reads, True
    if count or not begun:
        yield PrefixBlock.joined(held or [PrefixBlock.of(Signals.of([]), prefix)])
