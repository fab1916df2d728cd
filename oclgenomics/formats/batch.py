"""Batches of whole lines in one array of bytes, for the readers that handle many lines at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .window import ByteWindow

__all__ = ["PADDING", "Batch", "next_batch"]

PADDING = 256  # zero bytes behind the lines of a batch, so that short windows need no bounds
_NEWLINE, _RETURN = 10, 13


@dataclass
class Batch:
    """Whole lines of an input.

    Attributes
    ----------
    data : ndarray of uint8
        The lines, then `PADDING` zero bytes.
    starts, ends : ndarray of int64, shape (records,)
        Begin of each record and end without the end of line.
    lines : ndarray of int64, shape (records,)
        Line number of each record in the input.
    newlines : int
        Lines in all, blank ones included.
    byte : int
        Offset of the batch in the decompressed input.
    source : str
        Name of the input.
    """

    data: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    lines: np.ndarray
    newlines: int
    byte: int
    source: str

    @classmethod
    def split(cls, data: np.ndarray, first_line: int, byte: int, source: str) -> Batch:
        """Find the lines of `data` (padded); blank ones are left out."""
        newlines = np.flatnonzero(data == _NEWLINE)
        starts = np.concatenate([np.zeros(1, np.int64), newlines[:-1] + 1]) if len(newlines) else newlines
        ends = newlines - (data[newlines - 1] == _RETURN)
        lines = first_line + np.arange(len(newlines))
        count = len(newlines)
        if (ends <= starts).any():
            used = ends > starts
            starts, ends, lines = starts[used], ends[used], lines[used]
        return cls(data, starts, ends, lines, count, byte, source)

    def error(self, record: int, message: str, at: int | None = None) -> InputError:
        """An error in a record, at byte `at` of the batch (its first byte if not given)."""
        place = int(self.starts[record]) if at is None else at
        return InputError(message, source=self.source, line=int(self.lines[record]), byte=self.byte + place)

    def text(self, start: int, end: int) -> str:
        """Bytes of the batch as text for a message."""
        return bytes(self.data[start:end]).decode("utf-8", "replace")


def next_batch(window: ByteWindow, batch_bytes: int) -> Batch | None:
    """Whole lines of about `batch_bytes`, at least one; None at the end."""
    size = _whole_lines(window, batch_bytes)
    if size == 0:
        return None
    complete = window.held[size - 1] == ord("\n")
    data = np.zeros(size + PADDING, np.uint8)
    data[:size] = window.held[:size]
    if not complete:
        data[size] = ord("\n")  # the last line of a file may lack it
    batch = Batch.split(data, window.line_number, window.byte, window.source)
    window.consume(size, int(batch.newlines))
    return batch


def _whole_lines(window: ByteWindow, wanted: int) -> int:
    """Size of the longest run of whole lines within `wanted` bytes, or of one line, or of the unfinished last line."""
    window.require(wanted)
    while True:
        size = min(wanted, len(window))
        last = _last_newline(window.held[:size])
        if last >= 0:
            return last + 1
        if size < wanted or (not window.require(2 * wanted) and len(window) <= wanted):
            return size
        wanted *= 2


def _last_newline(data: np.ndarray) -> int:
    """Index of the last newline, or -1; looks at growing pieces from the end."""
    end, piece = len(data), 4096
    while end > 0:
        begin = max(0, end - piece)
        hits = np.flatnonzero(data[begin:end] == ord("\n"))
        if len(hits):
            return begin + int(hits[-1])
        end, piece = begin, 2 * piece
    return -1
