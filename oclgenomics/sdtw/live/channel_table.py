"""The reads that are in the pores: one on each channel, in arrays that are indexed by the channel's number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.sdtw.live.chunks import Chunks, digitise
from oclgenomics.sdtw.live.taken import Taken
from oclgenomics.sdtw.live.trim import LiveTrim
from oclgenomics.signals.trimming import TrimOptions

__all__ = ["CLOSED", "EMPTY", "FLYING", "OPEN", "ChannelTable"]

EMPTY, OPEN, FLYING, CLOSED = range(4)
FIRST_SIZE = 513  # channels 0 to 512


class ChannelTable:
    """Keeps of each read as many samples as its last stage needs.

    Parameters
    ----------
    prefixes : sequence of int
        Samples that each stage needs.
    trim : TrimOptions, optional
        What is left out at the start of a read.
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
    located : ndarray, bool, (channels,)
        The first of these is the first one after the trimming.
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
    located: NDArray[np.bool_]
    origin: NDArray[np.int64]
    end: NDArray[np.int64]
    arrived: NDArray[np.float64]
    delayed: NDArray[np.bool_]
    acted: NDArray[np.bool_]
    samples: NDArray[np.int16]
    _base: NDArray[np.int64]
    _key_before: NDArray[np.object_]

    def __init__(self, prefixes: Sequence[int], *, trim: TrimOptions | None = None, max_missed: int = 0) -> None:
        self.prefixes = np.array(prefixes, np.int64)
        self._trim, self._max_missed = LiveTrim(trim), max_missed
        self._size = 0
        self._make(FIRST_SIZE)

    def __len__(self) -> int:
        return self._size

    def _make(self, size: int) -> None:
        """Have room for channels below `size`."""
        kept = int(self.prefixes[-1]) + self._trim.searched
        fresh: dict[str, NDArray[Any]] = {
            "arrived": np.full((size, len(self.prefixes)), np.nan),
            "samples": np.zeros((size, kept), np.int16),
            "state": np.zeros(size, np.uint8),
        }
        fresh |= {name: np.full(size, None, object) for name in ("key", "read", "_key_before")}
        fresh |= {name: np.zeros(size, np.bool_) for name in ("located", "delayed", "acted")}
        fresh |= {name: np.zeros(size, np.int64) for name in ("generation", "stage", "held", "_base", "origin", "end")}
        for name, array in fresh.items():
            if self._size:
                array[: self._size] = getattr(self, name)
            setattr(self, name, array)
        self._size = size

    def take(self, chunks: Chunks, now: float, calibration: Mapping[int, Any] | None = None) -> Taken:
        """Add chunks that came now to their reads; a new read takes the place of the one before on its channel.

        Parameters
        ----------
        chunks : Chunks
        now : float
        calibration : mapping of int to object, optional
            Of channels; see `digitise`.
        """
        taken = Taken(malformed=chunks.lost)
        if len(chunks) and int(chunks.channel.max()) >= self._size:
            self._make(max(2 * self._size, int(chunks.channel.max()) + 1))
        for numbers in chunks.rounds():
            good, again = self._sort_out(chunks, numbers, taken)
            self._append(chunks, good, again, calibration or {}, taken)
            self._arrive(chunks.channel[good], now)
        return taken

    def _sort_out(
        self, chunks: Chunks, numbers: NDArray[np.int64], taken: Taken
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Tell new reads, late chunks and malformed ones, of different channels.

        Returns the numbers of those whose samples count, and how many of these came before.
        """
        channel, key, first = chunks.channel[numbers], chunks.key[numbers], chunks.start[numbers]
        same = (self.state[channel] != EMPTY) & (self.key[channel] == key)
        over = ~same & (self._key_before[channel] == key)
        new = ~same & ~over
        self._open(chunks, numbers[new])
        joined = new & (self.origin[channel] - self._base[channel] > self._max_missed)
        self.state[channel[joined]] = CLOSED
        live = ~over & (self.state[channel] != CLOSED)
        again = self.end[channel] - first
        fits = (again == 0) | ((first == self.origin[channel]) & (again <= chunks.length[numbers]))
        wrong = live & (chunks.broken[numbers] | ~fits)
        self.state[channel[wrong]] = CLOSED
        taken.reads += int(new.sum())
        taken.joined += int(joined.sum())
        taken.late += int((over | (same & self.acted[channel])).sum())
        taken.malformed += int(wrong.sum())
        good = live & ~wrong
        return numbers[good], again[good]

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
        self.located[channel] = not self._trim.searched
        self.arrived[channel] = np.nan

    def _append(
        self,
        chunks: Chunks,
        numbers: NDArray[np.int64],
        again: NDArray[np.int64],
        calibration: Mapping[int, Any],
        taken: Taken,
    ) -> None:
        """Add what is new of chunks to reads that are judged."""
        channel, length = chunks.channel[numbers], chunks.length[numbers]
        position = self.end[channel] - self._base[channel]
        first = np.minimum(length, again + np.maximum(0, self._trim.fixed - position))
        size = np.minimum(length - first, self.samples.shape[1] - self.held[channel])
        copies = (numbers, channel, self.held[channel], again, first, size)
        for number, row, place, known, begin, count in zip(*(array.tolist() for array in copies), strict=True):
            new = digitise(chunks.samples[number][known:], calibration.get(row))
            if new is None:
                self.state[row] = CLOSED
                taken.malformed += 1
                continue
            self.samples[row, place : place + count] = new[begin - known : begin - known + count]
            self.held[row] += count
            taken.chunks += 1
            taken.samples += len(new)
        self.end[channel] += length - again

    def _arrive(self, channel: NDArray[np.int64], now: float) -> None:
        """Find where reads begin, and note which stages' samples are there."""
        searching = channel[~self.located[channel] & (self.held[channel] >= self._trim.least + self.prefixes[0])]
        for row in searching.tolist():
            start = self._trim.find(self.samples[row, : self.held[row]])
            if start is not None:
                self.samples[row, : self.held[row] - start] = self.samples[row, start : self.held[row]].copy()
                self.held[row] -= start
                self.located[row] = True
        there = self.located[channel, None] & (self.held[channel, None] >= self.prefixes)
        self.arrived[channel] = np.where(there & np.isnan(self.arrived[channel]), now, self.arrived[channel])

    def due(self) -> NDArray[np.int64]:
        """Channels whose reads have the samples of their next stage, those that wait longest first."""
        waiting = np.flatnonzero((self.state == OPEN) & self.located)
        ready = waiting[self.held[waiting] >= self.prefixes[self.stage[waiting]]]
        return ready[np.argsort(self.arrived[ready, self.stage[ready]], kind="stable")]

    def received(self) -> NDArray[np.int64]:
        """Samples that came of each read, trimmed ones included."""
        return self.end - self.origin
