"""The oracle: every match of every signature in every sample, in plain NumPy.

The definition is that of the course assignment behind "virus signature scanning", edition of 2025: a signature matches
at a start where each of its letters has a nucleotide in common with the sample's, the score of a match is the mean
quality of the sample's letters under the whole signature, and a sample's hash is the sum of its qualities modulo 97.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.letters import ANY, COMPLEMENTS, is_concrete, sets_of

__all__ = ["HASH_MODULUS", "Match", "best", "error_units", "expected_errors", "matches", "quality_hash"]

HASH_MODULUS = 97
ERROR_BITS = 32  # expected errors are sums of multiples of 2^-32


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


def matches(
    sample: str,
    qualities: str | None,
    signature: str,
    *,
    strand: str = "+",
    max_mismatches: int = 0,
    min_informative: float = 0.0,
    min_score: float = 0.0,
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
        Least share of informative positions and least mean quality of a match.
    """
    text = sets_of(sample)
    quality = None if qualities is None else np.frombuffer(qualities.encode(), np.uint8).astype(np.int64) - 33
    forward = sets_of(signature)
    found = []
    for sign, pattern in (("+", forward), ("-", COMPLEMENTS[forward][::-1])):
        if strand in (sign, "both"):
            found += _on_strand(text, quality, pattern, sign, max_mismatches)
    length = len(forward)
    found = [match for match in found if match.informative / length >= min_informative]
    return [match for match in found if min_score == 0 or (match.quality_sum or 0) / length >= min_score]


def _on_strand(
    text: NDArray[np.uint8], quality: NDArray[np.int64] | None, pattern: NDArray[np.uint8], sign: str, allowed: int
) -> list[Match]:
    length = len(pattern)
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
    found = []
    of_text, of_pattern = is_concrete(text), is_concrete(pattern)
    text_ns, pattern_ns = text == ANY, int(np.count_nonzero(pattern == ANY))
    for start, count in zip(starts.tolist(), mismatches.tolist(), strict=True):
        under = slice(start, start + length)
        scores = None if quality is None else quality[under]
        found.append(
            Match(
                sign,
                start,
                start + length,
                count,
                None if scores is None else int(scores.sum()),
                int(np.count_nonzero(of_text[under] & of_pattern)),
                int(np.count_nonzero(text_ns[under])),
                pattern_ns,
                None if scores is None else sum(map(error_units, scores.tolist())),
            )
        )
    return found


def best(found: list[Match]) -> Match:
    """Return the match of the fewest mismatches, among these of the highest score, among these the leftmost."""
    return min(found, key=lambda match: (match.mismatches, -(match.quality_sum or 0), match.start))


@functools.cache
def error_units(quality: int) -> int:
    """Return 10^(-quality / 10) in units of 2^-32, rounded to the nearest."""
    power = Fraction(10.0 ** (-quality / 10)) * (1 << ERROR_BITS)
    return int(power + Fraction(1, 2))


def expected_errors(units: int) -> float:
    """Return the expected number of wrong letters."""
    return units / (1 << ERROR_BITS)


def quality_hash(qualities: str) -> int:
    """Return the hash of a sample: the sum of its qualities modulo 97."""
    return sum(byte - 33 for byte in qualities.encode()) % HASH_MODULUS
