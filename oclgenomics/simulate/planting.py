"""Copies of signatures in samples: which, where, and what becomes of their letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.simulate.random_bits import RandomBits
from oclgenomics.simulate.scenarios import Scenario

__all__ = ["Copies", "N", "Plan", "SimulatedSignatures", "groups", "plan_samples", "plant"]

N = ord("N")
_PLANTED_AT_ONCE = 1 << 18  # letters; their places take some 40 bytes each
_COMPLEMENTS = np.arange(256, dtype=np.uint8)
_COMPLEMENTS[list(b"ACGT")] = list(b"TGCA")
_OTHERS = np.zeros((256, 3), np.uint8)
_OTHERS[list(b"ACGT")] = [list(b"CGT"), list(b"AGT"), list(b"ACT"), list(b"ACG")]


@dataclass(frozen=True)
class SimulatedSignatures:
    """Signatures, end to end.

    Attributes
    ----------
    letters : ndarray, uint8 (letters,)
        A, C, G, T and N.
    offsets : ndarray, int64 (signatures + 1,)
        Signature i is letters[offsets[i] : offsets[i + 1]].
    """

    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Letters of each signature."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Copies:
    """Copies of signatures in samples, ordered by sample and place; arrays of one length.

    Attributes
    ----------
    sample, signature : ndarray, int64
        Numbers from 0.
    reverse : ndarray, bool
        The copy is the signature's reverse complement.
    start, end : ndarray, int64
        Letters sample[start : end].
    mismatches : ndarray, int64
        Letters that do not match the signature's.
    """

    sample: NDArray[np.int64]
    signature: NDArray[np.int64]
    reverse: NDArray[np.bool_]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    mismatches: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sample)

    def between(self, first: int, last: int) -> Copies:
        """Those of samples first to last - 1."""
        begin, end = np.searchsorted(self.sample, [first, last])
        return self.part(begin, end)

    def part(self, begin: int, end: int) -> Copies:
        """Copies begin to end - 1."""
        return Copies(*(getattr(self, name)[begin:end] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Plan:
    """The lengths of all samples, int64 (samples,), and the copies in them."""

    lengths: NDArray[np.int64]
    copies: Copies


def plan_samples(scenario: Scenario, lengths: NDArray[np.int64], draws: RandomBits) -> Plan:
    """Draw how long samples are, and which copies they hold at which places.

    The copies of a sample do not overlap: they stand in random order, and what they leave free is dealt out between
    them at random.

    Parameters
    ----------
    scenario : Scenario
    lengths : int64 (signatures,)
        Letters of each signature.
    draws : RandomBits
    """
    wanted = draws.within(*scenario.sample_length, scenario.samples)
    order = np.argsort(draws.below(1 << 31, scenario.samples), kind="stable")
    numbers = np.zeros(scenario.samples, np.int64)
    numbers[order[: scenario.infected]] = draws.within(*scenario.copies, scenario.infected)
    sample = np.repeat(np.arange(scenario.samples), numbers)
    signature = draws.below(len(lengths), len(sample))
    reverse = draws.happens(len(sample), {"+": 0.0, "-": 1.0, "both": 0.5}[scenario.strand])
    taken = np.bincount(sample, lengths[signature], scenario.samples).astype(np.int64)
    free = np.maximum(wanted - taken, 0)
    before = _sorted_by_sample(sample, draws.below(free[sample] + 1, len(sample)))
    begun = np.cumsum(lengths[signature]) - lengths[signature]
    start = before + begun - np.repeat((np.cumsum(taken) - taken), numbers)
    copies = Copies(sample, signature, reverse, start, start + lengths[signature], np.zeros(len(sample), np.int64))
    return Plan(np.maximum(wanted, taken), copies)


def _sorted_by_sample(sample: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """The values of each sample in ascending order; `sample` is ascending."""
    return values[np.lexsort((values, sample))]


def groups(sizes: NDArray[np.int64], least: int) -> Iterator[tuple[int, int]]:
    """Cut a series into runs that come to a least size in all, but for the last one; each as (first, last + 1)."""
    ends = np.cumsum(sizes)
    first, done = 0, 0
    while first < len(sizes):
        last = min(int(np.searchsorted(ends, done + least)) + 1, len(sizes))
        yield first, last
        first, done = last, int(ends[last - 1])


def plant(
    copies: Copies,
    signatures: SimulatedSignatures,
    scenario: Scenario,
    begins: NDArray[np.int64],
    letters: NDArray[np.uint8],
    hidden: NDArray[np.bool_],
    draws: RandomBits,
) -> None:
    """Write copies into samples, and the number of their mismatches into `copies`.

    Parameters
    ----------
    copies : Copies
    signatures : SimulatedSignatures
    scenario : Scenario
    begins : int64 (copies,)
        Where each copy begins in `letters`.
    letters : uint8 (letters,)
        Nucleotides of samples. They stay where the signature has N.
    hidden : bool (letters,)
        Which letters will be N. Drawn anew for those of copies.
    draws : RandomBits
    """
    for first, last in groups(copies.end - copies.start, _PLANTED_AT_ONCE):
        _plant_group(copies.part(first, last), signatures, scenario, begins[first:last], letters, hidden, draws)


def _plant_group(
    copies: Copies,
    signatures: SimulatedSignatures,
    scenario: Scenario,
    begins: NDArray[np.int64],
    letters: NDArray[np.uint8],
    hidden: NDArray[np.bool_],
    draws: RandomBits,
) -> None:
    lengths = copies.end - copies.start
    heads = np.cumsum(lengths) - lengths  # where copies begin, end to end
    steps = np.arange(int(lengths.sum())) - np.repeat(heads, lengths)
    reverse = np.repeat(copies.reverse, lengths)
    origin = signatures.offsets[copies.signature] + np.where(copies.reverse, lengths - 1, 0)
    source = signatures.letters[np.repeat(origin, lengths) + np.where(reverse, -steps, steps)]
    pattern = np.where(reverse, _COMPLEMENTS[source], source)

    at = np.repeat(begins, lengths) + steps
    concrete = pattern != N
    planted = np.where(concrete, pattern, letters[at])
    numbers = np.minimum(draws.within(0, scenario.mismatches, len(copies)), lengths)
    changed = np.repeat(heads, numbers) + draws.below(np.repeat(lengths, numbers), int(numbers.sum()))
    planted[changed] = _OTHERS[planted[changed], draws.below(3, len(changed))]
    rate = scenario.sample_n if scenario.planted_n is None else scenario.planted_n
    lost = draws.happens(len(at), rate)
    letters[at], hidden[at] = planted, lost
    copies.mismatches[:] = np.add.reduceat((concrete & ~lost & (planted != pattern)).astype(np.int64), heads)
