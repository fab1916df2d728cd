"""The order of keys from one piece of a database to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.kmers.arithmetic import is_ascending, sortable
from oclgenomics.kmers.keys import key_words

__all__ = ["DISORDER", "KeyOrder", "check_ends", "greatest_keys"]

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


def greatest_keys(firsts: NDArray[np.uint64], k: int) -> NDArray[np.uint64]:
    """Return the greatest key that each section may hold, so that the next one follows it: uint64 (words, sections).

    Parameters
    ----------
    firsts : uint64 (words, sections)
        The first key of each section, ascending.
    k : int
    """
    words, sections = firsts.shape
    greatest = np.full((words, sections), ~np.uint64(0))
    if sections:
        greatest[-1, -1] >>= np.uint64(64 * words - 2 * k)
        greatest[:, :-1] = firsts[:, 1:]
        borrow = np.ones(sections - 1, np.uint64)
        for word in greatest[:, :-1]:
            less = word < borrow
            word -= borrow
            borrow = less.astype(np.uint64)
    return greatest


def check_ends(keys: NDArray[np.uint64], first: NDArray[np.uint64], greatest: NDArray[np.uint64]) -> None:
    """Check that ascending keys of a section lie where the table says.

    Parameters
    ----------
    keys : uint64 (words, n)
    first : uint64 (words,)
        The first key by the table.
    greatest : uint64 (words,)
        See `greatest_keys`.

    Raises
    ------
    ValueError
        They do not.
    """
    if (keys[:, 0] != first).any():
        raise ValueError("its first k-mer is not the one that the table of sections has")
    last, most = sortable(np.stack([keys[:, -1], greatest], axis=1))
    if last > most:
        raise ValueError("its k-mers reach beyond those of the next section, or have too many bases")
