"""Outputs that are compressed if their names say so: one rule for all text that is written.

Packing is one thread's work, so the levels are those that take little time.
"""

from __future__ import annotations

import bz2
import contextlib
import io
import lzma
import os
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, Protocol

from oclgenomics.errors import MissingDependencyError, UsageError
from oclgenomics.io.atomic_file import Failure, open_whole
from oclgenomics.lazy_names import optional


class Sink(Protocol):
    """Anything that takes bytes."""

    def write(self, data: bytes, /) -> object: ...


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _zstd() -> _Compressor:
    module = zstd_module()
    if module is None:
        raise MissingDependencyError(f"packing with zstd {NEEDS_PACKAGE}")
    compressor: _Compressor = module.ZstdCompressor()
    return compressor


_PACKERS: dict[str, Callable[[], _Compressor]] = {
    ".gz": lambda: BgzipCompressor(1),
    ".bgz": lambda: BgzipCompressor(1),
    ".bz2": bz2.BZ2Compressor,
    ".xz": lambda: lzma.LZMACompressor(preset=1),
    ".zst": _zstd,
}
PACKED_ENDINGS = tuple(_PACKERS)


class _PackedStream(io.RawIOBase):
    """Takes bytes and passes them on compressed."""

    def __init__(self, stream: Sink, compressor: _Compressor) -> None:
        self._stream: Sink | None = stream
        self._compressor = compressor

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._stream is not None:
            self._stream.write(self._compressor.compress(data))
        return len(data)

    def finish(self) -> None:
        """Write the end."""
        if self._stream is not None:
            self._stream.write(self._compressor.flush())
            self._stream = None

    def drop(self) -> None:
        """Pass nothing on any more: the file is given up, and text that waits in front of this comes too late."""
        self._stream = None


def name_unpacked(name: str) -> str:
    """Return the name of a file without the ending that says how it is packed."""
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in _PACKERS else name


def check_packer(name: str) -> None:
    """Refuse, before any work, a name that asks for a packing for which there is no package.

    Raises
    ------
    MissingDependencyError
    """
    if name.lower().endswith(".zst"):
        _zstd()


def refuse_packed(name: str, format: str) -> None:
    """Refuse a name that says packed for a format that is not text.

    Raises
    ------
    UsageError
    """
    if name_unpacked(name) != name:
        ending = os.path.splitext(name)[1]
        raise UsageError(f"{name}: only text is packed, and {format} is none; leave out {ending}")


@contextlib.contextmanager
def open_packed(path: str | os.PathLike[str], mode: str, failure: Failure) -> Iterator[IO[Any]]:
    """Open a stream as `oclgenomics.io.atomic_file.open_whole` does, which packs what is written if the name says so.

    Parameters
    ----------
    path : path
        Packed if it ends in .gz or .bgz (blocked gzip), .bz2, .xz or .zst; "-" is standard output.
    mode : {'w', 'wb'}
        Text (UTF-8) or bytes.
    failure : callable
        Makes the error for a file that cannot be written.

    Raises
    ------
    MissingDependencyError
        There is no package for .zst.
    """
    name = os.fspath(path)
    packer = _PACKERS.get(os.path.splitext(name)[1].lower())
    if packer is None:
        with open_whole(path, mode, failure) as stream:
            yield stream
        return
    compressor = packer()
    with open_whole(path, "wb", failure) as stream:
        packed = _PackedStream(stream, compressor)
        opened: Any = packed
        if "b" not in mode:
            opened = io.TextIOWrapper(packed, encoding="utf-8", errors="backslashreplace", newline="")
        try:
            yield opened
            opened.flush()
            packed.finish()
        finally:
            packed.drop()


_BLOCK = 0xFF00  # of input; a block of output must stay below 64 KiB even where the data does not compress
_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")
_HEAD = struct.Struct("<4BI2BH2BHH")


class BgzipCompressor:
    """Compresses piece by piece, as the compressors of the standard library do.

    Parameters
    ----------
    level : int
        Compression level of zlib.
    """

    def __init__(self, level: int) -> None:
        self._level = level
        self._pending = bytearray()

    def compress(self, data: bytes | memoryview) -> bytes:
        """Take bytes, and return the blocks that are whole."""
        self._pending += data
        whole = len(self._pending) - len(self._pending) % _BLOCK
        with memoryview(self._pending) as view:
            blocks = [self._block(view[start : start + _BLOCK]) for start in range(0, whole, _BLOCK)]
        del self._pending[:whole]
        return b"".join(blocks)

    def flush(self) -> bytes:
        """Return what is pending and the end marker; nothing may be compressed afterwards."""
        return (self._block(self._pending) if self._pending else b"") + _END

    def _block(self, data: bytearray | memoryview) -> bytes:
        deflate = zlib.compressobj(self._level, zlib.DEFLATED, -15)
        body = deflate.compress(data) + deflate.flush()
        head = _HEAD.pack(0x1F, 0x8B, 8, 4, 0, 0, 255, 6, ord("B"), ord("C"), 2, len(body) + 25)
        return head + body + struct.pack("<II", zlib.crc32(data), len(data))


NEEDS_PACKAGE = "needs a package: pip install 'oclgenomics[zstd]'"


def zstd_module() -> Any:
    """Return the module, or None where there is none."""
    return optional("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
