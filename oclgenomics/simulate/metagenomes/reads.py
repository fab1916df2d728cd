"""Seeded reads of genomes, single or in pairs, with errors and qualities; as FASTQ, and a table of what they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.io.packed_file import Sink
from oclgenomics.simulate.draws import RandomBits
from oclgenomics.simulate.limits import check_range
from oclgenomics.simulate.metagenomes.files import ListedGenome
from oclgenomics.simulate.sequences import COMPLEMENTS, OTHERS, QUALITY_ZERO

MAX_READS = 1_000_000_000
MAX_LENGTH = 100_000
BATCH_LETTERS = 1 << 23
_QUALITY_NOISE = np.array([-4, -2, -1, 0, 0, 1, 2, 4], np.int8)
_ERROR_QUALITY = 12  # by which the quality of a wrong base is lower, half of the time
_BEST_QUALITY, _WORST_QUALITY = 41, 2


@dataclass(frozen=True)
class ReadScenario:
    """What is simulated of reads.

    Attributes
    ----------
    reads : int
        Reads, or pairs.
    length : int
        Bases of a read, or of each mate.
    paired : bool
        Mates face each other from the ends of a fragment.
    insert : int
        Bases of a fragment, at least `length`; it differs by up to a quarter.
    errors : float
        Share of wrong bases; it grows threefold from a read's first base to its last.

    Raises
    ------
    ParameterError
        A value is outside its range.
    """

    reads: int = 10_000
    length: int = 150
    paired: bool = False
    insert: int = 400
    errors: float = 0.01

    def __post_init__(self) -> None:
        check_range("reads", self.reads, 0, MAX_READS)
        check_range("length", self.length, 1, MAX_LENGTH)
        check_range("errors", self.errors, 0, 0.5)
        if self.paired:
            check_range("insert", self.insert, self.length, MAX_LENGTH)

    @property
    def longest(self) -> int:
        """Bases of the longest stretch of a genome that a read or a pair takes."""
        return max(self.insert + self.insert // 4, self.length) if self.paired else self.length


@dataclass(frozen=True)
class ReadBatch:
    """Some reads.

    Attributes
    ----------
    first : int
        Number of the first one, from 0.
    genome : ndarray, int64 (reads,)
        Number of the genome that each is of.
    letters, qualities : tuple of ndarray, uint8 (reads, length)
        Of single reads, or of the first and the second mates; qualities are + 33.
    """

    first: int
    genome: NDArray[np.int64]
    letters: tuple[NDArray[np.uint8], ...]
    qualities: tuple[NDArray[np.uint8], ...]

    def __len__(self) -> int:
        return len(self.genome)


def simulate_reads(
    genomes: Sequence[NDArray[np.uint8]], shares: Sequence[float], scenario: ReadScenario, seed: int
) -> Iterator[ReadBatch]:
    """Draw reads of genomes.

    Parameters
    ----------
    genomes : sequence of ndarray, uint8
        Bases of each.
    shares : sequence of float
        How frequent reads of each one are, in any unit.
    scenario : ReadScenario
    seed : int
        0 or more.

    Yields
    ------
    ReadBatch

    Raises
    ------
    ParameterError
        A genome is shorter than a fragment, no genome has a share, or the seed is out of range.
    """
    check_range("seed", seed, 0, (1 << 63) - 1)
    weights = np.asarray(shares, np.float64)
    if not weights.sum() > 0:
        raise ParameterError("shares", "no genome has a share of the reads")
    for letters, share in zip(genomes, weights.tolist(), strict=True):
        if share and len(letters) < scenario.longest:
            raise ParameterError("length", f"a genome has fewer bases than a fragment has: {len(letters):,}")
    return _batches(genomes, weights, scenario, RandomBits(np.random.SeedSequence(seed)))


def _batches(
    genomes: Sequence[NDArray[np.uint8]], weights: NDArray[np.float64], scenario: ReadScenario, draws: RandomBits
) -> Iterator[ReadBatch]:
    text = np.concatenate(genomes)
    sizes = np.array([len(letters) for letters in genomes], np.int64)
    begins = np.cumsum(sizes) - sizes
    limits = np.round(np.cumsum(weights) / weights.sum() * (1 << 32)).astype(np.uint64)
    mates = 1 + scenario.paired
    size = max(BATCH_LETTERS // (mates * scenario.length), 1)
    for first in range(0, scenario.reads, size):
        number = min(size, scenario.reads - first)
        genome = np.searchsorted(limits, draws.uint32(number).astype(np.uint64), side="right")
        span = _spans(scenario, number, draws)
        start = begins[genome] + draws.below(sizes[genome] - span + 1, number)
        backward = draws.happens(number, 0.5)
        drawn = [_drawn(text, start, start + span, backward, scenario, draws)]
        if scenario.paired:
            drawn.append(_drawn(text, start, start + span, ~backward, scenario, draws))
        letters, qualities = zip(*drawn, strict=True)
        yield ReadBatch(first, genome, letters, qualities)


def _spans(scenario: ReadScenario, number: int, draws: RandomBits) -> NDArray[np.int64]:
    """Bases of fragments: a triangular distribution around the mean."""
    if not scenario.paired:
        return np.full(number, scenario.length, np.int64)
    half = scenario.insert // 8
    spans = scenario.insert + draws.within(-half, half, number) + draws.within(-half, half, number)
    return np.asarray(np.maximum(spans, scenario.length), np.int64)


def _drawn(
    text: NDArray[np.uint8],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    backward: NDArray[np.bool_],
    scenario: ReadScenario,
    draws: RandomBits,
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Bases and qualities of reads from the start of fragments, or backward from their end."""
    windows = np.lib.stride_tricks.sliding_window_view(text, scenario.length)
    letters = windows[np.where(backward, end - scenario.length, start)]
    letters[backward] = COMPLEMENTS[letters[backward][:, ::-1]]
    wrong = _wrong(letters.shape, scenario.errors, draws)
    qualities = _qualities(letters.shape, wrong, scenario.errors, draws)
    rows, columns = wrong
    letters[rows, columns] = OTHERS[letters[rows, columns], draws.below(3, len(rows))]
    return letters, qualities


