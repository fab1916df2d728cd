"""Opening of inputs: standard input and files, uncompressed or compressed, as a stream of decompressed chunks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import EmptyInputError, InputError, OclGenomicsError
from oclgenomics.io.closing import Closing
from oclgenomics.io.cores import usable_cores
from oclgenomics.io.raw_file import FileRest, Progress, StoredBytes
from oclgenomics.io.read_ahead import MAX_READY, ReadAhead
from oclgenomics.io.unpack import packing_of, unpack
from oclgenomics.io.workers import Workers
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.io.htslib import Conversion, ConvertedText

htslib = late("oclgenomics.io.htslib")
inflate = late("oclgenomics.io.inflate")


CHUNK_BYTES = 1 << 20
LIVE_BYTES, LIVE_READY = 1 << 18, 256  # of a chunk that comes live, at most, and how many of these wait
HEAD_BYTES, MIN_HEAD = 4096, 18  # which say what an input is; so many do for all formats
MAX_READERS = 8  # threads; more copy no faster from the system's cache
_GZIP = b"\x1f\x8b"
_OTHER_PACKERS = {
    b"PK\x03\x04": "zip", b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!\x1a\x07": "RAR", b"\x1f\x9d": "compress",
    b"\x04\x22\x4d\x18": "lz4", b"LZIP": "lzip",
}  # fmt: skip
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some editors put at the start of a text
_OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, and of UTF-32


class ReadingStoppedError(Exception):
    """The reader was told to stop; nobody waits for what it would have given."""


class Source(Closing):
    """A readable input, decompressed on the fly; a context manager.

    Parameters
    ----------
    path : str or path-like
        File, of which a `FileSlice` has only a part, or "-" for standard input. Gzip (also many members, as bgzip
        writes), bzip2, xz and zstd are recognised by their first bytes.
    chunk_bytes : int
        Size of the chunks of a plain input.
    progress : callable, optional
        See `Progress`.
    workers : Workers, optional
        Threads that inflate bgzip. With several, what is packed otherwise is unpacked by a thread that reads ahead.
    live : bool
        Somebody waits for what comes through a pipe; see `read_some_into`.
    converter : callable, optional
        Called with the first bytes; returns how htslib makes text of the input, or None where it is text already.

    Attributes
    ----------
    live : bool
        It is a pipe or the like, and `read_some_into` is to be used.
    skipped : int
        Bytes of the unpacked text before the first that is given: those of a byte-order mark of UTF-8, and, of an
        uncompressed file, those before a part of it.

    Raises
    ------
    InputError
        The file is missing, a folder, not readable, empty, packed in a way that is not known, truncated, damaged, or
        text in UTF-16.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        chunk_bytes: int = CHUNK_BYTES,
        progress: Progress | None = None,
        workers: Workers | None = None,
        live: bool = False,
        converter: Callable[[bytes], Conversion | None] | None = None,
    ) -> None:
        self.name = os.fspath(path)
        self._workers = Workers(1) if workers is None else workers
        self._stored = StoredBytes(self.name, progress, live=live)
        self.live = self._stored.live
        self.chunk_bytes = LIVE_BYTES if self.live else chunk_bytes
        self._converter = converter
        self._converted: ConvertedText | None = None
        try:
            head = self._head()
            packing = packing_of(head)
            conversion = None if packing is not None else self._conversion(head)
            self.compressed = packing is not None or conversion is not None or head.startswith(_GZIP)
            self.skipped = 0 if self.compressed else self._stored.start
            self._refuse(head)
            self._stored.unread(head if self.compressed else self._without_mark(head))
        except OclGenomicsError:
            self._stored.close()
            raise
        if conversion is not None:
            stream = self._convert(conversion, self._plain())
        else:
            stream = self._unpacked(packing) if self.compressed else self._plain()
        alone = self.compressed and self._workers.threads > 1 and not _is_bgzip(head)
        ahead = alone or self.live or self.name == "-"  # the system already reads plain files ahead
        ready = LIVE_READY if self.live else MAX_READY
        self._chunks: ReadAhead[bytes] | Iterator[bytes] = ReadAhead(stream, ready) if ahead else stream
        self._direct = not self.compressed and not ahead
        self._rest = memoryview(b"")  # of a chunk that `read_into` did not use up

    @property
    def converted(self) -> bool:
        """True if htslib makes text of the input."""
        return self._converted is not None

    @property
    def repeatable(self) -> bool:
        """True if the same input can be opened a second time."""
        return self.name != "-" and self._stored.total is not None

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if self._workers.stopped:
                raise ReadingStoppedError
            yield chunk

    def read_into(self, target: NDArray[np.uint8]) -> int:
        """Fill an array with decompressed bytes; not to be mixed with iteration.

        Returns
        -------
        int
            Bytes that there were: fewer than the array takes only at the end.
        """
        view = target.data.cast("B")
        if self._direct:
            return self._stored.read_into(view)
        return self._fill(view)

    def read_some_into(self, target: NDArray[np.uint8]) -> int:
        """Put into an array what has come of an input that is `live`, having waited for the first byte.

        Returns
        -------
        int
            Bytes; 0 only at the end.
        """
        return self._fill(target.data.cast("B"), some=True)

    def _fill(self, view: memoryview, *, some: bool = False) -> int:
        """Fill the view from chunks; with `some`, only from those that are there, but from one at least."""
        filled = 0
        while filled < len(view):
            if not self._rest:
                if some and filled and isinstance(self._chunks, ReadAhead) and self._chunks.waits:
                    break
                self._rest = memoryview(next(iter(self), b""))
                if not self._rest:
                    break
            count = min(len(self._rest), len(view) - filled)
            view[filled : filled + count] = self._rest[:count]
            self._rest = self._rest[count:]
            filled += count
        return filled

    @property
    def size(self) -> int | None:
        """Bytes of a plain file; None where nobody knows."""
        return self._stored.total if self._direct else None

    @property
    def readers(self) -> int:
        """Threads that `start_reading` has use for."""
        return min(MAX_READERS, usable_cores()) if self._direct and self._stored.shared_out else 1

    def start_reading(self, target: NDArray[np.uint8], threads: ThreadPoolExecutor) -> Iterator[tuple[int, int]]:
        """Have an array filled with decompressed bytes by threads; not to be mixed with iteration.

        Parameters
        ----------
        target : ndarray of uint8
        threads : ThreadPoolExecutor
            Has `readers` threads, and does nothing else for this input.

        Returns
        -------
        iterator of (begin, end)
            The parts of the array in their order, each when it is there. They fill all of it unless the input ends.
        """
        if self.readers == 1:
            return self._one_part(threads.submit(self.read_into, target))
        pieces = self._stored.pieces(target.data.cast("B"))
        return self._parts([(begin, end, threads.submit(read)) for begin, end, read in pieces])

    def _parts(self, reading: list[tuple[int, int, Future[None]]]) -> Iterator[tuple[int, int]]:
        for begin, end, piece in reading:
            piece.result()
            yield begin, end
        self._stored.report()

    @staticmethod
    def _one_part(reading: Future[int]) -> Iterator[tuple[int, int]]:
        yield 0, reading.result()

    def rest(self, byte: int) -> FileRest | None:
        """Return the text from a byte on, if it is a large uncompressed file's; nothing else is read afterwards."""
        return self._stored.rest(self.skipped + byte) if self._direct else None

    def close(self) -> None:
        """Stop reading ahead and close the file."""
        ended = self._converted is None or self._converted.stop(wait=self.repeatable)
        wait = self.repeatable or self._converted is not None  # of which no text comes any more
        unused = not isinstance(self._chunks, ReadAhead) or self._chunks.stop(wait=wait)
        if self._converted is not None:
            self._converted.close()
        if self.name != "-" and unused and ended:  # else a thread may wait in it
            self._stored.close()

    def _head(self) -> bytes:
        """The first bytes."""
        head = self._stored.read(HEAD_BYTES)
        while self.live and 0 < len(head) < MIN_HEAD and (more := self._stored.read(HEAD_BYTES)):
            head += more
        return head

    def _refuse(self, head: bytes) -> None:
        """Refuse an input without anything in it, or one that is packed in a way that is not known."""
        if not head.removeprefix(BYTE_ORDER_MARK):
            raise EmptyInputError("the file is empty", source=self.name)
        trouble = ""
        for magic, packer in _OTHER_PACKERS.items():
            if head.startswith(magic):
                trouble = f"packed with {packer}; unpack it, or pack it with gzip or bgzip"
        if trouble:
            raise InputError(trouble, source=self.name)

    def _without_mark(self, begin: bytes) -> bytes:
        """The begin of the text without a byte-order mark."""
        if begin.startswith(_OTHER_MARKS):
            raise InputError("is text in UTF-16; store it as UTF-8 or ASCII", source=self.name)
        rest = begin.removeprefix(BYTE_ORDER_MARK)
        self.skipped += len(begin) - len(rest)
        return rest

    def _unpacked(self, packing: str | None) -> Iterator[bytes]:
        """Unpack, by gzip if no other packing is named."""
        chunks = inflate.inflate(self._stored, self._workers) if packing is None else unpack(self._stored, packing)
        begin = b""
        while len(begin) < len(BYTE_ORDER_MARK) and (chunk := next(chunks, b"")):
            begin += chunk
        conversion = None if packing is None else self._conversion(begin)
        if conversion is not None:
            yield from self._convert(conversion, chain([begin], chunks))
            return
        if begin := self._without_mark(begin):
            yield begin
        yield from chunks

    def _conversion(self, head: bytes) -> Conversion | None:
        """How htslib makes text of an input that begins so; None if it does not."""
        return None if self._converter is None else self._converter(head)

    def _convert(self, conversion: Conversion, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Have the input converted, beginning at once."""
        self._converted = htslib.ConvertedText(conversion, chunks, self.name)
        return iter(self._converted)

    def _plain(self) -> Iterator[bytes]:
        while chunk := self._stored.read(self.chunk_bytes):
            yield chunk


def _is_bgzip(head: bytes) -> bool:
    """Whether an input begins with a block of bgzip."""
    return bool(inflate.is_block(head))
