"""Reads and genomes as packed symbols in device memory: FASTA and FASTQ, parsed on the device.

Names are imported when they are first used: few commands need all of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
