"""Readers of population genetic alignments: ms, MaCS, FASTA and VCF, plain or packed with gzip or bgzip."""

from .alignment import Alignment
from .characters import characters
from .read import read_alignments

__all__ = ["Alignment", "characters", "read_alignments"]
