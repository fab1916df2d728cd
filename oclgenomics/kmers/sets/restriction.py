"""K-mers of one stream that are in a set, with the counts of the stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.kmers.arithmetic import sortable
from oclgenomics.kmers.kmer_set import KmerBlock, KmerSet

__all__ = ["check_alike", "restricted"]

CUT = 1 << 20  # k-mers of the stream that are looked at together


def check_alike(k: int, canonical: bool, only: KmerSet) -> None:
    """Refuse a set of other k-mers than those that are counted.

    Raises
    ------
    UsageError
        It has another k, or other strands.
    """
    if only.k != k:
        raise UsageError(f"`only` holds {only.k}-mers, and {k}-mers are counted: the set has to be of the same k")
    if only.canonical != canonical:
        strands = "canonical k-mers" if only.canonical else "k-mers of one strand"
        raise UsageError(f"`only` holds {strands}, and others are counted: count both in the same way")


def restricted(blocks: Iterable[KmerBlock], only: KmerSet) -> Iterator[KmerBlock]:
    """Keep the k-mers of a stream that are in a set.

    Of the stream and the set, the shorter one is searched for in the other, stretch by stretch, so a small set costs
    little more than to pass the stream by.

    Parameters
    ----------
    blocks : iterable of KmerBlock
        In ascending order.
    only : KmerSet
        Of the same k and strands; its counts do not matter.

    Yields
    ------
    KmerBlock
        K-mers with their counts in the stream, in ascending order. No block is empty.
    """
    wanted = _Stretches(only)
    for block in blocks:
        for piece in block.pieces(CUT):
            places = _common(sortable(piece.keys), wanted)
            if len(places):
                yield KmerBlock(np.take(piece.keys, places, axis=1), piece.counts.take(places))


def _common(keys: NDArray[np.generic], wanted: _Stretches) -> NDArray[np.intp]:
    """Where among ascending keys those are that are wanted."""
    found = [np.empty(0, np.intp)]
    begin = 0
    while begin < len(keys) and (held := wanted.from_key(keys[begin])) is not None:
        end = int(np.searchsorted(keys, held[-1], side="right"))
        held = held[: int(np.searchsorted(held, keys[-1], side="right"))]
        some = keys[begin:end]
        if len(held) < len(some):
            places = np.minimum(np.searchsorted(some, held), len(some) - 1)
            found.append(begin + places[some[places] == held])
        elif len(held):
            places = np.minimum(np.searchsorted(held, some), len(held) - 1)
            found.append(begin + np.flatnonzero(held[places] == some))
        begin = end
    return np.concatenate(found)


class _Stretches:
    """The k-mers of a set, block by block, for keys that ascend."""

    def __init__(self, only: KmerSet) -> None:
        self._blocks = only.blocks()
        self._held: NDArray[np.generic] = np.empty(0, np.uint64)

    def from_key(self, key: np.generic) -> NDArray[np.generic] | None:
        """The first block, from this key on, that has a key so high; None if there is none."""
        while not len(self._held) or self._held[-1] < key:
            block = next(self._blocks, None)
            if block is None:
                return None
            self._held = sortable(block.keys)
        return self._held[int(np.searchsorted(self._held, key)) :]
