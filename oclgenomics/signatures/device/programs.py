"""What bit planes are compared with: the planes that patterns ask for, in the order that excludes starts soonest."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.signatures.letters import ANY, is_concrete
from oclgenomics.signatures.panel import Patterns

__all__ = ["FIRST_STEPS", "MAX_LETTERS", "Programs", "concrete_bits", "head_steps", "make_programs"]

POSITION_BITS = 28
MAX_LETTERS = 1 << POSITION_BITS  # of a pattern
HEADS = 8, 12, 16, 24, 32  # steps to take at once, before survivors are looked for
STARTS = 512  # of a window of CPUs; GPUs' windows of 32 starts are looked at side by side
FEW_SURVIVORS = 0.03  # of a window
SIZES = np.array([bin(bases).count("1") for bases in range(16)], np.uint8)
FIRST_STEPS = 32  # as planes.cl has it
LOT = 1 << 20  # letters of patterns at a time, for which some arrays of that length are made


@dataclass(frozen=True)
class Programs:
    """Programs of some patterns.

    A step is a plane and a position: of all starts, those stay whose letter at this position is in the plane. Letters N
    exclude nothing and are left out. Steps at multiples of `align` come first, for which planes are read as they lie.
    Of both kinds, letters that stand for fewer nucleotides come before others.

    Attributes
    ----------
    sets : ndarray, uint8
        The set of each plane, the last one of which is N's.
    steps : ndarray, uint32
        Plane << 28 | position.
    begins : ndarray, uint64 (patterns + 1,)
        Pattern i has steps[begins[i] : begins[i + 1]].
    turns : ndarray, uint64 (patterns,)
        Where those begin that are at no multiple of `align`.
    first_steps : ndarray, uint32 (patterns, 32)
        The first steps at multiples of `align`, then steps that exclude nothing.
    """

    sets: NDArray[np.uint8]
    steps: NDArray[np.uint32]
    begins: NDArray[np.uint64]
    turns: NDArray[np.uint64]
    first_steps: NDArray[np.uint32]

    @property
    def aligned(self) -> NDArray[np.int64]:
        """How many steps of each pattern are at multiples of `align`."""
        return (self.turns - self.begins[:-1]).astype(np.int64)


def make_programs(patterns: Patterns, numbers: NDArray[np.uint32], *, align: int) -> Programs:
    """Make the programs of some patterns.

    Raises
    ------
    ParameterError
        A pattern has more than 2^28 letters.
    """
    longest = int(patterns.lengths[numbers].max(initial=0))
    if longest > MAX_LETTERS:
        raise ParameterError(
            "method", f"a signature of {longest} letters is too long for planes; choose brute", "planes"
        )
    sets = np.append(np.flatnonzero(np.bincount(patterns.sets, minlength=16)[:ANY]), ANY).astype(np.uint8)
    plane_of = np.searchsorted(sets, np.arange(16)).astype(np.uint32)
    ends = np.cumsum(patterns.lengths[numbers])
    parts = [_steps(patterns, numbers[:0], plane_of, align)]
    first = 0
    while first < len(numbers):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + LOT, side="right")))
        parts.append(_steps(patterns, numbers[first:last], plane_of, align))
        first = last
    steps, sizes, aligned = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    begins = np.concatenate([[0], np.cumsum(sizes)])
    turns = begins[:-1] + aligned
    places = begins[:-1, None] + np.arange(FIRST_STEPS)
    idle = np.uint32(plane_of[ANY] << POSITION_BITS)
    first_steps = np.append(steps, idle)[np.where(places < turns[:, None], places, -1)]
    return Programs(sets, steps, begins.astype(np.uint64), turns.astype(np.uint64), first_steps)


def _steps(
    patterns: Patterns, numbers: NDArray[np.uint32], plane_of: NDArray[np.uint32], align: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Steps of some patterns, how many each has, and how many of these are at multiples of `align`."""
    lengths = patterns.lengths[numbers]
    sets = np.concatenate([np.empty(0, np.uint8), *(patterns.of(number) for number in numbers.tolist())])
    position = (np.arange(len(sets)) - np.repeat(np.cumsum(lengths) - lengths, lengths)).astype(np.uint32)
    pattern = np.repeat(np.arange(len(numbers)), lengths)
    used = sets != ANY
    sets, position, pattern = sets[used], position[used], pattern[used]
    rank = SIZES[sets] - 1 + 3 * (position % align != 0).astype(np.uint8)  # 0 to 5, in this order
    counts = np.bincount(pattern * 6 + rank, minlength=6 * len(numbers)).reshape(-1, 6)
    # One sort by ranks, in which patterns and positions keep their order; then each step goes to where its pattern is.
    to = np.cumsum(counts).reshape(counts.shape) - counts
    runs = counts.T.ravel()
    places = np.repeat(to.T.ravel() - (np.cumsum(runs) - runs), runs) + np.arange(len(sets))
    steps = np.empty(len(sets), np.uint32)
    steps[places] = (plane_of[sets] << POSITION_BITS | position)[np.argsort(rank, kind="stable")]
    return steps, counts.sum(axis=1), counts[:, :3].sum(axis=1)


def head_steps(ambiguous: float, mismatches: int, aligned: float) -> int:
    """Return how many steps to take at once, so that few windows have survivors afterwards.

    Parameters
    ----------
    ambiguous : float
        Share of the letters of samples that are no single nucleotide.
    mismatches : int
        Mismatches that a match may have.
    aligned : float
        Steps at aligned positions that programs have: to take more at once excludes nothing.
    """
    stays = ambiguous + (1 - ambiguous) / 4  # the chance that a step leaves a start
    for head in HEADS:
        left = sum(
            comb(head, misses) * (1 - stays) ** misses * stays ** (head - misses) for misses in range(mismatches + 1)
        )
        if STARTS * left < FEW_SURVIVORS or head >= aligned:
            return head
    return HEADS[-1]


def concrete_bits(patterns: Patterns, numbers: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return which letters of some patterns are single nucleotides.

    Returns
    -------
    bits : ndarray, uint32
        Letter i of a pattern is bit i & 31 of its word i >> 5; each pattern begins with a word.
    begins : ndarray, uint64 (patterns + 1,)
        Where the words of each pattern are.
    """
    words = -(-patterns.lengths[numbers] // 32)
    begins = np.concatenate([[0], np.cumsum(words)]).astype(np.uint64)
    bits = np.zeros(int(begins[-1]), "<u4")
    for number, begin in zip(numbers.tolist(), begins.tolist(), strict=False):
        packed = np.packbits(is_concrete(patterns.of(number)), bitorder="little")
        bits.view(np.uint8)[4 * begin :][: len(packed)] = packed
    return bits.astype(np.uint32, copy=False), begins
