"""References as the kernel reads them: strips of columns of one width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime import Engine
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.plan import BEGINS, CellShape
from oclgenomics.sdtw.reference import normalised_levels
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["ReferenceStrips"]


class ReferenceStrips:
    """References laid out in strips. Each track begins at a strip of its own.

    Parameters
    ----------
    engine : Engine
    references : sequence of Squiggle
    options : AlignOptions
    shape : CellShape

    Attributes
    ----------
    levels : DeviceArray, (strips * strip,)
        Of the type of `shape`; 0 after the end of a track.
    facts : ndarray, uint32, (strips,)
        Columns of each strip, and `BEGINS`.
    device_facts : DeviceArray
    bounds : ndarray, int64, (references + 1,)
        Strips of each reference.
    """

    def __init__(self, engine: Engine, references: Sequence[Squiggle], options: AlignOptions, shape: CellShape) -> None:
        self.width = shape.strip
        laid_out = [_strips(reference.tracks, shape.strip) for reference in references]
        self.bounds = np.cumsum([0, *(len(first) for first, _ in laid_out)]).astype(np.int64)
        self._first = np.concatenate([first for first, _ in laid_out])
        self.facts = np.concatenate([facts for _, facts in laid_out])
        levels = np.zeros((len(self.facts), shape.strip), shape.dtype)
        for number, reference in enumerate(references):
            own = slice(self.bounds[number], self.bounds[number + 1])
            within = np.arange(shape.strip) < (self.facts[own] & (BEGINS - 1))[:, None]
            levels[own][within] = normalised_levels(reference.levels, reference.column_strand, options)
        self.levels = engine.upload(levels.reshape(-1))
        self.device_facts = engine.upload(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def columns_at(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the columns of references at places among `levels`; -1 is none."""
        strip, within = np.divmod(places.astype(np.int64), self.width)
        return np.where(places < 0, -1, self._first[strip] + within)


def _strips(tracks: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """The first column of each strip, and what the kernel has to know of it."""
    sizes = np.diff(tracks)
    counts = -(-sizes // width)
    track = np.repeat(np.arange(len(sizes)), counts)
    number = np.arange(len(track)) - np.repeat(np.cumsum(counts) - counts, counts)  # in its track
    first = tracks[track] + number * width
    facts = np.minimum(width, tracks[track + 1] - first).astype(np.uint32)
    facts[number == 0] |= np.uint32(BEGINS)
    return first, facts
