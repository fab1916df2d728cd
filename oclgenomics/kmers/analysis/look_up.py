"""Looks up the counts of given k-mers in a set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.kmers.analysis.kmers_of_letters import kmers_of_letters
from oclgenomics.kmers.arithmetic import sortable
from oclgenomics.kmers.database.reader import KmerDatabase
from oclgenomics.kmers.keys import keys_of, letters_of
from oclgenomics.kmers.kmer_set import KmerSet
from oclgenomics.kmers.source import KmerSource, opened

__all__ = ["counts_of", "look_up"]


def counts_of(source: KmerSource, kmers: Sequence[str]) -> NDArray[np.uint32]:
    """Return the counts of k-mers given as text, uint32 (n,); 0 where a k-mer is not there.

    Parameters
    ----------
    source : path or KmerSet
    kmers : sequence of str
        In either case. In a canonical set, of either strand.

    Raises
    ------
    UsageError
        A k-mer does not have k letters, or has letters other than A, C, G and T.
    InputError
        The database is missing or damaged.
    """
    with opened(source) as found:
        for kmer in kmers:
            if len(kmer) != found.k:
                raise UsageError(f"{kmer!r} has {len(kmer)} letters; the database has k-mers of {found.k}")
        keys = keys_of(kmers)
        if found.canonical:
            letters = np.pad(letters_of(keys, found.k), ((0, 0), (0, 1)))  # what is between them is no letter
            keys, _ = kmers_of_letters(letters.ravel(), found.k, canonical=True)
        return look_up(found, keys)


def look_up(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return the counts of some keys, uint32 (n,); 0 where a key is not there.

    Parameters
    ----------
    kmers : KmerSet
    keys : ndarray, uint64 (words, n)
        In any order. For a canonical set, the lesser key of both strands.
    """
    # Neighbours are looked for in the same places, which are then in the cache.
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys)
    ascending = np.ascontiguousarray(keys[:, order])
    counts = np.empty(len(order), np.uint32)
    counts[order] = kmers.lookup(ascending) if isinstance(kmers, KmerDatabase) else _merged(kmers, ascending)
    return counts


def _merged(kmers: KmerSet, keys: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Look up ascending keys, block by block of the set."""
    wanted = sortable(keys)
    counts = np.zeros(len(wanted), np.uint32)
    for block in kmers.blocks():
        if len(block):
            held = sortable(block.keys)
            some = slice(np.searchsorted(wanted, held[0]), np.searchsorted(wanted, held[-1], side="right"))
            places = np.minimum(np.searchsorted(held, wanted[some]), len(held) - 1)
            there = held[places] == wanted[some]
            counts[some][there] = block.counts[places[there]]
    return counts