def _wrong(shape: tuple[int, int], errors: float, draws: RandomBits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which bases are wrong: their reads and places, place by place."""
    rates = _rates(shape[1], errors)
    found = [np.flatnonzero(draws.happens(shape[0], rate)) for rate in rates.tolist()]
    places = np.repeat(np.arange(shape[1]), [len(rows) for rows in found])
    return np.concatenate(found), places


def _rates(length: int, errors: float) -> NDArray[np.float64]:
    """Probabilities of errors at each place, which grow threefold along a read."""
    rates: NDArray[np.float64] = np.minimum(errors * (0.5 + np.arange(length) / max(length - 1, 1)), 1)
    return rates


def _qualities(
    shape: tuple[int, int], wrong: tuple[NDArray[np.int64], NDArray[np.int64]], errors: float, draws: RandomBits
) -> NDArray[np.uint8]:
    """Qualities + 33: of the probabilities of errors, with noise; many wrong bases have lower ones."""
    exact = -10 * np.log10(np.maximum(_rates(shape[1], errors), 1e-5))
    means = np.clip(np.round(exact), _WORST_QUALITY, _BEST_QUALITY).astype(np.int8)
    noise = _QUALITY_NOISE[draws.uint8(shape[0] * shape[1]) & 7].reshape(shape)
    qualities = means + noise
    qualities[wrong] -= np.where(draws.happens(len(wrong[0]), 0.5), _ERROR_QUALITY, 0).astype(np.int8)
    return np.asarray(np.clip(qualities, _WORST_QUALITY, _BEST_QUALITY) + QUALITY_ZERO, np.uint8)


def fastq(batch: ReadBatch, genomes: Sequence[ListedGenome], mates: Sequence[int]) -> bytes:
    """Return records of four lines; names end in /1 and /2 for pairs, and headers tell the taxon, if there is one.

    Parameters
    ----------
    batch : ReadBatch
    genomes : sequence of ListedGenome
    mates : sequence of int
        Which mates of each pair, or 0 for single reads.
    """
    paired = len(batch.letters) > 1
    taxids = [b" taxid|%d" % one.species_taxid if one.species_taxid else b"" for one in genomes]
    told = [taxids[genome] for genome in batch.genome.tolist()]
    ends = [(b"/%d" % (mate + 1) if paired else b"", _rows(batch.letters[mate]), _rows(batch.qualities[mate]))
            for mate in mates]  # fmt: skip
    records = []
    for number, taxid in enumerate(told):
        for end, letters, qualities in ends:
            records.append(
                b"@r%d%s%s\n%s\n+\n%s\n" % (batch.first + number, end, taxid, letters[number], qualities[number])
            )
    return b"".join(records)


def _rows(letters: NDArray[np.uint8]) -> list[bytes]:
    rows: list[bytes] = np.ascontiguousarray(letters).view(f"S{letters.shape[1]}")[:, 0].tolist()
    return rows


def write_truth(stream: Sink, batch: ReadBatch, genomes: Sequence[ListedGenome]) -> None:
    """Write a line for each read or pair: name, taxids of its species and genus (0 for aliens), and class."""
    ends = [f"\t{one.species_taxid}\t{one.genus_taxid}\t{one.role}\n" for one in genomes]
    lines = [f"r{batch.first + number}{ends[genome]}" for number, genome in enumerate(batch.genome.tolist())]
    stream.write("".join(lines).encode())
