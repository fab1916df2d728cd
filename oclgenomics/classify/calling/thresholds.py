"""How many hits a read needs to be classified, and by how many its best candidate has to lead.

Both follow from what the read's length and the size of the database let expect, and were chosen on simulated sets; see
docs/classify.md.

*Hits.* Of a read's features, about letters * `sketchlen` / `winstride` could be in a window of a target as well. A
k-mer of another world is in a database of G letters with probability G / (4^k / 2); so many features match by chance,
and a chance match goes on into h of them, as neighbouring k-mers overlap, with `_GOES_ON`^(h - 1). A read needs the
smallest h for which the expected number is at most `CHANCE`: 2 for virus databases, 3 for tens of million letters, 6
for 100 bp reads and a hundred thousand million letters.

*Lead.* A candidate whose hits come close to the best one's counts for the lowest common ancestor. Reads of a species
that is not in the database hit its neighbours about equally often; the longer the read is, the further their hits lie
apart by chance, and the further those of known species do by right. So the lead is one hit and one more for every 16
features that the read could have in common with a target.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.by_length import by_length
from oclgenomics.classify.options import QueryOptions, SketchOptions

__all__ = ["CHANCE", "LEAD_FEATURES", "MIN_HITS", "needed_hits", "needed_lead"]

CHANCE = 0.005  # matches that a read is expected to have with what is not related to it
MIN_HITS = 2
LEAD_FEATURES = 16
_LOCATABLE = 0.8  # of the features that a read could share with a window, those that its own windows choose
_GOES_ON = 0.1  # measured: chance hits of h + 1 features among those of h


def needed_hits(
    letters: NDArray[np.integer[Any]], windows: int, sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32]:
    """Return the hits that each read needs to be classified, uint32 (reads,).

    Parameters
    ----------
    letters : ndarray of int (reads,)
        Lengths of the reads, those of mates together.
    windows : int
        Of all targets.
    sketch : SketchOptions
        Of the database.
    options : QueryOptions
        `hitmin`, if given, is what every read needs.
    """
    if options.hitmin is not None:
        return np.full(len(letters), options.hitmin, np.uint32)
    known = windows * sketch.winstride / (4**sketch.kmerlen / 2)

    def of(lengths: NDArray[np.int64]) -> NDArray[np.uint32]:
        expected = np.maximum(_LOCATABLE * known * _features(lengths, sketch) / CHANCE, 1e-9)
        hits = 1 + np.ceil(np.log(expected) / -math.log(_GOES_ON))
        return np.asarray(np.maximum(hits, MIN_HITS), np.uint32)

    return by_length(of, letters)


def needed_lead(
    letters: NDArray[np.integer[Any]], sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32] | None:
    """Return the hits by which a read's best candidate has to lead, uint32 (reads,).

    Candidates with more hits than the best one less its lead count for the lowest common ancestor. MetaCache's lead is
    the hits that a read needs: None if the options give them.
    """
    if options.hitmin is not None:
        return None
    return by_length(lambda lengths: (1 + _features(lengths, sketch) // LEAD_FEATURES).astype(np.uint32), letters)


def _features(letters: NDArray[np.int64], sketch: SketchOptions) -> NDArray[np.float64]:
    """Features that reads could have in common with a target."""
    kmers = np.maximum(letters.astype(np.float64) - (sketch.kmerlen - 1), 0)
    return kmers * (sketch.sketchlen / sketch.winstride)
