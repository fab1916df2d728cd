"""What alignments of signals give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.sdtw.decisions.basis import KnownTrim
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.read_kind import UNKNOWN_KIND, ReadKind
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.sdtw.tables import named_places, records_of

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
    start : ndarray, int64, (reads, prefixes, references), optional
        Column at which the alignment starts; -1 where `column` is. Only if it was asked for.
    trim : TrimOptions, None or 'unknown'
        What was left out at the beginning of reads; not known of reads that were not read from files.
    reads : ReadKind
        What the reads say of themselves.
    """

    references: tuple[Squiggle, ...]
    prefixes: tuple[int, ...]
    names: NDArray[np.object_]
    samples: NDArray[np.int64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    options: AlignOptions
    start: NDArray[np.int64] | None = None
    trim: KnownTrim = "unknown"
    reads: ReadKind = UNKNOWN_KIND

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
        starts = [part.start for part in parts if part.start is not None]
        start = np.concatenate(starts) if len(starts) == len(parts) else None
        kind = parts[0].reads
        for part in parts[1:]:
            kind = kind.joined(part.reads)
        return replace(parts[0], names=names, samples=samples, cost=cost, column=column, start=start, reads=kind)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Alignments(reads={len(self)}, prefixes={self.prefixes}, references={len(self.references)})"

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row for each read, prefix and reference, in this order, as named columns.

        `record`, `strand` and `position` say where the alignment ends, and `start`, if asked for, where it starts; the
        record is empty where there is none.
        """
        reads, prefixes, references = self.cost.shape
        which = np.broadcast_to(np.arange(references), self.cost.shape)
        places = named_places(self.references, which, self.column)
        columns = {
            "read": np.repeat(self.names, prefixes * references),
            "samples": np.repeat(self.samples, prefixes * references),
            "prefix": np.tile(np.repeat(np.array(self.prefixes), references), reads),
            "reference": places["reference"],
            "cost": self.cost,
            **{name: places[name] for name in ("record", "strand", "position")},
        }
        if self.start is not None:
            columns["start"] = named_places(self.references, which, self.start)["position"]
        return {name: column.reshape(-1) for name, column in columns.items()}

    def records(self) -> list[dict[str, Any]]:
        """The rows of `columns`, one record each; None for a cost that is not there."""
        return records_of(self.columns())

    def to_frame(self) -> Any:
        """The rows of `columns` as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame(self.columns())
