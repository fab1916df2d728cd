"""An alignment's sites as the device wants them: padded bit planes, state sums and variances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.formats.alignment import Alignment
from oclgenomics.omega.plan import TILE, round_up

__all__ = ["SiteMatrix", "site_matrix"]

EVEN, ODD = np.uint32(0x55555555), np.uint32(0xAAAAAAAA)
WIDE_BITS = 31  # an integer covariance of more bits needs 64-bit arithmetic


@dataclass
class SiteMatrix:
    """Bit planes of all sites, ready to upload.

    Attributes
    ----------
    bits, valid : ndarray, uint32 (words, padded sites)
        States and where they are observed. `valid` is None for complete data. For unphased genotypes bit 2s says that
        sample s carries the second state and bit 2s + 1 that it does twice; half-missing genotypes count as missing.
    padded : int
        Columns of `bits`: the sites, rounded up to tiles, and one empty tile.
    units : int
        Haplotypes, or samples for unphased genotypes.
    haplotypes : int
        Haplotypes that n in n r^2 counts.
    missing : bool
        Some states are not observed.
    genotypes : bool
        Dosages rather than haplotypes are correlated.
    ones : ndarray, uint32 (padded,)
        Sum of each site's states (dosages).
    weight : ndarray, float32 (padded,)
        1 / (N sum(x^2) - sum(x)^2), 0 where a site does not vary.
    allele_bits : ndarray, uint32 (words, rows), or None
        One-against-the-rest rows for sites of three or more states: columns of `bits` first, then the further rows.
    first_row, row_count : ndarray, int32 (padded,)
        Rows of each site in `allele_bits`.
    listed : ndarray, int32
        Sites whose pairs take all states into account.
    """

    bits: NDArray[np.uint32]
    valid: NDArray[np.uint32] | None
    padded: int
    units: int
    haplotypes: int
    missing: bool
    genotypes: bool
    ones: NDArray[np.uint32]
    weight: NDArray[np.float32]
    allele_bits: NDArray[np.uint32] | None
    first_row: NDArray[np.int32]
    row_count: NDArray[np.int32]
    listed: NDArray[np.int32]

    @property
    def words(self) -> int:
        """32-bit words of a site."""
        return self.bits.shape[0]

    @property
    def wide(self) -> bool:
        """Whether N sum(xy) - sum(x) sum(y) may need 64 bits."""
        largest = self.units**2 if self.genotypes else self.units**2 // 4
        return largest.bit_length() > WIDE_BITS

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        planes = (self.bits, self.valid, self.ones, self.weight, self.allele_bits)
        return sum(plane.nbytes for plane in planes if plane is not None)


def site_matrix(alignment: Alignment, *, dna: bool = False) -> SiteMatrix:
    """Lay out an alignment for the device.

    Parameters
    ----------
    alignment : Alignment
        Every site shows at least two states.
    dna : bool
        OmegaPlus' DNA mode: every site takes part with all its states, not only those with three or more.
    """
    genotypes = alignment.unphased
    padded = round_up(alignment.sites, TILE) + TILE
    valid = alignment.valid
    if genotypes and valid is not None:
        valid = _both_observed(valid)
    elif dna and valid is None:
        valid = _all_observed(alignment)
    planes = _dosages if genotypes else _as_is
    bits = _padded(planes(alignment.bits, valid), padded)
    ones, weight, units = _moments(bits, alignment.haplotypes, genotypes)
    matrix = SiteMatrix(
        bits=bits,
        valid=None if valid is None else _padded(valid, padded),
        padded=padded,
        units=units,
        haplotypes=alignment.haplotypes,
        missing=alignment.valid is not None,
        genotypes=genotypes,
        ones=ones,
        weight=weight,
        allele_bits=None,
        first_row=np.arange(padded, dtype=np.int32),
        row_count=np.ones(padded, np.int32),
        listed=np.zeros(0, np.int32),
    )
    if len(alignment.multi_site):
        _add_alleles(matrix, alignment, planes(alignment.multi_bits, _of_rows(valid, alignment.multi_site)), dna)
    return matrix


def _add_alleles(matrix: SiteMatrix, alignment: Alignment, multi: NDArray[np.uint32], dna: bool) -> None:
    """Give sites with three or more states (all sites in DNA mode) a row for each of their states."""
    if matrix.valid is None:
        matrix.valid = _padded(_all_observed(alignment), matrix.padded)
    sites, first, count = np.unique(alignment.multi_site, return_index=True, return_counts=True)
    rows = [matrix.bits]
    if dna:
        second = alignment.letters[:, 1] > alignment.letters[:, 0]
        low = np.where(
            second,
            matrix.valid[:, : alignment.sites] & ~matrix.bits[:, : alignment.sites],
            matrix.bits[:, : alignment.sites],
        )
        pairs = np.stack([low, matrix.valid[:, : alignment.sites] & ~low], axis=2).reshape(matrix.words, -1)
        matrix.first_row[: alignment.sites] = matrix.padded + 2 * np.arange(alignment.sites)
        matrix.row_count[: alignment.sites] = 2
        rows.append(pairs)
    before = sum(block.shape[1] for block in rows)
    matrix.first_row[sites] = before + first
    matrix.row_count[sites] = count
    matrix.allele_bits = np.concatenate([*rows, multi], axis=1)
    matrix.listed = np.arange(alignment.sites, dtype=np.int32) if dna else sites.astype(np.int32)


def _moments(
    bits: NDArray[np.uint32], haplotypes: int, genotypes: bool
) -> tuple[NDArray[np.uint32], NDArray[np.float32], int]:
    """Sums, inverse variances and the number of units, as if nothing were missing."""
    ones = _count(bits)
    units = haplotypes // 2 if genotypes else haplotypes
    squares = ones + 2 * _count(bits & ODD) if genotypes else ones
    variance = units * squares.astype(np.float64) - ones.astype(np.float64) ** 2
    weight = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0).astype(np.float32)
    return ones.astype(np.uint32), weight, units


def _count(bits: NDArray[np.uint32]) -> NDArray[np.int64]:
    total = np.zeros(bits.shape[1], np.int64)
    for word in bits:  # one row at a time keeps the counts in the cache
        total += np.bitwise_count(word)
    return total


def _padded(bits: NDArray[np.uint32], padded: int) -> NDArray[np.uint32]:
    out = np.zeros((bits.shape[0], padded), np.uint32)
    out[:, : bits.shape[1]] = bits
    return out


def _as_is(bits: NDArray[np.uint32], valid: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    return bits


def _dosages(bits: NDArray[np.uint32], valid: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """From two haplotype bits a sample to 'at least one' and 'both'."""
    seen = bits if valid is None else bits & valid
    other = seen >> np.uint32(1)
    return ((seen | other) & EVEN) | ((seen & other & EVEN) << np.uint32(1))


def _both_observed(valid: NDArray[np.uint32]) -> NDArray[np.uint32]:
    both = valid & (valid >> np.uint32(1)) & EVEN
    return both | (both << np.uint32(1))


def _all_observed(alignment: Alignment) -> NDArray[np.uint32]:
    """A mask of observed states for complete data, uint32 (words, sites)."""
    if alignment.valid is not None:
        return alignment.valid
    out = np.full((alignment.words, alignment.sites), 0xFFFFFFFF, np.uint32)
    rest = alignment.haplotypes % 32
    if rest:
        out[-1] = (1 << rest) - 1
    return out


def _of_rows(valid: NDArray[np.uint32] | None, multi_site: NDArray[np.int32]) -> NDArray[np.uint32] | None:
    return None if valid is None else valid[:, multi_site]
