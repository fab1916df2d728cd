"""Whether the mates of pairs have one name, found by comparing bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.name_list import NameList

__all__ = ["first_difference"]

SLASH, ONE, TWO = b"/12"


def first_difference(first: NameList, second: NameList) -> int | None:
    """Return the number of the first pair whose mates have different names, None if there is none.

    /1 and /2 at the end of a name count for nothing.
    """
    sizes = [_bare_sizes(names) for names in (first, second)]
    other_size = np.flatnonzero(sizes[0] != sizes[1])
    end = int(other_size[0]) if len(other_size) else len(first)
    letters = [_bare_letters(names, size, end) for names, size in zip((first, second), sizes, strict=True)]
    other_letter = np.flatnonzero(letters[0] != letters[1])
    if len(other_letter):
        return int(np.searchsorted(np.cumsum(sizes[0]), other_letter[0], side="right"))
    return end if len(other_size) else None


def _bare_sizes(names: NameList) -> NDArray[np.int64]:
    """Bytes of names without /1 or /2."""
    sizes = names.sizes
    last = names.starts[1:] - 1
    if not len(names.letters):
        return sizes
    number, slash = names.letters[np.maximum(last, 0)], names.letters[np.maximum(last - 1, 0)]
    marked = (sizes >= 2) & (slash == SLASH) & ((number == ONE) | (number == TWO))
    bare: NDArray[np.int64] = sizes - 2 * marked
    return bare


def _bare_letters(names: NameList, sizes: NDArray[np.int64], end: int) -> NDArray[np.uint8]:
    """The first `sizes` bytes of each of the first `end` names."""
    begin = names.starts[0]
    letters = names.letters[begin : names.starts[end]]
    left_out = names.sizes[:end] - sizes[:end]
    if not left_out.any():
        return letters
    kept = np.ones(len(letters), np.bool_)
    cut = names.starts[1 : end + 1][left_out > 0] - begin
    kept[cut - 1] = kept[cut - 2] = False
    return letters[kept]
