"""How well alignments tell target reads from others, and at which thresholds."""

from oclgenomics.sdtw.evaluation.choice import choose_thresholds
from oclgenomics.sdtw.evaluation.evaluate import differences, evaluate
from oclgenomics.sdtw.evaluation.joint_choice import choose_for_run
from oclgenomics.sdtw.evaluation.labelled import LabelledScores, labelled_scores
from oclgenomics.sdtw.evaluation.result import Difference, Estimate, Evaluation, PrefixEvaluation
from oclgenomics.sdtw.evaluation.run_model import Enrichment, RunModel, expected_enrichment
from oclgenomics.sdtw.evaluation.staged import ClassOfReads, StagedEvaluation, evaluate_stages
from oclgenomics.sdtw.evaluation.sweep import Sweep

__all__ = [
    "ClassOfReads",
    "Difference",
    "Enrichment",
    "Estimate",
    "Evaluation",
    "LabelledScores",
    "PrefixEvaluation",
    "RunModel",
    "StagedEvaluation",
    "Sweep",
    "choose_for_run",
    "choose_thresholds",
    "differences",
    "evaluate",
    "evaluate_stages",
    "expected_enrichment",
    "labelled_scores",
]
