"""Reads and genomes as packed symbols in device memory: FASTA and FASTQ, parsed on the device.

Names are imported when they are first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sequence.aligned_reads import ReferencedFile as ReferencedFile, with_reference as with_reference
    from oclgenomics.sequence.block_records import *
    from oclgenomics.sequence.blocks import *
    from oclgenomics.sequence.defects import Census as Census
    from oclgenomics.sequence.files import *
    from oclgenomics.sequence.letters import letter_blocks as letter_blocks
    from oclgenomics.sequence.parse import Symbols as Symbols
    from oclgenomics.sequence.pieces import *
    from oclgenomics.sequence.records import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "block_records": "BlockRecords names_of records_at",
        "aligned_reads": "ReferencedFile with_reference",
        "blocks": "PackedBlock packed_blocks",
        "defects": "Census",
        "files": "InputProgress file_names list_names",
        "letters": "letter_blocks",
        "parse": "Symbols",
        "pieces": "LetterBlock Pieces",
        "records": "Record read_records",
    },
)
