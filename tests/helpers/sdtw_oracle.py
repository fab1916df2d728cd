"""An aligner made of the oracle, and small references and reads to align."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw import AlignOptions, Squiggle
from oclgenomics.sdtw.device.strips import Found
from oclgenomics.sdtw.reference import align, normalised_levels

__all__ = ["OracleAligner", "many_records", "small_squiggle"]


class OracleAligner:
    """Aligns read by read as `oclgenomics.sdtw.reference` defines it."""

    def __init__(self, references: Sequence[Squiggle], options: AlignOptions) -> None:
        self.references, self.options = tuple(references), options
        self._levels = [normalised_levels(one.levels, one.column_strand, options) for one in self.references]

    def align(self, samples: NDArray[np.int16], first: NDArray[np.int64], prefix: int) -> Found:
        """Align the samples `first[i]` to `first[i] + prefix` of each read i."""
        shape = (len(first), len(self.references))
        cost, column = np.empty(shape, np.float64), np.empty(shape, np.int64)
        for read, start in enumerate(first):
            query = samples[start : start + prefix]
            for number, reference in enumerate(self.references):
                best = align(query, self._levels[number], reference.tracks, self.options)
                cost[read, number], column[read, number] = best
        return Found(cost, column)


def small_squiggle(
    name: str, levels: Sequence[float] | NDArray[np.float64], *, molecule: str = "dna", cuts: Sequence[int] = ()
) -> Squiggle:
    """A reference of one record: `levels` as its + strand, their reverse as its - strand (DNA), cut into tracks."""
    forward = np.asarray(levels, np.float64)
    count, strands = len(forward), 2 if molecule == "dna" else 1
    ends = np.array([0, *cuts, count])
    backwards = count - ends[::-1]
    tracks = np.concatenate([ends, count + backwards[1:]]) if strands == 2 else backwards
    step_first = [ends[:-1], count - 1 - backwards[:-1]] if strands == 2 else [count - 1 - backwards[:-1]]
    return Squiggle(
        name, (f"{name}_record",), np.array([count + 5], np.int64), 6, "made", molecule,  # type: ignore[arg-type]
        np.concatenate([forward, forward[::-1]]) if strands == 2 else forward[::-1].copy(),
        tracks.astype(np.int64),
        np.zeros(len(tracks) - 1, np.int32),
        np.repeat(np.arange(strands, dtype=np.uint8), len(ends) - 1),
        np.concatenate(step_first).astype(np.int64),
    )  # fmt: skip


def many_records(name: str, levels: NDArray[np.float64]) -> Squiggle:
    """A reference with a record for each row of levels, both strands; the names end with numbers from 0 on."""
    count, columns = levels.shape
    parts = [small_squiggle(name, row) for row in levels]
    by_strand = [part.levels[columns * strand : columns * (strand + 1)] for strand in (0, 1) for part in parts]
    first = [part.track_first[strand] for strand in (0, 1) for part in parts]
    return Squiggle(
        name, tuple(f"{name}_{number}" for number in range(count)), np.full(count, columns + 5), 6, "made", "dna",
        np.concatenate(by_strand), np.arange(2 * count + 1) * columns, np.tile(np.arange(count, dtype=np.int32), 2),
        np.repeat(np.arange(2, dtype=np.uint8), count), np.array(first, np.int64),
    )  # fmt: skip
