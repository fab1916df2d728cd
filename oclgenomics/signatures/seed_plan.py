"""How long the heads of seeds are: a table that costs less to make, or fewer places to look at closely."""

from __future__ import annotations

import numpy as np

from oclgenomics.signatures.panel import Patterns
from oclgenomics.signatures.seeds import MAX_HEAD, MIN_HEAD, STEP, TAIL

__all__ = ["choose_head", "expected_candidates"]

# Nanoseconds, of one of two cores of 2024.
LISTED = 40.0  # to make the table, for each seed in a row
ROW = 4.0  # and for each row
HIT = 6.0  # of a scan, for each place with its bit set
COMPARED = 1.5  # and for each seed in its row
FIRST_BYTES, LOOK_UP, FURTHER = 1 << 19, 1.0, 0.5  # a look-up in a table in the nearest cache; each 4 times as large
ROW_BYTES = 20
MAX_LISTED = 1 << 24  # seeds in all rows
SHORT_SHARE = 0.02  # of the patterns, that may be too short for their seeds


def choose_head(patterns: Patterns, max_mismatches: int, n_rate: float, letters: int, candidate: float = 0.0) -> int:
    """Return how many letters the heads of seeds have for the least time in all.

    Parameters
    ----------
    patterns : Patterns
    max_mismatches : int
    n_rate : float
        Share of the samples' letters that are no single nucleotide, as far as it is known.
    letters : int
        How many letters will be looked through, about.
    candidate : float
        Nanoseconds for each seed that is found, if all of them have to be looked at more closely.
    """
    seeds = len(patterns) * STEP * (max_mismatches + 1)
    room = int(np.quantile(patterns.lengths, SHORT_SHARE)) // (max_mismatches + 1) - TAIL - STEP + 1
    longest = min(MAX_HEAD, max(MIN_HEAD, room))
    while longest > MIN_HEAD and seeds << longest > MAX_LISTED:
        longest -= 1
    costs = [_nanoseconds(seeds, head, n_rate, letters, candidate) for head in range(MIN_HEAD, longest + 1)]
    return MIN_HEAD + int(np.argmin(costs))


def _nanoseconds(seeds: int, head: int, n_rate: float, letters: int, candidate: float) -> float:
    """Time to make a table and look through samples with it."""
    rows = 5**head
    agree = n_rate + (1 - n_rate) / 4  # of a letter and a nucleotide, by chance
    hits = min(1.0, seeds * agree ** (head + TAIL))
    further = max(0.0, np.log2(rows * ROW_BYTES / FIRST_BYTES) / 2)
    look_up = LOOK_UP + FURTHER * further + hits * (HIT + COMPARED * (1 + seeds * agree**head))
    look_up += seeds * agree ** (head + TAIL) * candidate
    return float(LISTED * (seeds << head) + ROW * rows + look_up * letters / STEP)


def expected_candidates(patterns: Patterns, max_mismatches: int, n_rate: float, letters: int) -> tuple[int, float]:
    """Return how many seeds an index lists under their codes, and how many have to be compared for each letter.

    Parameters are those of `choose_head`. Patterns too short for seeds are counted, too.
    """
    head = choose_head(patterns, max_mismatches, n_rate, letters)
    seeds = len(patterns) * STEP * (max_mismatches + 1)
    agree = n_rate + (1 - n_rate) / 4
    return seeds << head, seeds * agree ** (head + TAIL) / STEP
