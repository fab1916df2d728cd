"""SipHash-2-4 on the host: of bytes that come piece by piece, of bytes as a whole, and of blocks side by side.

The package `siphash24` holds the interpreter's lock. Its library has the same function for C, `c_siphash_hash`: called
as a foreign one it lets other threads go on, so threads hash blocks side by side. Where a build of the package does not
show it, the package's own function does the work, for one thread at a time. The same holds of bytes piece by piece.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import siphash24
from numpy.typing import NDArray

KEY_BYTES = 16
BLOCK_BYTES = 16 << 10  # that are hashed by themselves: 2,048 of them in 32 MiB keep a GPU busy
FOREIGN_BYTES = 1 << 12  # of fewer, a foreign call takes longer than it saves
_PROBE = bytes(range(15))
_State = ctypes.c_uint64 * 8  # of which six are used


class _Pieces(NamedTuple):
    """Foreign functions that hash bytes piece by piece."""

    begin: Callable[[Any, bytes], None]
    take: Callable[[Any, int, int], None]
    end: Callable[[Any], int]


class Checksum:
    """The checksum of bytes that come piece by piece, under a key of 16 bytes; other threads go on meanwhile."""

    def __init__(self, key: bytes) -> None:
        self._foreign = _foreign_pieces() if _foreign_function() else None
        self._state: Any = siphash24.siphash24(key=key)
        if self._foreign is not None:
            self._state = _State()
            self._foreign.begin(self._state, key)

    def update(self, piece: bytes | bytearray | memoryview) -> None:
        """Take the next bytes."""
        if self._foreign is None:
            self._state.update(piece)
        elif size := memoryview(piece).nbytes:
            self._foreign.take(self._state, _address(np.frombuffer(piece, np.uint8)), size)

    @property
    def value(self) -> int:
        """That of the bytes up to now."""
        if self._foreign is None:
            return int.from_bytes(self._state.digest(), "little")
        return self._foreign.end(_State(*self._state))  # a copy, so that more may come


def siphash(key: bytes, data: bytes | memoryview) -> int:
    """Return the checksum of some bytes under a key of 16 bytes; other threads go on meanwhile if there are many."""
    size = memoryview(data).nbytes
    call = _foreign_function() if size >= FOREIGN_BYTES else None
    if call is None:
        return _held(key, data)
    return call(key, _address(np.frombuffer(data, np.uint8)), size)


def block_sums(key: bytes, data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the checksum of each block of some bytes; the last block may be shorter. Other threads go on meanwhile.

    Parameters
    ----------
    key : bytes
        16.
    data : ndarray, uint8
        Contiguous.

    Returns
    -------
    ndarray, uint64 (blocks,)
    """
    begins = range(0, len(data), BLOCK_BYTES)
    call = _foreign_function()
    if call is None:
        return np.array([_held(key, data[begin : begin + BLOCK_BYTES].data) for begin in begins], np.uint64)
    start, size = _address(data), len(data)
    sums = [call(key, start + begin, min(BLOCK_BYTES, size - begin)) for begin in begins]
    return np.array(sums, np.uint64)


def key_words(key: bytes) -> dict[str, int]:
    """Return a key of 16 bytes as kernels take it."""
    return {"k0": int.from_bytes(key[:8], "little"), "k1": int.from_bytes(key[8:], "little")}


def sum_of_sums(key: bytes, sums: NDArray[np.uint64]) -> int:
    """Return the checksum of the checksums of blocks, as little-endian numbers of 8 bytes one behind the other."""
    return siphash(key, sums.astype("<u8", copy=False).tobytes())


def _held(key: bytes, data: bytes | memoryview) -> int:
    state = siphash24.siphash24(key=key)
    state.update(data)
    return int.from_bytes(state.digest(), "little")


def _address(data: NDArray[np.uint8]) -> int:
    address: int = data.__array_interface__["data"][0]
    return address


@functools.cache
def _foreign_function() -> Callable[[bytes, int, int], int] | None:
    """What hashes bytes at an address without the lock, if the package's library has it and it does what it should."""
    try:
        function: Any = ctypes.CDLL(siphash24.__file__).c_siphash_hash
    except (AttributeError, OSError, TypeError):
        return None
    function.argtypes, function.restype = (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t), ctypes.c_uint64
    call: Callable[[bytes, int, int], int] = function
    key, probe = bytes(range(KEY_BYTES)), np.frombuffer(_PROBE, np.uint8)
    return call if call(key, _address(probe), len(probe)) == _held(key, _PROBE) else None


@functools.cache
def _foreign_pieces() -> _Pieces | None:
    """What hashes bytes piece by piece without the lock; None as of `_foreign_function`."""
    try:
        library = ctypes.CDLL(siphash24.__file__)
        begin, take, end = library.c_siphash_init, library.c_siphash_append, library.c_siphash_finalize
    except (AttributeError, OSError, TypeError):
        return None
    state = ctypes.POINTER(ctypes.c_uint64)
    begin.argtypes, begin.restype = (state, ctypes.c_char_p), None
    take.argtypes, take.restype = (state, ctypes.c_void_p, ctypes.c_size_t), None
    end.argtypes, end.restype = (state,), ctypes.c_uint64
    pieces, key, probe, tried = (
        _Pieces(begin, take, end),
        bytes(range(KEY_BYTES)),
        np.frombuffer(_PROBE, np.uint8),
        _State(),
    )
    pieces.begin(tried, key)
    for piece in (probe[:3], probe[3:]):
        pieces.take(tried, _address(piece), len(piece))
    return pieces if pieces.end(tried) == _held(key, _PROBE) else None
