"""The checksum of files that the package writes and reads: SipHash-2-4 of 64 bits."""

from __future__ import annotations

from collections.abc import Iterable

import siphash24

__all__ = ["Checksum", "checksum", "checksum_of"]


def checksum(key: bytes, *pieces: bytes | memoryview) -> int:
    """Return the checksum of some bytes, laid end to end, under a key of 16 bytes, which is that of the format."""
    return checksum_of(key, pieces)


def checksum_of(key: bytes, pieces: Iterable[bytes | memoryview]) -> int:
    """Return the checksum of pieces that are still to come."""
    state = Checksum(key)
    for piece in pieces:
        state.update(piece)
    return state.value


class Checksum:
    """The checksum of bytes that come piece by piece, under a key of 16 bytes.

    The interpreter's lock is held as long as a piece takes.
    """

    def __init__(self, key: bytes) -> None:
        self._state = siphash24.siphash24(key=key)

    def update(self, piece: bytes | memoryview) -> None:
        """Take the next bytes."""
        self._state.update(piece)

    @property
    def value(self) -> int:
        """That of the bytes up to now."""
        return int.from_bytes(self._state.digest(), "little")
