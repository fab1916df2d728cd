"""Sections encoded on CPU devices: a work-item takes a whole section, from keys and counts to bytes and their checksum.

Each section has more room than it needs in memory that the host shares, so its bytes are written to the file from where
they are, while the next sections are encoded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future

import numpy as np

from oclgenomics.kmers.appending import Appending
from oclgenomics.kmers.layout import SECTION_KMERS
from oclgenomics.kmers.section import Coded
from oclgenomics.kmers.section_kernels import (
    SIP_KEY,
    TALLIED,
    Span,
    coded_of,
    large_counts,
    most_gap_bytes,
    sections_of,
)
from oclgenomics.kmers.simple8b import STRETCH
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.memory import BufferNeed

__all__ = ["CpuSections"]

HELD = 4  # sections that are gathered where runs are short
UNITS_EACH, FEWEST = 2, 16  # sections at a time: some for each core
MOST_BYTES = 1 << 27  # of room for them, of which a half or less is ever touched
SPARE = 16  # bytes, as eight are written at a time and whole words read


class CpuSections:
    """Encodes k-mers and appends them to a file.

    Attributes
    ----------
    batch : int
        Sections to encode at a time.
    held : int
        Sections to gather.
    """

    def __init__(self, engine: Engine, words: int, output: Appending) -> None:
        self._engine, self._words = engine, words
        self._room = -(-SECTION_KMERS * (8 + most_gap_bytes(words)) // 8) * 8 + SPARE
        fit = self._sections_that_fit()
        units = UNITS_EACH * engine.device.compute_units
        self.batch = max(1, min(max(units, FEWEST), MOST_BYTES // self._room, fit // 4))
        self.held = min(HELD, self.batch)
        self._slots = [_Slot(engine, output, self.batch, self._room) for _ in range(2)]
        defines = {"WORDS": words, "EVERY": SECTION_KMERS, "STRETCH": STRETCH, "TALLIED": TALLIED}
        self._kernel = engine.kernel("kmers/encode_sections.cl", "encode_sections", **defines)

    def _sections_that_fit(self) -> int:
        needs = [
            BufferNeed("keys", per_item=8 * self._words * SECTION_KMERS),
            BufferNeed("counts", per_item=4 * SECTION_KMERS),
            BufferNeed("sections", per_item=self._room, copies=2),
            BufferNeed("tallies", per_item=4 * (TALLIED + 2)),
        ]
        return self._engine.items_that_fit(needs, item="section of k-mers")

    def encode(self, span: Span) -> Iterator[Coded]:
        """Encode k-mers and append them; yield what is known of them."""
        engine, sections, slot = self._engine, sections_of(span.size), self._slots[0]
        self._slots.reverse()
        facts = engine.empty((3 + 2 * self._words, sections), np.uint64)
        tallies = engine.empty((sections, TALLIED + 2), np.uint32)
        stride = np.uint64(span.keys.shape[1])
        place = stride, np.uint64(span.start), np.uint32(span.size)
        out = np.uint64(self._room), slot.array()
        args = span.keys, span.counts, *place, *SIP_KEY, *out, facts, tallies
        engine.launch(self._kernel, (sections,), (1,), *args)
        found, tally = engine.download(facts), engine.download(tallies).sum(axis=0, dtype=np.int64)
        large = large_counts(engine, span, int(tally[TALLIED]))
        coded = coded_of(found, span.size, tally, None if large is None else engine.download(large))
        slot.put((found[0] + 8 * found[1]).tolist())
        yield coded

    def drain(self) -> Iterator[Coded]:
        """Wait until all is written and let go of the memory; there is nothing left to yield."""
        for slot in self._slots:
            slot.wait()
        self.close()
        return iter(())

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it any more."""
        for slot in self._slots:
            slot.close()


class _Slot:
    """Room for the sections of a batch, written to the file while those of another are encoded."""

    def __init__(self, engine: Engine, output: Appending, sections: int, room: int) -> None:
        self._engine, self._output, self._shape = engine, output, (sections, room // 8)
        self._array: DeviceArray | None = None
        self._mapped = contextlib.ExitStack()
        self._writing: Future[None] | None = None

    def array(self) -> DeviceArray:
        """The memory, when all is written that was in it."""
        self.wait()
        if self._array is None:
            self._array = self._engine.empty(self._shape, np.uint64)
        return self._array

    def put(self, sizes: list[int]) -> None:
        """Append the first bytes of each section's room."""
        assert self._array is not None
        host = self._mapped.enter_context(self._engine.mapped(self._array))
        rooms = host.view(np.uint8)
        self._writing = self._output.put(*(rooms[number, :size].data for number, size in enumerate(sizes)))

    def wait(self) -> None:
        """Wait until all is written."""
        if self._writing is not None:
            self._writing.result()
            self._writing = None
        self._mapped.close()

    def close(self) -> None:
        """Let go of the memory."""
        self._mapped.close()
        self._array = None
