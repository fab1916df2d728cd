"""Readers of population genetic alignments: ms, MaCS, FASTA and VCF, plain or gzip, tree sequences and VCF Zarr."""

from .alignment import Alignment
from .characters import characters
from .read import read_alignments

__all__ = ["Alignment", "characters", "read_alignments"]
