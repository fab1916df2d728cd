"""Room for encoded sections on CPU devices, in memory of the host: two of each kind, one of which is being written."""

from __future__ import annotations

from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.append_file import Appending
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.sections.encode_kernels import TALLIED
from oclgenomics.kmers.database.sections.plan import SectionPlan
from oclgenomics.runtime import Engine

__all__ = ["RoomPair", "SectionRooms"]


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
