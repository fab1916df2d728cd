"""Target selection on raw nanopore signal by subsequence dynamic time warping (sDTW)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sdtw.api import align, align_parts, classify, classify_parts
    from oclgenomics.sdtw.classified import Classified
    from oclgenomics.sdtw.decisions.stages import Stage
    from oclgenomics.sdtw.decisions.thresholds import Thresholds
    from oclgenomics.sdtw.decisions.thresholds_file import read_thresholds, write_thresholds
    from oclgenomics.sdtw.live import LiveOptions, ReadUntilClassifier
    from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
    from oclgenomics.sdtw.result import Alignments
    from oclgenomics.sdtw.squiggles.build import build_squiggle
    from oclgenomics.sdtw.squiggles.file import read_squiggle, write_squiggle
    from oclgenomics.sdtw.squiggles.squiggle import Squiggle

__all__ = [
    "CRESCENT",
    "SQUIGGLEFILTER",
    "AlignOptions",
    "Alignments",
    "Classified",
    "LiveOptions",
    "ReadUntilClassifier",
    "Squiggle",
    "Stage",
    "Thresholds",
    "align",
    "align_parts",
    "build_squiggle",
    "classify",
    "classify_parts",
    "read_squiggle",
    "read_thresholds",
    "write_squiggle",
    "write_thresholds",
]

HOMES = {
    "AlignOptions": "options",
    "Alignments": "result",
    "CRESCENT": "options",
    "Classified": "classified",
    "LiveOptions": "live",
    "ReadUntilClassifier": "live",
    "SQUIGGLEFILTER": "options",
    "Squiggle": "squiggles.squiggle",
    "Stage": "decisions.stages",
    "Thresholds": "decisions.thresholds",
    "align": "api",
    "align_parts": "api",
    "build_squiggle": "squiggles.build",
    "classify": "api",
    "classify_parts": "api",
    "read_squiggle": "squiggles.file",
    "read_thresholds": "decisions.thresholds_file",
    "write_squiggle": "squiggles.file",
    "write_thresholds": "decisions.thresholds_file",
}

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
