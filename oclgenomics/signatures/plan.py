"""Decisions of a scan for signatures: pure arithmetic, tested without a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.panels.panel import Patterns
from oclgenomics.signatures.panels.seeds import MAX_HEAD, MIN_HEAD, STEP, TAIL
from oclgenomics.signatures.panels.windows import CHANCES, HEIGHT, Windows, cut_windows, useful_parts

MATCHES_AT_ONCE = 1 << 19  # that are listed; a writer of text takes up to a kilobyte of memory for each


@dataclass(frozen=True)
class PairPart:
    """Some of a block's pairs, whose matches are listed together.

    Attributes
    ----------
    begin, end : int
        The pairs begin .. end - 1.
    first_piece, end_piece : int
        The pieces first_piece .. end_piece - 1, those without pairs included.
    again : bool
        The part before has pairs of the first piece, too.
    goes_on : bool
        The next part has pairs of the last piece, too.
    """

    begin: int
    end: int
    first_piece: int
    end_piece: int
    again: bool
    goes_on: bool


def parts_of_pairs(
    piece: NDArray[np.uint32], hits: NDArray[np.uint32], pieces: int, most: int = MATCHES_AT_ONCE
) -> Iterator[PairPart]:
    """Cut pairs, ordered by piece, into parts of at most `most` matches; a pair that has more is a part of its own.

    Parameters
    ----------
    piece, hits : ndarray, uint32
        The piece of each pair, and the number of its matches.
    pieces : int
        Pieces of the block.
    most : int

    Yields
    ------
    PairPart
        At least one.
    """
    ends = np.cumsum(hits, dtype=np.int64)
    begin, first, again = 0, 0, False
    while True:
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + most, side="right")), min(begin + 1, len(hits)))
        done = end == len(hits)
        goes_on = not done and piece[end] == piece[end - 1]
        stop = pieces if done else int(piece[end]) + int(goes_on)
        yield PairPart(begin, end, first, stop, again, bool(goes_on))
        if done:
            return
        begin, first, again = end, stop - int(goes_on), bool(goes_on)


@dataclass(frozen=True)
class MethodCosts:
    """What methods take, in nanoseconds of a device and its host.

    Attributes
    ----------
    look_up : float
        Of the index, for a letter of a sample.
    candidate : float
        Of the index, for a seed that has to be compared with the sample.
    compare : float
        Of the index, for each letter of a pattern until the sample's letters differ.
    seed : float
        To make the index, for a seed under one of its codes.
    plane : float
        Of bit planes, for a start, a pattern and a plane that is looked at.
    step : float
        To prepare bit planes, for a letter of a pattern.
    pair : float
        Of bit planes, for a sample and a pattern, however few bases they have.
    round : float
        Of bit planes, for the launches of `pairs_at_once` pairs, and for the wait until they are done.
    pairs_at_once : int
    """

    look_up: float
    candidate: float
    compare: float
    seed: float
    plane: float
    step: float
    pair: float
    round: float
    pairs_at_once: int


# A round takes 17 bytes a pair: few enough for a CPU's cache, so many that a GPU seldom waits for the host.
CPU_PAIRS, GPU_PAIRS = 1 << 20, 1 << 23
# Measured with 110,000 reads of 150 bp and 1,000 patterns: on an H200, driver 580, in rounds of 2^20 pairs; on two
# cores (Xeon with AVX-512) with Intel's runtime and patterns of 60 to 140 bp.
GPU_PAIR, CPU_PAIR = 0.7, 16.0
ROUND = 160_000.0  # of a core of the host (Xeon), for the launches of a round and their arguments
# Measured with benchmarks/signatures.py: on two cores of 2024 (Zen 5) with Intel's runtime, and on an H200.
CPU_COSTS = MethodCosts(
    look_up=0.4, candidate=4.0, compare=0.035, seed=40.0, plane=0.0035, step=30.0, pair=CPU_PAIR, round=ROUND,
    pairs_at_once=CPU_PAIRS,
)  # fmt: skip
GPU_COSTS = MethodCosts(
    look_up=0.01, candidate=0.04, compare=0.0005, seed=40.0, plane=0.000025, step=40.0, pair=GPU_PAIR, round=ROUND,
    pairs_at_once=GPU_PAIRS,
)  # fmt: skip
MOST_AGREE = 0.99999
STARTS_TOGETHER = 512  # of a word of planes: planes are looked at until none of so many is left


def index_cost(
    costs: MethodCosts,
    letters: NDArray[Any],
    ambiguous: NDArray[Any],
    candidates: NDArray[Any],
    lengths: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return what the index takes, in nanoseconds.

    Parameters
    ----------
    costs : MethodCosts
    letters, ambiguous : ndarray of int
        Letters of samples, and how many of them are no single nucleotide.
    candidates : ndarray
        Seeds that have to be compared with each sample.
    lengths : ndarray, int64 (patterns,)
    """
    most = lengths.mean() if len(lengths) else 0
    compared = _by_agreeing(letters, ambiguous, lambda agreeing: np.minimum(1 / (1 - agreeing), most))
    cost: NDArray[np.float64] = costs.look_up * letters + (costs.candidate + costs.compare * compared) * candidates
    return cost


