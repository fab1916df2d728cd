"""Thresholds chosen by labelled reads and judged by them as one work, as `sdtw calibrate` and `sdtw evaluate` do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from oclgenomics.errors import ParameterError
from oclgenomics.sdtw.decisions.basis import check_rate
from oclgenomics.sdtw.decisions.choice import check_shares, choose_for_run, choose_thresholds
from oclgenomics.sdtw.decisions.chosen_by import SharedReads
from oclgenomics.sdtw.decisions.evaluation import (
    DEFAULT_ROUNDS,
    DEFAULT_SPLITS,
    Difference,
    Evaluation,
    differences,
    evaluate,
)
from oclgenomics.sdtw.decisions.labelled import LabelledScores
from oclgenomics.sdtw.decisions.run_model import Enrichment, RunModel, expected_enrichment
from oclgenomics.sdtw.decisions.staged import StagedEvaluation, evaluate_stages
from oclgenomics.sdtw.decisions.thresholds import Thresholds
from oclgenomics.signals.sequencing import Sequencing


@dataclass(frozen=True)
class EvaluationOptions:
    """How thresholds are chosen by labelled reads and judged by them.

    Attributes
    ----------
    keep, reject : float, optional
        As `choose_thresholds` takes them.
    for_run : bool
        Choose all thresholds together for the expected run, as `choose_for_run` does.
    balanced, rounds, splits, seed
        As `evaluate` takes them.
    run : mapping of str to float
        The expected run: fields of `RunModel`. Its rate is that of the reads, if they say it; else its rate, and its
        speed, are those of the pore that references are for, and of R9.4.1 where that is not known.
    pore : Sequencing, optional
        How molecules go through that pore.

    Raises
    ------
    ParameterError
        A value is out of range, or `for_run` contradicts a share.
    """

    keep: float | None = None
    reject: float | None = None
    for_run: bool = False
    balanced: bool = True
    rounds: int = DEFAULT_ROUNDS
    splits: int = DEFAULT_SPLITS
    seed: int = 1
    run: Mapping[str, Any] = field(default_factory=dict)
    pore: Sequencing | None = None

    def __post_init__(self) -> None:
        check_shares(self.keep, self.reject)
        if self.for_run and self.by_share:
            raise ParameterError("for_run", "goes without `keep` and `reject`; give one of them")
        RunModel(**self.run)

    @property
    def by_share(self) -> bool:
        """Whether the thresholds are those of a share, and not the best ones for the reads."""
        return self.keep is not None or self.reject is not None

    def run_of(self, labelled: LabelledScores) -> RunModel:
        """Return the expected run of reads like these.

        Raises
        ------
        ParameterError
            The run has another rate than the reads.
        """
        given, rate = dict(self.run), None if labelled.basis is None else labelled.basis.reads.rate
        if rate is not None:
            check_rate(given.setdefault("rate", rate), rate)
        usual = {} if self.pore is None else {"rate": self.pore.rate, "speed": self.pore.speed}
        return RunModel(**(usual | given))

    def of_pore(self, pore: Sequencing | None) -> EvaluationOptions:
        """Return the same options for references of a pore."""
        return replace(self, pore=pore)


@dataclass(frozen=True, eq=False)
class EvaluationReport:
    """All that is reported of labelled reads.

    Attributes
    ----------
    evaluations : sequence of Evaluation
        The first is of the options that were chosen, the others are compared with it.
    differences : sequence of Difference
    staged : StagedEvaluation
        Of the first one's scores.
    run : RunModel
    enrichment : Enrichment
        Expected of the stages in this run.
    chosen_by : SharedReads, optional
        How many of the reads chose the thresholds, if those are of a file that says by which reads they were chosen.
    """

    evaluations: Sequence[Evaluation]
    differences: Sequence[Difference]
    staged: StagedEvaluation
    run: RunModel
    enrichment: Enrichment
    chosen_by: SharedReads | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """How the numbers were found."""
        first = self.evaluations[0]
        return {name: getattr(first, name) for name in ("balanced", "rounds", "splits", "seed")}

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds that were judged, with the numbers found as evidence of them."""
        judged = self.staged.thresholds
        evidence = {**self.staged.summary(), **self.enrichment.record()}
        return replace(judged, made={**judged.made, "evidence": evidence})


def choose(labelled: LabelledScores, options: EvaluationOptions, made: Mapping[str, Any] | None = None) -> Thresholds:
    """Choose thresholds as the options ask for; `made` is what made the scores, as reports tell it."""
    if options.for_run:
        return choose_for_run(labelled, options.run_of(labelled), made=made)
    return choose_thresholds(labelled, keep=options.keep, reject=options.reject, balanced=options.balanced, made=made)


def judge(
    scores: Sequence[LabelledScores], thresholds: Thresholds, options: EvaluationOptions, *, chosen: bool
) -> EvaluationReport:
    """Evaluate scores of several kinds of alignments of the same reads.

    Parameters
    ----------
    scores : sequence of LabelledScores
        The thresholds judge the first ones, and the others are compared with them.
    thresholds : Thresholds
    options : EvaluationOptions
    chosen : bool
        Whether the first scores chose the thresholds.

    Raises
    ------
    UsageError
        See `evaluate`, `evaluate_stages` and `differences`.
    """
    best_of_many = chosen and not (options.by_share and len(thresholds.stages) == 1)
    staged = evaluate_stages(thresholds, scores[0], chosen=best_of_many)
    run = options.run_of(scores[0])
    first, *others = (
        evaluate(one, balanced=options.balanced, rounds=options.rounds, splits=options.splits, seed=options.seed)
        for one in scores
    )
    found = [difference for other in others for difference in differences(first, other)]
    return EvaluationReport([first, *others], found, staged, run, expected_enrichment(staged, run))
