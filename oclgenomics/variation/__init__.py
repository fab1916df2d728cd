"""Alignments of haplotypes: read from ms, MaCS, FASTA and VCF, uncompressed or compressed, tree sequences and VCF Zarr,
or made of arrays; and BED regions."""

from oclgenomics.variation.alignment import Alignment, characters
from oclgenomics.variation.bed import BedRegions, read_bed
from oclgenomics.variation.read_options import PHASES, ReadOptions
from oclgenomics.variation.readers.read import PREFETCH_BYTES, read_alignments

__all__ = [
    "PHASES",
    "PREFETCH_BYTES",
    "Alignment",
    "BedRegions",
    "ReadOptions",
    "characters",
    "read_alignments",
    "read_bed",
]