def planes_cost(
    costs: MethodCosts, letters: NDArray[Any], ambiguous: NDArray[Any], lengths: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return what bit planes take, in nanoseconds; parameters as those of `index_cost`."""
    planes = _by_agreeing(letters, ambiguous, lambda agreeing: np.log(STARTS_TOGETHER) / -np.log(agreeing))
    looked_at = np.minimum(planes * len(lengths), lengths.sum())
    each = costs.pair + costs.round / costs.pairs_at_once
    pairs = len(lengths) * (letters >= lengths.min(initial=1 << 32))  # samples shorter than all patterns are left out
    cost: NDArray[np.float64] = costs.plane * looked_at * letters + each * pairs
    return cost


def index_surely_pays(
    costs: MethodCosts, letters: NDArray[Any], candidates: NDArray[Any], lengths: NDArray[np.int64]
) -> bool:
    """Tell whether the index takes no more than planes for any of some samples, by the most and the least they have.

    Parameters are those of `index_cost`; bases may be ambiguous or not.
    """
    if not len(letters):
        return True
    most, least = letters.max(keepdims=True), letters.min(keepdims=True)
    index = index_cost(costs, most, most, candidates.max(keepdims=True), lengths)
    return bool((index <= planes_cost(costs, least, np.zeros(1), lengths)).all())


def _by_agreeing(letters: NDArray[Any], ambiguous: NDArray[Any], value: Callable[[Any], Any]) -> NDArray[np.float64]:
    """What is made of how likely a base of each sample agrees with a nucleotide, by chance: 1/4 in most samples."""
    values: NDArray[np.float64] = np.full(len(letters), value(0.25))
    some = np.flatnonzero(ambiguous)
    unknown = ambiguous[some] / np.maximum(letters[some], 1)
    values[some] = value(np.minimum(unknown + (1 - unknown) / 4, MOST_AGREE))
    return values


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


def index_pays(
    costs: MethodCosts,
    patterns: Patterns,
    max_mismatches: int,
    letters: NDArray[np.int64],
    ambiguous: NDArray[np.int64],
    times: int,
    *,
    has_index: bool = False,
    has_planes: bool = False,
) -> bool:
    """Tell whether the index is likely to be done sooner than planes with all samples, its making included.

    Parameters
    ----------
    costs : MethodCosts
    patterns : Patterns
    max_mismatches : int
    letters, ambiguous : ndarray, int64 (samples,)
        Of some samples, as `index_cost` takes them.
    times : int
        As many letters come so often.
    has_index, has_planes : bool
        What has been made.
    """
    total = int(letters.sum())
    seeds, candidates = expected_candidates(patterns, max_mismatches, ambiguous.sum() / max(total, 1), total * times)
    index = times * index_cost(costs, letters, ambiguous, candidates * letters, patterns.lengths).sum()
    planes = times * planes_cost(costs, letters, ambiguous, patterns.lengths).sum()
    index += 0 if has_index else costs.seed * seeds
    planes += 0 if has_planes else costs.step * len(patterns.sets)
    return bool(index < planes)


@dataclass(frozen=True)
class EditCosts:
    """What finding places with edits takes, in nanoseconds of all cores of a device and its host.

    Attributes
    ----------
    look_up : float
        Of the index, for a letter of a sample.
    lane : float
        Of the lanes, for a letter of a sample and a window.
    check : float
        Of the lanes, for an end that is looked at and a window.
    mark : float
        Of the lanes, for an end that is marked.
    candidate : float
        To find a candidate and to list its places, once it is known.
    cell, far_cell : float
        To align it, for a letter of the pattern and a diagonal, in a band of few diagonals or of many.
    """

    look_up: float
    lane: float
    check: float
    mark: float
    candidate: float
    cell: float
    far_cell: float

    def align(self, lengths: NDArray[Any], max_edits: int) -> NDArray[np.float64]:
        """Return what a candidate of each pattern takes where nothing matches: until all alignments have many edits."""
        letters = np.minimum(lengths, AGREE_BY_CHANCE * max_edits)
        cell = self.cell if max_edits <= FEW_EDITS else self.far_cell
        cost: NDArray[np.float64] = self.candidate + letters * ((4 * max_edits + 1) * cell)
        return cost


# Measured with benchmarks/signatures_edits.py on two cores (Xeon with AVX-512) and Intel's runtime; those of GPUs are
# estimates from their rate of integer operations, and not measured.
CPU_EDITS = EditCosts(look_up=0.8, lane=0.17, check=0.27, mark=300.0, candidate=800.0, cell=0.8, far_cell=10.0)
GPU_EDITS = EditCosts(look_up=0.01, lane=0.002, check=0.003, mark=60.0, candidate=200.0, cell=0.002, far_cell=0.02)
EACH = (3, 5, 7, 9, 11, 15)  # ends of which one is looked at
FEW_EDITS = 7  # whose bands are in registers
AGREE_BY_CHANCE = 4  # letters for each edit that a random alignment has at least
MOST_PARTS = 64  # that a pattern is cut into
SEEDED = MIN_HEAD + TAIL + STEP - 1  # letters without an edit that hold a seed wherever the sample is looked up


@dataclass(frozen=True)
class LanePlan:
    """How patterns are found in lanes.

    Attributes
    ----------
    windows : Windows
        Of the patterns that gain by them.
    each : int
        Of so many ends one is looked at.
    cost : ndarray, float64 (patterns,)
        Nanoseconds for a letter of a sample: of patterns with windows that of their lanes, of others what it takes to
        align them everywhere.
    """

    windows: Windows
    each: int
    cost: NDArray[np.float64]


def plan_lanes(costs: EditCosts, patterns: Patterns, max_edits: int, chosen: NDArray[np.bool_]) -> LanePlan:
    """Choose windows of patterns for the least time in all.

    Many windows of a pattern may have few edits each, few windows many, which are found at more places by chance.

    Parameters
    ----------
    costs : EditCosts
    patterns : Patterns
    max_edits : int
    chosen : ndarray, bool (patterns,)
        The patterns to look for; others cost nothing.
    """
    numbers, lengths = np.flatnonzero(chosen), patterns.lengths
    aligned = np.zeros(len(patterns))
    each_candidate = costs.align(lengths, max_edits)
    aligned[numbers] = each_candidate[numbers] / (2 * max_edits + 1)
    tried = [cut_windows(patterns, numbers, max_edits, parts) for parts in useful_parts(max_edits, MOST_PARTS)]
    best, windows = (EACH[0], aligned), Windows.joined([])
    for each in EACH:
        every = np.stack([aligned, *(_lane_costs(costs, one, each, each_candidate, aligned) for one in tried)])
        least = every.min(axis=0)
        if least.sum() < best[1].sum():
            best, way = (each, least), every.argmin(axis=0)
            windows = Windows.joined(one.take(way[one.pattern] == number) for number, one in enumerate(tried, 1))
    return LanePlan(windows, *best)


def _lane_costs(
    costs: EditCosts, windows: Windows, each: int, candidate: NDArray[np.float64], aligned: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What the windows of each pattern take for a letter; patterns without windows take forever."""
    every = np.full(len(aligned), np.inf)
    marked = CHANCES[windows.known, np.minimum(windows.edits + each // 2, HEIGHT)] / each
    found = CHANCES[windows.known, np.minimum(windows.edits, HEIGHT)]
    own = costs.lane + (costs.check / each + costs.mark * marked)
    own += np.minimum(2 * found * candidate[windows.pattern], aligned[windows.pattern])
    every[windows.patterns] = np.bincount(windows.pattern, own, len(aligned))[windows.patterns]
    return every


def index_edit_cost(
    costs: EditCosts, patterns: Patterns, max_edits: int, n_rate: float, letters: int
) -> tuple[float, NDArray[np.bool_]]:
    """Return what seeds take for so many letters, in nanoseconds, and which patterns are long enough for them."""
    seeded = patterns.lengths // (max_edits + 1) >= SEEDED
    count = int(seeded.sum()) * STEP * (max_edits + 1)
    if not count:
        return 0.0, seeded
    head = choose_head(patterns, max_edits, n_rate, letters, costs.candidate)
    agree = n_rate + (1 - n_rate) / 4
    found = count * agree ** (head + TAIL) / STEP * float(costs.align(patterns.lengths[seeded], max_edits).mean())
    return LISTED * (count << head) + letters * (costs.look_up + found), seeded


def lanes_pay(costs: EditCosts, patterns: Patterns, max_edits: int, n_rate: float, letters: int) -> bool:
    """Tell whether lanes are likely to find all patterns sooner than seeds find those that are long enough.

    Parameters
    ----------
    costs : EditCosts
    patterns : Patterns
    max_edits : int
    n_rate : float
        Share of the samples' letters that are no single nucleotide, as far as it is known.
    letters : int
        How many letters will be looked through, about.
    """
    index, seeded = index_edit_cost(costs, patterns, max_edits, n_rate, letters)
    if not seeded.any():
        return True
    if int(seeded.sum()) * costs.lane * letters >= index:  # a window each, at least
        return False
    return bool(plan_lanes(costs, patterns, max_edits, seeded).cost.sum() * letters < index)
