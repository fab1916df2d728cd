"""Sections encoded on CPU devices straight from slots: a work-item takes a section at a time and goes through its bins.

While the device encodes a block of sections, what is known of the one before is read, and its bytes go to the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.sections.encode_kernels import SIP_KEY, TALLIED, Span, coded_of, sections_of
from oclgenomics.kmers.database.sections.section import Coded
from oclgenomics.kmers.database.sections.section_rooms import RoomPair, SectionRooms
from oclgenomics.kmers.database.sections.simple8b import STRETCH
from oclgenomics.kmers.device.slot_runs import SlotBins
from oclgenomics.runtime import Engine

__all__ = ["SlotEncoder"]


class SlotEncoder:
    """Encodes k-mers of slots and appends them to a file.

    Parameters
    ----------
    engine : Engine
    words : int
        Of a key.
    rooms : RoomPair
        Which others may use when all was collected.
    sections : int
        That are encoded at a time at most.
    """

    def __init__(self, engine: Engine, words: int, rooms: RoomPair, sections: int) -> None:
        self._engine, self._words, self._rooms = engine, words, rooms
        self._items = min(engine.device.compute_units, sections)
        self._numbers = engine.empty((self._items, SECTION_KMERS), np.uint32)
        self._next = engine.empty(1, np.uint32)
        self._started: _Started | None = None

    def encode(self, held: Span, bins: SlotBins, start: int, size: int) -> Iterator[Coded]:
        """Have k-mers encoded; append the block before and yield what is known of it."""
        before, self._started = self._started, self._start(held, bins, start, size)
        yield from self._read(before)

    def collect(self) -> Iterator[Coded]:
        """Append the block that was encoded last, if there is one, and yield what is known of it."""
        started, self._started = self._started, None
        yield from self._read(started)

    def _read(self, started: _Started | None) -> Iterator[Coded]:
        if started is not None:
            rooms, size = started
            facts, tallies = rooms.found(sections_of(size))
            large = rooms.listed(tallies[:, TALLIED])
            coded = coded_of(facts, size, tallies.sum(axis=0, dtype=np.int64), large)
            rooms.put((facts[0] + np.uint64(8) * facts[1]).tolist())
            yield coded

    def close(self) -> None:
        """Let go of the memory."""
        self._started = None
        self._numbers.release()
        self._next.release()

    def _start(self, held: Span, bins: SlotBins, start: int, size: int) -> _Started:
        engine, rooms = self._engine, self._rooms.next()
        defines = {"EVERY": SECTION_KMERS, "STRETCH": STRETCH, "TALLIED": TALLIED, "BYTES": engine.tuning.vector_bytes}
        engine.fill(self._next, 0)
        engine.launch(
            engine.kernel("kmers/encode_slots.cl", "encode_slots", WORDS=self._words, **bins.defines, **defines),
            (self._items,),
            (1,),
            **bins.arguments,
            held_keys=held.keys,
            held_room=held.keys.shape[1],
            held_counts=held.counts,
            held=held.size,
            start=start,
            size=size,
            sections=sections_of(held.size + size),
            **SIP_KEY,
            room=self._rooms.room_bytes,
            next=self._next,
            numbers=self._numbers,
            out=rooms.rooms.device,
            facts=rooms.facts.device,
            tallies=rooms.tallies.device,
            many=rooms.many.device,
        )
        return _Started(rooms, held.size + size)


class _Started(NamedTuple):
    """A block of so many k-mers that the device encodes."""

    rooms: SectionRooms
    size: int
