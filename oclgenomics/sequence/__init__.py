"""Reads and genomes as packed symbols in device memory: FASTA and FASTQ, parsed on the device.

Names are imported when they are first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.sequence.block_records import BlockRecords, names_of, records_at
    from oclgenomics.sequence.blocks import PackedBlock, packed_blocks
    from oclgenomics.sequence.census import Census
    from oclgenomics.sequence.letters import LetterBlock, Pieces, letter_blocks
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

HOMES = {
    "BlockRecords": "block_records", "Census": "census", "LetterBlock": "letters", "PackedBlock": "blocks",
    "Pieces": "letters", "Symbols": "symbols", "letter_blocks": "letters", "names_of": "block_records",
    "packed_blocks": "blocks", "records_at": "block_records",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
