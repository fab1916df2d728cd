"""The reference sequences of a database."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Targets"]


@dataclass(frozen=True)
class Targets:
    """Reference sequences in the order of the input. The windows of all are numbered in a row.

    Attributes
    ----------
    names : tuple of str
        No two equal.
    sources : tuple of str
        Files, each once.
    source : ndarray, int32 (targets,)
        The file of each target: a number in `sources`.
    record : ndarray, int64 (targets,)
        Its number in that file, from 0 on.
    taxon : ndarray, int32 (targets,)
        Its taxon in the database's `Taxonomy`; `NO_TAXON` without one.
    letters : ndarray, int64 (targets,)
    windows : ndarray, int64 (targets,)
    """

    names: tuple[str, ...]
    sources: tuple[str, ...]
    source: NDArray[np.int32]
    record: NDArray[np.int64]
    taxon: NDArray[np.int32]
    letters: NDArray[np.int64]
    windows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def first_window(self) -> NDArray[np.int64]:
        """Windows of the targets before each one, and of all, int64 (targets + 1,)."""
        return np.append(np.int64(0), np.cumsum(self.windows))
