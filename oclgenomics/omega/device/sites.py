"""An alignment's sites as the device wants them: padded bit planes, state sums and variances; on the host and there."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.omega.plan.passes import Block
from oclgenomics.omega.plan.windows import TILE, round_up
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import both_observed, full_words, with_haploid
from oclgenomics.variation.selection import count_ones

EVEN, ODD = np.uint32(0x55555555), np.uint32(0xAAAAAAAA)
MARKED_WORDS = 32  # a bit each; kernels_cl/omega/pair_values.cl
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
    def marks(self) -> int:
        """Numbers of a site that say which of its words are not 0."""
        return -(-self.words // MARKED_WORDS)

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
    multiallelic = dna or alignment.multiallelic
    valid = alignment.valid
    if valid is None and multiallelic:
        valid = np.repeat(full_words(alignment.haplotypes)[:, None], alignment.sites, axis=1)
    if valid is not None and genotypes:
        valid = both_observed(with_haploid(valid, alignment.haploid))
    bits = _dosages(with_haploid(alignment.bits, alignment.haploid), valid) if genotypes else alignment.bits
    padded = round_up(alignment.sites, TILE) + TILE
    ones, weight, units = _moments(bits, alignment.haplotypes, genotypes)
    return BitPlanes(
        bits=_grouped(bits, padded), valid=None if valid is None else _grouped(valid, padded), units=units,
        haplotypes=alignment.haplotypes, missing=alignment.valid is not None, genotypes=genotypes,
        ones=_padded(ones, padded), weight=_padded(weight, padded),
        **_allele_rows(alignment, bits, valid if multiallelic else None, padded, dna=dna),
    )  # fmt: skip


def _allele_rows(
    alignment: Alignment, bits: NDArray[np.uint32], valid: NDArray[np.uint32] | None, padded: int, *, dna: bool
) -> dict[str, Any]:
    """Give sites with three or more states (in DNA mode all) a row for each of their states; none without `valid`.

    Returns `allele_bits`, `first_row`, `row_count` and `listed` of `BitPlanes`.
    """
    if valid is None:
        ones = np.ones(padded, np.int32)
        return {"allele_bits": None, "first_row": 0 * ones, "row_count": ones, "listed": ones[:0]}
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
    if alignment.unphased:
        haploid = None if alignment.haploid is None else alignment.haploid[:, alignment.multi_site]
        multi = _dosages(with_haploid(multi, haploid), valid[:, alignment.multi_site])
    rows.append(multi)
    listed = np.arange(count, dtype=np.int32) if dna else sites.astype(np.int32)
    all_rows = np.concatenate(rows, axis=1)
    return {
        "allele_bits": _grouped(all_rows, round_up(all_rows.shape[1], TILE)),
        "first_row": _padded(first_row, padded),
        "row_count": _padded(row_count, padded, filler=1),
        "listed": listed,
    }


def _moments(
    bits: NDArray[np.uint32], haplotypes: int, genotypes: bool
) -> tuple[NDArray[np.uint32], NDArray[np.float32], int]:
    """Sums, inverse variances and the number of units, as if nothing were missing."""
    ones = count_ones(bits)
    units = haplotypes // 2 if genotypes else haplotypes
    squares = ones + 2 * count_ones(bits & ODD) if genotypes else ones
    variance = units * squares.astype(np.float64) - ones.astype(np.float64) ** 2
    weight = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0).astype(np.float32)
    return ones.astype(np.uint32), weight, units


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


class DeviceSites:
    """The planes of a `BitPlanes` on the device: all of them, or those that the block at work needs.

    Parameters
    ----------
    engine : Engine
    planes : BitPlanes
    marked : bool
        Whether the planes come with `marks`, uint32 (sites, marks), which say which words of a site's bits are not 0.
    resident : bool
        False uploads the bits of each block's sites anew, for alignments larger than the memory: into `buffers` sets of
        planes in turn, so that a discrete device gets a block's sites while it computes the one before.

    Attributes
    ----------
    arrays : dict of str to DeviceArray
        What stays on the device, by the names that kernels give it: `ones`, `weight`, and, if a site has three or more
        states, `alleles`, `first_row`, `row_count` and `listed`.
    unmarked : bool
        Whether the marks of the planes that were asked for last are still to be made.
    """

    def __init__(self, engine: Engine, planes: BitPlanes, *, resident: bool, marked: bool = False) -> None:
        self._engine, self._host, self._resident, self._marked = engine, planes, resident, marked
        self.unmarked = marked
        self.arrays = {"ones": engine.upload(planes.ones), "weight": engine.upload(planes.weight)}
        if planes.allele_bits is not None:
            rows = {"alleles": planes.allele_bits, "first_row": planes.first_row, "row_count": planes.row_count}
            self.arrays |= {name: engine.upload(array) for name, array in {**rows, "listed": planes.listed}.items()}
        self._sets: deque[dict[str, DeviceArray]] = deque([{}] * self.buffers(engine))
        if resident:
            bits = engine.upload(planes.bits)
            valid = bits if planes.valid is None else engine.upload(planes.valid)
            self._sets = deque([{"bits": bits, "valid": valid, **self._new_marks(len(planes.bits))}])

    @staticmethod
    def buffers(engine: Engine) -> int:
        """Sets of planes of an alignment that does not stay on the device."""
        return 1 if engine.device.unified_memory else 2

    def planes(self, block: Block | None = None) -> dict[str, Any]:
        """Return the planes of a block's sites at least, uploaded if they do not stay, and their first `site0`.

        `valid` is `bits` for complete data.
        """
        if self._resident or block is None:
            return {**self._sets[0], "site0": 0}
        host, engine = self._host, self._engine
        groups = slice(block.col0 // SITE_GROUP, round_up(block.row0 + block.rows, TILE) // SITE_GROUP)
        held = self._next_set(host.bits[groups].shape)
        engine.write(held["bits"], host.bits[groups])
        if host.valid is not None:
            engine.write(held["valid"], host.valid[groups])
        self.unmarked = self._marked
        return {**held, "site0": block.col0}

    def _next_set(self, shape: tuple[int, ...]) -> dict[str, DeviceArray]:
        """The set of planes that was used longest ago, made larger where it is too small."""
        held = self._sets.popleft()
        if not held or held["bits"].size < math.prod(shape):
            bits = self._engine.empty(shape, np.uint32)
            valid = bits if self._host.valid is None else self._engine.empty(shape, np.uint32)
            held = {"bits": bits, "valid": valid, **self._new_marks(shape[0])}
        self._sets.append(held)
        return held

    def _new_marks(self, groups: int) -> dict[str, DeviceArray]:
        """Room for the marks of so many groups of sites."""
        shape = (groups * SITE_GROUP, self._host.marks)
        return {"marks": self._engine.empty(shape, np.uint32)} if self._marked else {}
