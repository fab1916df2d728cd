"""What bit planes are compared with: the planes that patterns ask for, in the order that excludes starts soonest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.signatures.letters import ANY, is_concrete
from oclgenomics.signatures.panel import Patterns

__all__ = ["MAX_LETTERS", "Programs", "concrete_bits", "make_programs"]

POSITION_BITS = 28
MAX_LETTERS = 1 << POSITION_BITS  # of a pattern
SIZES = np.array([bin(bases).count("1") for bases in range(16)], np.uint8)
LOT = 1 << 20  # letters of patterns at a time, for which some arrays of that length are made


@dataclass(frozen=True)
class Programs:
    """Programs of some patterns.

    A step is a plane and a position: of all starts, those stay whose letter at this position is in the plane. Letters N
    exclude nothing and are left out. Steps at multiples of `align` come first, for which planes are read as they lie;
    there are at least `head` of them, if need be with steps that exclude nothing. Letters that stand for fewer
    nucleotides come before others.

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
    """

    sets: NDArray[np.uint8]
    steps: NDArray[np.uint32]
    begins: NDArray[np.uint64]
    turns: NDArray[np.uint64]


def make_programs(patterns: Patterns, numbers: NDArray[np.uint32], *, align: int, head: int) -> Programs:
    """Make the programs of some patterns.

    Raises
    ------
    ParameterError
        A pattern has more than 2^28 letters.
    """
    longest = int(patterns.lengths[numbers].max(initial=0))
    if longest > MAX_LETTERS:
        raise ParameterError("method", f"one with {longest} letters is too long for planes; choose brute", "planes")
    sets = np.append(np.flatnonzero(np.bincount(patterns.sets, minlength=16)[:ANY]), ANY).astype(np.uint8)
    plane_of = np.searchsorted(sets, np.arange(16)).astype(np.uint32)
    ends = np.cumsum(patterns.lengths[numbers])
    parts, sizes, turns = [np.empty(0, np.uint32)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    first = 0
    while first < len(numbers):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + LOT, side="right")))
        letters = [patterns.of(number) for number in numbers[first:last].tolist()]
        steps, size, aligned = _steps(letters, plane_of, align, head)
        parts.append(steps)
        sizes.append(size)
        turns.append(aligned)
        first = last
    begins = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.uint64)
    return Programs(sets, np.concatenate(parts), begins, begins[:-1] + np.concatenate(turns).astype(np.uint64))


def _steps(
    letters: list[NDArray[np.uint8]], plane_of: NDArray[np.uint32], align: int, head: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Steps of some patterns, how many each has, and how many of these are at multiples of `align`."""
    lengths = np.array([len(part) for part in letters])
    sets = np.concatenate(letters)
    position = (np.arange(len(sets)) - np.repeat(np.cumsum(lengths) - lengths, lengths)).astype(np.uint32)
    pattern = np.repeat(np.arange(len(letters)), lengths)
    used = sets != ANY
    sets, position, pattern = sets[used], position[used], pattern[used]
    rank = SIZES[sets] - 1 + 3 * (position % align != 0).astype(np.uint8)  # 0 to 5, in this order
    counts = np.bincount(pattern * 6 + rank, minlength=6 * len(letters)).reshape(-1, 6)
    aligned = counts[:, :3].sum(axis=1)
    idle = np.maximum(head - aligned, 0)
    sizes = counts.sum(axis=1) + idle
    begins = np.cumsum(sizes) - sizes + idle
    to = begins[:, None] + np.cumsum(counts, axis=1) - counts  # of each pattern's steps of each rank
    order = np.argsort(rank, kind="stable")
    runs = counts.T.ravel()
    places = np.repeat(to.T.ravel() - (np.cumsum(runs) - runs), runs) + np.arange(len(sets))
    steps = np.full(int(sizes.sum()), plane_of[ANY] << POSITION_BITS, np.uint32)
    steps[places] = (plane_of[sets] << POSITION_BITS | position)[order]
    return steps, sizes, aligned + idle


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
