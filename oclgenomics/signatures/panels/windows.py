"""Windows: stretches of patterns, up to 32 letters of each, that samples are searched for with edits.

A pattern is cut into parts, each with a window. Of an alignment with at most E edits one of n windows, which have no
letter in common, gets at most E // n. So a search for each window with so many edits misses no match.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.panels.letters import is_concrete
from oclgenomics.signatures.panels.panel import Patterns

HEIGHT = 32  # letters of a window at most, a bit each
STARTS = 16  # places of a window in its part that are looked at
NUCLEOTIDES = 4


@dataclass(frozen=True)
class Windows:
    """Windows of some patterns, ordered by pattern, then by place; arrays of one length.

    Attributes
    ----------
    pattern : ndarray, int64
        Number of the window's pattern.
    begin, height : ndarray, int64
        Letters begin .. begin + height - 1 of the pattern.
    edits : ndarray, int64
        That the window may have, fewer than its letters.
    known : ndarray, int64
        Letters that are a single nucleotide.
    """

    pattern: NDArray[np.int64]
    begin: NDArray[np.int64]
    height: NDArray[np.int64]
    edits: NDArray[np.int64]
    known: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pattern)

    @property
    def behind(self) -> NDArray[np.int64]:
        """The letter behind each window."""
        return self.begin + self.height

    def take(self, chosen: NDArray[np.bool_]) -> Windows:
        """Return some of them."""
        return Windows(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @classmethod
    def joined(cls, parts: Iterable[Windows]) -> Windows:
        """Put windows together, in order."""
        parts = list(parts)
        columns = [
            np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in parts)])
            for name in cls.__dataclass_fields__
        ]
        order = np.lexsort((columns[1], columns[0]))
        return cls(*(column[order] for column in columns))

    @cached_property
    def patterns(self) -> NDArray[np.int64]:
        """The patterns that have windows, ascending."""
        # `numpy.unique` imports `numpy.ma`, which takes longer than a scan of a small file.
        return self.pattern[np.diff(self.pattern, prepend=-1) > 0]


def cut_windows(patterns: Patterns, numbers: NDArray[np.int64], max_edits: int, parts: int) -> Windows:
    """Return the windows of some patterns that are cut into so many parts, those with the most single nucleotides.

    Parameters
    ----------
    patterns : Patterns
    numbers : ndarray, int64
        The patterns; those whose windows would have no more letters than edits get none.
    max_edits : int
        Of the whole pattern.
    parts : int
    """
    edits = max_edits // parts
    numbers = numbers[np.minimum(patterns.lengths[numbers] // parts, HEIGHT) > edits]
    if not len(numbers):
        return Windows(*(np.empty(0, np.int64) for _ in range(5)))
    known = np.concatenate([[0], np.cumsum(is_concrete(patterns.sets))])
    borders = patterns.lengths[numbers, None] * np.arange(parts + 1) // parts
    room = np.diff(borders)
    height = np.minimum(room, HEIGHT)
    slack = room - height
    starts = min(STARTS, int(slack.max()) + 1)
    begin = borders[:, :-1, None] + slack[..., None] * np.arange(starts) // max(starts - 1, 1)
    at = patterns.offsets[numbers][:, None, None] + begin
    singles = known[at + height[..., None]] - known[at]
    best = singles.argmax(axis=2)[..., None]
    begin, singles = (np.take_along_axis(of, best, 2).ravel() for of in (begin, singles))
    return Windows(np.repeat(numbers, parts), begin, height.ravel(), np.full(len(begin), edits), singles)


def useful_parts(max_edits: int, most: int) -> list[int]:
    """Return the numbers of parts that need fewer edits in a window than any smaller number, at most `most`."""
    parts = {max_edits // (edits + 1) + 1 for edits in range(max_edits + 1)}
    return sorted(part for part in parts if part <= most)


def ends_by_chance() -> NDArray[np.float64]:
    """Return how likely a random end of a sample has so few edits, (known letters + 1, edits + 1); an estimate.

    It counts what at most so many edits make of the letters, five at each place, and is within a factor of 2 of what
    was measured with windows of 12 to 32 letters.
    """
    chances = np.ones((HEIGHT + 1, HEIGHT + 1))
    for letters in range(1, HEIGHT + 1):
        term = total = float(NUCLEOTIDES**-letters)
        for edits in range(HEIGHT + 1):
            chances[letters, edits] = min(1.0, total)
            term *= 5 * (letters - edits) / (edits + 1)
            total += max(term, 0.0)
    return chances


CHANCES = ends_by_chance()
