"""What a writer of databases asks of those who encode sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from oclgenomics.kmers.database.sections.section import Coded
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.primitives import Runs

__all__ = ["SectionEncoder"]


class SectionEncoder(Protocol):
    """Gathers k-mers into sections, encodes these and appends them to a file.

    All methods but `close` yield what is known of the sections that were encoded meanwhile, in their order. k-mers have
    to ascend, with counts of at least 1; what is wrong with them may come to light later, as a ValueError.
    """

    def take_block(self, block: KmerBlock) -> Iterator[Coded]:
        """Take k-mers of host memory, at least one, which is free for other use afterwards."""
        ...

    def take_runs(self, runs: Runs) -> Iterator[Coded]:
        """Take k-mers of device memory, which is free for other use afterwards."""
        ...

    def take_slots(self, slots: Slots) -> Iterator[Coded]:
        """Take k-mers of device memory that are slots, which the engine's commands may write afterwards.

        Kernels that encode them may still be under way.
        """
        ...

    def rest(self) -> Iterator[Coded]:
        """Encode what is left, and wait until all is written."""
        ...

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it to the file any more."""
        ...
