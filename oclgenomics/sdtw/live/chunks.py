"""Chunks of reads as the Read Until API sends them.

A chunk is an object of MinKNOW's: `id`, `start_sample` (of the read), `chunk_start_sample`, `chunk_length` and
`raw_data`, bytes of the client's `signal_dtype`. Clients for MinKNOW before 6.0 name reads by their `number` in
actions, later ones, which have no `number`, by their `id`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import UsageError
from oclgenomics.sdtw.live.options import MAX_CHANNELS

__all__ = ["CALIBRATED_STEP", "Chunks", "decode_chunks", "digitise", "signal_type"]

CALIBRATED_STEP = 1443.03 / 8192  # pA; a MinION's range over its digitisation
MAX_SAMPLE = 1 << 62
INT16 = np.iinfo(np.int16)


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
    keys, reads = (_objects([head[place] for head in heads]) for place in (1, 2))
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


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    result = np.empty(len(values), object)
    result[:] = values
    return result
