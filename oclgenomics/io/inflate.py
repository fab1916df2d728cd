"""Gzip: the blocks of bgzip in several threads, any other members one after the other.

A file of bgzip ends with an empty block. Where that is missing, the file was cut between two blocks, which nothing else
would tell: all that is there inflates. FASTQ is let through with a warning, because Illumina's bcl2fastq leaves the
block out, and a cut shows there as a record that is not whole.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from oclgenomics import notices
from oclgenomics.errors import InputError
from oclgenomics.io.raw_file import StoredBytes
from oclgenomics.io.workers import Workers
from oclgenomics.lazy_names import optional

# Sizes that no option changes: what comes before damaged data must not depend on how they are read.
_COMPRESSED_BYTES = 1 << 17  # small: the rest of a piece is copied at the end of each gzip member
_INFLATED_BYTES = 1 << 18
_STRETCH_BYTES = 1 << 20  # of inflated blocks that one thread takes at once
_READ_BYTES = 1 << 18
_BLOCK_BYTES = 1 << 16  # most that a block of bgzip inflates to
FASTQ_HEADER = b"@"
BLOCK_START = re.compile(rb"\x1f\x8b\x08\x04.{6}\x06\x00BC\x02\x00", re.DOTALL)
"""Of a block of bgzip: its one extra subfield has two bytes, the size of the block less 1."""
HEADER_BYTES, _SMALLEST_BLOCK = 18, 28  # of a block
_SIZE_BYTES = 4  # at the end of a block, how many bytes it inflates to


def _inflater() -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """What makes a decompressor of one gzip member, and the errors that it raises; it releases the interpreter's lock.

    Intel's isal (extra `fast`) where installed, zlib otherwise.
    """
    isal_zlib = optional("isal.isal_zlib")
    if isal_zlib is None:
        return lambda: zlib.decompressobj(wbits=31), (zlib.error,)
    errors: Any = (zlib.error, isal_zlib.error)
    return lambda: isal_zlib.decompressobj(wbits=31), errors


def inflate(stored: StoredBytes, workers: Workers) -> Iterator[bytes]:
    """Inflate gzip data to their end, or the part of them that is wanted.

    Raises
    ------
    InputError
        Data that are damaged, end in the middle, or are blocks of bgzip without the empty one at the end (not FASTQ).
    """
    text = _inflate_from(stored, workers, 0 if stored.part is None else stored.part.skip)
    return _without_end(text, stored.part.drop) if stored.part is not None and stored.part.drop else text


def _inflate_from(stored: StoredBytes, workers: Workers, skip: int) -> Iterator[bytes]:
    """Inflate all data but the first bytes of the first block's text."""
    blocks = _inflate_blocks(stored, workers)
    first = next(blocks, b"")[skip:]
    if first:
        yield first
    ended = yield from blocks  # None where there was nothing to begin with
    others = yield from inflate_members(stored)
    if ended is not False or others or not stored.ends_file:
        return
    if first[:1] != FASTQ_HEADER:
        raise InputError(
            "the bgzip data ends without its end marker (a truncated file?); fetch it again, or, if it is whole, give "
            "the output of gzip -dc instead",
            source=stored.name,
        )
    notices.tell_once(
        f"{stored.name}: the bgzip data ends without its end marker, so it may be truncated between two records; files "
        "of bcl2fastq are like that and whole"
    )


def _without_end(chunks: Iterator[bytes], drop: int) -> Iterator[bytes]:
    """Leave out the last bytes of a text."""
    held: deque[bytes] = deque()
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        while size - len(held[0]) >= drop:
            size -= len(held[0])
            yield held.popleft()
    yield b"".join(held)[: size - drop]


def inflate_members(stored: StoredBytes) -> Generator[bytes, None, int]:
    """Inflate any members, one after the other; return how many there are.

    Raises
    ------
    InputError
        Data that are damaged or end in the middle.
    """
    data = b""
    make, damaged = _inflater()
    inflater: Any = None
    members = 0
    while True:
        ended = not data and not (data := stored.read(_COMPRESSED_BYTES))
        if inflater is None:
            data = data.lstrip(b"\0")  # some writers pad the end with zeros
            if not data and ended:
                return members
            if not data:
                continue
            inflater = make()
            members += 1
        try:
            chunk = inflater.decompress(data, _INFLATED_BYTES)
        except damaged as error:
            raise InputError(f"damaged gzip data ({error}); fetch the file again", source=stored.name) from error
        if chunk:
            yield chunk
        if inflater.eof:
            data, inflater = inflater.unused_data, None
            continue
        data = inflater.unconsumed_tail
        if ended and not chunk:
            raise InputError("the gzip data ends in the middle (a truncated file?); fetch it again", source=stored.name)


