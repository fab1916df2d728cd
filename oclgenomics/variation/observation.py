"""Simulated replicates as data are observed: without phase, with missing calls, at their place on the chromosome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from oclgenomics.errors import ParameterError
from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.packing import full_words, join_sites, pack_states

PAIRS = np.uint32(0x55555555)  # the first haplotype of each sample
_BLOCK_ENTRIES = 1 << 22  # haplotype entries drawn at once


@dataclass(frozen=True)
class Observation:
    """How data are seen that a simulator knows whole.

    Parameters
    ----------
    genotypes : bool
        Haplotypes 2i and 2i + 1 are one sample whose phase is not known.
    missing : float
        Probability of a call to be missing: of a haplotype, or of both of a sample with `genotypes`.
    chromosome : str
        Name of the chromosome that the replicates simulate, where regions of it are excluded; else empty.
    first, room : int
        Bp of that chromosome on which the first bp of a replicate falls, and how many bp further it may fall, by draw.
    seed : int
        Of the draws.
    """

    genotypes: bool = False
    missing: float = 0.0
    chromosome: str = ""
    first: int = 1
    room: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.missing < 1:
            raise ParameterError("missing", "the share of missing calls is from 0 to below 1", self.missing)

    def of(self, alignment: Alignment) -> Alignment:
        """The same alignment as it is observed; what it lacks already is not taken from it again."""
        rng = np.random.default_rng([self.seed, alignment.replicate])
        if self.chromosome:
            at = self.first - 1 + int(rng.integers(0, self.room + 1))
            alignment = replace(alignment, name=self.chromosome, positions=alignment.positions + at, exact=None)
        if self.genotypes and not alignment.unphased:
            alignment = _without_phase(alignment)
        if self.missing and alignment.valid is None:
            alignment = self._with_missing(alignment, rng)
        return alignment

    def _with_missing(self, alignment: Alignment, rng: np.random.Generator) -> Alignment:
        ploidy = 2 if self.genotypes else 1
        calls = alignment.haplotypes // ploidy
        step = max(1, _BLOCK_ENTRIES // max(1, calls))
        parts = []
        for start in range(0, alignment.sites, step):
            seen = rng.random((min(step, alignment.sites - start), calls), np.float32) >= self.missing
            parts.append(pack_states(np.repeat(seen, ploidy, axis=1)))
        valid = join_sites(parts, alignment.words)
        multi = alignment.multi_bits & valid[:, alignment.multi_site]
        return replace(alignment, valid=valid, bits=alignment.bits & valid, multi_bits=multi)


def as_observed(alignments: Iterable[Alignment], observation: Observation) -> Iterator[Alignment]:
    """Observe one alignment after the other."""
    for alignment in alignments:
        yield observation.of(alignment)
        del alignment  # before the next one is simulated or read


def _without_phase(alignment: Alignment) -> Alignment:
    """Take neighbouring haplotypes as the two of a sample, in an order that says nothing.

    Raises
    ------
    ParameterError
        One haplotype is left over.
    """
    if alignment.haplotypes % 2:
        odd = f"makes samples of two haplotypes each, and replicate {alignment.replicate} has {alignment.haplotypes}"
        raise ParameterError("genotypes", odd)
    mixed = (alignment.bits ^ (alignment.bits >> np.uint32(1))) & PAIRS
    if alignment.valid is not None:
        mixed &= alignment.valid & (alignment.valid >> np.uint32(1))
    mixed &= full_words(alignment.haplotypes)[:, None]
    calls = sum(int(np.bitwise_count(word).sum()) for word in mixed)
    samples = alignment.samples if alignment.ploidy == 2 else ()
    return replace(alignment, ploidy=2, unphased=True, unphased_calls=calls, samples=samples)
