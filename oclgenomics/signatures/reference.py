"""The oracle: every match of every signature in every sample, in plain NumPy.

The definition is that of the course assignment behind "virus signature scanning", edition of 2025: a signature matches
at a start where each of its bases has a nucleotide in common with the sample's, the score of a match is the mean
quality of the sample's bases under the whole signature, and a sample's hash is the sum of its qualities modulo 97.

Matches with insertions and deletions are found by Sellers' dynamic programming. Bases match where their sets of
nucleotides meet. A substitution, an insertion (a base of the sample that the signature does not have) and a deletion
(one of the signature that the sample does not have) cost 1 each.

For each end e of a sample, 1 to its length, d(e) is the least cost of turning the signature into any sample[start : e]
that is not empty. A **place** is a maximal run of neighbouring ends with d(e) <= `max_edits`, and counts as one hit.
Its match is that of the end with the least d(e), among these of the highest mean quality of sample[start : e], among
these of the leftmost end; here start is the largest one at which d(e) is reached. A match is **informative** where a
single nucleotide of the sample is aligned to the same one of the signature, counted in the alignment of cost d(e) to
sample[start : e] in which this happens most often. A place is no hit if its match does not pass the filters.

**Overhang.** A signature may run past the start of a sample, its end, or both, where as many of its bases as asked
for lie inside. It is then compared without the bases outside, and of L bases with i inside at most M i / L, rounded
down, need not match, where M may in a whole match. Bases outside count as mismatches where the best match is chosen.

With edits, at the end of a sample c(i) is the least cost of turning the signature's first i bases into any
sample[start : ], and at most E i / L, rounded down, may be needed. Of the i that are allowed, from the least number of
bases inside to L - 1, the match has the one with the least c(i) + L - i, of several the largest. There is none where
c(L) <= E, as the whole signature matches there, nor for signatures of E bases or fewer. At the start of a sample all
is the same, read backwards. With edits, no match runs past both ends.

**Alignments.** The alignment of a match is one of the whole signature, as it is given, or of its bases inside, to the
sample's bases, turned to its strand. Of a match with mismatches alone it has no gap. Of a match with edits it has the
fewest edits, among these the most informative positions; where several are left, it is the one that, read from its last
base to its first, has aligned bases rather than a deletion, and a deletion rather than an insertion, where they
first differ: gaps lie as far left in the signature as they can.

Costs are added up along alignments, and so are lists of them, compared item by item: the numbers below hold distance,
-start and -informative in this order of weight, so their least one is found by the same recursion as the distance alone
(Sellers 1980, Journal of Algorithms 1, 359).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.lazy_names import late
from oclgenomics.signatures.panels.letters import ANY, COMPLEMENTS, is_concrete, sets_of

if TYPE_CHECKING:
    from fractions import Fraction

fractions = late("fractions")

HASH_MODULUS = 97
ERROR_BITS = 32  # expected errors are sums of multiples of 2^-32
Finder = Callable[["Strand"], list["Match"]]


@dataclass(frozen=True)
class Match:
    """A signature at a place of a sample.

    Attributes
    ----------
    strand : str
        "+" or "-".
    start, end : int
        Letters sample[start : end].
    mismatches : int
    quality_sum : int or None
        Of the letters; None without qualities.
    informative : int
        Positions at which both letters are a single nucleotide.
    sample_ns, signature_ns : int
        Positions at which the sample or the signature has N.
    error_units : int or None
        Expected number of wrong letters, in units of 2^-32.
    outside : int
        Letters of the signature before the start of the sample or behind its end.
    before : int
        Those of them before its start, in the direction of the sample.
    """

    strand: str
    start: int
    end: int
    mismatches: int
    quality_sum: int | None
    informative: int
    sample_ns: int
    signature_ns: int
    error_units: int | None
    outside: int = 0
    before: int = 0


@dataclass(frozen=True)
class Strand:
    """A sample, and the pattern that a signature makes on a strand."""

    text: NDArray[np.uint8]
    quality: NDArray[np.int64] | None
    pattern: NDArray[np.uint8]
    sign: str

    def match(self, start: int, end: int, mismatches: int, informative: int) -> Match:
        """Return the match that takes the letters start .. end - 1 of the sample."""
        scores = None if self.quality is None else self.quality[start:end].tolist()
        ns, own_ns = np.count_nonzero(self.text[start:end] == ANY), np.count_nonzero(self.pattern == ANY)
        quality_sum = None if scores is None else sum(scores)
        errors = None if scores is None else sum(map(error_units, scores))
        return Match(self.sign, start, end, mismatches, quality_sum, informative, int(ns), int(own_ns), errors)


def matches(
    sample: str,
    qualities: str | None,
    signature: str,
    *,
    strand: str = "+",
    max_mismatches: int = 0,
    min_informative: float = 0.0,
    min_score: float = 0.0,
    overhang: int = 0,
    overhang_at: str = "both",
) -> list[Match]:
    """Return all matches on a strand, or on both, from left to right and + before -.

    Parameters
    ----------
    sample, signature : str
        Letters of IUPAC.
    qualities : str or None
        One byte a letter, quality + 33.
    strand : {'+', '-', 'both'}
    max_mismatches : int
    min_informative, min_score : float
        Least number of informative positions, as a share of the signature's letters, and least mean quality of a match.
    overhang : int
        Least number of letters inside the sample of matches that run past its start or its end; 0 for none of these.
    overhang_at : {'both', 'start', 'end'}
        Which end they may run past; those that run past both are of the start.
    """

    def find(one: Strand) -> list[Match]:
        first, last = _overhanging(one, max_mismatches, overhang)
        whole = _with_mismatches(one, max_mismatches)
        return [*(first if overhang_at != "end" else []), *whole, *(last if overhang_at != "start" else [])]

    found = _on_strands(sample, qualities, signature, strand, find)
    return [match for match in found if _passes(match, len(signature), min_informative, min_score)]


def places(
    sample: str,
    qualities: str | None,
    signature: str,
    *,
    strand: str = "+",
    max_edits: int,
    min_informative: float = 0.0,
    min_score: float = 0.0,
    overhang: int = 0,
    overhang_at: str = "both",
) -> list[Match]:
    """Return the match of each place on a strand, or on both; parameters and order are those of `matches`.

    Returns
    -------
    list of Match
        `mismatches` holds edits, `signature_ns` all Ns of the signature.
    """

    def find(one: Strand) -> list[Match]:
        every = [*_with_edits(one, max_edits), *_edits_overhanging(one, max_edits, overhang, overhang_at)]
        return sorted(every, key=lambda match: (match.end, match.start))

    found = _on_strands(sample, qualities, signature, strand, find)
    return [match for match in found if _passes(match, len(signature), min_informative, min_score)]


def _on_strands(sample: str, qualities: str | None, signature: str, strand: str, find: Finder) -> list[Match]:
    text, forward = sets_of(sample), sets_of(signature)
    quality = None if qualities is None else np.frombuffer(qualities.encode(), np.uint8).astype(np.int64) - 33
    found = []
    for sign, pattern in (("+", forward), ("-", COMPLEMENTS[forward][::-1])):
        if strand in (sign, "both"):
            found += find(Strand(text, quality, pattern, sign))
    return found


def _passes(match: Match, length: int, min_informative: float, min_score: float) -> bool:
    score = (match.quality_sum or 0) / (match.end - match.start)
    return match.informative / length >= min_informative and (min_score == 0 or score >= min_score)


def _with_mismatches(strand: Strand, allowed: int) -> list[Match]:
    text, pattern, length = strand.text, strand.pattern, len(strand.pattern)
    if length == 0:
        return []
    starts = np.arange(len(text) - length + 1)
    mismatches = np.zeros(len(starts), np.int64)
    for j, bases in enumerate(pattern):
        mismatches += (text[starts + j] & bases) == 0
        possible = mismatches <= allowed
        starts, mismatches = starts[possible], mismatches[possible]
        if not len(starts):
            return []
    of_text, of_pattern = is_concrete(text), is_concrete(pattern)
    found = []
    for start, count in zip(starts.tolist(), mismatches.tolist(), strict=True):
        informative = int(np.count_nonzero(of_text[start : start + length] & of_pattern))
        found.append(strand.match(start, start + length, count, informative))
    return found


def _overhanging(strand: Strand, allowed: int, least: int) -> tuple[list[Match], list[Match]]:
    """Matches that run past the start, and other ones past the end, from left to right; none if `least` is 0."""
    size, length = len(strand.text), len(strand.pattern)
    first: list[Match] = []
    last: list[Match] = []
    for place in range(1 - length, size) if least else ():  # of the signature's first letter
        start, end = max(place, 0), min(place + length, size)
        inside = end - start
        if not least <= inside < length:
            continue
        cut = replace(strand, pattern=strand.pattern[start - place : end - place])
        text = strand.text[start:end]
        mismatches = int(np.count_nonzero(text & cut.pattern == 0))
        if mismatches <= allowed * inside // length:
            informative = int(np.count_nonzero(is_concrete(text) & is_concrete(cut.pattern)))
            match = cut.match(start, end, mismatches, informative)
            match = replace(match, outside=length - inside, before=start - place)
            (first if place < 0 else last).append(match)
    return first, last


def _with_edits(strand: Strand, allowed: int) -> list[Match]:
    distance, start, informative = end_costs(strand.text, strand.pattern)
    found: list[Match] = []
    run: list[Match] = []
    for end in range(1, len(strand.text) + 2):
        if end <= len(strand.text) and distance[end] <= allowed:
            run.append(strand.match(int(start[end]), end, int(distance[end]), int(informative[end])))
        elif run:
            found.append(best(run))
            run = []
    return found


def _edits_overhanging(strand: Strand, allowed: int, least: int, at: str) -> list[Match]:
    """Matches with edits that run past the start and the end of the sample; none if `least` is 0."""
    size, length = len(strand.text), len(strand.pattern)
    found: list[Match] = []
    steps = {"both": (-1, 1), "start": (-1,), "end": (1,)}[at]
    for step in steps if least and allowed < length and size else ():
        text, pattern = strand.text[::step], strand.pattern[::step]
        ends = [_facts(keys[-1:], np.array([size]), text, pattern) for keys in _end_keys(text, pattern)]
        cost, start, informative = np.concatenate(ends, axis=1).tolist()
        if cost[-1] <= allowed:
            continue
        right = [i for i in range(least, length) if cost[i - 1] <= allowed * i // length]
        if right:
            inside = min(right, key=lambda i: (cost[i - 1] - i, -i))
            first = start[inside - 1]
            place = (first, size) if step == 1 else (0, size - first)
            cut = replace(strand, pattern=pattern[:inside])
            match = cut.match(place[0], place[1], cost[inside - 1], informative[inside - 1])
            outside = length - inside
            found.append(replace(match, outside=outside, before=0 if step == 1 else outside))
    return found


def end_costs(
    text: NDArray[np.uint8], pattern: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return distance, start and informative positions for each end of a text, int64 (letters + 1,); end 0 is none."""
    end = np.arange(len(text) + 1)
    *_, keys = [-end * (len(pattern) + 1), *_end_keys(text, pattern)]
    return _facts(keys, end, text, pattern)


