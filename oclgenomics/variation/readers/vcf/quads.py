"""Calls of three characters as 32-bit words: allele, separator, allele and the tab behind them.

A word is kept as its difference from "0|0" and a tab, so that a call without anything unusual has only the two bits of
its alleles. '.' differs from '0' by 0x1E, '/' from '|' by 0x53.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.packing import WORD_BITS, full_words
from oclgenomics.variation.planes import MISSING
from oclgenomics.variation.read_options import Phase, unphased_calls
from oclgenomics.variation.readers.vcf.calls import Calls, PackedCalls

TEMPLATE = np.uint32(int.from_bytes(b"0|0\t", "little"))
_ALLELE_BITS = np.uint32(0x00010001)
_GAP = np.uint32(ord(".") ^ ord("0"))
_SLASH = np.uint32((ord("|") ^ ord("/")) << 8)
_SEPARATOR_BYTE = np.uint32(0x0000FF00)

assert WORD_BITS == 32  # _pack puts 16 diploid calls into a word


def read_quads(
    quads: NDArray[np.uint32], sites: NDArray[np.int64], plain: NDArray[np.bool_], samples: int, phase: Phase
) -> tuple[list[PackedCalls], NDArray[np.int64]]:
    """Pack the sites whose calls are all made of 0, 1 and '.', and that have two alleles.

    Parameters
    ----------
    quads : ndarray of uint32, shape (sites, samples padded to 16)
        Words less `TEMPLATE`; padding is 0.
    sites : ndarray of int64, shape (sites,)
        Index of each among the kept records of the block.
    plain : ndarray of bool, shape (sites,)
        Sites with two alleles.
    samples : int
        Calls a site.
    phase : str
        One of `phase.PHASES`.

    Returns
    -------
    packed : list of PackedCalls
    left : ndarray of int64
        Rows of `quads` that were not packed.
    """
    complete = plain & _are_calls(quads)
    if complete.all():
        return [_packed(sites, quads, None, samples, phase)], np.zeros(0, np.int64)
    rows = np.flatnonzero(plain & ~complete)
    closed, gaps = _close_gaps(quads[rows])
    good = _are_calls(closed) & ~(closed & gaps).any(axis=1)
    left = np.union1d(np.flatnonzero(~plain), rows[~good])
    packed = []
    if complete.any():
        packed.append(_packed(sites[complete], quads[complete], None, samples, phase))
    if good.any():
        closed, gaps = (closed, gaps) if good.all() else (closed[good], gaps[good])
        packed.append(_packed(sites[rows[good]], closed, gaps, samples, phase))
    return packed, left


def _packed(
    sites: NDArray[np.int64], quads: NDArray[np.uint32], gaps: NDArray[np.uint32] | None, samples: int, phase: Phase
) -> PackedCalls:
    """Calls of 0 and 1, with `gaps` where a '.' was."""
    unphased = _unphased(quads, gaps, phase)
    count = 0 if unphased is None else int(np.count_nonzero(unphased))
    if unphased is not None and phase == "missing":
        hidden = unphased * _ALLELE_BITS
        quads = quads & ~hidden
        gaps = hidden if gaps is None else gaps | hidden
    valid = None if gaps is None else full_words(2 * samples) & ~_pack(gaps)
    return PackedCalls(sites, _pack(quads), valid, count)


def _close_gaps(quads: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Words with '.' turned into '0', and words with the allele bits set where a '.' was."""
    gaps = (quads >> np.uint32(4)) & _ALLELE_BITS
    return quads ^ (gaps * _GAP), gaps


def _are_calls(quads: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Rows in which every word is 0 or 1, '|' or '/', 0 or 1, tab."""
    if not (np.bitwise_or.reduce(quads, axis=0) & ~_ALLELE_BITS).any():
        return np.ones(len(quads), bool)
    differs = np.bitwise_or.reduce(quads, axis=1)
    good: NDArray[np.bool_] = (differs & ~(_ALLELE_BITS | _SLASH)) == 0
    slashed = np.flatnonzero(good & ((differs & _SLASH) != 0))
    if len(slashed):
        separators = (quads if len(slashed) == len(quads) else quads[slashed]) & _SEPARATOR_BYTE
        good[slashed] = ((separators == 0) | (separators == _SLASH)).all(axis=1)
    return good


def _unphased(quads: NDArray[np.uint32], gaps: NDArray[np.uint32] | None, phase: Phase) -> NDArray[np.uint32] | None:
    """Bit 0 of the words with '/' between different alleles, as `unphased_calls` has them; None if there are none."""
    if phase == "ignore" or not (np.bitwise_or.reduce(quads, axis=0) & _SLASH).any():
        return None
    found = quads ^ (quads >> np.uint32(16))
    if gaps is not None:
        found &= ~(gaps | (gaps >> np.uint32(16)))
        if phase != "auto":
            found |= gaps ^ (gaps >> np.uint32(16))
    found &= (quads >> np.uint32(8)) & np.uint32(1)
    return found if found.any() else None


def _pack(quads: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Two allele bits a word, uint32 (sites, words); one word of output takes 16 of input, each byte of it 0 or 1."""
    alleles = quads.view("<u2").astype(np.uint8)
    words: NDArray[np.uint32] = np.packbits(alleles, axis=1, bitorder="little").view("<u4")
    return words.astype(np.uint32, copy=False)


def read_triples(quads: NDArray[np.uint32], sites: NDArray[np.int64], phase: Phase) -> tuple[Calls, NDArray[np.bool_]]:
    """Allele indices of the sites in which every call is a digit or '.', a separator, a digit or '.'.

    Parameters
    ----------
    quads : ndarray of uint32, shape (sites, samples)
        Words less `TEMPLATE`.
    sites : ndarray of int64, shape (sites,)
        Index of each among the kept records of the block.
    phase : str
        One of `phase.PHASES`.

    Returns
    -------
    calls : Calls
        Diploid.
    left : ndarray of bool, shape (sites,)
        Sites that are not made so.
    """
    call = (quads ^ TEMPLATE).view(np.uint8).reshape(*quads.shape, 4)
    alleles = call[:, :, ::2] - np.uint8(ord("0"))
    separator = call[:, :, 1]
    legal = ((alleles <= 9) | (alleles == MISSING)).all(axis=2) & ((separator == ord("|")) | (separator == ord("/")))
    good = (legal & (call[:, :, 3] == ord("\t"))).all(axis=1)
    alleles, slashed = alleles[good], separator[good] == ord("/")
    unphased = unphased_calls(slashed, alleles[:, :, 0], alleles[:, :, 1], MISSING, phase)
    calls = Calls(sites[good], alleles.reshape(len(alleles), 2 * quads.shape[1]), 2, unphased)
    return calls, ~good
