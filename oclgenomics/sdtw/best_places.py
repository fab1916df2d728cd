"""The best place of each read, of alignments and of classified reads alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.classified import Classified
from oclgenomics.sdtw.decisions.words import words_of
from oclgenomics.sdtw.ranking import best_reference, mapping_quality, of_reference
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["BestPlaces"]


@dataclass(frozen=True, eq=False)
class BestPlaces:
    """Reads and where they lie.

    Attributes
    ----------
    references : tuple of Squiggle
    names : ndarray, object (str), (reads,)
    samples, prefix : ndarray, int64, (reads,)
        That the read has, and that were aligned; 0 where it is too short.
    reference : ndarray, int64, (reads,)
        Number of the one of the lowest cost, the first of equals; -1 where there is none.
    start, end : ndarray, int64, (reads,)
        First and last column of the alignment; -1 where there is none, or the cost is saturated.
    cost : ndarray, float64, (reads,)
    quality : ndarray, int64, (reads,)
        See `mapping_quality`.
    decision : ndarray, object (str), (reads,), optional
    """

    references: tuple[Squiggle, ...]
    names: NDArray[np.object_]
    samples: NDArray[np.int64]
    prefix: NDArray[np.int64]
    reference: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    cost: NDArray[np.float64]
    quality: NDArray[np.int64]
    decision: NDArray[np.object_] | None

    @classmethod
    def of(cls, part: Alignments | Classified) -> BestPlaces:
        """Return the places of a part; of alignments those of the longest prefix that each read has.

        Raises
        ------
        ValueError
            The part has no starts.
        """
        if part.start is None:
            raise ValueError("places need starts: ask for them with `starts=True`")
        if isinstance(part, Classified):
            cost, column, start, prefix = part.cost, part.column, part.start[:, None], part.prefix
            decision = words_of(part.decision)
        else:
            count = np.count_nonzero(~np.isnan(part.cost[:, :, 0]), axis=1)  # of prefixes that the read has
            reads, last = np.arange(len(part)), np.maximum(count, 1) - 1
            cost, column, start = part.cost[reads, last], part.column[reads, last], part.start[reads, last]
            prefix, decision = np.array([0, *part.prefixes])[count], None
        best = best_reference(cost)
        return cls(
            part.references,
            part.names,
            part.samples,
            prefix,
            best,
            of_reference(start, best) if start.shape[1] > 1 else start[:, 0],
            of_reference(column, best),
            of_reference(cost, best),
            mapping_quality(cost),
            decision,
        )
