"""The bytes of an input that are read but not yet consumed: whole lines for headers, arrays of bytes for the bulk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import FileRest

MAX_LINE_BYTES = 1 << 30  # bytes; no format needs longer ones, and packed zeros could ask for any memory

PADDING = 256  # bytes that may be read behind the last one held, so that short looks ahead need no bounds
_NEWLINE = 10


class InputBuffer:
    """Bytes read but not yet consumed, with the line number and the byte offset of the first of them.

    Where the input breaks off (damaged gzip data), what came before can still be consumed: the error is raised when
    bytes are missed, so that errors come in the order of the input.

    Parameters
    ----------
    chunks : iterable of bytes
        The decompressed input.
    source : str
        Its name, for errors.
    rest : callable, optional
        Returns what a file holds from a byte of the input on, or None; see `Source.rest`.
    """

    def __init__(
        self, chunks: Iterable[bytes], source: str, rest: Callable[[int], FileRest | None] | None = None
    ) -> None:
        self._chunks: Iterator[bytes] = iter(chunks)
        self._rest = rest
        self._buffer = np.zeros(PADDING, np.uint8)  # the bytes, then the padding
        self._start = 0
        self._failure: InputError | None = None
        self._ended = False
        self.source = source
        self.line_number = 1
        self.byte = 0

    @property
    def held(self) -> NDArray[np.uint8]:
        """The unconsumed bytes, uint8."""
        return self._buffer[self._start : len(self._buffer) - PADDING]

    def padded(self, size: int) -> NDArray[np.uint8]:
        """The next `size` bytes and the `PADDING` bytes behind them, whatever they are; stays as it is for good."""
        return self._buffer[self._start : self._start + size + PADDING]

    def __len__(self) -> int:
        return len(self._buffer) - PADDING - self._start

    def require(self, size: int) -> bool:
        """Fill until `size` bytes are there; False if the input ends before."""
        parts, held = [self.held], len(self)
        while held < size and (chunk := self._next_chunk()) is not None:
            parts.append(np.frombuffer(chunk, np.uint8))
            held += len(chunk)
        if len(parts) > 1:
            self._buffer, self._start = np.concatenate([*parts, np.zeros(PADDING, np.uint8)]), 0
        return held >= size

    def _next_chunk(self) -> bytes | None:
        if self._ended:
            return None
        try:
            chunk = next(self._chunks, None)
        except InputError as error:
            self._failure, chunk = error, None
        self._ended = chunk is None
        return chunk

    def take_rest(self) -> FileRest | None:
        """Give out what is not consumed as a part of a file, if it is one; nothing is held any more then."""
        rest = None if self._rest is None else self._rest(self.byte)
        if rest is not None:
            self._buffer, self._start, self._ended = np.zeros(PADDING, np.uint8), 0, True
        return rest

    def refuse_break(self) -> None:
        """Raise the error with which the input broke off, if all of it is held and it did.

        Raises
        ------
        InputError
            The bytes held are not the end of the input.
        """
        if self._failure is not None:
            raise self._failure

    def find(self, value: int) -> int:
        """Bytes before the next `value`, or up to the end of the input.

        Raises
        ------
        InputError
            The input breaks off, or there are more than `MAX_LINE_BYTES`.
        """
        searched = 0
        while True:
            found = _find(self.held, value, searched)
            if found >= 0:
                return found
            searched = len(self)
            self.refuse_length(searched)
            if not self.require(min(max(searched + 1, 2 * searched), MAX_LINE_BYTES + 1)) and len(self) == searched:
                self.refuse_break()
                return searched

    def refuse_length(self, size: int) -> None:
        """Refuse a line (in FASTA a sequence) that holds more than `size` bytes.

        Raises
        ------
        InputError
            It is longer than any that is read.
        """
        if size > MAX_LINE_BYTES:
            raise self.error(f"a line of more than {MAX_LINE_BYTES:,} bytes")

    def remember(self) -> list[bytes]:
        """From here on keep all bytes of the input; the list grows as they are read."""
        kept = [bytes(self.held)]
        rest = self._chunks

        def keep() -> Iterator[bytes]:
            for chunk in rest:
                kept.append(chunk)
                yield chunk

        self._chunks = keep()
        return kept

    def consume(self, size: int, lines: int) -> None:
        """Drop `size` bytes that hold `lines` newlines."""
        self._start += size
        self.byte += size
        self.line_number += lines

    def put_back(self, data: NDArray[np.uint8], lines: int) -> None:
        """Undo the consumption of the last bytes, uint8, that hold `lines` newlines."""
        self._buffer, self._start = np.concatenate([data, self._buffer[self._start :]]), 0
        self.byte -= len(data)
        self.line_number -= lines

    def peek_line(self) -> bytes | None:
        """The next line without its end of line; None at the end of the input."""
        size = self._line_size()
        return None if size is None else bytes(self.held[:size]).rstrip(b"\r\n")

    def line(self) -> bytes | None:
        """Consume the next line; without its end of line; None at the end of the input."""
        size = self._line_size()
        if size is None:
            return None
        text = bytes(self.held[:size])
        self.consume(size, 1)
        return text.rstrip(b"\r\n")

    def _line_size(self) -> int | None:
        """Bytes up to and with the next newline, or up to the end of the input."""
        size = self.find(_NEWLINE)
        return min(size + 1, len(self)) or None

    def error(self, message: str, *, line: int | None = None) -> InputError:
        """An error at the current line, or at `line`."""
        return InputError(message, source=self.source, line=self.line_number if line is None else line, byte=self.byte)


def _find(data: NDArray[np.uint8], value: int, start: int) -> int:
    """Index of the first `value` from `start` on, or -1; looks at growing pieces, as it is mostly near."""
    piece = 1024
    while start < len(data):
        found = data[start : start + piece].tobytes().find(value)
        if found >= 0:
            return start + found
        start, piece = start + piece, 4 * piece
    return -1


def bytes_at(data: NDArray[np.uint8], begins: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
    """Copy `width` bytes from each begin; uint8 (len(begins), width), writable.

    The places are seen as overlapping items of `width` bytes, so that one item is one copy of memory.

    Parameters
    ----------
    data : ndarray of uint8, contiguous
        Must reach `width` bytes beyond the last begin.
    begins : ndarray of int64
        Offsets.
    width : int
        Bytes.
    """
    if width == 0 or len(begins) == 0:
        return np.zeros((len(begins), width), np.uint8)
    items: NDArray[np.void] = np.ndarray((len(data) - width + 1,), f"V{width}", data, 0, (1,))
    return items[begins].view(np.uint8).reshape(len(begins), width)
