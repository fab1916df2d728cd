"""What alignments of signals give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.frames import to_frame
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.squiggle import STRANDS, Squiggle

__all__ = ["Alignments"]


@dataclass(frozen=True, eq=False, repr=False)
class Alignments:
    """The best alignment of each prefix of each read with each reference.

    Attributes
    ----------
    references : tuple of Squiggle
    prefixes : tuple of int
        Samples.
    names : ndarray, object (str), (reads,)
    samples : ndarray, int64, (reads,)
        That the read has.
    cost : ndarray, float64, (reads, prefixes, references)
        NaN where the read is shorter than the prefix. Integers but for float32; 65,535 is saturated.
    column : ndarray, int64, (reads, prefixes, references)
        Column of the reference at which the alignment ends; -1 where there is none, or the cost is saturated.
    options : AlignOptions
    """

    references: tuple[Squiggle, ...]
    prefixes: tuple[int, ...]
    names: NDArray[np.object_]
    samples: NDArray[np.int64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    options: AlignOptions

    @classmethod
    def none(
        cls,
        references: tuple[Squiggle, ...],
        prefixes: tuple[int, ...],
        names: NDArray[np.object_],
        samples: NDArray[np.int64],
        options: AlignOptions,
    ) -> Alignments:
        """Return reads without a single alignment."""
        shape = (len(names), len(prefixes), len(references))
        cost, column = np.full(shape, np.nan), np.full(shape, -1, np.int64)
        return cls(references, prefixes, names, samples, cost, column, options)

    @classmethod
    def joined(cls, parts: Sequence[Alignments]) -> Alignments:
        """Join parts of one work, at least one, in their order."""
        names, samples, cost, column = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("names", "samples", "cost", "column")
        )
        return replace(parts[0], names=names, samples=samples, cost=cost, column=column)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Alignments(reads={len(self)}, prefixes={self.prefixes}, references={len(self.references)})"

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row for each read, prefix and reference, in this order, as named columns.

        `record`, `strand` and `position` say where the alignment ends; the record is empty where there is none.
        """
        reads, prefixes, references = self.cost.shape
        shape = (reads, prefixes, references)
        record, strand, position = (np.empty(shape, kind) for kind in (object, object, np.int64))
        for number, reference in enumerate(self.references):
            places = reference.places(self.column[:, :, number])
            record[:, :, number] = np.array([*reference.records, ""], object)[places.record]
            strand[:, :, number] = np.where(places.record < 0, "", np.array(STRANDS, object)[places.strand])
            position[:, :, number] = places.position
        names = np.array([reference.name for reference in self.references], object)
        return {
            "read": np.repeat(self.names, prefixes * references),
            "samples": np.repeat(self.samples, prefixes * references),
            "prefix": np.tile(np.repeat(np.array(self.prefixes), references), reads),
            "reference": np.tile(names, reads * prefixes),
            "cost": self.cost.reshape(-1),
            "record": record.reshape(-1),
            "strand": strand.reshape(-1),
            "position": position.reshape(-1),
        }

    def records(self) -> list[dict[str, Any]]:
        """The rows of `columns`, one record each; None for a cost that is not there."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        for row in rows:
            if row["cost"] != row["cost"]:
                row["cost"] = None
        return rows

    def to_frame(self) -> Any:
        """The rows of `columns` as a table; see `oclgenomics.frames.to_frame`."""
        return to_frame(self.columns())
