"""What classification of reads gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.app.frames import to_frame
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.decisions.words import WORDS, words_of
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.ranking import best_reference, mapping_quality, of_reference
from oclgenomics.sdtw.squiggles.squiggle import Squiggle
from oclgenomics.sdtw.tables import named_places, records_of

__all__ = ["Classified"]


@dataclass(frozen=True, eq=False, repr=False)
class Classified:
    """What is decided of each read, and by what.

    Attributes
    ----------
    references : tuple of Squiggle
        Targets, then decoys.
    targets : int
        How many of them are targets.
    thresholds : Thresholds
    names : ndarray, object (str), (reads,)
    samples : ndarray, int64, (reads,)
        That the read has.
    decision : ndarray, uint8, (reads,)
        Numbers of `oclgenomics.sdtw.decisions.words`.
    prefix : ndarray, int64, (reads,)
        Samples of the last stage that the read came to; 0 where it is too short for the first.
    score : ndarray, float64, (reads,)
        At that stage; NaN where there is none, infinite where the cost of the targets is saturated.
    cost : ndarray, float64, (reads, references)
        At that stage, or NaN.
    column : ndarray, int64, (reads, references)
        Where the alignment ends; -1 where there is none, or the cost is saturated.
    start : ndarray, int64, (reads,), optional
        Column at which the alignment with the best reference starts, -1 where there is none; if it was asked for.
    """

    references: tuple[Squiggle, ...]
    targets: int
    thresholds: Thresholds
    names: NDArray[np.object_]
    samples: NDArray[np.int64]
    decision: NDArray[np.uint8]
    prefix: NDArray[np.int64]
    score: NDArray[np.float64]
    cost: NDArray[np.float64]
    column: NDArray[np.int64]
    start: NDArray[np.int64] | None = None

    @classmethod
    def none(
        cls,
        references: tuple[Squiggle, ...],
        targets: int,
        thresholds: Thresholds,
        names: NDArray[np.object_],
        samples: NDArray[np.int64],
    ) -> Classified:
        """Return reads of which nothing is decided."""
        reads, shape = len(names), (len(names), len(references))
        return cls(
            references,
            targets,
            thresholds,
            names,
            samples,
            np.zeros(reads, np.uint8),
            np.zeros(reads, np.int64),
            np.full(reads, np.nan),
            np.full(shape, np.nan),
            np.full(shape, -1, np.int64),
        )

    @classmethod
    def joined(cls, parts: Sequence[Classified]) -> Classified:
        """Join parts of one work, at least one, in their order."""
        names = ("names", "samples", "decision", "prefix", "score", "cost", "column")
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        if all(part.start is not None for part in parts):
            arrays["start"] = np.concatenate([part.start for part in parts if part.start is not None])
        return replace(parts[0], **arrays)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        counts = ", ".join(f"{word}={count}" for word, count in self.counts.items())
        return f"Classified(reads={len(self)}, {counts})"

    @property
    def counts(self) -> dict[str, int]:
        """How many reads there are of each decision."""
        return dict(zip(WORDS, np.bincount(self.decision, minlength=len(WORDS)).tolist(), strict=True))

    @cached_property
    def best(self) -> NDArray[np.int64]:
        """Number of the reference of the lowest cost, the first of equals; -1 where there is none."""
        return best_reference(self.cost)

    @property
    def options(self) -> AlignOptions:
        """How signals were compared."""
        return self.thresholds.options

    def columns(self) -> dict[str, NDArray[Any]]:
        """One row for each read, as named columns.

        `reference` is the one of the lowest cost, which may be a decoy; `record`, `strand` and `position` say where on
        it the alignment ends, and `start`, if asked for, where it starts.
        """
        places = named_places(self.references, self.best, of_reference(self.column, self.best))
        columns: dict[str, NDArray[Any]] = {
            "read": self.names,
            "samples": self.samples,
            "decision": words_of(self.decision),
            "prefix": self.prefix,
            "score": self.score,
            "cost": of_reference(self.cost, self.best),
            "mapq": mapping_quality(self.cost),
            **places,
        }
        if self.start is not None:
            columns["start"] = named_places(self.references, self.best, self.start)["position"]
        return columns

    def records(self) -> list[dict[str, Any]]:
        """The rows of `columns`, one record each; None for a score or cost that is not there or has no bounds."""
        return records_of(self.columns())

    def to_frame(self) -> Any:
        """The rows of `columns` as a table; see `oclgenomics.app.frames.to_frame`."""
        return to_frame(self.columns())
