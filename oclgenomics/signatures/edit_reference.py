"""The oracle for matches with insertions and deletions: Sellers' dynamic programming, in plain NumPy.

Letters match where their sets of nucleotides meet. A substitution, an insertion (a letter of the sample that the
signature does not have) and a deletion (one of the signature that the sample does not have) cost 1 each.

For each end e of a sample, 1 to its length, d(e) is the least cost of turning the signature into any sample[start : e]
that is not empty. A **place** is a maximal run of neighbouring ends with d(e) <= `max_edits`, and counts as one hit.
Its match is that of the end with the least d(e), among these of the highest mean quality of sample[start : e], among
these of the leftmost end; here start is the largest one at which d(e) is reached. A match is **informative** where a
single nucleotide of the sample is aligned to the same one of the signature, counted in the alignment of cost d(e) to
sample[start : e] in which this happens most often. A place is no hit if its match does not pass the filters.

The best of several matches has the fewest edits, among these the highest mean quality, among these the leftmost end.

Costs are added up along alignments, and so are lists of them, compared item by item: the numbers below hold distance,
-start and -informative in this order of weight, so their least one is found by the same recursion as the distance alone
(Sellers 1980, Journal of Algorithms 1, 359).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from oclgenomics.signatures.letters import ANY, COMPLEMENTS, is_concrete, sets_of
from oclgenomics.signatures.reference import Match, error_units

__all__ = ["best", "end_costs", "mean_quality", "places"]


def places(
    sample: str,
    qualities: str | None,
    signature: str,
    *,
    strand: str = "+",
    max_edits: int,
    min_informative: float = 0.0,
    min_score: float = 0.0,
) -> list[Match]:
    """Return the match of each place on a strand, or on both, from left to right and + before -.

    Parameters
    ----------
    sample, signature : str
        Letters of IUPAC.
    qualities : str or None
        One byte a letter, quality + 33.
    strand : {'+', '-', 'both'}
    max_edits : int
    min_informative : float
        Least number of informative positions, as a share of the signature's letters.
    min_score : float
        Least mean quality.

    Returns
    -------
    list of Match
        `mismatches` holds edits, `signature_ns` all Ns of the signature.
    """
    text, forward = sets_of(sample), sets_of(signature)
    quality = None if qualities is None else np.frombuffer(qualities.encode(), np.uint8).astype(np.int64) - 33
    found = []
    for sign, pattern in (("+", forward), ("-", COMPLEMENTS[forward][::-1])):
        if strand in (sign, "both"):
            found += _on_strand(text, quality, pattern, sign, max_edits)
    found = [match for match in found if match.informative / len(forward) >= min_informative]
    return [
        match for match in found if min_score == 0 or (match.quality_sum or 0) / (match.end - match.start) >= min_score
    ]


def _on_strand(
    text: NDArray[np.uint8], quality: NDArray[np.int64] | None, pattern: NDArray[np.uint8], sign: str, allowed: int
) -> list[Match]:
    distance, start, informative = end_costs(text, pattern)
    found: list[Match] = []
    run: list[Match] = []
    for end in range(1, len(text) + 2):
        if end <= len(text) and distance[end] <= allowed:
            begin = int(start[end])
            scores = None if quality is None else quality[begin:end]
            run.append(
                Match(
                    sign,
                    begin,
                    end,
                    int(distance[end]),
                    None if scores is None else int(scores.sum()),
                    int(informative[end]),
                    int((text[begin:end] == ANY).sum()),
                    int((pattern == ANY).sum()),
                    None if scores is None else sum(error_units(int(score)) for score in scores),
                )
            )
        elif run:
            found.append(best(run))
            run = []
    return found


def end_costs(
    text: NDArray[np.uint8], pattern: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return distance, start and informative positions for each end of a text, int64 (letters + 1,); end 0 is none."""
    end = np.arange(len(text) + 1)
    per_start = len(pattern) + 1
    per_edit = per_start * (len(text) + 1)
    cost = -end * per_start  # of none of the pattern's letters: an alignment may start anywhere
    for bases in pattern:
        met = (text & bases) != 0
        same = met & is_concrete(text) & is_concrete(bases)
        across = cost[:-1] + np.where(met, -same.astype(np.int64), per_edit)
        cost = cost + per_edit  # the pattern's letter is left out
        cost[1:] = np.minimum(cost[1:], across)
        cost = np.minimum.accumulate(cost - end * per_edit) + end * per_edit  # letters of the text are left out
    distance, rest = -(-cost // per_edit), -cost % per_edit
    start, informative = rest // per_start, rest % per_start
    # Where no letter is aligned to one it meets, d(e) is the pattern's length: so it is from the letter before.
    return distance, np.minimum(start, end - 1), informative


def mean_quality(match: Match) -> Fraction:
    """Return the mean quality of a match's letters, 0 without qualities."""
    return Fraction(match.quality_sum or 0, match.end - match.start)


def best(found: list[Match]) -> Match:
    """Return the match of the fewest edits, among these of the highest mean quality, among these the leftmost."""
    return min(found, key=lambda match: (match.mismatches, -mean_quality(match), match.end))
