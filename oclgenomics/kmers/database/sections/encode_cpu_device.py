"""Sections encoded on CPU devices: a work-item takes a whole section, from keys and counts to bytes and their checksum.

Each section has more room than it needs in memory that the host shares, so its bytes are written to the file from where
they are, while the device goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.append_file import Appending
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.sections.encode_kernels import (
    SIP_KEY,
    TALLIED,
    Span,
    coded_of,
    large_counts,
    sections_of,
)
from oclgenomics.kmers.database.sections.plan import SectionPlan
from oclgenomics.kmers.database.sections.section import Coded
from oclgenomics.kmers.database.sections.simple8b import STRETCH
from oclgenomics.kmers.keys import key_words
from oclgenomics.runtime import Engine

__all__ = ["CpuDeviceEncoder"]


class CpuDeviceEncoder:
    """Encodes k-mers and appends them to a file.

    Parameters
    ----------
    engine : Engine
    k : int
    output : Appending
    plan : SectionPlan
    """

    def __init__(self, engine: Engine, k: int, output: Appending, plan: SectionPlan) -> None:
        self._engine, self._words, self._room = engine, key_words(k), plan.room_bytes
        sections = plan.encode()
        self._slots = [_Slot(engine, output, self._words, sections, self._room // 8) for _ in range(2)]
        defines = {"WORDS": self._words, "EVERY": SECTION_KMERS, "STRETCH": STRETCH, "TALLIED": TALLIED}
        self._kernel = engine.kernel("kmers/encode_cpu_device.cl", "encode_sections", **defines)

    def encode(self, span: Span) -> Iterator[Coded]:
        """Encode k-mers and append them; yield what is known of them."""
        engine, sections, slot = self._engine, sections_of(span.size), self._slots[0]
        self._slots.reverse()
        slot.wait()
        engine.launch(
            self._kernel,
            (sections,),
            (1,),
            **span.keys_of,
            counts=span.counts,
            **SIP_KEY,
            room=self._room,
            out=slot.rooms.device,
            facts=slot.facts.device,
            tallies=slot.tallies.device,
        )
        facts, tallies = slot.found(sections)
        tally = tallies.sum(axis=0, dtype=np.int64)
        large = large_counts(engine, span, int(tally[TALLIED]))
        coded = coded_of(facts, span.size, tally, None if large is None else engine.download(large))
        slot.put((facts[0] + 8 * facts[1]).tolist())
        yield coded

    def settle(self) -> Iterator[Coded]:
        """Let go of the k-mers' memory; nothing is left to yield."""
        return iter(())

    def drain(self) -> Iterator[Coded]:
        """Wait until all is written; nothing is left to yield."""
        for slot in self._slots:
            slot.wait()
        return iter(())

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it any more."""
        for slot in self._slots:
            slot.close()


class _Slot:
    """Room for the sections of a block and what is known of them, in memory of the host.

    Attributes
    ----------
    rooms : SharedArray, uint64 (sections, room)
    facts : SharedArray, uint64 (sections * (3 + 2 words),)
        Channels of as many sections as the block has.
    tallies : SharedArray, uint32 (sections, TALLIED + 2)
    """

    def __init__(self, engine: Engine, output: Appending, words: int, sections: int, room: int) -> None:
        self._engine, self._output, self._channels = engine, output, 3 + 2 * words
        self.rooms = engine.shared((sections, room), np.uint64)
        self.facts = engine.shared(sections * self._channels, np.uint64)
        self.tallies = engine.shared((sections, TALLIED + 2), np.uint32)
        self._writing: Future[None] | None = None

    def found(self, sections: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """What is known of a block of so many sections, when the device is done with it."""
        facts = self._engine.download(self.facts.device, self._channels * sections).reshape(self._channels, sections)
        return facts, self._engine.download(self.tallies.device, sections * (TALLIED + 2)).reshape(sections, -1)

    def put(self, sizes: list[int]) -> None:
        """Append the first bytes of each section's room."""
        if not self._engine.tuning.shares_memory:
            self._engine.download(self.rooms.device, out=self.rooms.host)
        rooms = self.rooms.host.view(np.uint8)
        self._writing = self._output.put(*(rooms[number, :size].data for number, size in enumerate(sizes)))

    def wait(self) -> None:
        """Wait until all is written."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def close(self) -> None:
        """Let go of the memory."""
        for array in (self.rooms, self.facts, self.tallies):
            array.release()
