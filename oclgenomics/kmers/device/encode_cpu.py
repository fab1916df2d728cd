"""Sections encoded on CPU devices: a work-item takes a whole section, from keys and counts to bytes and their checksum.

Each section has more room than it needs in memory that the host shares, so its bytes are written to the file from where
they are, while the device goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.atomic_file import Appending
from oclgenomics.kmers.database.codec import Coded
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.simple8b import STRETCH
from oclgenomics.kmers.device.encode_kernels import SIP_KEY, Span, coded_of, large_counts, sections_of
from oclgenomics.kmers.device.slots import SlotBins, unused_slot
from oclgenomics.kmers.plan.memory import TALLIED, SectionPlan
from oclgenomics.runtime import Engine


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
        words, sections = key_words(k), plan.encode()
        self._engine, self._rooms = engine, RoomPair(engine, output, words, plan)
        defines = {"EVERY": SECTION_KMERS, "STRETCH": STRETCH, "TALLIED": TALLIED, "BYTES": engine.tuning.vector_bytes}
        self._defines: dict[str, int] = {"WORDS": words, **defines}
        # Of slots.
        self._items = min(engine.device.compute_units, sections)
        self._numbers = engine.empty((self._items, SECTION_KMERS), np.uint32)
        self._next = engine.empty(1, np.uint32)
        self._started: _Started | None = None
        self._no_slots: SlotBins | None = None

    def encode(self, span: Span) -> Iterator[Coded]:
        """Encode k-mers and append them, behind sections of slots; yield what is known of all."""
        if self._no_slots is not None and span.start == 0 and span.size < SECTION_KMERS:
            yield from self.encode_slots(span, self._no_slots, 0, 0)  # by a kernel that is there
            return
        engine, sections, rooms = self._engine, sections_of(span.size), self._rooms.next()
        kernel = engine.kernel("kmers/encode_cpu_device.cl", "encode_sections", **self._defines)
        engine.launch(
            kernel, (sections,), (1,), **span.keys_of, counts=span.counts, **SIP_KEY, room=self._rooms.room_bytes,
            out=rooms.rooms.device, facts=rooms.facts.device, tallies=rooms.tallies.device,
        )  # fmt: skip
        yield from self._collect()
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
            The first k-mer of slots, and how many of them; at least one k-mer in all.
        """
        if self._no_slots is None:
            self._no_slots = SlotBins(self._engine, unused_slot(self._engine, bins.layout))
        before, self._started = self._started, self._start(held, bins, start, size)
        yield from self._read(before)

    def settle(self) -> Iterator[Coded]:
        """Let go of the k-mers' memory; nothing is left to yield."""
        return iter(())

    def drain(self) -> Iterator[Coded]:
        """Append sections of slots that are left, yield what is known of them and wait until all is written."""
        yield from self._collect()
        self._rooms.wait()

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it any more."""
        self._started = None
        self._numbers.release()
        self._next.release()
        self._rooms.close()

    def _collect(self) -> Iterator[Coded]:
        """Append the block of slots that was encoded last, if there is one, and yield what is known of it."""
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

    def _start(self, held: Span, bins: SlotBins, start: int, size: int) -> _Started:
        engine, rooms = self._engine, self._rooms.next()
        engine.fill(self._next, 0)
        job = [held.keys.shape[1], held.size, start, size, sections_of(held.size + size), *SIP_KEY.values()]
        shape = np.array([*bins.shape, *job, self._rooms.room_bytes], np.uint64)
        engine.launch(
            engine.kernel("kmers/encode_slots.cl", "encode_slots", **bins.defines, **self._defines),
            (self._items,), (1,), **bins.arguments, shape=engine.upload(shape), held_keys=held.keys,
            held_counts=held.counts, next=self._next, numbers=self._numbers, out=rooms.rooms.device,
            facts=rooms.facts.device, tallies=rooms.tallies.device, many=rooms.many.device,
        )  # fmt: skip
        return _Started(rooms, held.size + size)


class _Started(NamedTuple):
    """A block of so many k-mers that the device encodes."""

    rooms: SectionRooms
    size: int


class SectionRooms:
    """Room for the sections of a block and what is known of them, in memory of the host.

    Parameters
    ----------
    engine : Engine
    output : Appending
    words : int
        Of a key.
    sections : int
    room : int
        Words of a section.

    Attributes
    ----------
    rooms : SharedArray, uint64 (sections, room)
    facts : SharedArray, uint64 (sections * (3 + 2 words),)
        Channels of as many sections as the block has.
    tallies : SharedArray, uint32 (sections, TALLIED + 2)
    many : SharedArray, uint32 (sections, SECTION_KMERS)
        Counts of TALLIED and more of each section of slots; hardly any of it is ever touched.
    """

    def __init__(self, engine: Engine, output: Appending, words: int, sections: int, room: int) -> None:
        self._engine, self._output, self._channels = engine, output, 3 + 2 * words
        self.rooms = engine.shared((sections, room), np.uint64)
        self.facts = engine.shared(sections * self._channels, np.uint64)
        self.tallies = engine.shared((sections, TALLIED + 2), np.uint32)
        self.many = engine.shared((sections, SECTION_KMERS), np.uint32)
        self._writing: Future[None] | None = None

    def found(self, sections: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
        """What is known of a block of so many sections, when the device is done with it."""
        facts = self._engine.download(self.facts.device, self._channels * sections).reshape(self._channels, sections)
        return facts, self._engine.download(self.tallies.device, sections * (TALLIED + 2)).reshape(sections, -1)

    def listed(self, sizes: NDArray[np.integer]) -> NDArray[np.uint32]:
        """The first of `many` of each section, so many."""
        lists = [
            self._engine.download(self.many.device, int(sizes[section]), int(section) * SECTION_KMERS)
            for section in np.flatnonzero(sizes)
        ]
        return np.concatenate([np.empty(0, np.uint32), *lists])

    def put(self, sizes: list[int]) -> None:
        """Append the first bytes of each section's room."""
        self.rooms.fetch(self.rooms.host.size)
        rooms = self.rooms.host.view(np.uint8)
        self._writing = self._output.put(*(rooms[number, :size].data for number, size in enumerate(sizes)))

    def wait(self) -> None:
        """Wait until all is written."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None

    def close(self) -> None:
        """Let go of the memory."""
        for array in (self.rooms, self.facts, self.tallies, self.many):
            array.release()


class RoomPair:
    """Room for two blocks of sections, which are encoded in turn while those before are written.

    Parameters
    ----------
    engine : Engine
    output : Appending
    words : int
        Of a key.
    plan : SectionPlan

    Attributes
    ----------
    room_bytes : int
        Of a section.
    """

    def __init__(self, engine: Engine, output: Appending, words: int, plan: SectionPlan) -> None:
        self.room_bytes = plan.room_bytes
        sections = plan.encode()
        self._pair = [SectionRooms(engine, output, words, sections, self.room_bytes // 8) for _ in range(2)]

    def next(self) -> SectionRooms:
        """Room for a block, when what it had is written."""
        rooms = self._pair[0]
        self._pair.reverse()
        rooms.wait()
        return rooms

    def wait(self) -> None:
        """Wait until all is written."""
        for rooms in self._pair:
            rooms.wait()

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it any more."""
        for rooms in self._pair:
            rooms.close()
