"""Target selection on raw nanopore signal by subsequence dynamic time warping (sDTW)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.run import Run
    from oclgenomics.sdtw.api import (
        align,
        classify,
        iter_align,
        iter_classify,
        labelled_scores,
        open_references,
        open_targets,
    )
    from oclgenomics.sdtw.decisions.choice import choose_for_run, choose_thresholds
    from oclgenomics.sdtw.decisions.evaluation import (
        Difference,
        Estimate,
        Evaluation,
        PrefixEvaluation,
        differences,
        evaluate,
    )
    from oclgenomics.sdtw.decisions.labelled import LabelledScores, Sweep
    from oclgenomics.sdtw.decisions.run_model import Enrichment, RunModel, expected_enrichment
    from oclgenomics.sdtw.decisions.staged import ClassOfReads, StagedEvaluation, evaluate_stages
    from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds
    from oclgenomics.sdtw.formats.squiggle import read_squiggle, write_squiggle
    from oclgenomics.sdtw.formats.thresholds import read_thresholds, write_thresholds
    from oclgenomics.sdtw.live.classifier import ReadUntilClassifier
    from oclgenomics.sdtw.live.options import LiveOptions
    from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
    from oclgenomics.sdtw.result import Alignments, Classified, Totals
    from oclgenomics.sdtw.squiggles.build import build_squiggle
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = [
    "CRESCENT",
    "SQUIGGLEFILTER",
    "AlignOptions",
    "Alignments",
    "ClassOfReads",
    "Classified",
    "Difference",
    "Enrichment",
    "Estimate",
    "Evaluation",
    "LabelledScores",
    "LiveOptions",
    "PrefixEvaluation",
    "ReadUntilClassifier",
    "Run",
    "RunModel",
    "Squiggle",
    "Stage",
    "StagedEvaluation",
    "Sweep",
    "Thresholds",
    "Totals",
    "align",
    "build_squiggle",
    "choose_for_run",
    "choose_thresholds",
    "classify",
    "differences",
    "evaluate",
    "evaluate_stages",
    "expected_enrichment",
    "iter_align",
    "iter_classify",
    "labelled_scores",
    "open_references",
    "open_targets",
    "read_squiggle",
    "read_thresholds",
    "write_squiggle",
    "write_thresholds",
]

HOMES = {
    "AlignOptions": "options", "Alignments": "result", "CRESCENT": "options", "ClassOfReads": "decisions.staged",
    "Classified": "result", "Difference": "decisions.evaluation", "Enrichment": "decisions.run_model",
    "Estimate": "decisions.evaluation", "Evaluation": "decisions.evaluation", "LabelledScores": "decisions.labelled",
    "LiveOptions": "live.options", "PrefixEvaluation": "decisions.evaluation",
    "ReadUntilClassifier": "live.classifier", "Run": "oclgenomics.app.run", "RunModel": "decisions.run_model",
    "SQUIGGLEFILTER": "options", "Squiggle": "squiggles.squiggle", "Stage": "decisions.thresholds",
    "StagedEvaluation": "decisions.staged", "Sweep": "decisions.labelled", "Thresholds": "decisions.thresholds",
    "Totals": "result", "align": "api", "build_squiggle": "squiggles.build", "choose_for_run": "decisions.choice",
    "choose_thresholds": "decisions.choice", "classify": "api", "differences": "decisions.evaluation",
    "evaluate": "decisions.evaluation", "evaluate_stages": "decisions.staged",
    "expected_enrichment": "decisions.run_model", "iter_align": "api", "iter_classify": "api",
    "labelled_scores": "api", "open_references": "api", "open_targets": "api", "read_squiggle": "formats.squiggle",
    "read_thresholds": "formats.thresholds", "write_squiggle": "formats.squiggle",
    "write_thresholds": "formats.thresholds"
}  # fmt: skip
RENAMED = {"align_parts": "iter_align", "classify_parts": "iter_classify"}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__, RENAMED)
