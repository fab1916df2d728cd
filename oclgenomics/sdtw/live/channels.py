"""The reads that are in the pores: one on each channel, as the chunks of the Read Until API bring them.

A chunk is an object of MinKNOW's: `id`, `start_sample` (of the read), `chunk_start_sample`, `chunk_length` and
`raw_data`, bytes of the client's `signal_dtype`. Clients for MinKNOW before 6.0 name reads by their `number` in
actions, later ones, which have no `number`, by their `id`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.live.options import MAX_CHANNELS
from oclgenomics.signals.trimming import MAX_STALL, TrimOptions, trim_start

CALIBRATED_STEP = 1443.03 / 8192  # pA; a MinION's range over its digitisation
MAX_SAMPLE = 1 << 62
INT16 = np.iinfo(np.int16)
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


class LiveTrim:
    """Trims reads of which more samples come.

    A number of samples is left out as they come. A stall is looked for as soon as there are enough samples for the
    trimming without one and for the first stage; what is found then is the start of the read.

    Parameters
    ----------
    options : TrimOptions, optional
        None leaves nothing out.

    Attributes
    ----------
    fixed : int
        Samples that are always left out.
    searched : int
        Samples in which a start is looked for; 0 if there is nothing to look for.
    least : int
        Samples before the first stage's at which to begin to look.
    """

    def __init__(self, options: TrimOptions | None) -> None:
        self._options = options or TrimOptions(stall=False, extra=0)
        stall, extra = self._options.stall, self._options.extra
        longest = MAX_STALL if self._options.max_trim is None else self._options.max_trim
        self.fixed = 0 if stall else extra
        self.searched = longest + extra if stall else 0
        self.least = extra

    @property
    def samples(self) -> int:
        """Samples that may be left out at most."""
        return self.fixed + self.searched

    def find(self, samples: NDArray[np.int16]) -> int | None:
        """Return where the read begins; None if that is not known yet."""
        start = trim_start(samples, self._options)
        return start if start < len(samples) else None


@dataclass(frozen=True, eq=False)
class Chunks:
    """Chunks that came together; arrays have one value for each.

    Attributes
    ----------
    channel : ndarray, int64
    key : ndarray, object
        What actions name the read by: its number, or its id.
    read : ndarray, object (str)
        The read's id.
    read_start : ndarray, int64
        Sample of the run at which the read starts; that of the chunk where it is not known.
    start : ndarray, int64
        Sample of the run at which the chunk starts.
    length : ndarray, int64
        Samples of each; 0 of broken ones.
    samples : list of ndarray
        Of each, as they were sent.
    broken : ndarray, bool
        It cannot be what a sequencer measures.
    lost : int
        Chunks that do not even tell their channel and read.
    """

    channel: NDArray[np.int64]
    key: NDArray[np.object_]
    read: NDArray[np.object_]
    read_start: NDArray[np.int64]
    start: NDArray[np.int64]
    length: NDArray[np.int64]
    samples: list[NDArray[Any]]
    broken: NDArray[np.bool_]
    lost: int

    def __len__(self) -> int:
        return len(self.channel)

    def rounds(self) -> Iterator[NDArray[np.int64]]:
        """Yield numbers of chunks of different channels: the first one of each channel, then the second, and so on."""
        order = np.argsort(self.channel, kind="stable")
        ordered = self.channel[order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(order) else order
        turn = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
        for number in range(int(turn.max(initial=-1)) + 1):
            yield np.sort(order[turn == number])


def signal_type(client: Any) -> np.dtype[Any]:
    """Return the type of a client's samples.

    Raises
    ------
    UsageError
        It is neither int16 nor float32, of any byte order.
    """
    kind: np.dtype[Any] = np.dtype(client.signal_dtype)
    if (kind.kind, kind.itemsize) not in (("i", 2), ("f", 4)):
        raise UsageError(f"the client sends samples of type {kind}; ask it for int16, or for calibrated float32")
    return kind


def decode_chunks(chunks: Sequence[tuple[int, Any]], kind: np.dtype[Any]) -> Chunks:
    """Lay out what is known of chunks as arrays.

    Parameters
    ----------
    chunks : sequence of (int, chunk)
        Channel and chunk, as `get_read_chunks` returns them.
    kind : dtype
        Of the samples; see `signal_type`.
    """
    heads, parts, broken = [], [], []
    for channel, chunk in chunks:
        head = _head(channel, chunk)
        if head is not None:
            part = _samples(chunk, kind)
            heads.append(head)
            parts.append(np.empty(0, kind) if part is None else part)
            broken.append(part is None or head[3] < 0 or head[4] < head[3])
    channels, read_starts, starts = (np.array([head[place] for head in heads], np.int64) for place in (0, 3, 4))
    keys, reads = (np.array([head[place] for head in heads], object) for place in (1, 2))
    length = np.array([len(part) for part in parts], np.int64)
    wrong = np.array(broken, np.bool_)
    return Chunks(channels, keys, reads, read_starts, starts, length, parts, wrong, len(chunks) - len(heads))


def digitise(samples: NDArray[Any], calibration: Any) -> NDArray[Any] | None:
    """Return samples as the numbers of the analogue-to-digital converter.

    Parameters
    ----------
    samples : ndarray, int16 or float32
        Numbers already, or currents in pA.
    calibration : object, optional
        `scaling` and `offset` of the channel; a step of a MinION if there is none.

    Returns
    -------
    ndarray or None
        None if a current is no number.
    """
    if samples.dtype.kind != "f":
        return samples
    if not np.isfinite(samples).all():
        return None
    scale, offset = (CALIBRATED_STEP, 0.0) if calibration is None else (calibration.scaling, calibration.offset)
    numbers = samples * np.float32(1 / scale) - np.float32(offset)
    clipped: NDArray[Any] = np.rint(numbers).clip(INT16.min, INT16.max)
    return clipped


def _head(channel: Any, chunk: Any) -> tuple[int, Any, str, int, int] | None:
    """Channel, key, id, start of the read and of the chunk; None if these are no such things."""
    try:
        name, number, start = str(chunk.id), getattr(chunk, "number", None), int(chunk.chunk_start_sample)
        key = name if number is None else int(number)
        head = int(channel), key, name, int(getattr(chunk, "start_sample", start)), start
    except (AttributeError, OverflowError, TypeError, ValueError):
        return None
    return head if 1 <= head[0] <= MAX_CHANNELS and max(abs(head[3]), abs(start)) < MAX_SAMPLE else None


def _samples(chunk: Any, kind: np.dtype[Any]) -> NDArray[Any] | None:
    """The samples of a chunk; None if there are none, half ones, or fewer than it says."""
    try:
        samples = np.frombuffer(chunk.raw_data, kind)
        told = int(getattr(chunk, "chunk_length", 0))
    except (AttributeError, BufferError, OverflowError, TypeError, ValueError):
        return None
    return samples if len(samples) and len(samples) >= told else None
