"""The order of keys from one piece of a database to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.arithmetic import is_ascending
from oclgenomics.kmers.keys import key_words

__all__ = ["DISORDER", "KeyOrder"]

DISORDER = "k-mers have to come in ascending order, each of them once"


class KeyOrder:
    """Checks keys of k letters, of which the first and the last ones of ascending pieces are shown."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._last: NDArray[np.uint64] | None = None

    def follow(self, first: NDArray[np.uint64], last: NDArray[np.uint64]) -> None:
        """Take a piece, which has to follow those before.

        Parameters
        ----------
        first, last : uint64 (words,)

        Raises
        ------
        ValueError
            It does not, or a key has more than k letters.
        """
        if self._last is not None and not is_ascending(np.stack([self._last, first], axis=1)):
            raise ValueError(DISORDER)
        if int(last[-1]) >> (2 * self._k - 64 * (key_words(self._k) - 1)):
            raise ValueError(f"a key has more than {self._k} letters")
        self._last = last
