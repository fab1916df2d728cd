"""bgzip's format, written block by block."""

from __future__ import annotations

import struct
import zlib

END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")


def block(text: bytes, level: int = 6) -> bytes:
    """One block of at most 64 KiB."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    packed = packer.compress(text) + packer.flush()
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
    return head + packed + struct.pack("<II", zlib.crc32(text), len(text))


def blocks(text: bytes, size: int = 65280, level: int = 6) -> list[bytes]:
    """The blocks of a file, without the empty one at the end."""
    return [block(text[at : at + size], level) for at in range(0, len(text), size)]


def bgzip(text: bytes, size: int = 65280, level: int = 6) -> bytes:
    """A whole file."""
    return b"".join([*blocks(text, size, level), END])
