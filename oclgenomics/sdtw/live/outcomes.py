"""What selection while sequencing comes to for reads: numbers in arrays, words in reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.decisions import words as decisions

__all__ = ["ACCEPT", "CONTROL", "DELAYED", "OUTCOMES", "REJECT", "UNDECIDED", "UNSELECTED", "Decided"]

UNDECIDED, ACCEPT, REJECT = decisions.UNDECIDED, decisions.ACCEPT, decisions.REJECT
CONTROL, DELAYED, UNSELECTED = 3, 4, 5
OUTCOMES = (*decisions.WORDS, "control", "delayed", "unselected")


@dataclass(frozen=True, eq=False)
class Decided:
    """Reads that are judged no more; arrays have one value, or row, for each.

    Attributes
    ----------
    channel : ndarray, int64
    key : ndarray, object
        What actions name the read by.
    read : ndarray, object (str)
        Its id.
    outcome : ndarray, uint8
        Numbers of `OUTCOMES`. A read is `delayed` where a verdict would have come too late, and `unselected` on a
        channel that the device could not serve.
    stage : ndarray, int64
        At which it was judged last; -1 for none.
    samples : ndarray, int64
        That came of it.
    score : ndarray, float64
    cost : ndarray, float64, (reads, references)
    column : ndarray, int64, (reads, references)
        NaN and -1 where it was never aligned.
    arrived : ndarray, float64
        When the samples of the stage were there; NaN for none.
    """

    channel: NDArray[np.int64]
    key: NDArray[np.object_]
    read: NDArray[np.object_]
    outcome: NDArray[np.uint8]
    stage: NDArray[np.int64]
    samples: NDArray[np.int64]
    score: NDArray[np.float64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    arrived: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.channel)

    @classmethod
    def joined(cls, parts: list[Decided]) -> Decided:
        """Join parts, one at least."""
        names = tuple(cls.__dataclass_fields__)
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
