"""Thresholds chosen by labelled reads: each stage's by itself, or all together for what they bring in a run.

Together, each stage's threshold is moved to where the expected enrichment is highest while the others stay, in turn,
until none moves: then no single threshold that keeps a target can be chosen better. The search starts from the
thresholds of the highest F and from thresholds that reject nothing, and takes the better end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.decisions.labelled import LabelledScores, Sweep
from oclgenomics.sdtw.decisions.run_model import RunModel, seconds_until_out
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds

MAX_TURNS = 50


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
    return Thresholds(found, labelled.options, labelled.score, labelled.references, dict(made or {}), labelled.basis)


def choose_for_run(labelled: LabelledScores, run: RunModel, *, made: Mapping[str, Any] | None = None) -> Thresholds:
    """Choose the thresholds of all prefixes for the highest expected enrichment.

    Parameters
    ----------
    labelled : LabelledScores
        Its prefixes become stages.
    run : RunModel
    made : mapping, optional
        What is kept with the thresholds of how they were found.

    Raises
    ------
    ParameterError
        No read of a class is as long as a prefix.
    UsageError
        The costs of all targets are saturated.
    """
    columns = zip(labelled.prefixes, labelled.target.T, labelled.other.T, strict=True)
    sweeps = [Sweep.of_prefix(prefix, target, other) for prefix, target, other in columns]
    classes = [
        _Class(scores, share, length / run.speed, seconds_until_out(run, np.array(labelled.prefixes), length))
        for scores, share, length in (
            (labelled.target, run.target_share, run.target_length),
            (labelled.other, 1 - run.target_share, run.other_length),
        )
    ]
    starts = [[sweep.best for sweep in sweeps], [sweep.above(sweep.candidates[-1]) for sweep in sweeps]]
    ends = [_climbed(np.array(start), classes, sweeps, run.capture_seconds) for start in starts]
    _, chosen = max(ends, key=lambda end: end[0])
    stages = tuple(Stage(prefix, value) for prefix, value in zip(labelled.prefixes, chosen.tolist(), strict=True))
    return Thresholds(stages, labelled.options, labelled.score, labelled.references, dict(made or {}), labelled.basis)


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


@dataclass(frozen=True, eq=False)
class _Class:
    """Reads of a class.

    Attributes
    ----------
    scores : ndarray, float64, (reads, stages)
    share : float
        Of the strands.
    whole : float
        Seconds that a read takes.
    until : ndarray, float64, (stages,)
        Seconds of a read that a stage rejects.
    """

    scores: NDArray[np.float64]
    share: float
    whole: float
    until: NDArray[np.float64]

    def fates(self, thresholds: NDArray[np.float64], first: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Whether each read is kept, and how long it takes, if it comes to the stage `first`."""
        kept, seconds = np.ones(len(self.scores), np.bool_), np.full(len(self.scores), self.whole)
        waiting = np.ones(len(self.scores), np.bool_)
        for stage in range(first, len(thresholds)):
            own = self.scores[:, stage]
            rejected = waiting & (own > thresholds[stage])
            kept[rejected], seconds[rejected] = False, self.until[stage]
            waiting &= ~rejected & ~np.isnan(own)
        return kept, seconds

    def judged(self, thresholds: NDArray[np.float64], stage: int) -> NDArray[np.bool_]:
        """Which reads come to a stage and are long enough for it."""
        before = self.scores[:, :stage] <= thresholds[:stage]
        judged: NDArray[np.bool_] = before.all(axis=1) & ~np.isnan(self.scores[:, stage])
        return judged


def _climbed(
    thresholds: NDArray[np.float64], classes: list[_Class], sweeps: list[Sweep], capture: float
) -> tuple[float, NDArray[np.float64]]:
    """Move thresholds until none can be chosen better; with the kept share of targets for each second."""
    highest = -np.inf
    for _ in range(MAX_TURNS):
        before = highest
        for stage, sweep in enumerate(sweeps):
            worth = _worth(thresholds, stage, classes, sweep, capture)
            best = int(worth.argmax())
            if worth[best] > highest * (1 + 1e-12):
                highest, thresholds[stage] = float(worth[best]), sweep.above(sweep.candidates[best])
        if highest == before:
            break
    return highest, thresholds


def _worth(
    thresholds: NDArray[np.float64], stage: int, classes: list[_Class], sweep: Sweep, capture: float
) -> NDArray[np.float64]:
    """The kept share of the targets by the mean seconds of a strand, with a stage's threshold at each candidate."""
    kept_share, seconds = np.zeros(len(sweep.candidates)), np.full(len(sweep.candidates), float(capture))
    for number, one in enumerate(classes):
        judged = one.judged(thresholds, stage)
        kept, taken = one.fates(thresholds, 0)  # of reads that do not come to the stage
        later_kept, later_taken = one.fates(thresholds, stage + 1)
        order = np.argsort(one.scores[judged, stage], kind="stable")
        called = np.searchsorted(one.scores[judged, stage][order], sweep.candidates, "right")
        if number == 0:
            kept_share = (kept[~judged].sum() + _first(later_kept[judged][order])[called]) / len(kept)
        all_taken = _first(later_taken[judged][order] - one.until[stage])[called] + judged.sum() * one.until[stage]
        seconds += one.share * (taken[~judged].sum() + all_taken) / len(kept)
    worth: NDArray[np.float64] = kept_share / seconds
    return worth


def _first(values: NDArray[Any]) -> NDArray[np.float64]:
    """Sums of the first i values, float64 (values + 1,)."""
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
