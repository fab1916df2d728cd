"""Histograms of simulated runs: reads with errors of a diploid genome whose size and heterozygosity are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.analysis.query import kmers_of_letters
from oclgenomics.kmers.result import Histogram

__all__ = ["simulated_histogram"]

BASES = np.frombuffer(b"ACGT", np.uint8)
READ = 150
BATCH = 1 << 13  # reads whose k-mers are made at a time


def simulated_histogram(
    bases: int, heterozygosity: float, fold: float, error: float, *, k: int = 21, copies: float = 0.0, seed: int = 1
) -> Histogram:
    """Return the histogram of the k-mers of reads.

    Parameters
    ----------
    bases : int
        Of the haploid genome.
    heterozygosity : float
        Share of the sites at which the two chromosomes differ.
    fold : float
        How often reads cover the haploid genome.
    error : float
        Share of the letters that are wrong.
    copies : float
        Share of the genome that is a copy of another part of it.
    """
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, bases, np.uint8)
    copied = int(bases * copies)
    first[:copied] = first[copied : 2 * copied]
    pair = np.stack([first, _changed(rng, first, heterozygosity)])
    keys = [_kmers(rng, pair, min(BATCH, left), error, k) for left in _batches(round(bases * fold / READ))]
    every = np.concatenate(keys)
    every.sort()
    begins = np.flatnonzero(np.concatenate([[True], every[1:] != every[:-1]]))
    tally = np.bincount(np.diff(begins, append=len(every)))
    there = np.flatnonzero(tally)
    return Histogram(there.astype(np.int64), tally[there].astype(np.int64))


def _batches(reads: int) -> range:
    return range(reads, 0, -BATCH)


def _changed(rng: np.random.Generator, codes: NDArray[np.uint8], share: float) -> NDArray[np.uint8]:
    """The same letters, of which a share was replaced by others."""
    change = rng.integers(1, 4, codes.shape, np.uint8) * (rng.random(codes.shape, np.float32) < share)
    return (codes + change) % np.uint8(4)


def _kmers(rng: np.random.Generator, pair: NDArray[np.uint8], reads: int, error: float, k: int) -> NDArray[np.uint64]:
    """Canonical k-mers of reads from either chromosome."""
    starts = rng.integers(0, pair.shape[1] - READ + 1, reads)
    codes = pair[rng.integers(0, 2, reads)[:, None], starts[:, None] + np.arange(READ)]
    text = np.full((reads, READ + 1), ord("\n"), np.uint8)
    text[:, :READ] = BASES[_changed(rng, codes, error)]
    return kmers_of_letters(text.ravel(), k, canonical=True)[0][0]
