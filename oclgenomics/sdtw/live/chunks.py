"""Chunks of reads as the Read Until API sends them, as arrays.

A chunk is an object of MinKNOW's: `id`, `start_sample` (of the read), `chunk_start_sample`, `chunk_length` and
`raw_data`, bytes of the client's `signal_dtype`. Clients for MinKNOW before 6.0 name reads by their `number` in
actions, later ones, which have no `number`, by their `id`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.live.options import MAX_CHANNELS

__all__ = ["CALIBRATED_STEP", "Chunks", "decode_chunks", "signal_type"]

CALIBRATED_STEP = 1443.03 / 8192  # pA; a MinION's range over its digitisation
INT16 = np.iinfo(np.int16)


@dataclass(frozen=True, eq=False)
class Chunks:
    """Chunks laid end to end; arrays have one value for each chunk where nothing else is said.

    Attributes
    ----------
    channel : ndarray, int64
    key : ndarray, object
        What actions name the read by: its number, or its id.
    read : ndarray, object (str)
        The read's id.
    read_start : ndarray, int64
        Sample of the run at which the read starts; that of its first chunk where it is not known.
    start : ndarray, int64
        Sample of the run at which the chunk starts.
    samples : ndarray, int16
        Of all chunks.
    places : ndarray, int64, (chunks + 1,)
        Chunk i is `samples[places[i] : places[i + 1]]`.
    broken : ndarray, bool
        It cannot be what a sequencer measures; it has no samples here.
    lost : int
        Chunks that do not even tell their channel and read.
    """

    channel: NDArray[np.int64]
    key: NDArray[np.object_]
    read: NDArray[np.object_]
    read_start: NDArray[np.int64]
    start: NDArray[np.int64]
    samples: NDArray[np.int16]
    places: NDArray[np.int64]
    broken: NDArray[np.bool_]
    lost: int = field(default=0)

    def __len__(self) -> int:
        return len(self.channel)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Samples of each chunk."""
        return np.diff(self.places)

    def rounds(self) -> Iterator[NDArray[np.int64]]:
        """Yield numbers of chunks of different channels: the first one of each channel, then the second, and so on."""
        order = np.argsort(self.channel, kind="stable")
        sorted_ = self.channel[order]
        first = np.flatnonzero(np.append(True, sorted_[1:] != sorted_[:-1])) if len(order) else order
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


def decode_chunks(
    chunks: Sequence[tuple[int, Any]], kind: np.dtype[Any], calibration: Mapping[int, Any] | None = None
) -> Chunks:
    """Lay chunks out as arrays.

    Parameters
    ----------
    chunks : sequence of (int, chunk)
        Channel and chunk, as `get_read_chunks` returns them.
    kind : dtype
        Of the samples; see `signal_type`.
    calibration : mapping of int to object, optional
        `scaling` and `offset` of each channel, by which calibrated samples, in pA, become integers again. Where there
        is none, a step of a MinION is taken for all.
    """
    heads, parts, broken, lost = [], [], [], 0
    for channel, chunk in chunks:
        head = _head(channel, chunk)
        if head is None:
            lost += 1
            continue
        part = _samples(chunk, kind)
        heads.append(head)
        broken.append(part is None or head[3] < 0 or head[4] < head[3])
        parts.append(np.empty(0, kind) if part is None else part)
    channels, read_starts, starts = (np.array([head[place] for head in heads], np.int64) for place in (0, 3, 4))
    keys, reads = (_objects([head[place] for head in heads]) for place in (1, 2))
    lengths = np.array([len(part) for part in parts], np.int64)
    places = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    joined = np.concatenate(parts) if parts else np.empty(0, kind)
    wrong = np.array(broken, np.bool_)
    if kind.kind == "f":
        wrong |= _not_finite(joined, places)
        joined = _digitised(joined, channels, lengths, calibration)
    samples = joined.astype(np.int16, copy=False)
    return Chunks(channels, keys, reads, read_starts, starts, samples, places, wrong, lost)


def _head(channel: Any, chunk: Any) -> tuple[int, Any, str, int, int] | None:
    """Channel, key, id, start of the read and of the chunk; None if these are no such things."""
    try:
        start = int(chunk.chunk_start_sample)
        name = str(chunk.id)
        head = int(channel), getattr(chunk, "number", name), name, int(getattr(chunk, "start_sample", start)), start
    except (AttributeError, TypeError, ValueError):
        return None
    return head if 1 <= head[0] <= MAX_CHANNELS and max(abs(head[3]), abs(start)) < 1 << 62 else None


def _samples(chunk: Any, kind: np.dtype[Any]) -> NDArray[Any] | None:
    """The samples of a chunk; None if there are none, half ones, or fewer than it says."""
    try:
        samples = np.frombuffer(chunk.raw_data, kind)
        told = int(getattr(chunk, "chunk_length", 0))
    except (AttributeError, BufferError, TypeError, ValueError):
        return None
    return samples if len(samples) and len(samples) >= told else None


def _not_finite(samples: NDArray[Any], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which chunks hold what is no number."""
    before = np.concatenate([[0], np.cumsum(~np.isfinite(samples))])
    return before[places[1:]] > before[places[:-1]]


def _digitised(
    current: NDArray[Any], channel: NDArray[np.int64], lengths: NDArray[np.int64], calibration: Mapping[int, Any] | None
) -> NDArray[np.float64]:
    """Currents in pA as the numbers of the analogue-to-digital converter."""
    known = [None if calibration is None else calibration.get(number) for number in channel.tolist()]
    scale = np.array([CALIBRATED_STEP if one is None else one.scaling for one in known], np.float64)
    offset = np.array([0.0 if one is None else one.offset for one in known], np.float64)
    numbers = np.rint(current / np.repeat(scale, lengths) - np.repeat(offset, lengths))
    return np.nan_to_num(numbers, nan=0.0).clip(INT16.min, INT16.max)


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    result = np.empty(len(values), object)
    result[:] = values
    return result
