"""Target selection on raw nanopore signal by subsequence dynamic time warping (sDTW)."""

from oclgenomics.sdtw.options import CRESCENT, SQUIGGLEFILTER, AlignOptions
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.squiggle import Squiggle

__all__ = ["CRESCENT", "SQUIGGLEFILTER", "AlignOptions", "Alignments", "Squiggle"]
