"""How sure a match is: whether chance would give it, and how much of it the letters and their qualities back.

**Chance.** Let a sample be a random sequence in which A, C, G and T are equally likely and independent. A position of a
match is informative where both letters are a single nucleotide; there the letters agree by chance with probability 1/4.
Everywhere else (an N on either side, or another IUPAC letter) this measure counts them as agreeing anyway. So a random
start that has i informative positions has at most m mismatches with probability

    P(i, m) = sum over k = 0 .. m of  C(i, k) (3/4)^k (1/4)^(i - k),        1 for m >= i

and a sample of n letters, with n - L + 1 starts for a signature of L letters, is expected to have

    E = (n - L + 1) P(i, m)

matches that are as informative as this one and have no more mismatches, on the strand of the match. `log10_chance` is
log10 E. For m = 0 it is log10(n - L + 1) - 0.602 i. Where IUPAC letters other than N are compared, E is too large
rather than too small. For all of a panel of S signatures in R samples, add log10(S R). E says nothing about relatives:
sequence that is no product of chance, such as a repeat or another virus of the family, matches more often.

A match that has o letters of the signature outside the sample has

    E = (n - L + 1 + 2 o) P(i, m)

as there are so many starts with as many letters inside, and those outside are not informative.

With edits, informative positions are those at which the alignment has the same nucleotide on both sides. k edits of L
letters can be placed in at most C(3L + k, k) ways, as there are L deletions, L substitutions and L + 1 places for
insertions. So chance is expected to give at most

    E = n 4^-i times the sum over k = 0 .. m of  C(3L + k, k)

starts and alignments as informative as this one that have no more edits; this is rather too large than too small.

**Support.** The informative share is i / L. The expected accuracy is 1 - e / L, with e expected errors from the
qualities (the sum of 10^(-Q/10)). The certainty, from 0 to 1, is their product: the share of the signature's letters
that were both comparable and, as far as qualities tell, read correctly. It is rather too low than too high: an N of the
sample, which mostly has quality 0, counts against both factors. Samples without qualities have an accuracy of 1 here,
as nothing is known against their letters.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.result import Matches

MAY_BE_CHANCE = -2.0  # log10; from 0.01 expected chance matches in the sample on, reports say so


def log10_chance(
    letters: NDArray[np.int64], length: NDArray[np.int64], informative: NDArray[np.int64], mismatches: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return log10 of the number of matches that chance is expected to give; all arrays have one item a match.

    Parameters
    ----------
    letters : ndarray, int64
        Letters of the sample, at least `length`; and twice those of the signature that lie outside.
    length : ndarray, int64
        Letters of the signature.
    informative : ndarray, int64
        Positions at which both letters are a single nucleotide.
    mismatches : ndarray, int32
        Those of the match.

    Returns
    -------
    ndarray, float64
        See the head of the module.
    """
    return np.log10((letters - length + 1).astype(np.float64)) + _log10_tail(informative, mismatches)


def log10_chance_of_edits(
    letters: NDArray[np.int64], length: NDArray[np.int64], informative: NDArray[np.int64], edits: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return log10 of the number of matches with edits that chance gives at most; all arrays have one item a match.

    Parameters
    ----------
    letters : ndarray, int64
        Letters of the sample.
    length : ndarray, int64
        Letters of the signature.
    informative : ndarray, int64
        Positions at which both letters are the same single nucleotide.
    edits : ndarray, int32
        Those of the match.
    """
    ways = np.ones(len(length))  # over `term`, which alone would soon be more than a number can hold
    term = np.zeros(len(length))
    for k in range(1, int(edits.max(initial=0)) + 1):
        # C(3L + k, k) is the product of (3L + j) / j for j = 1 .. k.
        factor = np.where(edits >= k, (3.0 * length + k) / k, 1.0)
        ways = np.where(edits >= k, ways / factor + 1.0, ways)
        term += np.log10(factor)
    chance = np.log10(ways) + term - informative * math.log10(4.0)
    most: NDArray[np.float64] = np.log10(letters.astype(np.float64)) + np.minimum(chance, 0.0)
    return most


def _log10_tail(positions: NDArray[np.int64], mismatches: NDArray[np.int32]) -> NDArray[np.float64]:
    """log10 of the probability that at most so many of the positions differ, each of which does by 3/4."""
    sums = np.ones(len(positions))  # of the terms over the first one: C(i, k) 3^k
    term = np.ones(len(positions))
    for k in range(int(mismatches.max(initial=0))):
        term = term * (positions - k) / (k + 1) * 3.0
        sums += np.where(mismatches > k, term, 0.0)
    tail = np.log10(sums) - positions * math.log10(4.0)
    return np.where(mismatches >= positions, 0.0, tail)


def informative_share(matches: Matches) -> NDArray[np.float64]:
    """Return the share of a signature's positions at which both letters are a single nucleotide, 0 to 1."""
    return matches.informative / (matches.end - matches.start + matches.outside)


def expected_accuracy(matches: Matches) -> NDArray[np.float64]:
    """Return the share of letters under the signature that are expected to be right; NaN without qualities."""
    return 1.0 - matches.expected_errors / (matches.end - matches.start)


def certainty(matches: Matches) -> NDArray[np.float64]:
    """Return informative share times expected accuracy, 0 to 1; the share alone where there are no qualities."""
    accuracy = np.where(matches.has_qualities, expected_accuracy(matches), 1.0)
    return informative_share(matches) * accuracy
