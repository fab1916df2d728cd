"""Counted k-mers, wherever they are: what the counter makes, a database holds, and every report reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["CountedKmers", "KmerBlock", "KmerSet"]


@dataclass(frozen=True)
class KmerBlock:
    """Some k-mers in ascending order.

    Attributes
    ----------
    keys : ndarray, uint64 (words, n)
        As `oclgenomics.kmers.keys` makes them, the least significant word first.
    counts : ndarray, uint32 (n,)
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.counts)


class KmerSet(Protocol):
    """Distinct k-mers in ascending order with their counts, block by block.

    Attributes
    ----------
    k : int
    canonical : bool
    distinct, total : int
        K-mers that differ, and the sum of their counts.
    """

    @property
    def k(self) -> int: ...

    @property
    def canonical(self) -> bool: ...

    @property
    def distinct(self) -> int: ...

    @property
    def total(self) -> int: ...

    def blocks(self) -> Iterator[KmerBlock]:
        """All k-mers; each call starts anew."""


@dataclass(frozen=True)
class CountedKmers:
    """A set of k-mers in memory.

    Attributes
    ----------
    k : int
    canonical : bool
    keys : ndarray, uint64 (words, n)
    counts : ndarray, uint32 (n,)
    """

    k: int
    canonical: bool
    keys: NDArray[np.uint64]
    counts: NDArray[np.uint32]

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> int:
        return int(self.counts.sum(dtype=np.uint64))

    def blocks(self) -> Iterator[KmerBlock]:
        """All k-mers at once."""
        yield KmerBlock(self.keys, self.counts)
