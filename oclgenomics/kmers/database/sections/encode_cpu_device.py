"""Sections encoded on CPU devices: a work-item takes a whole section, from keys and counts to bytes and their checksum.

Each section has more room than it needs in memory that the host shares, so its bytes are written to the file from where
they are, while the device goes on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

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
from oclgenomics.kmers.database.sections.encode_slots import SlotEncoder
from oclgenomics.kmers.database.sections.plan import SectionPlan
from oclgenomics.kmers.database.sections.section import Coded
from oclgenomics.kmers.database.sections.section_rooms import RoomPair
from oclgenomics.kmers.database.sections.simple8b import STRETCH
from oclgenomics.kmers.device.slot_runs import SlotBins
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
        words = key_words(k)
        self._engine, self._rooms = engine, RoomPair(engine, output, words, plan)
        self._from_slots = SlotEncoder(engine, words, self._rooms, plan.encode())
        defines = {"EVERY": SECTION_KMERS, "STRETCH": STRETCH, "TALLIED": TALLIED, "BYTES": engine.tuning.vector_bytes}
        self._kernel = engine.kernel("kmers/encode_cpu_device.cl", "encode_sections", WORDS=words, **defines)

    def encode(self, span: Span) -> Iterator[Coded]:
        """Encode k-mers and append them, behind sections of slots; yield what is known of all."""
        engine, sections, rooms = self._engine, sections_of(span.size), self._rooms.next()
        engine.launch(
            self._kernel,
            (sections,),
            (1,),
            **span.keys_of,
            counts=span.counts,
            **SIP_KEY,
            room=self._rooms.room_bytes,
            out=rooms.rooms.device,
            facts=rooms.facts.device,
            tallies=rooms.tallies.device,
        )
        yield from self._from_slots.collect()
        facts, tallies = rooms.found(sections)
        tally = tallies.sum(axis=0, dtype=np.int64)
        large = large_counts(engine, span, int(tally[TALLIED]))
        coded = coded_of(facts, span.size, tally, None if large is None else engine.download(large))
        rooms.put((facts[0] + 8 * facts[1]).tolist())
        yield coded

    def encode_slots(self, held: Span, bins: SlotBins, start: int, size: int) -> Iterator[Coded]:
        """Have sections of slots encoded, append those before and yield what is known of these.

        The device may still be at work afterwards: commands of the engine may write the k-mers' memory, as they come
        later, but nobody else may.

        Parameters
        ----------
        held : Span
            K-mers before those of slots, fewer than a section; from the start of their arrays.
        bins : SlotBins
        start, size : int
            The first k-mer of slots, and how many of them; at least one.
        """
        return self._from_slots.encode(held, bins, start, size)

    def settle(self) -> Iterator[Coded]:
        """Let go of the k-mers' memory; nothing is left to yield."""
        return iter(())

    def drain(self) -> Iterator[Coded]:
        """Append sections of slots that are left, yield what is known of them and wait until all is written."""
        yield from self._from_slots.collect()
        self._rooms.wait()

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it any more."""
        self._from_slots.close()
        self._rooms.close()
