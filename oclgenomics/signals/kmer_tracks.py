"""The k-mers of sequences in the order in which a pore reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signals.kmer_numbers import NO_DIGIT, digits_of, kmer_numbers, reverse_complements

__all__ = ["KmerTracks", "Molecule", "kmer_tracks"]

Molecule = Literal["dna", "rna"]


@dataclass(frozen=True, eq=False)
class KmerTracks:
    """K-mers that follow each other in a molecule, track by track.

    A track is a strand of a record, or of a part of it between letters that are no single nucleotide. The tracks of
    strand 0 come first. Those of a strand are sorted by record, and then in the order in which the strand is read.

    Attributes
    ----------
    kmers : ndarray, int32, (columns,)
        Numbers of the k-mers, as of `KmerModel`.
    tracks : ndarray, int64, (tracks + 1,)
        Track t has the columns `tracks[t]` to `tracks[t + 1]`.
    record : ndarray, int32, (tracks,)
    strand : ndarray, uint8, (tracks,)
        0 for the record as it is, 1 for its reverse complement.
    first : ndarray, int64, (tracks,)
        Where the k-mer of a track's first column begins on the record as it is; from 0 on.
    step : ndarray, int64, (tracks,)
        By which this changes from column to column: 1 or -1.
    """

    kmers: NDArray[np.int32]
    tracks: NDArray[np.int64]
    record: NDArray[np.int32]
    strand: NDArray[np.uint8]
    first: NDArray[np.int64]
    step: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.record)


def kmer_tracks(records: Sequence[bytes], k: int, molecule: Molecule = "dna") -> KmerTracks:
    """List the k-mers of sequences.

    Parameters
    ----------
    records : sequence of bytes
        Letters of either case; U is T. K-mers with a letter that is no single nucleotide are left out.
    k : int
        1 to 12.
    molecule : {'dna', 'rna'}
        DNA has both strands, each read from its 5' end. RNA has one, which is read from its 3' end.
    """
    digits = digits_of(b"\0".join(records))
    starts = np.cumsum([0, *(len(letters) + 1 for letters in records[:-1])], dtype=np.int64)
    low, high = _stretches(digits != NO_DIGIT, k)
    record = (np.searchsorted(starts, low, "right") - 1).astype(np.int32)
    forwards, backwards = np.arange(len(low)), np.lexsort((-low, record))
    order = np.concatenate([forwards, backwards]) if molecule == "dna" else backwards
    descends = np.arange(len(order)) >= len(order) - len(backwards)
    sizes = (high - low)[order]
    first = np.where(descends, high[order] - 1, low[order])
    step = np.where(descends, -1, 1)
    tracks = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    places = np.repeat(first - step * tracks[:-1], sizes) + np.repeat(step, sizes) * np.arange(tracks[-1])
    kmers = kmer_numbers(digits, k)[places]
    strand = (descends & (molecule == "dna")).astype(np.uint8)
    reverse = slice(tracks[-1] // 2 if molecule == "dna" else tracks[-1], None)
    kmers[reverse] = reverse_complements(k)[kmers[reverse]]
    return KmerTracks(kmers, tracks, record[order], strand, first - starts[record[order]], step)


def _stretches(sound: NDArray[np.bool_], k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the k-mers of each stretch of sound letters begin: first place, and the one behind the last."""
    edges = np.flatnonzero(np.diff(sound.astype(np.int8), prepend=np.int8(0), append=np.int8(0)))
    low, high = edges[::2], edges[1::2] - (k - 1)
    long_enough = high > low
    return low[long_enough], high[long_enough]
