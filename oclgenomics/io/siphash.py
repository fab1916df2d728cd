"""SipHash-2-4 on the host: of bytes that come piece by piece, of bytes as a whole, and of blocks side by side.

The package `siphash24` holds the interpreter's lock. Its library has the same function for C, `c_siphash_hash`: called
as a foreign one it lets other threads go on, so threads hash blocks side by side. Where a build of the package does not
show it, the package's own function does the work, for one thread at a time.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import siphash24
from numpy.typing import NDArray

KEY_BYTES = 16
BLOCK_BYTES = 16 << 10  # that are hashed by themselves: 2,048 of them in 32 MiB keep a GPU busy
FOREIGN_BYTES = 1 << 12  # of fewer, a foreign call takes longer than it saves
_PROBE = bytes(range(15))


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
    state = Checksum(key)
    state.update(data)
    return state.value


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
