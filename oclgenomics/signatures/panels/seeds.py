"""Seeds: places of patterns where samples are searched first.

A seed is some neighbouring letters of a pattern, which lie under the sample where the pattern matches. Its first
letters are its head, the last `TAIL` its tail. Samples are looked up at every `STEP`-th place of the text, so a pattern
has a seed for each remainder of offsets by `STEP`: whichever start a match has, one of them lies on a place that is
looked up. With m mismatches allowed there are m + 1 seeds for each remainder, which have no letter in common, so that
one of them is free of mismatches.

The sample is read in five letters: A, C, G, T, and a fifth for all others, which may be anything. A seed is found under
each of the codes that its letters can meet, so letters of a sample that are not known hide nothing. A letter of a
pattern that stands for n nucleotides can meet n + 1 codes.

Samples are looked up in a table, which tells which seeds begin with a head, and with which tails. It has a row for each
head in five letters, 5^head rows: letter j of a head counts 5^j. A row is 125 bits, one for each tail that a seed with
this head may have, and a list of these seeds. Most places of a sample cost one look at one bit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.panels.letters import is_concrete
from oclgenomics.signatures.panels.panel import Patterns

STEP = 4  # places from one look-up to the next
TAIL = 3  # letters of a seed behind its head
MIN_HEAD, MAX_HEAD = 2, 9
CHECKED = 16  # letters from the tail on that are compared before the whole pattern is
CODES = np.array([bin(bases).count("1") + 1 for bases in range(16)])  # that a letter can meet, by set
MAX_HEAD_COST = 8  # codes of a head, over those of one of single nucleotides
FEW_STARTS, MANY_STARTS = 16, 256  # of a pattern that are looked at
UNFIT = np.float32(1e9)
BIN_BITS = 18  # of counts of equal seeds
MAX_SEEDS = 1 << 21  # kernels count the seeds of a tile in 32 bits
LOW_CODES = np.array([4, 0, 1, 4, 2, 4, 4, 4, 3, 4, 4, 4, 4, 4, 4, 4], np.uint64)  # in five letters, by set
ROW_WORDS = 4  # of a table, of 32 bits
ANY = np.uint8(15)


@dataclass(frozen=True)
class Seeds:
    """The seeds of patterns.

    Attributes
    ----------
    head : int
        Letters of a head.
    pattern : ndarray, int32 (seeded,)
        Patterns that have seeds, ascending.
    offset : ndarray, int64 (seeded, mismatches + 1, STEP)
        The first letter of each seed, offset[:, :, r] is r modulo STEP.
    unseeded : ndarray, int32
        The other patterns: too short, of too few single nucleotides, or beyond what a table takes.
    """

    head: int
    pattern: NDArray[np.int32]
    offset: NDArray[np.int64]
    unseeded: NDArray[np.int32]


def choose_seeds(patterns: Patterns, max_mismatches: int, head: int) -> Seeds:
    """Choose the seeds of patterns: few codes, few repeats, shared by few patterns.

    Parameters
    ----------
    patterns : Patterns
    max_mismatches : int
    head : int
        Letters of a head, MIN_HEAD to MAX_HEAD.
    """
    segments = max_mismatches + 1
    offset = np.full((len(patterns), segments, STEP), -1, np.int64)
    missing = np.arange(len(patterns))
    for starts in (FEW_STARTS, MANY_STARTS):
        borders = patterns.lengths[missing, None] * np.arange(segments + 1) // segments
        offset[missing] = _best_of(patterns, missing, borders, head, starts)
        missing = missing[(offset[missing] < 0).any(axis=(1, 2))]
    for pattern in missing:
        borders = _even_borders(patterns.of(int(pattern)), segments)
        offset[pattern] = _best_of(patterns, np.array([pattern]), borders, head, int(patterns.lengths[pattern]))
    found = (offset >= 0).all(axis=(1, 2))
    found &= np.cumsum(found) <= MAX_SEEDS // (segments * STEP)
    everyone = np.arange(len(patterns), dtype=np.int32)
    return Seeds(head, everyone[found], offset[found], everyone[~found])


def _even_borders(sets: NDArray[np.uint8], segments: int) -> NDArray[np.int64]:
    """Borders of segments of a pattern that have about as many single nucleotides each."""
    known = np.cumsum(is_concrete(sets))
    inner = np.searchsorted(known, known[-1] * np.arange(1, segments) / segments)
    return np.concatenate([[0], inner, [len(sets)]])[None].astype(np.int64)


def _best_of(
    patterns: Patterns, numbers: NDArray[np.int64], borders: NDArray[np.int64], head: int, starts: int
) -> NDArray[np.int64]:
    """Choose seeds among those at some starts, int64 (patterns, segments, STEP); -1 where none of them will do.

    `borders`, int64 (patterns, segments + 1), are those of the stretches that each seed has to lie in.
    """
    size = head + TAIL
    begin, room = borders[:, :-1, None], np.diff(borders)[..., None] - size - STEP + 2  # places for STEP seeds
    fits = room[..., 0] > 0
    starts = min(starts, max(int(room.max(initial=0)), 1))
    place = begin + np.arange(starts) * (np.maximum(room, 1) - 1) // max(starts - 1, 1)
    offset = place[..., None] + (np.arange(STEP) - place[..., None]) % STEP
    offset, where = offset[fits], np.nonzero(fits)
    weight = _weights(patterns, numbers[where[0]], offset, head)
    best = weight.argmin(axis=1)[:, None]
    chosen = np.where(np.take_along_axis(weight, best, 1) < UNFIT, np.take_along_axis(offset, best, 1), np.int64(-1))
    found = np.full((len(numbers), borders.shape[1] - 1, STEP), -1, np.int64)
    found[where] = chosen[:, 0]
    return found


def _weights(
    patterns: Patterns, numbers: NDArray[np.int64], offset: NDArray[np.int64], head: int
) -> NDArray[np.float32]:
    """How many wrong places each seed of each pattern is likely to be found at, as a logarithm to base 2.

    `offset`, int64 (patterns, starts, STEP), is shared by all that is indexed by it.
    """
    size = head + TAIL
    first = (patterns.offsets[numbers][:, None, None] + offset).ravel()
    letters = [patterns.sets[first + j] for j in range(size)]
    logs = np.log2(CODES).astype(np.float32)
    head_cost = sum((logs[letter] for letter in letters[:head]), np.zeros(len(first), np.float32))
    cost = sum((logs[letter] for letter in letters[head:]), head_cost)
    neighbours = np.zeros(len(first), np.uint64)
    word = np.zeros(len(first), np.uint64)
    for a, b in itertools.pairwise(letters):
        neighbours |= np.uint64(1) << (LOW_CODES[a] * np.uint64(5) + LOW_CODES[b])
    for letter in letters:
        word = word << np.uint64(4) | letter
    repeats = size - 1 - np.bitwise_count(neighbours).astype(np.float32)
    bins = (word * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - BIN_BITS)
    equal = np.bincount(bins.astype(np.int64), minlength=1 << BIN_BITS)[bins]
    behind = patterns.lengths[numbers][:, None, None] - offset - head
    unchecked = np.maximum(CHECKED - behind, 0).ravel()
    weight = cost + repeats + np.log2(equal).astype(np.float32) + unchecked
    fit: NDArray[np.float32] = np.where(head_cost > head + np.log2(MAX_HEAD_COST) + 0.01, UNFIT, weight)
    return fit.reshape(offset.shape)


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


def make_table(patterns: Patterns, max_mismatches: int, head: int, seeds: Seeds | None = None) -> SeedTable:
    """Choose seeds of patterns and make the table of them.

    Parameters
    ----------
    patterns : Patterns
    max_mismatches : int
    head : int
        Letters of a head; as `choose_head` says.
    seeds : Seeds, optional
        Those of `choose_seeds`, if they have been chosen.
    """
    seeds = choose_seeds(patterns, max_mismatches, head) if seeds is None else seeds
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
        head, max_mismatches, pattern.astype(np.uint32), offset.astype(np.uint32),
        _barred(patterns, pattern, offset + head), bits.view(np.uint32).ravel(), first, lists, seeds.unseeded,
    )  # fmt: skip


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
