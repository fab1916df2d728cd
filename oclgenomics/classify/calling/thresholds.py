"""How many hits a read needs to be classified, and by how many its best candidate has to lead.

Both follow from what the read's length and the size of the database let expect, and were chosen on simulated sets; see
docs/classify.md.

*Features.* A read with n k-mers has about n * `sketchlen` / `winstride` features that a target could have as well.

*Hits.* A k-mer of another world is in a database of G bases with probability G / (4^k / 2); so many features match by
chance, and a chance match goes on into h of them, as neighbouring k-mers overlap, with `_GOES_ON`^(h - 1). A read needs
the smallest h for which the expected number is at most `CHANCE`: 2 for virus databases, 3 for tens of Mbp, 6 for 100 bp
reads and a hundred Gbp.

*Lead.* A candidate whose hits come close to the best one's counts for the lowest common ancestor. Reads of a species
that is not in the database hit its neighbours about equally often; the longer the read is, the further their hits lie
apart by chance, and the further those of known species do by right. So the lead is one hit and one more for every 16
features, rounded, and never less than two: a lead of one hit is right in only 40 % of the reads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.classify.by_length import by_length
from oclgenomics.classify.options import QueryOptions, SketchOptions

__all__ = ["CHANCE", "LEAD_FEATURES", "MIN_HITS", "MIN_LEAD", "needed_hits", "needed_lead", "shared_features"]

CHANCE = 0.01  # matches that a read is expected to have with what is not related to it; half as many are found
MIN_HITS = 2
MIN_LEAD = 2
LEAD_FEATURES = 16
_LOCATABLE = 0.8  # of the features that a read could share with a window, those that its own windows choose
_GOES_ON = 0.1  # measured: chance hits of h + 1 features among those of h


def needed_hits(
    kmers: NDArray[np.integer[Any]], windows: int, sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32]:
    """Return the hits that each read needs to be classified, uint32 (reads,).

    Parameters
    ----------
    kmers : ndarray of int (reads,)
        K-mers of the reads, those of mates together; see `Reads.kmers`.
    windows : int
        Of all targets.
    sketch : SketchOptions
        Of the database.
    options : QueryOptions
        `hitmin`, if given, is what every read needs.
    """
    if options.hitmin is not None:
        return np.full(len(kmers), options.hitmin, np.uint32)
    known = windows * sketch.winstride / (4**sketch.kmerlen / 2)

    def of(counts: NDArray[np.int64]) -> NDArray[np.uint32]:
        expected = np.maximum(_LOCATABLE * known * shared_features(counts, sketch) / CHANCE, 1e-9)
        hits = 1 + np.ceil(np.log(expected) / -math.log(_GOES_ON))
        return np.asarray(np.maximum(hits, MIN_HITS), np.uint32)

    return by_length(of, kmers)


def needed_lead(
    kmers: NDArray[np.integer[Any]], sketch: SketchOptions, options: QueryOptions
) -> NDArray[np.uint32] | None:
    """Return the hits by which a read's best candidate has to lead, uint32 (reads,).

    Candidates with more hits than the best one less its lead count for the lowest common ancestor. MetaCache's lead is
    the hits that a read needs: None if the options give them.
    """
    if options.hitmin is not None:
        return None

    def of(counts: NDArray[np.int64]) -> NDArray[np.uint32]:
        lead = 1 + np.floor(shared_features(counts, sketch) / LEAD_FEATURES + 0.5)
        return np.asarray(np.maximum(lead, MIN_LEAD), np.uint32)

    return by_length(of, kmers)


def shared_features(kmers: NDArray[np.integer[Any]], sketch: SketchOptions) -> NDArray[np.float64]:
    """Return the features that reads of so many k-mers could have in common with a target, float64 (reads,)."""
    return kmers * np.float64(sketch.sketchlen / sketch.winstride)
