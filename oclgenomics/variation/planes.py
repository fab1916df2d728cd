"""Allele indices of some sites, turned into packed planes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.variation.alleles import MISSING_LETTER
from oclgenomics.variation.packing import full_words, pack_states, words_for

MISSING = 254  # '.' less '0' in eight bits
HAPLOID = 253  # in place of the second allele of a haploid call among diploid ones


@dataclass
class Genotypes:
    """Packed planes of some sites, one row of words per site.

    Attributes
    ----------
    bits : ndarray of uint32, shape (sites, words)
        As in `Alignment`, but site-major.
    valid : ndarray of uint32, shape (sites, words), or None
        None if all is observed.
    letters : ndarray of uint8, shape (sites, 2)
        Codes of state 0 and state 1.
    multi_site : ndarray of int64, shape (rows,)
        Sites with three or more states, one row per state.
    multi_letter : ndarray of uint8, shape (rows,)
        Code of the state of each row.
    multi_bits : ndarray of uint32, shape (rows, words)
        One-vs-rest bits.
    ploidy : int
        1 if every call of the sites is haploid.
    unphased : int
        Calls that are not phased.
    haploid : ndarray of uint32, shape (sites, words), or None
        1 at the second haplotype of each haploid call that has an allele; None if there is none among diploid calls.
    """

    bits: NDArray[np.uint32]
    valid: NDArray[np.uint32] | None
    letters: NDArray[np.uint8]
    multi_site: NDArray[np.int64]
    multi_letter: NDArray[np.uint8]
    multi_bits: NDArray[np.uint32]
    ploidy: int
    unphased: int
    haploid: NDArray[np.uint32] | None = None


class Planes:
    """Gathers the planes of some sites, site-major.

    Parameters
    ----------
    alleles : ndarray of uint8, shape (sites, 6)
        Letter codes by allele index.
    plain : ndarray of bool, shape (sites,)
        Which sites `is_plain`.
    haplotypes : int
        Bits of a site.
    ploidy : int
        1 if every call is haploid.
    """

    def __init__(self, alleles: NDArray[np.uint8], plain: NDArray[np.bool_], haplotypes: int, ploidy: int) -> None:
        sites = len(alleles)
        self._alleles, self._plain = alleles, plain
        self._haplotypes, self._ploidy = haplotypes, ploidy
        self._bits = np.zeros((sites, words_for(haplotypes)), np.uint32)
        self._valid: NDArray[np.uint32] | None = None
        self._haploid: NDArray[np.uint32] | None = None
        self._letters = alleles[:, :2].copy()
        self._multi: list[tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint32]]] = []

    def add_packed(
        self, sites: NDArray[np.int64] | slice, bits: NDArray[np.uint32], valid: NDArray[np.uint32] | None
    ) -> None:
        """Put packed states of sites with two alleles in place; `valid` is None where all is observed."""
        self._bits[sites] = bits
        if valid is None:
            return
        if self._valid is None:
            self._valid = np.tile(full_words(self._haplotypes), (len(self._bits), 1))
        self._valid[sites] = valid

    def add_states(self, sites: NDArray[np.int64], states: NDArray[np.uint8]) -> None:
        """Pack allele indices, uint8 (sites, haplotypes) with `MISSING` or `HAPLOID` where there is none, and put them
        in place."""
        haploid = states == HAPLOID
        if haploid.any():
            if self._haploid is None:
                self._haploid = np.zeros_like(self._bits)
            self._haploid[sites] = pack_states(haploid)
            states = np.where(haploid, np.uint8(MISSING), states)
        plain = self._plain[sites]
        if plain.all():
            self._add_two(sites, states == 1, states != MISSING)
        else:
            self._add_two(sites[plain], states[plain] == 1, states[plain] != MISSING)
            self._add_lettered(sites[~plain], states[~plain])

    def _add_two(self, sites: NDArray[np.int64], second: NDArray[np.bool_], observed: NDArray[np.bool_]) -> None:
        self.add_packed(sites, pack_states(second), None if observed.all() else pack_states(observed))

    def _add_lettered(self, sites: NDArray[np.int64], states: NDArray[np.uint8]) -> None:
        """Sites whose states need their letters: more alleles, '*', N, an allele named twice."""
        none = self._alleles.shape[1]
        table = np.full((len(sites), none + 1), MISSING_LETTER, np.uint8)
        table[:, :none] = self._alleles[sites]
        letters = np.take_along_axis(table, np.minimum(states, none).astype(np.intp), axis=1)
        seen = np.stack([(letters == letter).any(axis=1) for letter in range(4)], axis=1)
        first, second = _two_letters(seen, self._alleles[sites, 0])
        self._letters[sites, 0], self._letters[sites, 1] = first, second
        observed = letters != MISSING_LETTER
        self._add_two(sites, observed & (letters != first[:, None]), observed)
        row, letter = np.nonzero(seen & (seen.sum(axis=1) > 2)[:, None])
        if len(row):
            one_vs_rest = pack_states(letters[row] == letter[:, None])
            self._multi.append((sites[row], letter.astype(np.uint8), one_vs_rest))

    def finish(self, unphased: int) -> Genotypes:
        """All planes."""
        words = self._bits.shape[1]
        empty = (np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros((0, words), np.uint32))
        site, letter, bits = (np.concatenate(column) for column in zip(empty, *self._multi, strict=True))
        order = np.argsort(site, kind="stable")
        return Genotypes(
            self._bits, self._valid, self._letters, site[order], letter[order], bits[order], self._ploidy, unphased,
            self._haploid,
        )  # fmt: skip


def _two_letters(seen: NDArray[np.bool_], reference: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Codes of state 0 and 1: REF first where exactly two states with REF are seen, else in the order A, C, G, T."""
    count = seen.sum(axis=1)
    first = np.where(count > 0, np.argmax(seen, axis=1), MISSING_LETTER).astype(np.uint8)
    last = np.where(count > 0, 3 - np.argmax(seen[:, ::-1], axis=1), MISSING_LETTER).astype(np.uint8)
    later = seen.copy()
    later[np.arange(len(seen)), np.minimum(first, 3)] = False
    second = np.where(count > 1, np.argmax(later, axis=1), last).astype(np.uint8)
    swap = (count == 2) & (second == reference)
    return np.where(swap, second, first), np.where(swap, first, second)
