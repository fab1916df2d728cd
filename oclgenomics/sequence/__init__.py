"""Reads and genomes as packed symbols in device memory: FASTA and FASTQ, parsed on the device."""

from oclgenomics.sequence.block_records import BlockRecords, names_of, records_at
from oclgenomics.sequence.blocks import PackedBlock, packed_blocks
from oclgenomics.sequence.census import Census
from oclgenomics.sequence.letter_blocks import LetterBlock, Pieces, letter_blocks
from oclgenomics.sequence.symbols import Symbols

__all__ = [
    "BlockRecords",
    "Census",
    "LetterBlock",
    "PackedBlock",
    "Pieces",
    "Symbols",
    "letter_blocks",
    "names_of",
    "packed_blocks",
    "records_at",
]
