"""Opening of inputs: standard input, plain files, gzip and bgzip, as a stream of decompressed chunks."""

from __future__ import annotations

import os
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from types import TracebackType
from typing import Any, BinaryIO

from ..errors import InputError

__all__ = ["CHUNK_BYTES", "Progress", "Source"]

CHUNK_BYTES = 1 << 20
_COMPRESSED_BYTES = 1 << 17  # small: the rest of a chunk is copied at the end of each gzip member
_AHEAD = 2  # chunks the read-ahead thread may hold ready
_GZIP = b"\x1f\x8b"
_OTHER_PACKERS = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far, as stored, and the size of the file (None if unknown)."""


def _inflater() -> tuple[Any, tuple[type[Exception], ...]]:
    """A decompressor of one gzip member and the errors it raises; it releases the interpreter's lock.

    Intel's isal (extra `fast`) where installed, zlib otherwise.
    """
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib.decompressobj(wbits=31), (zlib.error,)
    errors: Any = (zlib.error, isal_zlib.error)
    return isal_zlib.decompressobj(wbits=31), errors


class Source:
    """A readable input, decompressed on the fly; a context manager.

    Parameters
    ----------
    path : str or path-like
        File, or "-" for standard input. Gzip (also many members, as bgzip writes) is recognised by its first bytes.
    chunk_bytes : int
        Size of the chunks, decompressed bytes.
    progress : callable, optional
        See `Progress`.

    Raises
    ------
    InputError
        The file is missing, a folder, not readable, empty, packed in another way than gzip, truncated or damaged.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, chunk_bytes: int = CHUNK_BYTES, progress: Progress | None = None
    ) -> None:
        self.name = os.fspath(path)
        self.chunk_bytes = chunk_bytes
        self._progress = progress
        self._done = 0
        self._file: BinaryIO = _open(self.name)
        self._total = _size(self._file)
        self._head = self._read_file(4096)
        if not self._head:
            self._file.close()
            raise InputError("the file is empty", source=self.name)
        self.compressed = self._head.startswith(_GZIP)
        self._refuse_other_packers()
        stream = self._inflated() if self.compressed else self._plain()
        ahead = self.compressed or self.name == "-"  # the system already reads plain files ahead
        self._chunks: _ReadAhead | Iterator[bytes] = _ReadAhead(stream) if ahead else stream

    @property
    def repeatable(self) -> bool:
        """True if the same input can be opened a second time."""
        return self.name != "-" and self._total is not None

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading ahead and close the file."""
        if isinstance(self._chunks, _ReadAhead):
            self._chunks.stop(wait=self.repeatable)
        if self.name != "-" and (self.repeatable or not self.compressed):
            self._file.close()

    def _refuse_other_packers(self) -> None:
        for magic, packer in _OTHER_PACKERS.items():
            if self._head.startswith(magic):
                self._file.close()
                raise InputError(f"packed with {packer}; unpack it, or pack it with gzip or bgzip", source=self.name)

    def _read_file(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", source=self.name) from error
        self._done += len(data)
        if self._progress is not None and data:
            self._progress(self._done, self._total)
        return data

    def _plain(self) -> Iterator[bytes]:
        head, self._head = self._head, b""
        yield from (head[i : i + self.chunk_bytes] for i in range(0, len(head), self.chunk_bytes))
        while chunk := self._read_file(self.chunk_bytes):
            yield chunk

    def _inflated(self) -> Iterator[bytes]:
        data, self._head = self._head, b""
        inflater: Any = None
        damaged: tuple[type[Exception], ...] = ()
        while True:
            ended = not data and not (data := self._read_file(_COMPRESSED_BYTES))
            if inflater is None:
                data = data.lstrip(b"\0")  # some writers pad the end with zeros
                if not data and ended:
                    return
                if not data:
                    continue
                inflater, damaged = _inflater()
            try:
                chunk = inflater.decompress(data, self.chunk_bytes)
            except damaged as error:
                raise InputError(f"damaged gzip data ({error}); fetch the file again", source=self.name) from error
            if chunk:
                yield chunk
            if inflater.eof:
                data, inflater = inflater.unused_data, None
                continue
            data = inflater.unconsumed_tail
            if ended and not chunk:
                raise InputError(
                    "the gzip data ends in the middle (a truncated file?); fetch it again", source=self.name
                )


class _ReadAhead:
    """Runs an iterator of chunks in a thread, a few chunks ahead; errors come out where the chunk would have."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ready: SimpleQueue[bytes | BaseException | None] = SimpleQueue()
        self._free = threading.Semaphore(_AHEAD)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="read-ahead", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for chunk in self._chunks:
                self._free.acquire()
                if self._stopped:
                    return
                self._ready.put(chunk)
            self._ready.put(None)
        except BaseException as error:  # handed to the consumer, which raises it
            self._ready.put(error)

    def __iter__(self) -> Iterator[bytes]:
        while (item := self._ready.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            self._free.release()
            yield item

    def stop(self, *, wait: bool) -> None:
        """End the thread; wait for it unless it may be blocked on a pipe."""
        self._stopped = True
        self._free.release()
        if wait:
            self._thread.join()


def _open(name: str) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return open(name, "rb")
    except IsADirectoryError as error:
        raise InputError("is a folder; give a file", source=name) from error
    except FileNotFoundError as error:
        raise InputError("no such file", source=name) from error
    except PermissionError as error:
        raise InputError("no permission to read it", source=name) from error
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", source=name) from error


def _size(file: BinaryIO) -> int | None:
    """Size of a regular file, None for pipes and the like."""
    try:
        status = os.fstat(file.fileno())
    except OSError:  # an object without a descriptor, such as a test's standard input
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
