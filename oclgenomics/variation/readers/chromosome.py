"""The parts of one chromosome, joined to an alignment when all of it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.alleles import LETTERS
from oclgenomics.variation.packing import full_words, join_sites, spread_haplotypes, words_for
from oclgenomics.variation.planes import Genotypes

__all__ = ["Chromosome", "count_reasons", "first_out_of_order"]


def first_out_of_order(positions: np.ndarray, name: str, before: int = 0) -> tuple[int, str] | None:
    """Which position of a chromosome is the first to go back, and what to say of it; None if all are in order."""
    steps = np.diff(positions, prepend=before)
    back = np.flatnonzero(steps < 0)
    if not len(back):
        return None
    i = int(back[0])
    return i, f"position {positions[i]} comes after {positions[i] - steps[i]} on {name}; use bcftools sort"


def count_reasons(reasons: list[tuple[str, np.ndarray]]) -> Counter[str]:
    """Records left out, each counted under the first reason that applies."""
    skipped: Counter[str] = Counter()
    counted = np.zeros(len(reasons[0][1]), bool)
    for reason, flags in reasons:
        skipped[reason] = int((flags & ~counted).sum())  # also 0, so that the order never depends on the data
        counted |= flags
    return skipped


class Chromosome:
    """The parts of one chromosome, site-major, until all of it is read.

    Parameters
    ----------
    name : str
        As `Alignment.name`.
    number : int
        As `Alignment.replicate`.
    individuals : int
        How many individuals the genotypes have.
    samples : tuple of str
        Their names, none where the format has none.
    source : str
        Name of the input.
    """

    def __init__(self, name: str, number: int, individuals: int, samples: tuple[str, ...], source: str) -> None:
        self.name, self._number, self._source = name, number, source
        self._individuals, self._samples = individuals, samples
        self._last_position = 0
        self._skipped: Counter[str] = Counter()
        self._sites = 0
        self._positions: list[np.ndarray] = []
        self._letters: list[np.ndarray] = []
        self._bits: list[np.ndarray] = []
        self._valid: list[np.ndarray | None] = []
        self._multi_site: list[np.ndarray] = []
        self._multi_letter: list[np.ndarray] = []
        self._multi_bits: list[np.ndarray] = []
        self._ploidies: list[int] = []
        self._unphased = 0

    def out_of_order(self, positions: np.ndarray) -> tuple[int, str] | None:
        """Which of the next positions is the first to go back, and what to say of it; None if all are in order."""
        wrong = first_out_of_order(positions, self.name, self._last_position)
        if wrong is None:
            self._last_position = int(positions[-1])
        return wrong

    def skip(self, counts: Mapping[str, int]) -> None:
        """Count sites left out, by reason."""
        self._skipped.update(counts)

    def add(self, positions: np.ndarray, genotypes: Genotypes) -> None:
        """Append sites."""
        self._multi_site.append(genotypes.multi_site + self._sites)
        self._multi_letter.append(LETTERS[genotypes.multi_letter])
        self._multi_bits.append(genotypes.multi_bits)
        self._sites += len(positions)
        self._positions.append(positions)
        self._letters.append(LETTERS[genotypes.letters])
        self._bits.append(genotypes.bits)
        self._valid.append(genotypes.valid)
        self._ploidies.append(genotypes.ploidy)
        self._unphased += genotypes.unphased

    def finish(self, phase: str) -> Alignment:
        """Join the parts."""
        ploidy = max(self._ploidies, default=2)
        haplotypes = ploidy * self._individuals
        complete = self._complete_masks(ploidy)
        parts = {name: self._spread(getattr(self, name), ploidy) for name in ("_bits", "_multi_bits")}
        letters = _joined(self._letters, np.uint8, 2)
        words = words_for(haplotypes)
        skipped = {reason: count for reason, count in self._skipped.items() if count}
        bits = join_sites(parts["_bits"], words)
        valid = None if complete is None else join_sites(complete, words)
        return Alignment(
            name=self.name, positions=_joined(self._positions, np.int64), bits=bits, valid=valid,
            haplotypes=haplotypes, ploidy=ploidy, unphased=self._unphased > 0 and phase == "auto",
            unphased_calls=self._unphased, letters=letters, multi_site=_joined(self._multi_site, np.int32),
            multi_bits=join_sites(parts["_multi_bits"], words), multi_letter=_joined(self._multi_letter, np.uint8),
            alphabet=_alphabet(letters), samples=self._samples, skipped=skipped, replicate=self._number,
            source=self._source,
        )  # fmt: skip

    def _spread(self, parts: list[np.ndarray], ploidy: int) -> list[np.ndarray]:
        """Bring parts with haploid calls only among diploid ones; takes the list over."""
        for i, own in enumerate(self._ploidies):
            if own < ploidy:
                parts[i] = spread_haplotypes(parts[i], self._individuals)
        return parts

    def _complete_masks(self, ploidy: int) -> list[np.ndarray] | None:
        """Valid masks of all parts in one ploidy, None if every state is observed."""
        mixed = any(own < ploidy for own in self._ploidies)
        if not mixed and all(part is None for part in self._valid):
            return None
        masks = []
        for part, own, bits in zip(self._valid, self._ploidies, self._bits, strict=True):
            full = np.broadcast_to(full_words(own * self._individuals), bits.shape)
            mask = full if part is None else part
            masks.append(spread_haplotypes(mask, self._individuals) if own < ploidy else mask)
        return masks


def _alphabet(letters: np.ndarray) -> str:
    """'binary' if no site has bases."""
    return "binary" if len(letters) and letters.max() <= ord("1") else "dna"


def _joined(parts: list[np.ndarray], dtype: type, width: int | None = None) -> np.ndarray:
    """Parts end to end, also if there are none."""
    empty: np.ndarray = np.zeros(0 if width is None else (0, width), dtype)
    return np.concatenate([empty, *parts]).astype(dtype, copy=False)
