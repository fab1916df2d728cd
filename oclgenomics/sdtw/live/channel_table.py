"""The reads that are in the pores: one on each channel, in arrays that are indexed by the channel's number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.live.chunks import Chunks

__all__ = ["CLOSED", "EMPTY", "FLYING", "OPEN", "ChannelTable", "Taken"]

EMPTY, OPEN, FLYING, CLOSED = range(4)
FIRST_SIZE = 513  # channels 0 to 512


@dataclass
class Taken:
    """What became of chunks.

    Attributes
    ----------
    chunks, samples : int
        That belong to reads which are judged; samples that had not come before.
    reads : int
        New ones.
    malformed : int
        Chunks that ended the judging of a read: broken, overlapping or out of order, or with others missing before.
    joined : int
        Reads that had run too long when their first chunk came.
    late : int
        Chunks of reads that are over, or that the sequencer was asked not to send.
    """

    chunks: int = 0
    samples: int = 0
    reads: int = 0
    malformed: int = 0
    joined: int = 0
    late: int = 0


class ChannelTable:
    """Keeps of each read as many samples as its last stage needs.

    Parameters
    ----------
    prefixes : sequence of int
        Samples that each stage needs.
    trim : int
        Samples at the start of a read that are not kept.
    max_missed : int
        Samples at the start of a read that may have been missed.

    Attributes
    ----------
    state : ndarray, uint8, (channels,)
        EMPTY, OPEN (gathers samples), FLYING (is being aligned) or CLOSED (is judged no more).
    generation : ndarray, int64, (channels,)
        Counts the reads of a channel.
    key, read : ndarray, object, (channels,)
        See `Chunks`.
    stage : ndarray, int64, (channels,)
        Next one.
    held : ndarray, int64, (channels,)
        Samples that are kept.
    origin, end : ndarray, int64, (channels,)
        Samples of the run between which samples of the read came.
    arrived : ndarray, float64, (channels, stages)
        When the samples of a stage were there; NaN before.
    delayed : ndarray, bool, (channels,)
        The device was late for it at least once.
    acted : ndarray, bool, (channels,)
        The sequencer was asked to send no more of it.
    samples : ndarray, int16, (channels, samples)
    """

    state: NDArray[np.uint8]
    generation: NDArray[np.int64]
    key: NDArray[np.object_]
    read: NDArray[np.object_]
    stage: NDArray[np.int64]
    held: NDArray[np.int64]
    origin: NDArray[np.int64]
    end: NDArray[np.int64]
    arrived: NDArray[np.float64]
    delayed: NDArray[np.bool_]
    acted: NDArray[np.bool_]
    samples: NDArray[np.int16]
    _base: NDArray[np.int64]
    _key_before: NDArray[np.object_]

    def __init__(self, prefixes: Sequence[int], *, trim: int = 0, max_missed: int = 0) -> None:
        self.prefixes = np.array(prefixes, np.int64)
        self._trim, self._max_missed = trim, max_missed
        self._size = 0
        self._make(FIRST_SIZE)

    def __len__(self) -> int:
        return self._size

    def _make(self, size: int) -> None:
        """Have room for channels below `size`."""
        stages = len(self.prefixes)
        fresh: dict[str, NDArray[Any]] = {
            "state": np.zeros(size, np.uint8),
            "generation": np.zeros(size, np.int64),
            "key": np.full(size, None, object),
            "read": np.full(size, None, object),
            "_key_before": np.full(size, None, object),
            "stage": np.zeros(size, np.int64),
            "held": np.zeros(size, np.int64),
            "_base": np.zeros(size, np.int64),
            "origin": np.zeros(size, np.int64),
            "end": np.zeros(size, np.int64),
            "arrived": np.full((size, stages), np.nan),
            "delayed": np.zeros(size, np.bool_),
            "acted": np.zeros(size, np.bool_),
            "samples": np.zeros((size, int(self.prefixes[-1])), np.int16),
        }
        for name, array in fresh.items():
            if self._size:
                array[: self._size] = getattr(self, name)
            setattr(self, name, array)
        self._size = size

    def take(self, chunks: Chunks, now: float) -> Taken:
        """Add chunks that came now to their reads; a new read takes the place of the one before on its channel."""
        taken = Taken(malformed=chunks.lost)
        if len(chunks) and int(chunks.channel.max()) >= self._size:
            self._make(max(2 * self._size, int(chunks.channel.max()) + 1))
        for numbers in chunks.rounds():
            self._take_round(chunks, numbers, now, taken)
        return taken

    def _take_round(self, chunks: Chunks, numbers: NDArray[np.int64], now: float, taken: Taken) -> None:
        """Take chunks of different channels."""
        channel, key = chunks.channel[numbers], chunks.key[numbers]
        same = (self.state[channel] != EMPTY) & (self.key[channel] == key)
        over = ~same & (self._key_before[channel] == key)
        new = ~same & ~over
        self._open(chunks, numbers[new])
        taken.reads += int(new.sum())
        joined = new & (self.origin[channel] - self._base[channel] > self._max_missed)
        self.state[channel[joined]] = CLOSED
        taken.joined += int(joined.sum())
        taken.late += int((over | (same & self.acted[channel])).sum())
        live = ~over & (self.state[channel] != CLOSED)
        first, lengths = chunks.start[numbers], chunks.lengths[numbers]
        again = self.end[channel] - first  # samples of the chunk that came before
        fits = (again == 0) | ((first == self.origin[channel]) & (again <= lengths))
        wrong = live & (chunks.broken[numbers] | ~fits)
        self.state[channel[wrong]] = CLOSED
        taken.malformed += int(wrong.sum())
        good = np.flatnonzero(live & ~wrong)
        taken.chunks += len(good)
        taken.samples += int((lengths - again)[good].sum())
        self._append(chunks, numbers[good], again[good], now)

    def _open(self, chunks: Chunks, numbers: NDArray[np.int64]) -> None:
        """Forget the reads before, and start new ones."""
        channel = chunks.channel[numbers]
        self._key_before[channel] = self.key[channel]
        self.key[channel], self.read[channel] = chunks.key[numbers], chunks.read[numbers]
        self.generation[channel] += 1
        self.state[channel] = OPEN
        self.origin[channel] = self.end[channel] = chunks.start[numbers]
        self._base[channel] = chunks.read_start[numbers]
        for array in (self.stage, self.held, self.delayed, self.acted):
            array[channel] = 0
        self.arrived[channel] = np.nan

    def _append(self, chunks: Chunks, numbers: NDArray[np.int64], again: NDArray[np.int64], now: float) -> None:
        """Add what is new of chunks to reads that are judged."""
        channel, lengths = chunks.channel[numbers], chunks.lengths[numbers]
        position = self.end[channel] - self._base[channel]
        leave = np.minimum(lengths, again + np.maximum(0, self._trim - position))
        room = self.samples.shape[1] - self.held[channel]
        count = np.minimum(lengths - leave, room)
        first = chunks.places[numbers] + leave
        for row, place, source, size in zip(
            *(a.tolist() for a in (channel, self.held[channel], first, count)), strict=True
        ):
            self.samples[row, place : place + size] = chunks.samples[source : source + size]
        self.held[channel] += count
        self.end[channel] += lengths - again
        there = (self.held[channel, None] >= self.prefixes) & np.isnan(self.arrived[channel])
        self.arrived[channel] = np.where(there, now, self.arrived[channel])

    def due(self) -> NDArray[np.int64]:
        """Channels whose reads have the samples of their next stage, those that wait longest first."""
        waiting = np.flatnonzero(self.state == OPEN)
        ready = waiting[self.held[waiting] >= self.prefixes[self.stage[waiting]]]
        return ready[np.argsort(self.arrived[ready, self.stage[ready]], kind="stable")]

    def received(self) -> NDArray[np.int64]:
        """Samples that came of each read, trimmed ones included."""
        return self.end - self.origin
