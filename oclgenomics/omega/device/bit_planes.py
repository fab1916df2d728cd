"""An alignment's sites as the device wants them: padded bit planes, state sums and variances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.passes import TILE, round_up
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import both_observed, with_haploid

__all__ = ["BitPlanes", "planes_of"]

EVEN, ODD = np.uint32(0x55555555), np.uint32(0xAAAAAAAA)
SITE_GROUP = 16  # sites whose words lie side by side; kernels_cl/omega/layout.clh
WIDE_BITS = 31  # an integer covariance of more bits needs 64-bit arithmetic


@dataclass(frozen=True)
class BitPlanes:
    """Bit planes of all sites, ready to upload.

    Attributes
    ----------
    bits, valid : ndarray, uint32 (groups, words, SITE_GROUP)
        States and where they are observed. `valid` is None for complete data. For unphased genotypes bit 2s says that
        sample s carries the second state and bit 2s + 1 that it does twice; half-missing genotypes count as missing,
        and haploid calls as homozygous.
    units : int
        Haplotypes, or samples for unphased genotypes.
    haplotypes : int
        Haplotypes that n in n r^2 counts.
    missing : bool
        Some states are not observed.
    genotypes : bool
        Dosages rather than haplotypes are correlated.
    ones : ndarray, uint32 (groups * SITE_GROUP,)
        Sum of each site's states (dosages).
    weight : ndarray, float32 (groups * SITE_GROUP,)
        1 / (N sum(x^2) - sum(x)^2), 0 where a site does not vary.
    allele_bits : ndarray, uint32 (groups, words, SITE_GROUP), or None
        One-against-the-rest rows of the sites of three or more states (of all sites in OmegaPlus' DNA mode).
    first_row, row_count : ndarray, int32 (groups * SITE_GROUP,)
        Rows of each site in `allele_bits`; a site of one row has none there, its own is that in `bits`.
    listed : ndarray, int32
        Sites whose pairs take all states into account.
    """

    bits: NDArray[np.uint32]
    valid: NDArray[np.uint32] | None
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
        return int(self.bits.shape[1])

    @property
    def counts(self) -> int:
        """Population counts of a word of a pair of sites."""
        return (2 if self.genotypes else 1) + (0 if not self.missing else 5 if self.genotypes else 3)

    @property
    def wide(self) -> bool:
        """Whether N sum(xy) - sum(x) sum(y) may need 64 bits."""
        largest = self.units**2 if self.genotypes else self.units**2 // 4
        return largest.bit_length() > WIDE_BITS

    @property
    def plane_bytes(self) -> int:
        """Bytes of `bits` and `valid`."""
        return self.bits.nbytes + (0 if self.valid is None else self.valid.nbytes)

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        size = self.plane_bytes + self.ones.nbytes + self.weight.nbytes
        if self.allele_bits is not None:
            size += self.allele_bits.nbytes + self.first_row.nbytes + self.row_count.nbytes + self.listed.nbytes
        return size


def planes_of(alignment: Alignment, *, dna: bool = False) -> BitPlanes:
    """Lay out an alignment for the device.

    Parameters
    ----------
    alignment : Alignment
        Every site shows at least two states.
    dna : bool
        OmegaPlus' DNA mode: every site takes part with all its states, not only those with three or more.
    """
    genotypes = alignment.unphased
    multiallelic = bool(len(alignment.multi_site))
    valid = alignment.valid
    if valid is None and multiallelic:
        valid = _all_observed(alignment)
    if valid is not None and genotypes:
        valid = both_observed(with_haploid(valid, alignment.haploid))
    bits = _dosages(with_haploid(alignment.bits, alignment.haploid), valid) if genotypes else alignment.bits
    padded = round_up(alignment.sites, TILE) + TILE
    ones, weight, units = _moments(bits, alignment.haplotypes, genotypes)
    rows = None
    if valid is not None and multiallelic:
        rows = _allele_rows(alignment, bits, valid, dna=dna, genotypes=genotypes)
    return BitPlanes(
        bits=_grouped(bits, padded),
        valid=None if valid is None else _grouped(valid, padded),
        units=units,
        haplotypes=alignment.haplotypes,
        missing=alignment.valid is not None,
        genotypes=genotypes,
        ones=_padded(ones, padded),
        weight=_padded(weight, padded),
        allele_bits=None if rows is None else _grouped(rows.bits, round_up(rows.bits.shape[1], TILE)),
        first_row=np.zeros(padded, np.int32) if rows is None else _padded(rows.first, padded),
        row_count=np.ones(padded, np.int32) if rows is None else _padded(rows.count, padded, filler=1),
        listed=np.zeros(0, np.int32) if rows is None else rows.listed,
    )


@dataclass(frozen=True)
class _AlleleRows:
    """Rows of states, uint32 (words, rows), and those of each site, int32 (sites,); the sites listed, int32."""

    bits: NDArray[np.uint32]
    first: NDArray[np.int32]
    count: NDArray[np.int32]
    listed: NDArray[np.int32]


def _allele_rows(
    alignment: Alignment, bits: NDArray[np.uint32], valid: NDArray[np.uint32], *, dna: bool, genotypes: bool
) -> _AlleleRows:
    """Give sites with three or more states (all sites in DNA mode) a row for each of their states."""
    count = alignment.sites
    sites, first, states = np.unique(alignment.multi_site, return_index=True, return_counts=True)
    first_row, row_count = np.zeros(count, np.int32), np.ones(count, np.int32)
    rows: list[NDArray[np.uint32]] = []
    if dna:  # both states of every site, in the order of their letters
        low = np.where(alignment.letters[:, 1] > alignment.letters[:, 0], valid & ~bits, bits)
        rows.append(np.stack([low, valid & ~low], axis=2).reshape(len(bits), -1))
        first_row[:] = 2 * np.arange(count)
        row_count[:] = 2
    first_row[sites] = sum(block.shape[1] for block in rows) + first
    row_count[sites] = states
    multi = alignment.multi_bits
    if genotypes:
        haploid = None if alignment.haploid is None else alignment.haploid[:, alignment.multi_site]
        multi = _dosages(with_haploid(multi, haploid), valid[:, alignment.multi_site])
    rows.append(multi)
    listed = np.arange(count, dtype=np.int32) if dna else sites.astype(np.int32)
    return _AlleleRows(np.concatenate(rows, axis=1), first_row, row_count, listed)


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


def _grouped(bits: NDArray[np.uint32], padded: int) -> NDArray[np.uint32]:
    """From (words, sites) to groups of sites, (padded / SITE_GROUP, words, SITE_GROUP); empty sites fill the rest."""
    words, sites = bits.shape
    out = np.zeros((padded // SITE_GROUP, words, SITE_GROUP), np.uint32)
    whole = sites // SITE_GROUP
    out[:whole] = bits[:, : whole * SITE_GROUP].reshape(words, whole, SITE_GROUP).swapaxes(0, 1)
    out[whole : whole + 1, :, : sites - whole * SITE_GROUP] = bits[:, whole * SITE_GROUP :]
    return out


def _padded(values: NDArray[Any], padded: int, filler: int = 0) -> NDArray[Any]:
    out = np.full(padded, filler, values.dtype)
    out[: len(values)] = values
    return out


def _dosages(bits: NDArray[np.uint32], valid: NDArray[np.uint32] | None) -> NDArray[np.uint32]:
    """From two haplotype bits a sample to 'at least one' and 'both'."""
    seen = bits if valid is None else bits & valid
    other = seen >> np.uint32(1)
    return ((seen | other) & EVEN) | ((seen & other & EVEN) << np.uint32(1))


def _all_observed(alignment: Alignment) -> NDArray[np.uint32]:
    """A mask of observed states for complete data, uint32 (words, sites)."""
    if alignment.valid is not None:
        return alignment.valid
    out = np.full((alignment.words, alignment.sites), 0xFFFFFFFF, np.uint32)
    rest = alignment.haplotypes % 32
    if rest:
        out[-1] = (1 << rest) - 1
    return out
