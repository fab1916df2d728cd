"""The packed parts of an alignment's sites, joined when all of them are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.workers import Workers
from oclgenomics.variation.alleles import LETTERS
from oclgenomics.variation.packing import full_words, join_sites, spread_haplotypes, words_for
from oclgenomics.variation.planes import Genotypes

Alphabet = Literal["binary", "dna"]


@dataclass
class PackedSites:
    """The planes of all sites, word-major, as `Alignment` has them.

    Attributes
    ----------
    ploidy : int
        1 if every call is haploid.
    unphased_calls, haplotypes, bits, valid, letters, multi_site, multi_bits, multi_letter, alphabet, haploid
        As in `Alignment`.
    """

    ploidy: int
    unphased_calls: int
    haplotypes: int
    bits: NDArray[np.uint32]
    valid: NDArray[np.uint32] | None
    letters: NDArray[np.uint8]
    multi_site: NDArray[np.int32]
    multi_bits: NDArray[np.uint32]
    multi_letter: NDArray[np.uint8]
    alphabet: Alphabet
    haploid: NDArray[np.uint32] | None = None


class SiteParts:
    """Collects parts, site-major, one after the other.

    Parameters
    ----------
    individuals : int
        How many individuals the genotypes have.
    """

    def __init__(self, individuals: int) -> None:
        self._individuals = individuals
        self._parts: list[Genotypes] = []

    def add(self, part: Genotypes) -> None:
        """Append sites."""
        self._parts.append(part)

    def join(self, workers: Workers | None = None) -> PackedSites:
        """Join the parts and forget them, in threads if there are some; diploid if there are none."""
        parts, self._parts = self._parts, []
        ploidy = max((part.ploidy for part in parts), default=2)
        haplotypes = ploidy * self._individuals
        words = words_for(haplotypes)
        starts = np.cumsum([0, *(len(part.bits) for part in parts)])
        multi_site = [part.multi_site + start for part, start in zip(parts, starts[:-1], strict=True)]
        letters = LETTERS[np.concatenate([np.zeros((0, 2), np.uint8), *(part.letters for part in parts)])]
        multi_letter = LETTERS[np.concatenate([np.zeros(0, np.uint8), *(part.multi_letter for part in parts)])]
        unphased = sum(part.unphased for part in parts)
        valid, haploid = self._valid(parts, ploidy), self._haploid(parts, ploidy)
        bits = [self._spread(part.bits, part.ploidy, ploidy) for part in parts]
        multi_bits = [self._spread(part.multi_bits, part.ploidy, ploidy) for part in parts]
        del parts  # joining empties the lists, so that the planes are not held twice
        return PackedSites(
            ploidy=ploidy, unphased_calls=unphased, haplotypes=haplotypes, bits=join_sites(bits, words, workers),
            valid=None if valid is None else join_sites(valid, words, workers), letters=letters,
            multi_site=np.concatenate([np.zeros(0, np.int64), *multi_site]).astype(np.int32),
            multi_bits=join_sites(multi_bits, words), multi_letter=multi_letter,
            alphabet="binary" if len(letters) and letters.max() <= ord("1") else "dna",  # if any site has bases
            haploid=None if haploid is None else join_sites(haploid, words, workers),
        )  # fmt: skip

    def _spread(self, plane: NDArray[np.uint32], own: int, ploidy: int) -> NDArray[np.uint32]:
        """Bring haploid calls among diploid ones."""
        return spread_haplotypes(plane, self._individuals) if own < ploidy else plane

    def _haploid(self, parts: list[Genotypes], ploidy: int) -> list[NDArray[np.uint32]] | None:
        """Second haplotypes of haploid calls with a known state among diploid ones, None if there are none."""
        if all(part.haploid is None and part.ploidy == ploidy for part in parts):
            return None
        planes = []
        for part in parts:
            if part.ploidy < ploidy:
                planes.append(self._observed(part, ploidy) << np.uint32(1))
            else:
                plane = np.zeros_like(part.bits) if part.haploid is None else part.haploid
                planes.append(plane if part.valid is None else plane & part.valid << np.uint32(1))
        return planes if any(plane.any() for plane in planes) else None

    def _valid(self, parts: list[Genotypes], ploidy: int) -> list[NDArray[np.uint32]] | None:
        """Valid masks of all parts in one ploidy, None if every state is observed."""
        if all(part.valid is None and part.ploidy == ploidy for part in parts):
            return None
        return [self._observed(part, ploidy) for part in parts]

    def _observed(self, part: Genotypes, ploidy: int) -> NDArray[np.uint32]:
        full = np.broadcast_to(full_words(part.ploidy * self._individuals), part.bits.shape)
        return self._spread(full if part.valid is None else part.valid, part.ploidy, ploidy)
