"""Target selection on raw nanopore signal by subsequence dynamic time warping (sDTW)."""

from oclgenomics.sdtw.align import align, align_parts
from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.squiggle import Squiggle
from oclgenomics.sdtw.squiggle_build import build_squiggle
from oclgenomics.sdtw.squiggle_file import read_squiggle, write_squiggle

__all__ = [
    "CRESCENT",
    "SQUIGGLEFILTER",
    "AlignOptions",
    "Alignments",
    "Squiggle",
    "align",
    "align_parts",
    "build_squiggle",
    "read_squiggle",
    "write_squiggle",
]
