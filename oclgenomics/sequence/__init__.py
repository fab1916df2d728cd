"""Reads and genomes as packed symbols in device memory: FASTA and FASTQ, parsed on the device."""

from oclgenomics.sequence.blocks import PackedBlock, packed_blocks
from oclgenomics.sequence.symbols import Symbols

__all__ = ["PackedBlock", "Symbols", "packed_blocks"]
