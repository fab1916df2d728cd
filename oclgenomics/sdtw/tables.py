"""Results as named columns and as records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.squiggles.squiggle import STRANDS, Squiggle

__all__ = ["named_places", "record_lengths", "records_of"]


def named_places(
    references: Sequence[Squiggle], which: NDArray[Any], columns: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return where columns of references are, as `reference`, `record`, `strand` and `position`.

    Parameters
    ----------
    references : sequence of Squiggle
    which : ndarray of int
        The reference of each column; -1 for none.
    columns : ndarray, int64
        Of the shape of `which`; -1 for none.

    Returns
    -------
    dict of str to ndarray
        Of this shape. Names are empty, and the position -1, where there is none.
    """
    names = np.array([*(one.name for one in references), ""], object)
    record, strand = (np.full(which.shape, "", object) for _ in range(2))
    position = np.full(which.shape, -1, np.int64)
    for number, one in enumerate(references):
        here = (which == number) & (columns >= 0)
        places = one.places(columns[here])
        record[here] = np.array(one.records, object)[places.record]
        strand[here] = np.array(STRANDS, object)[places.strand]
        position[here] = places.position
    return {"reference": names[which], "record": record, "strand": strand, "position": position}


def record_lengths(
    references: Sequence[Squiggle], which: NDArray[Any], columns: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the letters of the record of each column; parameters as for `named_places`, but none is -1."""
    lengths = np.empty(which.shape, np.int64)
    for number, one in enumerate(references):
        here = which == number
        lengths[here] = one.lengths[one.places(columns[here]).record]
    return lengths


def records_of(columns: Mapping[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Return the rows of columns, one record each; None for numbers that are not finite."""
    lists = {name: column.tolist() for name, column in columns.items()}
    for name, column in columns.items():
        if column.dtype.kind == "f":
            lists[name] = [value if math.isfinite(value) else None for value in lists[name]]
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
