"""Small alignments for the tests of sweeps, and what the oracle says of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from helpers.alignments import make_alignment
from oclgenomics.sweeps import reference
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.bed import BedRegions
from oclgenomics.variation.packing import unpack_sites

States = list[list[int | None]]

PAIRS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=5)


def random_states(
    rng: np.random.Generator, sites: int, haplotypes: int, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray | None]:
    """States (sites, haplotypes) that repeat and complement sites nearby, and which are observed."""
    states = (rng.random((sites, haplotypes)) < rng.uniform(0.1, 0.9, (sites, 1))).astype(np.uint8)
    seen = rng.random((sites, haplotypes)) >= missing
    for site in range(1, sites):
        if rng.random() < 0.6:
            other = int(rng.integers(max(site - 8, 0), site))
            states[site] = states[other] ^ (rng.random() < 0.3)
            seen[site] = seen[other]
    if not missing:
        return states, None
    return states * seen, seen


def regions(*pairs: tuple[int, int]) -> BedRegions:
    """Regions of chromosome 1, as in a BED file."""
    return BedRegions.of([("1", *pair) for pair in pairs], "x.bed")


def few_haplotypes(
    rng: np.random.Generator, sites: int, haplotypes: int, missing: float = 0.0
) -> tuple[np.ndarray, np.ndarray | None]:
    """States (sites, haplotypes) of few haplotypes that recombine, so that many are equal in short windows."""
    founders = rng.integers(0, 2, (sites, int(rng.integers(1, haplotypes + 1))), np.uint8)
    source = np.tile(rng.integers(0, founders.shape[1], haplotypes), (sites, 1))
    for site in range(1, sites):
        moved = rng.random(haplotypes) < 0.03
        source[site] = np.where(moved, rng.integers(0, founders.shape[1], haplotypes), source[site - 1])
    states = np.take_along_axis(founders, source, axis=1) if sites else founders[:, :1].repeat(haplotypes, axis=1)
    if not missing:
        return states, None
    seen = rng.random((sites, haplotypes)) >= missing
    return states * seen, seen


def rows_of(states: np.ndarray, seen: np.ndarray | None, *, genotypes: bool = False) -> States:
    """Sites as the oracle has them; dosages of samples that are observed whole, with `genotypes`."""
    if not genotypes:
        return [
            [int(x) if seen is None or seen[s, h] else None for h, x in enumerate(row)] for s, row in enumerate(states)
        ]
    dosage = states[:, ::2] + states[:, 1::2]
    whole = np.ones_like(dosage, bool) if seen is None else seen[:, ::2] & seen[:, 1::2]
    return [[int(x) if ok else None for x, ok in zip(*pair, strict=True)] for pair in zip(dosage, whole, strict=True)]


def oracle_counts(rows: States, width: int, *, genotypes: bool = False) -> list[tuple[int, int]]:
    """The numbers of patterns in every window of `width` sites."""
    found = [reference.pattern(row, genotypes=genotypes) for row in rows]
    half = width // 2
    return [
        reference.pattern_counts(found[i : i + half], found[i + half : i + width]) for i in range(len(rows) - width + 1)
    ]


def states_of(alignment: Alignment) -> tuple[np.ndarray, np.ndarray]:
    """States and which are observed, (sites, haplotypes), of an alignment."""
    bits = unpack_sites(alignment.bits, alignment.haplotypes)
    if alignment.valid is None:
        return bits, np.ones_like(bits, bool)
    return bits, unpack_sites(alignment.valid, alignment.haplotypes).astype(bool)


def varying(rng: np.random.Generator, sites: int, haplotypes: int, missing: float = 0.0) -> Alignment:
    """An alignment of random sites, not all of which vary, at ascending positions."""
    states, seen = random_states(rng, sites, haplotypes, missing)
    return make_alignment(states, np.sort(rng.integers(1, 50 * sites + 1, sites)), seen)


SEEDS = st.integers(0, 2**32 - 1)


def spectrum(states: np.ndarray, seen: np.ndarray) -> Sequence[tuple[int, int]]:
    """Derived and observed haplotypes of each site."""
    return [(int((row & ok).sum()), int(ok.sum())) for row, ok in zip(states.astype(bool), seen, strict=True)]
