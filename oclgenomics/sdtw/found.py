"""What an aligner finds, and what one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["Found", "PrefixAligner"]


@dataclass(frozen=True, eq=False)
class Found:
    """The best alignments of prefixes of one length.

    Attributes
    ----------
    cost : ndarray, float64, (reads, references)
    column : ndarray, int64, (reads, references)
        Column of the reference at which the alignment ends, the first one of that cost; -1 where the cost is saturated.
    """

    cost: NDArray[np.float64]
    column: NDArray[np.int64]


class PrefixAligner(Protocol):
    """Aligns prefixes of one length with references that stay."""

    references: tuple[Squiggle, ...]
    options: AlignOptions

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Found:
        """Align the samples `first[i]` to `first[i] + prefix` of each read i.

        Parameters
        ----------
        samples : ndarray, int16
            Of all reads.
        first : ndarray, int64, (reads,)
        prefix : int
            Samples of a prefix; `samples` has as many from each first one on.
        """
        ...
