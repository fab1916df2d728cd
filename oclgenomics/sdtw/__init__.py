"""Target selection on raw nanopore signal by subsequence dynamic time warping (sDTW)."""

from oclgenomics.sdtw.align import align, align_parts
from oclgenomics.sdtw.classified import Classified
from oclgenomics.sdtw.classify import classify, classify_parts
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
