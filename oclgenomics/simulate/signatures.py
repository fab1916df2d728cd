"""Seeded signatures, and samples with qualities of which some hold copies of them.

>>> from oclgenomics.simulate.signatures import Scenario, simulate_samples, simulate_signatures
>>> scenario = Scenario(signatures=5, clean=2, infected=1)
>>> signatures = simulate_signatures(scenario, seed=1)
>>> [len(batch) for batch in simulate_samples(scenario, signatures, seed=1)]
[3]

The signatures depend on their own options alone: data sets with the same seed and other samples have the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.simulate.planting import Copies, N, SimulatedSignatures, groups, plan_samples, plant
from oclgenomics.simulate.random_bits import RandomBits
from oclgenomics.simulate.scenarios import PRESETS, Scenario

__all__ = ["PRESETS", "SampleBatch", "Scenario", "SimulatedSignatures", "simulate_samples", "simulate_signatures"]

QUALITY_ZERO = 33  # the byte of quality 0
QUALITY_SD = 3.0
_BATCH_LETTERS = 1 << 20
_BLOCK_LETTERS = 1 << 16  # whose random numbers stay in the cache
_FRACTION_BITS = 7  # of qualities before they are rounded
_FOURS = np.stack(np.meshgrid(*[np.frombuffer(b"ACGT", np.uint8)] * 4, indexing="ij"), -1).reshape(256, 4).copy()


@dataclass(frozen=True)
class SampleBatch:
    """Some samples, end to end.

    Attributes
    ----------
    first : int
        Number of the first one, from 0.
    letters : ndarray, uint8 (letters,)
        A, C, G, T and N.
    qualities : ndarray, uint8 (letters,)
        Quality + 33 of each.
    offsets : ndarray, int64 (samples + 1,)
        Sample first + i is letters[offsets[i] : offsets[i + 1]].
    copies : Copies
        The copies of signatures in them.
    """

    first: int
    letters: NDArray[np.uint8]
    qualities: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    copies: Copies

    def __len__(self) -> int:
        return len(self.offsets) - 1


def simulate_signatures(scenario: Scenario, seed: int) -> SimulatedSignatures:
    """Draw the signatures of a scenario.

    Raises
    ------
    ParameterError
        The seed is negative.
    """
    draws, *_ = _streams(seed)
    offsets = _offsets(draws.within(*scenario.signature_length, scenario.signatures))
    letters, hidden = _nucleotides(int(offsets[-1]), scenario.signature_n, draws)
    letters[hidden] = N
    return SimulatedSignatures(letters, offsets)


def simulate_samples(scenario: Scenario, signatures: SimulatedSignatures, seed: int) -> Iterator[SampleBatch]:
    """Draw the samples of a scenario, some at a time.

    Parameters
    ----------
    scenario : Scenario
    signatures : SimulatedSignatures
        What is planted.
    seed : int
        0 or more.

    Yields
    ------
    SampleBatch
        Of a million letters, or one sample that has more.

    Raises
    ------
    ParameterError
        The seed is negative.
    """
    _, planning, drawing, planting = _streams(seed)
    plan = plan_samples(scenario, signatures.lengths, planning)
    low, high = (quality << _FRACTION_BITS for quality in scenario.quality)
    means = planning.within(low, high, scenario.samples).astype(np.int16)
    for first, last in groups(plan.lengths, _BATCH_LETTERS):
        offsets = _offsets(plan.lengths[first:last])
        letters, hidden = _nucleotides(int(offsets[-1]), scenario.sample_n, drawing)
        copies = plan.copies.between(first, last)
        plant(copies, signatures, scenario, offsets[copies.sample - first] + copies.start, letters, hidden, planting)
        qualities = _qualities(np.repeat(means[first:last], np.diff(offsets)), scenario.quality, drawing)
        np.copyto(letters, N, where=hidden)
        np.copyto(qualities, QUALITY_ZERO, where=hidden)
        yield SampleBatch(first, letters, qualities, offsets, copies)


def _streams(seed: int) -> tuple[RandomBits, RandomBits, RandomBits, RandomBits]:
    """Random numbers for signatures, for the plan of samples, for their letters, and for copies."""
    if seed < 0:
        raise ParameterError("seed", f"must be 0 or more, not {seed}")
    one, two, three, four = (RandomBits(child) for child in np.random.SeedSequence(seed).spawn(4))
    return one, two, three, four


def _offsets(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _nucleotides(count: int, n_rate: float, draws: RandomBits) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Nucleotides, and which of them are to be N: uint8 (count,), bool (count,)."""
    letters, hidden = np.empty(count, np.uint8), np.empty(count, bool)
    for at in range(0, count, _BLOCK_LETTERS):
        size = min(_BLOCK_LETTERS, count - at)
        letters[at : at + size] = _FOURS[draws.uint8(-(-size // 4))].reshape(-1)[:size]
        hidden[at : at + size] = draws.happens(size, n_rate)
    return letters, hidden


def _qualities(means: NDArray[np.int16], bounds: tuple[int, int], draws: RandomBits) -> NDArray[np.uint8]:
    """Qualities + 33 around means, uint8 (letters,); means have `_FRACTION_BITS` bits of fraction."""
    qualities = np.empty(len(means), np.uint8)
    half = 1 << _FRACTION_BITS - 1
    for at in range(0, len(means), _BLOCK_LETTERS):
        mean = means[at : at + _BLOCK_LETTERS]
        exact = mean + _NORMAL[draws.uint16(len(mean))]
        qualities[at : at + len(mean)] = np.clip(exact + half >> _FRACTION_BITS, *bounds) + QUALITY_ZERO
    return qualities


def _normal() -> NDArray[np.int16]:
    """The normal distribution of qualities around their mean: 65,536 equally likely values in ascending order."""
    steps = np.arange(-14 << _FRACTION_BITS, 14 << _FRACTION_BITS)
    scale = QUALITY_SD * (1 << _FRACTION_BITS) * math.sqrt(2)
    below = [round((1 + math.erf((step + 0.5) / scale)) * (1 << 15)) for step in steps.tolist()]
    return np.repeat(steps.astype(np.int16), np.diff(below, prepend=0))


_NORMAL = _normal()
