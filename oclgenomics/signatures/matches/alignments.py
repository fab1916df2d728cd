"""Alignments of signatures to the samples' bases under matches, traced for many matches at once on the host.

The rule is that of `oclgenomics.signatures.reference.cigar`. A match with at most E edits lies within E diagonals of
the first one, so its costs are those of a band: row i has the costs of the signature's first i bases and of i - E to
i + E of the sample's. Rows of all matches are computed together, and each cell keeps by which step it is reached; the
steps are then followed from the last base back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.name_list import NameList
from oclgenomics.signatures.panels.letters import COMPLEMENTS, SETS, is_concrete
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.result import Matches

STEPS = "=XDI"
SAME, OTHER, DELETED, INSERTED = range(len(STEPS))
WIDE_BAND = 32  # diagonals, from which on those of a row are joined by one call
STEP_BYTES = 1 << 24  # of the steps of a lot, so that they stay near
LOT_BASES = 1 << 22  # compared together


@dataclass(frozen=True)
class Traced:
    """How signatures are aligned to matches; one row for each.

    Attributes
    ----------
    same : ndarray, int64
        Positions at which bases agree: those of `=`.
    cigar : NameList
    """

    same: NDArray[np.int64]
    cigar: NameList


def trace(panel: Panel, matches: Matches, letters: NameList, *, gaps: bool) -> Traced:
    """Align signatures to the bases under their matches.

    Parameters
    ----------
    panel : Panel
    matches : Matches
    letters : NameList
        The sample's bases under each match, from left to right.
    gaps : bool
        Whether edits were allowed, not mismatches alone.
    """
    first, last = matches.inside(panel.lengths)
    length = last - first
    whole = matches.mismatches == 0
    same, texts = length.copy(), [f"{size}=" for size in np.where(whole, length, 0).tolist()]
    rest = np.flatnonzero(~whole)
    rest = rest[np.argsort(-length[rest], kind="stable")]  # so that those of a lot are about as long
    for lot in _lots(rest, length, matches.mismatches if gaps else None):
        text = _turned(letters.take(lot), matches.strand[lot])
        begin = panel.offsets[matches.signature[lot]] + first[lot]
        pattern = spans(panel.sets, begin, begin + length[lot])
        steps = _steps(text, pattern, matches.mismatches[lot]) if gaps else _compared(text, pattern)
        same[lot] = np.add.reduceat(steps.letters == SAME, steps.starts[:-1])
        for row, cigar in zip(lot.tolist(), _cigars(steps), strict=True):
            texts[row] = cigar
    return Traced(same, NameList.of(texts))


def _lots(
    rows: NDArray[np.int64], length: NDArray[np.int64], edits: NDArray[np.int32] | None
) -> Iterator[NDArray[np.int64]]:
    """Rows that are traced together: longest first, so the first of them says how many there may be."""
    begin = 0
    while begin < len(rows):
        longest = int(length[rows[begin]])
        if edits is None:
            most = LOT_BASES // longest
        else:
            most = STEP_BYTES // ((longest + 1) * _diagonals(int(edits[rows].max())))
        yield rows[begin : begin + max(1, most)]
        begin += max(1, most)


def _diagonals(edits: int) -> int:
    return 2 * edits + 1


def _turned(letters: NameList, strand: NDArray[np.uint8]) -> NameList:
    """Bases as sets of nucleotides, those of reverse complements turned to the signature's strand."""
    sets = SETS[letters.letters]
    row = np.repeat(np.arange(len(letters)), letters.sizes)
    back = letters.starts[row] + letters.starts[row + 1] - 1 - np.arange(len(sets))
    return NameList(np.where(strand[row] == 1, COMPLEMENTS[sets[back]], sets), letters.starts)


