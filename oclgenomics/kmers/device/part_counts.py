"""The counts of counted k-mers without the k-mers, for tallies."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.kmer_set import PIECE
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["counts_of_part"]


def counts_of_part(engine: Engine, counted: Runs | Slots) -> Iterator[NDArray[np.uint32]]:
    """Bring the counts of k-mers to the host, some at a time; those of slots in no order.

    Yields
    ------
    ndarray, uint32 (n,)
    """
    if isinstance(counted, Runs):
        yield engine.download(counted.counts, counted.size)
    else:
        yield from _of_slots(engine, counted)


def _of_slots(engine: Engine, slots: Slots) -> Iterator[NDArray[np.uint32]]:
    many = np.uint64(slots.layout.many)
    used = np.flatnonzero(slots.sizes)
    begins, sizes = slots.begins[used].astype(np.int64), slots.sizes[used].astype(np.int64)
    with engine.mapped(slots.words) as words:
        for some in _groups(sizes):
            ends = (begins[some] + sizes[some]).tolist()
            bins = zip(begins[some].tolist(), ends, strict=True)
            counts = np.concatenate([words[0, begin:end] for begin, end in bins]) & many
            yield counts[counts != many].astype(np.uint32)
    yield slots.large_counts[_inside(slots.large_slots, begins, sizes)]


def _groups(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Bins that together have few k-mers, or one bin."""
    number = (np.cumsum(sizes) - sizes) // PIECE  # of the group; ascending
    cuts = np.flatnonzero(np.diff(number, prepend=-1, append=-1)).tolist()
    return (slice(begin, end) for begin, end in itertools.pairwise(cuts))


def _inside(places: NDArray[np.uint32], begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which slots lie in the bins: a list may go on behind those that are asked for."""
    if not len(begins):
        return np.zeros(len(places), np.bool_)
    order = np.argsort(begins)
    bins = order[np.maximum(np.searchsorted(begins[order], places, side="right") - 1, 0)]
    inside: NDArray[np.bool_] = (begins[bins] <= places) & (places < begins[bins] + sizes[bins])
    return inside
