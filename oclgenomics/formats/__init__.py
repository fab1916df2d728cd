"""Readers of population genetic alignments: ms, MaCS, FASTA and VCF, plain or packed with gzip or bgzip."""

from .alignment import Alignment
from .read import read_alignments

__all__ = ["Alignment", "read_alignments"]
