"""The table that samples are looked up in: which seeds begin with a head, and with which tails.

The table has a row for each head in five letters, 5^head rows: letter j of a head counts 5^j. A row is 125 bits, one
for each tail that a seed with this head may have, and a list of these seeds. Most places of a sample cost one look at
one bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.panel import Patterns
from oclgenomics.signatures.seeds import CHECKED, CODES, STEP, TAIL, choose_seeds

__all__ = ["ROW_WORDS", "SeedTable", "make_table"]

ROW_WORDS = 4  # of 32 bits
ANY = np.uint8(15)


@dataclass(frozen=True)
class SeedTable:
    """Seeds of patterns, and where to find them.

    Attributes
    ----------
    head : int
        Letters of a head.
    mismatches : int
        That may be found.
    pattern, offset : ndarray, uint32 (seeds,)
        The pattern of each seed and its place in it. Seeds are ordered by pattern; a pattern has STEP seeds for each
        mismatch and one more, those of one remainder STEP apart.
    barred : ndarray, uint64 (seeds,)
        The nucleotides that the CHECKED letters behind the head do not match, four bits each, lowest first; none behind
        the pattern's end.
    bits : ndarray, uint32 (5^head * ROW_WORDS,)
        The tails of each row: bit t for the tail with code t.
    first : ndarray, uint32 (5^head + 1,)
        The seeds of row r are lists[first[r] : first[r + 1]].
    lists : ndarray, uint32
    unseeded : ndarray, int32
        Patterns without seeds.
    """

    head: int
    mismatches: int
    pattern: NDArray[np.uint32]
    offset: NDArray[np.uint32]
    barred: NDArray[np.uint64]
    bits: NDArray[np.uint32]
    first: NDArray[np.uint32]
    lists: NDArray[np.uint32]
    unseeded: NDArray[np.int32]


def make_table(patterns: Patterns, max_mismatches: int, head: int) -> SeedTable:
    """Choose seeds of patterns and make the table of them.

    Parameters
    ----------
    patterns : Patterns
    max_mismatches : int
    head : int
        Letters of a head; as `choose_head` says.
    """
    seeds = choose_seeds(patterns, max_mismatches, head)
    pattern = np.repeat(seeds.pattern, (max_mismatches + 1) * STEP)
    offset = seeds.offset.ravel()
    at = patterns.offsets[pattern] + offset
    letters = patterns.sets[at[:, None] + np.arange(head)]
    rows, numbers = _rows(letters)
    key = np.sort(rows << np.uint64(32) | numbers)
    lists = key.astype(np.uint32)
    first = np.zeros(5**head + 1, np.uint32)
    lengths = np.bincount((key >> np.uint64(32)).view(np.int64), minlength=5**head)
    first[1:] = np.cumsum(lengths)
    tails = _tails(patterns.sets[at[:, None] + np.arange(head, head + TAIL)])
    bits = np.zeros((5**head, 2), np.uint64)
    used = lengths > 0
    if len(lists):
        bits[used] = np.bitwise_or.reduceat(tails[lists], first[:-1][used].astype(np.int64), axis=0)
    return SeedTable(
        head,
        max_mismatches,
        pattern.astype(np.uint32),
        offset.astype(np.uint32),
        _barred(patterns, pattern, offset + head),
        bits.view(np.uint32).ravel(),
        first,
        lists,
        seeds.unseeded,
    )


def _codes() -> NDArray[np.uint64]:
    """The codes that a letter can meet, uint64 (16, 5), by set; filled up with 4."""
    codes = np.full((16, 5), 4, np.uint64)
    for bases in range(16):
        met = [bit for bit in range(4) if bases >> bit & 1] + [4]
        codes[bases, : len(met)] = met
    return codes


MET = _codes()
MET_BITS = (MET[..., None] == np.arange(5)).any(axis=1)  # the same as (16, 5) truths


def _rows(heads: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return all rows that heads, uint8 (seeds, letters), are listed in, and the seed of each."""
    place = np.argsort(CODES[heads], axis=1, kind="stable")
    letters = np.take_along_axis(heads, place, 1)
    worth = np.uint64(5) ** place.astype(np.uint64)
    shape = (CODES[letters] << (3 * np.arange(heads.shape[1]))).sum(axis=1)
    rows, numbers = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for one in np.unique(shape):  # seeds that have as many codes at the same letters
        seeds = np.flatnonzero(shape == one)
        found = np.zeros((len(seeds), 1), np.uint64)
        for j, codes in enumerate(CODES[letters[seeds[0]]]):
            values = MET[letters[seeds, j], :codes] * worth[seeds, j, None]
            found = (found[:, :, None] + values[:, None, :]).reshape(len(seeds), -1)
        rows.append(found.ravel())
        numbers.append(np.repeat(seeds.astype(np.uint64), found.shape[1]))
    return np.concatenate(rows), np.concatenate(numbers)


def _tails(tails: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the bits of all codes that tails, uint8 (seeds, TAIL), can meet, uint64 (seeds, 2)."""
    met = [MET_BITS[tails[:, j]] for j in range(TAIL)]
    cube = met[2][:, :, None, None] & met[1][:, None, :, None] & met[0][:, None, None, :]
    bits = np.zeros((len(tails), 32 * ROW_WORDS), np.bool_)
    bits[:, : 5**TAIL] = cube.reshape(len(tails), 5**TAIL)
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def _barred(patterns: Patterns, pattern: NDArray[np.int32], begin: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what letters of patterns from `begin` on do not match, as `SeedTable` has it."""
    barred = np.zeros(len(pattern), np.uint64)
    for j in range(CHECKED):
        inside = begin + j < patterns.lengths[pattern]
        at = patterns.offsets[pattern] + begin + j
        letter = np.where(inside, patterns.sets[np.minimum(at, len(patterns.sets) - 1)], ANY)
        barred |= (ANY ^ letter).astype(np.uint64) << np.uint64(4 * j)
    return barred