def spans(letters: NDArray[np.uint8], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NameList:
    """Return the stretches begin .. end - 1 of an array, one behind the other, in memory of their own."""
    bounds = np.column_stack([begin, end]).astype(np.int64).ravel()
    return NameList(letters, bounds).take(np.arange(0, len(bounds), 2))


def _compared(text: NameList, pattern: NameList) -> NameList:
    """The steps of alignments without gaps."""
    met = (text.letters & pattern.letters) != 0
    return NameList(np.where(met, np.uint8(SAME), np.uint8(OTHER)), text.starts)


def _steps(text: NameList, pattern: NameList, edits: NDArray[np.int32]) -> NameList:
    """The steps of the alignments of all of each pattern to all of each text; patterns come longest first."""
    band = int(edits.max())
    patterns, texts = _padded(pattern, 0), _padded(text, band)
    reached = _forward(patterns, texts, pattern.sizes, band)
    return _back(reached, pattern.sizes, text.sizes, band)


def _padded(some: NameList, before: int) -> NDArray[np.uint8]:
    """Texts as columns, with nothing, which no base meets, before and behind them, uint8 (bases, texts)."""
    sizes = some.sizes
    padded = np.zeros((len(sizes), before + int(sizes.max()) + 2 * before), np.uint8)
    padded[:, before:][np.arange(padded.shape[1] - before) < sizes[:, None]] = some.letters
    return np.ascontiguousarray(padded.T)


def _forward(
    patterns: NDArray[np.uint8], texts: NDArray[np.uint8], sizes: NDArray[np.int64], band: int
) -> NDArray[np.uint8]:
    """By which step each cell is reached at the least cost, uint8 (bases + 1, diagonals, alignments)."""
    longest, count = patterns.shape
    diagonals = _diagonals(band)
    highest = 2 * diagonals * (longest + 1)  # above the costs of all alignments that stay in the band
    kind: Any = np.int32 if highest < 1 << 30 else np.int64
    per_edit = kind(longest + 1)  # more than all informative positions
    sideways = per_edit * np.arange(diagonals, dtype=kind)[:, None]
    reached = np.full((longest + 1, diagonals, count), INSERTED, np.uint8)
    cost = np.full((diagonals + 1, count), highest, kind)  # and one outside the band, which is never reached
    cost[band:-1] = sideways[: band + 1]
    active = np.searchsorted(-sizes, -np.arange(longest), "left")  # patterns with more than so many bases
    for i in range(longest):
        some = slice(int(active[i]))
        one, other = patterns[i, some], texts[i : i + diagonals, some]
        met = (one & other) != 0
        alone = (one == other) & is_concrete(one)
        across = cost[:-1, some] + np.where(met, -alone.astype(kind), per_edit)
        down = cost[1:, some] + per_edit
        least = np.minimum(across, down)
        if diagonals < WIDE_BAND:
            for k in range(1, diagonals):
                np.minimum(least[k], least[k - 1] + per_edit, out=least[k])
        else:
            least = np.minimum.accumulate(least - sideways, axis=0) + sideways
        steps = np.where(met, np.uint8(SAME), np.uint8(OTHER))
        reached[i + 1, :, some] = np.where(across == least, steps, np.where(down == least, DELETED, INSERTED))
        np.minimum(least, highest, out=cost[:-1, some])
    return reached


def _back(
    reached: NDArray[np.uint8], pattern_sizes: NDArray[np.int64], text_sizes: NDArray[np.int64], band: int
) -> NameList:
    """Follow steps from the last cell of each alignment to its first one."""
    count = len(pattern_sizes)
    column = np.arange(count)
    i, k = pattern_sizes.copy(), text_sizes - pattern_sizes + band
    told = np.full((int(pattern_sizes.max()) + band, count), len(STEPS), np.uint8)
    for row in told:
        going = (i > 0) | (k > band)
        if not going.any():
            break
        step = np.where(going, reached[i, k, column], np.uint8(len(STEPS)))
        row[:] = step
        i -= (step == SAME) | (step == OTHER) | (step == DELETED)
        k += (step == DELETED).astype(np.int64) - (step == INSERTED)
    forward = told[::-1].T
    known = forward < len(STEPS)
    return NameList(forward[known], np.append(0, np.cumsum(known.sum(axis=1))))


def _cigars(steps: NameList) -> list[str]:
    """Steps as CIGARs."""
    begins = np.ones(len(steps.letters), np.bool_)
    begins[1:] = steps.letters[1:] != steps.letters[:-1]
    begins[steps.starts[:-1]] = True
    begin = np.flatnonzero(begins)
    sizes = np.diff(begin, append=len(steps.letters)).tolist()
    runs = [f"{size}{STEPS[step]}" for size, step in zip(sizes, steps.letters[begin].tolist(), strict=True)]
    bounds = np.searchsorted(begin, steps.starts).tolist()
    return ["".join(runs[first:last]) for first, last in pairwise(bounds)]
