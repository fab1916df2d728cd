"""Scores of reads of which it is known whether they are of the target."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.decisions.basis import Basis
from oclgenomics.sdtw.decisions.scores import Score, read_scores
from oclgenomics.sdtw.options import AlignOptions
from oclgenomics.sdtw.result import Alignments

__all__ = ["LabelledScores", "labelled_scores"]


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
    basis : Basis, optional
        What the reads and the references are, if that is known.
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
    basis: Basis | None = None

    @property
    def read_names(self) -> list[str]:
        """Of both classes; pieces of one read have one name."""
        return [*self.target_names.tolist(), *self.other_names.tolist()]


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
        Both were aligned with other options, prefixes, references or trimming; they say that they are of different
        pores or molecules, or have different rates; or a difference is asked for without decoys.
    """
    basis, others = (
        Basis.of(one.references[:targets], one.references[targets:], one.trim, one.reads) for one in (target, other)
    )
    same = (basis.trim, basis.references) == (others.trim, others.references)
    if not same or (target.options, target.prefixes) != (other.options, other.prefixes):
        raise UsageError(
            "target and non-target reads are compared with the same references, prefixes, options and trimming"
        )
    if target.reads.contradiction(other.reads) is not None:
        raise UsageError(
            f"the target reads are of {target.reads}, the others of {other.reads}; evaluate reads of one kind, or "
            "thresholds tell the kinds apart and not the sequences"
        )
    return LabelledScores(
        name,
        target.prefixes,
        read_scores(_of_best_target(target.cost, targets), score, target.options),
        read_scores(_of_best_target(other.cost, targets), score, other.options),
        target.names,
        other.names,
        target.options,
        score,
        basis.names,
        replace(basis, reads=target.reads.joined(other.reads)),
    )


def _of_best_target(cost: NDArray[np.float64], targets: int) -> NDArray[np.float64]:
    """Costs, (..., references), with those of all targets as one."""
    best = cost[..., :targets].min(axis=-1, keepdims=True)
    return np.concatenate([best, cost[..., targets:]], axis=-1)