def _end_keys(text: NDArray[np.uint8], pattern: NDArray[np.uint8]) -> Iterator[NDArray[np.int64]]:
    """The costs of each end of a text with the first base of a pattern, with its first two, and so on, as keys."""
    end = np.arange(len(text) + 1)
    per_start = len(pattern) + 1
    per_edit = per_start * (len(text) + 1)
    cost = -end * per_start  # of none of the pattern's letters: an alignment may start anywhere
    steps, of_text = end * per_edit, is_concrete(text).astype(np.int64)
    for bases, concrete in zip(pattern, is_concrete(pattern), strict=True):
        across = cost[:-1] + np.where((text & bases) != 0, -of_text if concrete else 0, per_edit)
        cost = cost + per_edit  # the pattern's letter is left out
        cost[1:] = np.minimum(cost[1:], across)
        cost = np.minimum.accumulate(cost - steps) + steps  # bases of the text are left out
        yield cost


def _facts(
    keys: NDArray[np.int64], end: NDArray[np.int64], text: NDArray[np.uint8], pattern: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distance, start and informative positions of keys."""
    per_start = len(pattern) + 1
    per_edit = per_start * (len(text) + 1)
    distance, rest = -(-keys // per_edit), -keys % per_edit
    start, informative = rest // per_start, rest % per_start
    # Where no letter is aligned to one it meets, d(e) is the pattern's length: so it is from the letter before.
    return distance, np.minimum(start, end - 1), informative


def cigar(sample: str, signature: str, match: Match, *, gaps: bool) -> str:
    """Return the alignment of a match as a CIGAR: =, X, I (a base of the sample alone), D (one of the signature).

    Parameters
    ----------
    sample, signature : str
        Letters of IUPAC.
    match : Match
    gaps : bool
        Whether edits were allowed, not mismatches alone.
    """
    text, pattern = sets_of(sample)[match.start : match.end], sets_of(signature)
    first = match.before if match.strand == "+" else match.outside - match.before
    pattern = pattern[first : len(pattern) - (match.outside - first)]
    text = text if match.strand == "+" else COMPLEMENTS[text][::-1]
    if gaps:
        steps = _aligned(text.tolist(), pattern.tolist())
    else:
        steps = ["=" if one & other else "X" for one, other in zip(text.tolist(), pattern.tolist(), strict=True)]
    return "".join(f"{len(list(run))}{step}" for step, run in itertools.groupby(steps))


def _aligned(text: list[int], pattern: list[int]) -> list[str]:
    """The steps of the alignment of all of a pattern to all of a text."""
    best: dict[tuple[int, int], tuple[int, int]] = {(0, 0): (0, 0)}  # of their first letters: edits, -informative
    ways: dict[tuple[int, int], list[tuple[str, tuple[int, int], tuple[int, int]]]] = {}
    for at in itertools.product(range(len(pattern) + 1), range(len(text) + 1)):
        i, j = at
        steps: list[tuple[str, tuple[int, int], tuple[int, int]]] = []
        if i and j:
            one, other = pattern[i - 1], text[j - 1]
            alone = one == other and one.bit_count() == 1
            steps.append(("=" if one & other else "X", (i - 1, j - 1), (int(not one & other), -int(alone))))
        steps += [("D", (i - 1, j), (1, 0))] if i else []
        steps += [("I", (i, j - 1), (1, 0))] if j else []
        ways[at] = [(step, before, _added(best[before], cost)) for step, before, cost in steps]
        if ways[at]:
            best[at] = min(cost for _, _, cost in ways[at])
    at, found = (len(pattern), len(text)), []
    while at != (0, 0):
        step, at = next((step, before) for step, before, cost in ways[at] if cost == best[at])
        found.append(step)
    return found[::-1]


def _added(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def mean_quality(match: Match) -> Fraction:
    """Return the mean quality of a match's letters, 0 without qualities."""
    mean: Fraction = fractions.Fraction(match.quality_sum or 0, match.end - match.start)
    return mean


def best(found: list[Match]) -> Match:
    """Return the match of the fewest mismatches or edits, then of the highest mean quality, then the leftmost.

    Letters outside the sample count as mismatches.
    """
    return min(
        found, key=lambda match: (match.mismatches + match.outside, -mean_quality(match), match.end, match.start)
    )


@functools.cache
def error_units(quality: int) -> int:
    """Return 10^(-quality / 10) in units of 2^-32, rounded to the nearest."""
    numerator, denominator = (10.0 ** (-quality / 10)).as_integer_ratio()
    units: int = ((numerator << ERROR_BITS + 1) + denominator) // (2 * denominator)
    return units


def expected_errors(units: int) -> float:
    """Return the expected number of wrong letters."""
    return units / (1 << ERROR_BITS)


def quality_hash(qualities: str) -> int:
    """Return the hash of a sample: the sum of its qualities modulo 97."""
    return sum(byte - 33 for byte in qualities.encode()) % HASH_MODULUS
