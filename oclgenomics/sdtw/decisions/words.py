"""What is decided of a read: numbers in arrays, words in reports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ACCEPT", "REJECT", "UNDECIDED", "WORDS", "words_of"]

UNDECIDED, ACCEPT, REJECT = 0, 1, 2
WORDS = ("undecided", "accept", "reject")


def words_of(decisions: NDArray[Any]) -> NDArray[np.object_]:
    """Return the words of decisions.

    Parameters
    ----------
    decisions : ndarray, uint8
        Of any shape.
    """
    words: NDArray[np.object_] = np.array(WORDS, object)[decisions]
    return words
