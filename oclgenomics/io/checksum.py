"""The checksum of files that the package writes and reads: SipHash-2-4 of 64 bits."""

from __future__ import annotations

from collections.abc import Iterable

import siphash24

__all__ = ["checksum", "checksum_of"]


def checksum(key: bytes, *pieces: bytes | memoryview) -> int:
    """Return the checksum of some bytes, laid end to end, under a key of 16 bytes, which is that of the format."""
    return checksum_of(key, pieces)


def checksum_of(key: bytes, pieces: Iterable[bytes | memoryview]) -> int:
    """Return the checksum of pieces that are still to come.

    The interpreter's lock is held as long as a piece takes.
    """
    state = siphash24.siphash24(key=key)
    for piece in pieces:
        state.update(piece)
    return int.from_bytes(state.digest(), "little")
