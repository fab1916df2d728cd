"""Bodies of requests: counted or in chunks, plain or gzip, and never more than there is room for."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterator
from email.message import Message
from typing import BinaryIO

from oclgenomics.classify.serving.protocol import BAD_REQUEST, HttpError
from oclgenomics.classify.serving.spool import BodySpool

__all__ = ["check_head", "receive_body"]

LENGTH_REQUIRED, TOO_LARGE, NOT_SUPPORTED, NOT_IMPLEMENTED = 411, 413, 415, 501
ONCE = ("Content-Length", "Transfer-Encoding", "Content-Encoding")
PIECE_BYTES = 1 << 18
MAX_LINE = 1 << 10  # of what says how long a chunk is
MAX_TRAILERS = 32
GZIP = b"\x1f\x8b"
ENDS_EARLY = HttpError(BAD_REQUEST, "the body ends before its end")


def check_head(headers: Message, max_bytes: int) -> int | None:
    """Return the length of the body that a head announces, None where it comes in chunks.

    Raises
    ------
    HttpError
        It is too long, or comes in a way that is not known.
    """
    coding, length = headers.get("Transfer-Encoding"), headers.get("Content-Length")
    if any(len(headers.get_all(name, [])) > 1 for name in ONCE):
        raise HttpError(BAD_REQUEST, f"the head has one of {', '.join(ONCE)} twice")
    if headers.get("Content-Encoding", "identity").lower() not in ("identity", "gzip", "x-gzip"):
        raise HttpError(NOT_SUPPORTED, "the body is packed in a way that is not known; send it plain or as gzip")
    if coding is not None:
        if coding.lower() != "chunked":
            raise HttpError(NOT_IMPLEMENTED, "of transfer encodings only `chunked` is known")
        if length is not None:
            raise HttpError(BAD_REQUEST, "the head has a length and chunks as well")
        return None
    if length is None:
        raise HttpError(LENGTH_REQUIRED, "there is no body; send reads in FASTA or FASTQ")
    if not re.fullmatch("[0-9]{1,18}", length, re.ASCII):
        raise HttpError(BAD_REQUEST, "the length of the body is no number")
    if int(length) > max_bytes:
        raise _too_large(max_bytes)
    return int(length)


def receive_body(stream: BinaryIO, length: int | None, spool: BodySpool, max_bytes: int) -> None:
    """Read a body to its end, unpacked, whatever its head says of that.

    Parameters
    ----------
    stream : binary stream
    length : int or None
        See `check_head`.
    spool : BodySpool
        Where to put it.
    max_bytes : int
        Of what is sent, and of what this unpacks to.

    Raises
    ------
    HttpError
        It is malformed, empty or too long.
    """
    pieces = _chunks(stream, max_bytes) if length is None else _counted(stream, length)
    for piece in _unpacked(pieces):
        if spool.size + len(piece) > max_bytes:
            raise _too_large(max_bytes)
        spool.write(piece)
    if not spool.size:
        raise HttpError(BAD_REQUEST, "the body is empty; send reads in FASTA or FASTQ")


def _too_large(max_bytes: int) -> HttpError:
    return HttpError(TOO_LARGE, f"the body, unpacked, has more than {max_bytes:,} bytes; send fewer reads at a time")


def _counted(stream: BinaryIO, length: int) -> Iterator[bytes]:
    while length:
        piece = stream.read(min(length, PIECE_BYTES))
        if not piece:
            raise ENDS_EARLY
        yield piece
        length -= len(piece)


def _chunks(stream: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    """The content of chunks: each has a line with its size, then as many bytes, then a line break."""
    done = 0
    while size := _chunk_size(_line(stream)):
        done += size
        if done > max_bytes:
            raise _too_large(max_bytes)
        yield from _counted(stream, size)
        if _line(stream):
            raise HttpError(BAD_REQUEST, "a chunk of the body is longer than it says")
    for _ in range(MAX_TRAILERS):
        if not _line(stream):
            return
    raise HttpError(BAD_REQUEST, "too many lines follow the body")


def _chunk_size(line: bytes) -> int:
    size = line.split(b";")[0].strip()
    if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size):
        raise HttpError(BAD_REQUEST, "a chunk of the body does not say how long it is")
    return int(size, 16)


def _line(stream: BinaryIO) -> bytes:
    line = stream.readline(MAX_LINE)
    if not line.endswith(b"\n"):
        raise HttpError(BAD_REQUEST, "a line of the body's chunks is too long") if len(line) == MAX_LINE else ENDS_EARLY
    return line.rstrip(b"\r\n")


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """What pieces of a body hold, which is gzip if it begins like that."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= len(GZIP):
            break
    whole = itertools.chain([head], pieces)
    return _inflated(whole) if head.startswith(GZIP) else whole


def _inflated(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of gzip of one member or many, which zeros may follow; little at a time."""
    inflater = None
    for piece in pieces:
        rest = piece
        while True:
            if inflater is None:
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                text = inflater.decompress(rest, PIECE_BYTES)
            except zlib.error:
                raise HttpError(BAD_REQUEST, "the body is damaged gzip") from None
            yield text
            rest = inflater.unconsumed_tail
            if inflater.eof:
                rest, inflater = inflater.unused_data, None
            elif not rest and len(text) < PIECE_BYTES:
                break
    if inflater is not None:
        raise HttpError(BAD_REQUEST, "the body is gzip that is cut off")
