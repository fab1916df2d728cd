"""Thresholds chosen by labelled reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.evaluation.labelled import LabelledScores
from oclgenomics.sdtw.evaluation.sweep import Sweep
from oclgenomics.sdtw.stages import Stage
from oclgenomics.sdtw.thresholds import Thresholds

__all__ = ["choose_thresholds"]


def choose_thresholds(
    labelled: LabelledScores,
    *,
    keep: float | None = None,
    balanced: bool = True,
    made: Mapping[str, Any] | None = None,
) -> Thresholds:
    """Choose a threshold for each prefix.

    Each threshold is chosen by all reads that are long enough for its prefix, as if there were no other stage.

    Parameters
    ----------
    labelled : LabelledScores
        Its prefixes become stages.
    keep : float, optional
        The share of the targets that each stage keeps, above 0 and up to 1; the thresholds are the lowest ones that do.
        If not given, they are those of the highest F.
    balanced : bool
        Whether both classes weigh the same in F.
    made : mapping, optional
        What is kept with the thresholds of how they were found.

    Raises
    ------
    ParameterError
        `keep` is out of range, or no read of a class is as long as a prefix.
    UsageError
        Too many targets have saturated costs.
    """
    if keep is not None and not 0 < keep <= 1:
        raise ParameterError("keep", "give a share above 0, at most 1", keep)
    stages = []
    for number, prefix in enumerate(labelled.prefixes):
        target, other = (scores[:, number] for scores in (labelled.target, labelled.other))
        sweep = Sweep.of_prefix(prefix, target, other, balanced=balanced)
        stages.append(Stage(prefix, sweep.best if keep is None else sweep.keeping(keep)))
    return Thresholds(tuple(stages), labelled.options, labelled.score, labelled.references, dict(made or {}))
