"""Records as they stand in the input, on their way into a file."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sequence.name_list import NameList

NEWLINE, RETURN = b"\n\r"


def whole_lines(texts: NameList) -> memoryview:
    """Return records one behind the other, each with a line break at its end."""
    missing = _without_break(texts)
    begin, end = texts.starts[0], texts.starts[-1]
    letters = texts.letters[begin:end]
    return (np.insert(letters, missing - begin, np.uint8(NEWLINE)) if len(missing) else letters).data


def chosen_texts(texts: NameList, chosen: NDArray[np.bool_]) -> list[memoryview]:
    """Return the chosen ones of some records, in their order, each with a line break at its end.

    Records that follow each other come in one piece of the memory that they are in.
    """
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False))
    ends = texts.starts[edges]
    pieces = [texts.letters[begin:end].data for begin, end in zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True)]
    return pieces if not len(_without_break(texts)) else [whole_lines(texts[a:b]) for a, b in pairwise(edges)][::2]


def _without_break(texts: NameList) -> NDArray[np.int64]:
    """Where records end that have no line break at their end."""
    ends = texts.starts[1:]
    last: NDArray[np.uint8] = texts.letters[ends - 1]
    missing: NDArray[np.int64] = ends[(last != NEWLINE) & (last != RETURN)]
    return missing
