"""Target selection on raw nanopore signal by subsequence dynamic time warping (sDTW)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.app.run import Run as Run
    from oclgenomics.sdtw.api import *
    from oclgenomics.sdtw.decisions.choice import *
    from oclgenomics.sdtw.decisions.evaluation import *
    from oclgenomics.sdtw.decisions.labelled import *
    from oclgenomics.sdtw.decisions.report import (
        EvaluationOptions as EvaluationOptions,
        EvaluationReport as EvaluationReport,
    )
    from oclgenomics.sdtw.decisions.run_model import *
    from oclgenomics.sdtw.decisions.staged import *
    from oclgenomics.sdtw.decisions.thresholds import *
    from oclgenomics.sdtw.formats.squiggle import read_squiggle as read_squiggle, write_squiggle as write_squiggle
    from oclgenomics.sdtw.formats.thresholds import *
    from oclgenomics.sdtw.jobs import *
    from oclgenomics.sdtw.live.classifier import ReadUntilClassifier as ReadUntilClassifier
    from oclgenomics.sdtw.live.options import LiveOptions as LiveOptions
    from oclgenomics.sdtw.options import *
    from oclgenomics.sdtw.result import *
    from oclgenomics.sdtw.squiggles.build import build_squiggle as build_squiggle
    from oclgenomics.sdtw.squiggles.opened import (
        open_references as open_references,
        open_targets as open_targets,
        sequencing_for as sequencing_for,
    )
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle as Squiggle

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "api": "align calibrate classify iter_align iter_classify labelled_scores",
        "decisions.choice": "choose_for_run choose_thresholds",
        "decisions.evaluation": "Difference Estimate Evaluation PrefixEvaluation differences evaluate",
        "decisions.labelled": "LabelledScores Sweep",
        "decisions.report": "EvaluationOptions EvaluationReport",
        "decisions.run_model": "Enrichment RunModel expected_enrichment",
        "decisions.staged": "ClassOfReads StagedEvaluation evaluate_stages",
        "decisions.thresholds": "Stage Thresholds",
        "formats.squiggle": "read_squiggle write_squiggle",
        "formats.thresholds": "read_thresholds write_thresholds",
        "jobs": "AlignJob ClassifyJob",
        "live.classifier": "ReadUntilClassifier",
        "live.options": "LiveOptions",
        "oclgenomics.app.run": "Run",
        "options": "AlignOptions CRESCENT SQUIGGLEFILTER",
        "result": "Alignments Classified Totals",
        "squiggles.build": "build_squiggle",
        "squiggles.opened": "open_references open_targets sequencing_for",
        "squiggles.squiggle": "Squiggle",
    },
    {"align_parts": "iter_align", "classify_parts": "iter_classify"},
)
