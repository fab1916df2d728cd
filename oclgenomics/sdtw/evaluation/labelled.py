"""Scores of reads of which it is known whether they are of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.decisions.scores import Score, read_scores
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = ["LabelledScores", "labelled_scores", "reference_names"]


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Scores of reads of two classes, by one kind of alignment.

    Attributes
    ----------
    name : str
        Of the kind of alignment, as tables and figures show it.
    prefixes : tuple of int
        Samples.
    target, other : ndarray, float64, (reads, prefixes)
        Lower for what is more like the target; NaN where a read is too short, infinite where its cost is saturated.
    target_names, other_names : ndarray, object (str), (reads,)
        Pieces of one read have one name.
    options : AlignOptions
    score : {'cost', 'difference'}
    references : tuple of str
        Names of the target and the decoys, as `oclgenomics.sdtw.decisions.thresholds.Thresholds` has them.
    """

    name: str
    prefixes: tuple[int, ...]
    target: NDArray[np.float64]
    other: NDArray[np.float64]
    target_names: NDArray[np.object_]
    other_names: NDArray[np.object_]
    options: AlignOptions
    score: Score = "cost"
    references: tuple[str, ...] = ()


def labelled_scores(
    target: Alignments, other: Alignments, *, name: str, score: Score = "cost", targets: int = 1
) -> LabelledScores:
    """Return the scores of two sets of reads that were aligned alike.

    Parameters
    ----------
    target, other : Alignments
        Their first references are the targets', the others are decoys.
    name : str
        Of this kind of alignment.
    score : {'cost', 'difference'}
        See `oclgenomics.sdtw.decisions.scores.read_scores`.
    targets : int
        References of targets, of which the best counts.

    Raises
    ------
    UsageError
        Both were aligned with other options, prefixes or references; or a difference is asked for without decoys.
    """
    references, others = (reference_names(one.references, targets) for one in (target, other))
    if (target.options, target.prefixes, references) != (other.options, other.prefixes, others):
        raise UsageError("target and non-target reads are compared with the same references, prefixes and options")
    return LabelledScores(
        name,
        target.prefixes,
        read_scores(_of_best_target(target.cost, targets), score, target.options),
        read_scores(_of_best_target(other.cost, targets), score, other.options),
        target.names,
        other.names,
        target.options,
        score,
        references,
    )


def reference_names(references: Sequence[Squiggle], targets: int) -> tuple[str, ...]:
    """Name the target and the decoys; several targets are one of all their names, with commas between them."""
    names = [reference.name for reference in references]
    return (",".join(names[:targets]), *names[targets:])


def _of_best_target(cost: NDArray[np.float64], targets: int) -> NDArray[np.float64]:
    """Costs, (..., references), with those of all targets as one."""
    best = cost[..., :targets].min(axis=-1, keepdims=True)
    return np.concatenate([best, cost[..., targets:]], axis=-1)
