"""Sections encoded on GPUs: a work-item takes a key, a stretch of counts or the checksum of a section.

All of a block of sections is laid out on the device as in the file. While the device encodes a block, the one before is
brought to pinned memory piece by piece, and threads write the pieces.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.atomic_file import Appending
from oclgenomics.kmers.database.codec import Coded
from oclgenomics.kmers.database.keys import key_words
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.simple8b import STRETCH
from oclgenomics.kmers.device.encode_kernels import SIP_KEY, Span, coded_of, large_counts, sections_of
from oclgenomics.kmers.plan.memory import STRETCHES, TALLIED
from oclgenomics.primitives import scan
from oclgenomics.runtime import DeviceArray, Engine
from oclgenomics.runtime.program import Kernel

SUM_LANES = 1  # checksums have little to do with each other: a group each spreads them over the device
TALLY_GROUPS = 1024
PIECE_WORDS, MAX_PIECES = 1 << 21, 8  # of pinned memory: 16 MiB each


class GpuEncoder:
    """Encodes k-mers and appends them to a file.

    Parameters
    ----------
    engine : Engine
    k : int
    output : Appending
    """

    def __init__(self, engine: Engine, k: int, output: Appending) -> None:
        self._engine, self._words = engine, key_words(k)
        self._writer = PinnedWriter(engine, output)
        self._started: _Started | None = None

    def encode(self, span: Span) -> Iterator[Coded]:
        """Encode k-mers; append those before and yield what is known of them."""
        started = self._start(span)
        yield from self._collect()
        self._started = started

    def settle(self) -> Iterator[Coded]:
        """Let go of the k-mers' memory, and of all other: see `drain`."""
        yield from self.drain()

    def drain(self) -> Iterator[Coded]:
        """Append all that was encoded, wait until it is written, and yield what is known of it."""
        yield from self._collect()
        self._writer.wait()

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it any more."""
        self._started = None

    def _kernel(self, source: str, name: str) -> Kernel:
        defines = {"EVERY": SECTION_KMERS, "STRETCH": STRETCH, "STRETCHES": STRETCHES, "TALLIED": TALLIED}
        return self._engine.kernel(f"kmers/{source}.cl", name, WORDS=self._words, **defines)

    def _start(self, span: Span) -> _Started:
        """Have k-mers encoded; what they take is waited for."""
        engine, sections = self._engine, sections_of(span.size)
        tally = engine.empty(TALLIED + 2, np.uint32)
        places = _Places(
            engine.empty(span.size + 1, np.uint32), engine.empty(-(-span.size // STRETCH) + 1, np.uint32), sections
        )
        facts = engine.empty((3 + 2 * self._words, sections), np.uint64)
        self._measure(span, tally, places, facts)
        gap_bytes, count_words = engine.download(facts, 2 * sections).reshape(2, sections).sum(axis=1).tolist()
        tallied = engine.download(tally)
        large = large_counts(engine, span, int(tallied[TALLIED]))
        size = gap_bytes + 8 * count_words
        out = engine.empty(size // 8 + 2, np.uint64)
        self._write(span, places, facts, out)
        return _Started(span.size, tallied, large, facts, out, size)

    def _measure(self, span: Span, tally: DeviceArray, places: _Places, facts: DeviceArray) -> None:
        """Tally the counts, and find out where everything goes."""
        launch, engine = self._engine.launch_items, self._engine
        engine.fill(tally, 0)
        launch(self._kernel("vlq", "measure_gaps"), places.gaps.size, **span.keys_of, bytes=places.gaps, tally=tally)
        scan(engine, places.gaps, out=places.gaps)
        kernel = self._kernel("simple8b", "count_words")
        launch(kernel, places.words.size, **span.counts_of, stretches=places.stretches, words=places.words)
        scan(engine, places.words, out=places.words)
        items = min(span.size, TALLY_GROUPS * engine.tuning.local_size)
        launch(self._kernel("tally", "tally_counts"), items, **span.counts_of, tally=tally)
        kernel = self._kernel("section_facts", "measure_sections")
        launch(kernel, places.sections, **span.keys_of, **places.all, facts=facts)

    def _write(self, span: Span, places: _Places, facts: DeviceArray, out: DeviceArray) -> None:
        """Write everything to its place."""
        launch, data = self._engine.launch_items, out.view(np.uint8)
        kernel = self._kernel("vlq", "write_gaps")
        launch(kernel, span.size, **span.keys_of, gaps=places.gaps, words=places.words, out=data)
        kernel = self._kernel("simple8b", "write_words")
        launch(
            kernel, places.stretches, **span.counts_of, gaps=places.gaps, words=places.words,
            stretches=places.stretches, out=data,
        )  # fmt: skip
        kernel = self._kernel("section_facts", "sum_sections")
        checked = {"size": span.size, "out": out, "facts": facts}
        launch(kernel, places.sections, lanes=SUM_LANES, **places.all, **SIP_KEY, **checked)

    def _collect(self) -> Iterator[Coded]:
        """Append what was encoded, once; yield what is known of it."""
        started, self._started = self._started, None
        if started is not None:
            large = None if started.large is None else self._engine.download(started.large)
            yield coded_of(self._engine.download(started.facts), started.kmers, started.tally, large)
            self._writer.put(started.out, started.size)


@dataclass(frozen=True)
class _Places:
    """Where gaps and words of counts go, in so many sections.

    Attributes
    ----------
    gaps : DeviceArray, uint32 (k-mers + 1,)
        Bytes of keys before each.
    words : DeviceArray, uint32 (stretches + 1,)
        Words of counts before each stretch.
    sections : int
    """

    gaps: DeviceArray
    words: DeviceArray
    sections: int

    @property
    def stretches(self) -> int:
        """Stretches of counts."""
        return self.words.size - 1

    @property
    def all(self) -> dict[str, Any]:
        """What kernels call all of it."""
        return {"gaps": self.gaps, "words": self.words, "sections": self.sections, "stretches": self.stretches}


@dataclass(frozen=True)
class _Started:
    """A block that the device is writing: k-mers, what they tally to, and `size` bytes of sections."""

    kmers: int
    tally: NDArray[np.uint32]
    large: DeviceArray | None
    facts: DeviceArray
    out: DeviceArray
    size: int


class PinnedWriter:
    """Appends device arrays to a file: the device fills pieces of pinned memory, and threads write them."""

    def __init__(self, engine: Engine, output: Appending) -> None:
        self._engine, self._output = engine, output
        self._writing: deque[tuple[NDArray[Any], Future[None]]] = deque()

    def put(self, source: DeviceArray, size: int) -> None:
        """Append the first bytes of an array of words."""
        for start in range(0, size, 8 * PIECE_WORDS):
            piece = self._free()
            length = min(size - start, 8 * PIECE_WORDS)
            words = -(-length // 8)
            self._engine.download(source, words, start // 8, out=piece[:words])
            self._writing.append((piece, self._output.put(piece.view(np.uint8)[:length].data)))

    def wait(self) -> None:
        """Wait until all is written."""
        for _, future in self._writing:
            future.result()

    def _free(self) -> NDArray[Any]:
        if self._writing and (len(self._writing) == MAX_PIECES or self._writing[0][1].done()):
            piece, future = self._writing.popleft()
            future.result()
            return piece
        return self._engine.pinned(PIECE_WORDS, np.uint64)
