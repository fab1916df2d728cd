"""Sections of k-mers that are in device memory, encoded there: the same bytes as `section` makes on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from oclgenomics.io.append_file import Appending
from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.sections.encode_cpu_device import CpuDeviceEncoder
from oclgenomics.kmers.database.sections.encode_kernels import Span
from oclgenomics.kmers.database.sections.key_order import KeyOrder
from oclgenomics.kmers.database.sections.plan import SectionPlan
from oclgenomics.kmers.database.sections.section import Coded
from oclgenomics.kmers.device.slot_runs import SlotBins, runs_of
from oclgenomics.kmers.device.slots import Slots
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.kmer_set import KmerBlock
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.primitives import Runs
from oclgenomics.runtime import Engine

__all__ = ["DeviceEncoder"]


class _SpanEncoder(Protocol):
    """Encodes neighbours among the k-mers of device arrays, for one class of devices."""

    def encode(self, span: Span) -> Iterator[Coded]: ...

    def settle(self) -> Iterator[Coded]: ...

    def drain(self) -> Iterator[Coded]: ...

    def close(self) -> None: ...


class DeviceEncoder:
    """Gathers runs into sections, encodes these and appends them to a file; a `SectionEncoder`.

    What does not fill sections is held in arrays of its own, which are there from the start, so that whoever plans
    with the device's memory afterwards knows of them, as is the room for encoded sections on CPU devices; what GPUs
    encode with is there only while runs are taken.

    Parameters
    ----------
    engine : Engine
    k : int
    output : Appending

    Raises
    ------
    AllocationError
        The device's memory does not hold a section.
    """

    def __init__(self, engine: Engine, k: int, output: Appending) -> None:
        words = key_words(k)
        self._engine, self._k, self._order = engine, k, KeyOrder(k)
        plan = SectionPlan(DeviceLimits.of(engine), k, engine.memory.used)
        self._at_a_time, self._room = plan.encode(), plan.held() * SECTION_KMERS
        self._spans = _span_encoder(engine, k, output, plan)
        self._keys, self._counts = engine.empty((words, self._room), np.uint64), engine.empty(self._room, np.uint32)
        self._size = 0

    def take_block(self, block: KmerBlock) -> Iterator[Coded]:
        """Upload k-mers and take them."""
        yield from self.take_runs(Runs(self._engine.upload(block.keys), self._engine.upload(block.counts), len(block)))

    def take_runs(self, runs: Runs) -> Iterator[Coded]:
        """Take k-mers; yield what was encoded, all but what is held."""
        return self._checked(self._take(runs))

    def take_slots(self, slots: Slots) -> Iterator[Coded]:
        """Take k-mers of slots, which CPU devices encode as they are; yield what was encoded, all but what is held."""
        if isinstance(self._spans, CpuDeviceEncoder):
            return self._checked(self._take_slots(self._spans, SlotBins(self._engine, slots)))
        return self.take_runs(runs_of(self._engine, slots, self._k))

    def rest(self) -> Iterator[Coded]:
        """Yield what is held."""
        return self._checked(self._rest())

    def close(self) -> None:
        """Let go of the memory; nobody may be writing it to the file any more."""
        self._spans.close()
        self._keys.release()
        self._counts.release()

    def _checked(self, some: Iterator[Coded]) -> Iterator[Coded]:
        for coded in some:
            self._order.follow(coded.first, coded.last)
            yield coded

    def _take(self, runs: Runs) -> Iterator[Coded]:
        taken = 0
        while taken < runs.size:
            left = runs.size - taken
            if not self._size and left >= self._room:
                size = min(left // SECTION_KMERS, self._at_a_time) * SECTION_KMERS
                yield from self._spans.encode(Span(runs.keys, runs.counts, taken, size))
            else:
                size = min(left, self._room - self._size)
                self._copy(runs, taken, size)
                if self._size == self._room:
                    yield from self._encode_held()
            taken += size
        yield from self._spans.settle()

    def _take_slots(self, encoder: CpuDeviceEncoder, bins: SlotBins) -> Iterator[Coded]:
        """Sections that end among slots are encoded from them, with what is held; what is left is held."""
        taken = 0
        if self._size >= SECTION_KMERS:  # of runs
            taken = min(bins.size, -self._size % SECTION_KMERS)
            bins.expand(0, taken, self._keys, self._counts, self._size)
            self._size += taken
            if self._size % SECTION_KMERS == 0:
                yield from self._encode_held()
        while taken < bins.size:
            whole = min((self._size + bins.size - taken) // SECTION_KMERS, self._at_a_time)
            if whole:
                size = whole * SECTION_KMERS - self._size
                yield from encoder.encode_slots(Span(self._keys, self._counts, 0, self._size), bins, taken, size)
                self._size = 0
            else:
                size = bins.size - taken
                bins.expand(taken, size, self._keys, self._counts, self._size)
                self._size += size
            taken += size

    def _rest(self) -> Iterator[Coded]:
        if self._size:
            yield from self._encode_held()
        yield from self._spans.drain()

    def _copy(self, runs: Runs, start: int, size: int) -> None:
        hold = self._engine.kernel("kmers/hold_kmers.cl", "hold_kmers", WORDS=key_words(self._k))  # slots need none
        self._engine.launch_items(
            hold,
            size,
            **Span(runs.keys, runs.counts, start, size).keys_of,
            counts=runs.counts,
            room=self._room,
            place=self._size,
            to_keys=self._keys,
            to_counts=self._counts,
        )
        self._size += size

    def _encode_held(self) -> Iterator[Coded]:
        size, self._size = self._size, 0
        yield from self._spans.encode(Span(self._keys, self._counts, 0, size))


def _span_encoder(engine: Engine, k: int, output: Appending, plan: SectionPlan) -> _SpanEncoder:
    """What suits the class of the device."""
    if plan.limits.cpu:
        return CpuDeviceEncoder(engine, k, output, plan)
    from oclgenomics.kmers.database.sections.encode_gpu import GpuEncoder  # here, because CPU devices do not need it

    return GpuEncoder(engine, k, output)
