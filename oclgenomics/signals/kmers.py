"""K-mers by number, those of sequences in the order in which a pore reads them, and models of the current of each.

The number of a k-mer has its bases A, C, G, T = 0, 1, 2, 3 as digits of base 4, the first one the most significant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.array_layout import checksum
from oclgenomics.signals.chemistry import PORES

NO_DIGIT = 4  # of an ambiguous base
MAX_K = 12
SMALLEST_CURRENT = 10.0  # pA; a model whose levels are all smaller is in standard units
CHECKSUM_KEY = b"oclgenomicsmodel"
Molecule = Literal["dna", "rna"]


@dataclass(frozen=True, eq=False)
class KmerModel:
    """Mean currents of k-mers.

    Attributes
    ----------
    name : str
    k : int
        Length of k-mers, 1 to 12.
    mean : ndarray, float64, (4**k,)
        Mean current in pA (or in units of the model's own normalisation) of each k-mer. K-mers are numbered by their
        bases A, C, G, T = 0, 1, 2, 3 as digits of a number to base 4, the first one the most significant; U is T.
    deviation : ndarray, float64, (4**k,)
        Standard deviation of the samples of a k-mer; NaN where the model has none.
    pore : str
        Family of the pore, one of `oclgenomics.signals.chemistry.PORES`; empty if not known.
    rate : float, optional
        Samples per second of the signals that the model is for, if known.
    current : (float, float), optional
        Mean and standard deviation in pA that means in standard units come from, if known.
    """

    name: str
    k: int
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    pore: str = ""
    rate: float | None = None
    current: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.k <= MAX_K or self.mean.shape != (4**self.k,) or self.deviation.shape != self.mean.shape:
            raise ValueError("a model has a mean and a deviation for each of 4**k k-mers, k from 1 to 12")
        if not np.isfinite(self.mean).all():
            raise ValueError("means are finite numbers")
        if self.pore not in ("", *PORES):
            raise ValueError(f"pores are {', '.join(PORES)}")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise ValueError("a rate is a number above 0")

    @property
    def in_standard_units(self) -> bool:
        """Whether means are in standard units, and not in pA."""
        return bool(np.abs(self.mean).max() < SMALLEST_CURRENT)

    @cached_property
    def checksum(self) -> str:
        """Checksum of the means, in their order: that of all from which expected signals are made."""
        return f"{checksum(CHECKSUM_KEY, np.ascontiguousarray(self.mean, '<f8').view(np.uint8).data):016x}"


@dataclass(frozen=True, eq=False)
class KmerTracks:
    """K-mers that follow each other in a molecule, track by track.

    A track is a strand of a record, or of a part of it between ambiguous bases. The tracks of
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
        Bases of either case; U is T. K-mers with an ambiguous base are left out.
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
    """Where the k-mers of each stretch of unambiguous bases begin: first place, and the one behind the last."""
    edges = np.flatnonzero(np.diff(sound.astype(np.int8), prepend=np.int8(0), append=np.int8(0)))
    low, high = edges[::2], edges[1::2] - (k - 1)
    long_enough = high > low
    return low[long_enough], high[long_enough]


def _table() -> bytes:
    table = bytearray([NO_DIGIT]) * 256
    for digit, letters in enumerate((b"Aa", b"Cc", b"Gg", b"TtUu")):
        for letter in letters:
            table[letter] = digit
    return bytes(table)


_DIGITS = _table()


def digits_of(letters: bytes) -> NDArray[np.uint8]:
    """Return the digit of each base of either case, uint8; U is T, and what is ambiguous is `NO_DIGIT`."""
    return np.frombuffer(letters.translate(_DIGITS), np.uint8)


def kmer_numbers(digits: NDArray[np.uint8], k: int) -> NDArray[np.int32]:
    """Return the number of the k-mer that starts at each base, int32; of those with `NO_DIGIT` it means nothing.

    Parameters
    ----------
    digits : ndarray, uint8, (letters,)
    k : int
        1 to 12.

    Returns
    -------
    ndarray, int32, (bases - k + 1,)
        None where there are fewer bases than k.
    """
    count = max(0, len(digits) - k + 1)
    numbers = np.zeros(count, np.int32)
    for place in range(k):
        numbers <<= 2
        numbers += digits[place : place + count] & np.uint8(3)
    return numbers


def reversed_kmers(k: int) -> NDArray[np.int32]:
    """Return the number of each k-mer's bases in reverse order, int32 (4**k,)."""
    rest = np.arange(4**k, dtype=np.int32)
    numbers = np.zeros_like(rest)
    for _ in range(k):
        numbers = (numbers << 2) + (rest & 3)
        rest >>= 2
    return numbers


def reverse_complements(k: int) -> NDArray[np.int32]:
    """Return the number of each k-mer's reverse complement, int32 (4**k,)."""
    complements: NDArray[np.int32] = 4**k - 1 - reversed_kmers(k)
    return complements


def kmer_at(number: int, k: int) -> str:
    """Return the bases of a k-mer."""
    return "".join("ACGT"[number >> 2 * place & 3] for place in reversed(range(k)))
