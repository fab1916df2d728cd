"""The one shape every reader delivers: an alignment of sites, packed one bit per haplotype."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from oclgenomics.variation.packing import words_for

__all__ = ["Alignment"]


def _no_rows() -> np.ndarray:
    return np.zeros(0, np.int32)


def _no_letters() -> np.ndarray:
    return np.zeros(0, np.uint8)


@dataclass
class Alignment:
    """Sites of one chromosome or one replicate, packed word-major.

    Haplotype h of site s is bit h % 32 of ``bits[h // 32, s]``. A bit is 1 where the haplotype carries the second state
    of the site; it is 0 where the state is missing and past the last haplotype.

    Attributes
    ----------
    name : str
        Chromosome (VCF), or "1", "2", ... for replicates and single alignments.
    positions : ndarray of int64, shape (sites,)
        Base pairs, counted from 1 where the format does; non-decreasing.
    bits : ndarray of uint32, shape (words, sites)
        Second state of each site.
    valid : ndarray of uint32, shape (words, sites), or None
        1 = observed. None for complete data. ``bits & ~valid`` is 0 everywhere.
    gap : ndarray of uint32, shape (words, sites), or None
        1 where the missing state was a gap '-'. None: every missing entry is N or '.'.
    haplotypes : int
        Bits in use per site.
    ploidy : int
        1 or 2; haplotypes 2i and 2i + 1 belong to sample i when 2.
    unphased : bool
        True if the order of some calls' alleles says nothing of their phase.
    unphased_calls : int
        Calls that were not phased: heterozygous ones written with '/', or, where they were taken as missing, any with
        '/' between what differs.
    letters : ndarray of uint8, shape (sites, 2)
        ASCII of state 0 and state 1; '0' and '1' for binary data. Where only one state is named, both are that one.
    multi_site : ndarray of int32, shape (rows,)
        Site index of each row of a site that shows three or more states; every observed state of such a site has a row.
    multi_bits : ndarray of uint32, shape (words, rows)
        "This state against the rest"; the rows of one site are adjacent, in the order A, C, G, T. In `bits` such a site
        holds "not the first of its rows".
    multi_letter : ndarray of uint8, shape (rows,)
        ASCII of the state of each row.
    alphabet : str
        'binary' or 'dna'.
    samples : tuple of str
        Names in the order of the haplotypes, where the format has them.
    skipped : dict of str to int
        Records the reader left out, by reason.
    replicate : int
        Number of the alignment within its input, counted from 1.
    source : str
        Path of the input, "-" for standard input.
    """

    name: str
    positions: np.ndarray
    bits: np.ndarray
    haplotypes: int
    letters: np.ndarray
    valid: np.ndarray | None = None
    gap: np.ndarray | None = None
    ploidy: int = 1
    unphased: bool = False
    unphased_calls: int = 0
    multi_site: np.ndarray = field(default_factory=_no_rows)
    multi_bits: np.ndarray = None  # type: ignore[assignment]  # an array of no rows if not given
    multi_letter: np.ndarray = field(default_factory=_no_letters)
    alphabet: str = "binary"
    samples: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    replicate: int = 1
    source: str = ""

    def __post_init__(self) -> None:
        if self.multi_bits is None:
            self.multi_bits = np.zeros((self.words, 0), np.uint32)
        shape = (words_for(self.haplotypes), len(self.positions))
        if self.bits.shape != shape:
            raise ValueError(f"bits has shape {self.bits.shape}, expected {shape}")

    @property
    def sites(self) -> int:
        """Number of sites."""
        return len(self.positions)

    @property
    def words(self) -> int:
        """Number of 32-bit words per site."""
        return self.bits.shape[0]

    @property
    def multiallelic(self) -> bool:
        """Whether a site shows three or more states."""
        return len(self.multi_site) > 0

    @property
    def packed_bytes(self) -> int:
        """Bytes of all packed planes together."""
        planes = [self.bits, self.valid, self.gap, self.multi_bits]
        return sum(plane.nbytes for plane in planes if plane is not None)
