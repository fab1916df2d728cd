"""Blocked gzip: a series of small gzip members (SAM specification, section 4.1), closed by an empty one.

It is the form that tabix and bcftools index, and whose blocks can be unpacked side by side. It has neither a time nor a
name in it, so the same data is the same file.
"""

from __future__ import annotations

import struct
import zlib

__all__ = ["BgzipCompressor"]

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