@dataclass
class _Stretch:
    """Neighbouring blocks of bgzip.

    Attributes
    ----------
    data : bytes
        As stored.
    ends : list of int
        Where each block ends.
    """

    data: bytes
    ends: list[int]


def _inflate_blocks(stored: StoredBytes, workers: Workers) -> Generator[bytes, None, bool]:
    """Inflate blocks of bgzip, which are independent of each other, as long as they are whole and sound.

    From the first one on that is not, `stored` has all bytes back: other members, padding, or damage to be named.

    Returns
    -------
    bool
        The last block was empty, as the one is that ends a file; True without any block.
    """
    waiting: deque[tuple[_Stretch, Future[tuple[list[bytes], int]]]] = deque()
    ended = True
    with closing(_stretches(stored)) as stretches:
        while True:
            while len(waiting) < max(1, workers.ahead) and (stretch := next(stretches, None)) is not None:
                waiting.append((stretch, workers.submit(_inflate_stretch, stretch)))
            if not waiting:
                return ended
            stretch, future = waiting.popleft()
            chunks, sound = future.result()
            yield from chunks
            if sound:
                ended = stretch.data[sound - _SIZE_BYTES : sound] == bytes(_SIZE_BYTES)
            if sound < len(stretch.data):
                break
    stored.unread(b"".join([stretch.data[sound:], *(later.data for later, _ in waiting)]))
    return ended


def _inflate_stretch(stretch: _Stretch) -> tuple[list[bytes], int]:
    """The contents of the blocks, up to the first that is not sound, and where the sound ones end."""
    inflater = _inflater()
    chunks, begin = [], 0
    for end in stretch.ends:
        chunk = _block_text(stretch.data[begin:end], *inflater)
        if chunk is None:
            break
        if chunk:
            chunks.append(chunk)
        begin = end
    return chunks, begin


def _block_text(block: bytes, make: Callable[[], Any], damaged: tuple[type[Exception], ...]) -> bytes | None:
    """The content of a block; None if it is not sound."""
    inflater = make()
    try:
        text: bytes = inflater.decompress(block, 2 * _BLOCK_BYTES)
    except damaged:
        return None
    return text if inflater.eof and not inflater.unused_data else None


def block_at(handle: int, place: int) -> tuple[int, bytes] | None:
    """Return the stored bytes and the content of the block of bgzip at a place of an open file.

    None where no block begins, or one that is damaged or cut.
    """
    data = os.pread(handle, _BLOCK_BYTES, place)
    size = _block_size(data, 0)
    text = _block_text(data[:size], *_inflater()) if size else None
    return None if not size or text is None else (size, text)


def _stretches(stored: StoredBytes) -> Generator[_Stretch, None, None]:
    """Cut whole blocks into stretches; what is no block is unread."""
    data, begin, at = stored.read(_READ_BYTES), 0, 0
    ends: list[int] = []
    inflated = 0
    try:
        while True:
            size = _block_size(data, at)
            if size is None and (more := stored.read(_READ_BYTES)):
                data, at, begin = data[begin:] + more, at - begin, 0
                continue
            if size:
                at += size
                ends.append(at - begin)
                inflated += int.from_bytes(data[at - _SIZE_BYTES : at], "little")
            if ends and (not size or max(inflated, at - begin) >= _STRETCH_BYTES):  # empty blocks count, too
                stretch, begin, ends, inflated = _Stretch(data[begin:at], ends), at, [], 0
                yield stretch
            if not size:
                return
    finally:
        stored.unread(data[begin:])


def _block_size(data: bytes, at: int) -> int | None:
    """Bytes of the block that begins at `at`; 0 if none begins there, None if more data have to tell."""
    if len(data) - at < HEADER_BYTES:
        return None
    if not is_block(data[at : at + HEADER_BYTES]):
        return 0
    size = int.from_bytes(data[at + 16 : at + 18], "little") + 1
    if size < _SMALLEST_BLOCK - 2:
        return 0
    return size if at + size <= len(data) else None


def is_block(data: bytes) -> bool:
    """The data begin like a block of bgzip."""
    return BLOCK_START.match(data) is not None
