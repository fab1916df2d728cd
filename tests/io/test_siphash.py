"""SipHash on the host against another package, with and without the function that lets other threads go on."""

from __future__ import annotations

import ctypes
import threading
import time
from typing import Any

import numpy as np
import pytest
import siphash as package
from hypothesis import given, strategies as st

from oclgenomics.io import siphash as module
from oclgenomics.io.siphash import BLOCK_BYTES, Checksum, block_sums, siphash, sum_of_sums

KEY = bytes(range(100, 116))
SIZES = (0, 1, 7, 8, 4095, 4096, 4097, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 64)


@pytest.fixture(params=["foreign", "held"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which function makes checksums."""
    if request.param == "held":
        monkeypatch.setattr(module, "_foreign_function", lambda: None)
    return str(request.param)


def expected(data: bytes) -> int:
    return int(package.SipHash_2_4(KEY, data).hash())


@pytest.mark.parametrize("size", SIZES)
def test_any_bytes(way: str, size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size + 3, np.uint8)[3:]  # which begins anywhere
    assert (
        siphash(KEY, data.data)
        == siphash(KEY, data.tobytes())
        == siphash(KEY, bytearray(data))
        == expected(bytes(data))
    )
    blocks = [data[begin : begin + BLOCK_BYTES] for begin in range(0, size, BLOCK_BYTES)]
    sums = block_sums(KEY, data)
    assert sums.dtype == np.uint64
    assert sums.tolist() == [expected(bytes(block)) for block in blocks]
    assert sum_of_sums(KEY, sums) == expected(b"".join(each.to_bytes(8, "little") for each in sums.tolist()))


def test_items_of_any_type(way: str) -> None:
    numbers = np.arange(3000.0)
    assert siphash(KEY, numbers.data) == expected(numbers.tobytes())


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_bytes_that_come_piece_by_piece(pieces: list[bytes]) -> None:
    for state in (Checksum(KEY), held_checksum()):
        for place, piece in enumerate(pieces):
            assert state.value == expected(b"".join(pieces[:place]))
            state.update(piece)
        assert state.value == siphash(KEY, b"".join(pieces)) == expected(b"".join(pieces))


def held_checksum() -> Checksum:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_foreign_function", lambda: None)
        return Checksum(KEY)


@pytest.mark.parametrize("whole", [True, False])
def test_other_threads_go_on(whole: bool) -> None:
    """The wheels of the package have the function, or reading large files takes as long as one thread hashes them."""
    data = np.zeros(128 << 20, np.uint8)
    seen = []

    def look() -> None:
        while not done:
            seen.append(time.perf_counter())
            time.sleep(0.001)

    done = False
    thread = threading.Thread(target=look)
    thread.start()
    begin = time.perf_counter()
    if whole:
        siphash(KEY, data.data)
    else:
        Checksum(KEY).update(data.data)
    end = time.perf_counter()
    done = True
    thread.join()
    assert sum(begin < moment < end for moment in seen) >= 3


def test_a_library_that_has_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    finds = module._foreign_function.__wrapped__, module._foreign_pieces.__wrapped__

    class Other:
        c_siphash_hash = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)(
            lambda *_: 7
        )
        c_siphash_init = c_siphash_append = c_siphash_finalize = c_siphash_hash

    def missing(_: Any) -> object:
        raise OSError

    assert all(find() is not None for find in finds)
    for library in (lambda _: Other(), lambda _: object(), missing):
        monkeypatch.setattr(module.ctypes, "CDLL", library)
        assert all(find() is None for find in finds)
