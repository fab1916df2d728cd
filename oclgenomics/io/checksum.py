"""The checksum of files that the package writes and reads: SipHash-2-4 of 64 bits."""

from __future__ import annotations

import siphash24

__all__ = ["checksum"]


def checksum(key: bytes, *pieces: bytes | memoryview) -> int:
    """Return the checksum of some bytes, laid end to end, under a key of 16 bytes, which is that of the format."""
    state = siphash24.siphash24(key=key)
    for piece in pieces:
        state.update(piece)
    return int.from_bytes(state.digest(), "little")
