"""Reads and genomes as packed symbols in device memory: FASTA and FASTQ, parsed on the device.

Names are imported when they are first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sequence.block_records import BlockRecords, names_of, records_at
    from oclgenomics.sequence.blocks import PackedBlock, packed_blocks
    from oclgenomics.sequence.defects import Census
    from oclgenomics.sequence.files import InputProgress, file_names, list_names
    from oclgenomics.sequence.letters import LetterBlock, Pieces, letter_blocks
    from oclgenomics.sequence.parse import Symbols
    from oclgenomics.sequence.records import Record, read_records

__all__ = [
    "BlockRecords",
    "Census",
    "InputProgress",
    "LetterBlock",
    "PackedBlock",
    "Pieces",
    "Record",
    "Symbols",
    "file_names",
    "letter_blocks",
    "list_names",
    "names_of",
    "packed_blocks",
    "read_records",
    "records_at",
]

HOMES = {
    "BlockRecords": "block_records", "Census": "defects", "InputProgress": "files", "LetterBlock": "letters",
    "PackedBlock": "blocks", "Pieces": "letters", "Record": "records", "Symbols": "parse", "file_names": "files",
    "letter_blocks": "letters", "list_names": "files", "names_of": "block_records", "packed_blocks": "blocks",
    "read_records": "records", "records_at": "block_records",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
