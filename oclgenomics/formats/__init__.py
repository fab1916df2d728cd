"""Readers of population genetic alignments: ms, MaCS, FASTA and VCF, plain or gzip, tree sequences and VCF Zarr."""

from .ahead import PREFETCH_BYTES
from .alignment import Alignment
from .characters import characters
from .phase import PHASES
from .read import read_alignments

__all__ = ["PHASES", "PREFETCH_BYTES", "Alignment", "characters", "read_alignments"]
