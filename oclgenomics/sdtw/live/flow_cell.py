"""A flow cell that plays reads from files, and answers as a client of the Read Until API does.

Each channel captures a read, sequences it to its end or until it is unblocked, and captures the next one after an
exponential time. What a channel captures, and how long it waits, depends on the seed, the channel and the number of the
read alone, so that a run with selection and one without meet the same reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.sdtw.live.metrics import Latest
from oclgenomics.sdtw.live.options import FlowCellOptions
from oclgenomics.sdtw.live.workers import Clock
from oclgenomics.signals.model import Signals

NEVER = 1 << 62


@dataclass(frozen=True)
class PlayedChunk:
    """A chunk as MinKNOW sends it."""

    id: str
    start_sample: int
    chunk_start_sample: int
    chunk_length: int
    raw_data: bytes


@dataclass(frozen=True, eq=False)
class Tally:
    """What was sequenced; arrays have one value for reads that are no targets, and one for targets.

    Attributes
    ----------
    reads : ndarray, int64
        That were captured.
    unblocked : ndarray, int64
        Of these, those that were ended before they were over.
    samples : ndarray, int64
        That were sequenced.
    """

    reads: NDArray[np.int64]
    unblocked: NDArray[np.int64]
    samples: NDArray[np.int64]


class FlowCell:
    """Plays reads; has what `ReadUntilClient` needs.

    Parameters
    ----------
    signals : Signals
        Reads to play.
    target : ndarray, bool, (reads,)
        Which of them are of the target.
    clock : Clock
        The run begins now.
    options : FlowCellOptions

    Attributes
    ----------
    response : Latest
        Seconds from when the last sample that was sent of a read was measured to the action.
    missed : int
        Actions for reads that were over.

    Raises
    ------
    InputError
        There is no read with samples.
    """

    signal_dtype = np.dtype(np.int16)

    def __init__(self, signals: Signals, target: NDArray[np.bool_], clock: Clock, options: FlowCellOptions) -> None:
        self._pool = np.flatnonzero(signals.lengths > 0)
        if not len(self._pool):
            raise InputError("the signals hold no read to play; name a file that has some")
        self._signals, self._target, self._clock, self._options = signals, target, clock, options
        self._lengths = signals.lengths
        self._began = clock.now()
        self._chunk = int(options.chunk * options.rate)
        self._rngs = [np.random.default_rng((options.seed, channel)) for channel in range(options.channels)]
        self._queue = np.random.default_rng((options.seed,)).permutation(self._pool).tolist() if options.once else []
        self._reads, self._unblocked, self._samples = (np.zeros(2, np.int64) for _ in range(3))
        self.response, self.missed = Latest(), 0
        size = options.channels
        self._read, self._number = np.full(size, -1, np.int64), np.zeros(size, np.int64)
        self._start, self._stop, self._sent, self._pause = (np.zeros(size, np.int64) for _ in range(4))
        self._quiet, self._ended = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        for channel in range(size):
            self._capture(channel, 0)

    @property
    def channel_count(self) -> int:
        """Channels, which are numbered from 1 on."""
        return self._options.channels

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return self._clock.now() - self._began

    @property
    def is_running(self) -> bool:
        """Whether the run goes on: until its time is over, or no read is left."""
        return self.seconds < self._options.duration and bool((self._start < NEVER).any())

    def _sample(self) -> int:
        """Samples of each channel since the run began."""
        seconds = min(self.seconds, self._options.duration)
        return int(seconds * self._options.rate)

    def _capture(self, channel: int, after: int) -> None:
        """Let a channel wait for its next read."""
        rng = self._rngs[channel]
        wait, drawn = rng.exponential(self._options.capture), int(rng.integers(len(self._pool)))
        start = after + int(wait * self._options.rate)
        if self._options.once:
            read = self._queue.pop() if self._queue else -1
            start = start if read >= 0 else NEVER
        else:
            read = int(self._pool[drawn])
        self._read[channel], self._start[channel] = read, start
        self._stop[channel] = start + (int(self._lengths[read]) if read >= 0 else 0)
        self._number[channel] += 1
        self._sent[channel] = self._pause[channel] = self._quiet[channel] = self._ended[channel] = 0

    def _advance(self, sample: int) -> None:
        """Bring all channels to a moment."""
        while len(over := np.flatnonzero(self._stop <= sample)):
            for channel in over[np.argsort(self._stop[over], kind="stable")].tolist():
                self._count(channel, int(self._stop[channel]))
                self._capture(channel, int(self._stop[channel] + self._pause[channel]))

    def _count(self, channel: int, sample: int) -> None:
        """Count a read that was sequenced until now."""
        kind = int(self._target[self._read[channel]])
        self._reads[kind] += 1
        self._unblocked[kind] += int(self._ended[channel])
        self._samples[kind] += sample - int(self._start[channel])

    def get_read_chunks(self, batch_size: int = 1, last: bool = True) -> list[tuple[int, PlayedChunk]]:
        """Return what came of reads since the last call; `batch_size` reads at most, of any channels."""
        sample, size = self._sample(), self._chunk
        self._advance(sample)
        there = (sample - self._start).clip(min=0)
        whole = np.minimum(there, self._lengths[self._read]) // size * size
        ready = np.flatnonzero((whole > self._sent) & ~self._quiet & (self._read >= 0))[:batch_size]
        chunks = [self._chunk_of(channel, int(whole[channel])) for channel in ready.tolist()]
        self._sent[ready] = whole[ready]
        return chunks

    def _chunk_of(self, channel: int, end: int) -> tuple[int, PlayedChunk]:
        read, start = int(self._read[channel]), int(self._start[channel])
        begin = 0 if self._options.accumulate else int(self._sent[channel])
        place = int(self._signals.starts[read])
        data = self._signals.samples[place + begin : place + end].tobytes()
        return channel + 1, PlayedChunk(self._name(channel), start, start + begin, end - begin, data)

    def _name(self, channel: int) -> str:
        """The name of the read that a channel has, which is drawn more than once."""
        return f"{self._signals.names[self._read[channel]]}.{channel + 1}.{self._number[channel]}"

    def unblock_read_batch(self, reads: list[tuple[int, Any]], duration: float = 0.1) -> None:
        """End reads after the latency of unblocking; a read that is over before is not affected."""
        pause = int(duration * self._options.rate)
        cut = self._sample() + int(self._options.unblock_latency * self._options.rate)
        for channel in self._act(reads):
            if cut < self._stop[channel]:
                self._stop[channel], self._pause[channel], self._ended[channel] = cut, pause, True

    def stop_receiving_batch(self, reads: list[tuple[int, Any]]) -> None:
        """Send no more of reads."""
        self._act(reads)

    def _act(self, reads: list[tuple[int, Any]]) -> list[int]:
        """Places of the channels whose reads are still there; no more is sent of them."""
        sample = self._sample()
        self._advance(sample)
        found = []
        for channel, name in reads:
            if self._read[channel - 1] >= 0 and name == self._name(channel - 1):
                found.append(channel - 1)
            else:
                self.missed += 1
        self._quiet[found] = True
        self.response.add((sample - self._start[found] - self._sent[found]) / self._options.rate)
        return found

    def finish(self) -> Tally:
        """Sequence until the end of the run's time, and count what was sequenced, reads that are not over included."""
        end = int(self._options.duration * self._options.rate)
        self._advance(end)
        for channel in np.flatnonzero(self._start < end).tolist():
            self._count(channel, end)
            self._start[channel] = self._stop[channel] = NEVER
        return Tally(self._reads, self._unblocked, self._samples)
