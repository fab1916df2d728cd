"""Readers of population genetic alignments: ms, MaCS, FASTA and VCF, plain or gzip, tree sequences and VCF Zarr."""

from oclgenomics.variation.alignment import Alignment
from oclgenomics.variation.characters import characters
from oclgenomics.variation.phase import PHASES
from oclgenomics.variation.read_options import ReadOptions
from oclgenomics.variation.readers.prefetch import PREFETCH_BYTES
from oclgenomics.variation.readers.read import read_alignments

__all__ = ["PHASES", "PREFETCH_BYTES", "Alignment", "ReadOptions", "characters", "read_alignments"]
