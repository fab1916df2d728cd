"""Seeded signatures, and samples with qualities of which some hold copies of them.

>>> from oclgenomics.simulate.signatures.samples import Scenario, simulate_samples, simulate_signatures
>>> scenario = Scenario(signatures=5, clean=2, infected=1)
>>> signatures = simulate_signatures(scenario, seed=1)
>>> [len(batch) for batch in simulate_samples(scenario, signatures, seed=1)]
[3]

The signatures depend on their own options alone: data sets with the same seed and other samples have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.packed_file import Sink
from oclgenomics.io.text_file import rows_of
from oclgenomics.simulate.draws import RandomBits, groups, normal_values
from oclgenomics.simulate.limits import check_seed
from oclgenomics.simulate.sequences import COMPLEMENTS, OTHERS, QUALITY_ZERO
from oclgenomics.simulate.signatures.scenario import Scenario

N = ord("N")
_PLANTED_AT_ONCE = 1 << 18  # bases; their places take some 40 bytes each
QUALITY_SD = 3.0
_BATCH_LETTERS = 1 << 20
_BLOCK_LETTERS = 1 << 16  # whose random numbers stay in the cache
_FRACTION_BITS = 7  # of qualities before they are rounded
_FOURS = np.stack(np.meshgrid(*[np.frombuffer(b"ACGT", np.uint8)] * 4, indexing="ij"), -1).reshape(256, 4).copy()
TRUTH_COLUMNS = ("sample", "signature", "strand", "start", "end", "mismatches")


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
        """Bases of each signature."""
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
    pattern = np.where(reverse, COMPLEMENTS[source], source)

    at = np.repeat(begins, lengths) + steps
    concrete = pattern != N
    planted = np.where(concrete, pattern, letters[at])
    numbers = np.minimum(draws.within(0, scenario.mismatches, len(copies)), lengths)
    changed = np.repeat(heads, numbers) + draws.below(np.repeat(lengths, numbers), int(numbers.sum()))
    planted[changed] = OTHERS[planted[changed], draws.below(3, len(changed))]
    rate = scenario.sample_n if scenario.planted_n is None else scenario.planted_n
    lost = draws.happens(len(at), rate)
    letters[at], hidden[at] = planted, lost
    copies.mismatches[:] = np.add.reduceat((concrete & ~lost & (planted != pattern)).astype(np.int64), heads)


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
    check_seed(seed)
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


# around the mean of a sample
_NORMAL = normal_values(QUALITY_SD * (1 << _FRACTION_BITS), 14 << _FRACTION_BITS).astype(np.int16)


def sample_name(number: int) -> str:
    """Return the name of a sample, by its number from 0."""
    return f"sample_{number + 1:06}"


def signature_name(number: int) -> str:
    """Return the name of a signature, by its number from 0."""
    return f"signature_{number + 1:05}"


def write_signatures(stream: Sink, signatures: SimulatedSignatures) -> None:
    """Write signatures as FASTA, each in one line."""
    text = signatures.letters.data
    for number, (begin, end) in enumerate(pairwise(signatures.offsets.tolist())):
        stream.write(b">%s\n%s\n" % (signature_name(number).encode(), text[begin:end]))


def write_samples(stream: Sink, batch: SampleBatch) -> None:
    """Write samples as FASTQ of four lines a record."""
    letters, qualities = batch.letters.data, batch.qualities.data
    parts: list[bytes | memoryview] = []
    for number, (begin, end) in enumerate(pairwise(batch.offsets.tolist()), batch.first):
        parts += [b"@%s\n" % sample_name(number).encode(), letters[begin:end], b"\n+\n", qualities[begin:end], b"\n"]
    stream.write(b"".join(parts))


def write_truth_rows(stream: Sink, batch: SampleBatch) -> None:
    """Write a line for each copy of a signature: `TRUTH_COLUMNS`, separated by tabs; starts count from 0."""
    copies = batch.copies
    numbers = (column.tolist() for column in (copies.start, copies.end, copies.mismatches))
    strands = np.where(copies.reverse, "-", "+").tolist()
    names = map(sample_name, copies.sample.tolist()), map(signature_name, copies.signature.tolist())
    stream.write(rows_of([list(column) for column in (*names, strands, *numbers)]).encode())
