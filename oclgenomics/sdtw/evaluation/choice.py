"""Thresholds chosen by labelled reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.decisions.stages import Stage
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.sdtw.evaluation.labelled import LabelledScores
from oclgenomics.sdtw.evaluation.sweep import Sweep

__all__ = ["check_shares", "choose_thresholds"]


def choose_thresholds(
    labelled: LabelledScores,
    *,
    keep: float | None = None,
    reject: float | None = None,
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
    reject : float, optional
        The share of the others that each stage rejects, above 0 and up to 1; the thresholds are the highest ones that
        do. If neither is given, they are those of the highest F.
    balanced : bool
        Whether both classes weigh the same in F.
    made : mapping, optional
        What is kept with the thresholds of how they were found.

    Raises
    ------
    ParameterError
        `keep` or `reject` is out of range, both are given, or no read of a class is as long as a prefix.
    UsageError
        Too many targets have saturated costs.
    """
    check_shares(keep, reject)
    stages = []
    for number, prefix in enumerate(labelled.prefixes):
        target, other = (scores[:, number] for scores in (labelled.target, labelled.other))
        sweep = Sweep.of_prefix(prefix, target, other, balanced=balanced)
        stages.append(Stage(prefix, _threshold(sweep, keep, reject)))
    found = tuple(stages)
    return Thresholds(
        found, labelled.options, labelled.score, labelled.references, dict(made or {}), labelled.basis
    )


def check_shares(keep: float | None, reject: float | None) -> None:
    """Refuse shares that are out of range, and two of them.

    Raises
    ------
    ParameterError
    """
    for name, share in (("keep", keep), ("reject", reject)):
        if share is not None and not 0 < share <= 1:
            raise ParameterError(name, "give a share above 0, at most 1", share)
    if keep is not None and reject is not None:
        raise ParameterError("reject", "goes without `keep`; give one of them", reject)


def _threshold(sweep: Sweep, keep: float | None, reject: float | None) -> float:
    if keep is not None:
        return sweep.keeping(keep)
    return sweep.best if reject is None else sweep.rejecting(reject)
