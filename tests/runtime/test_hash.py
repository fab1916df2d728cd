"""SipHash-2-4 on the device against the siphash package, and the bit helpers against Python's integers."""

import numpy as np
import pytest
import siphash
import siphash24
from hypothesis import given, settings, strategies as st

from oclgenomics.runtime import Engine

KEYS = st.binary(min_size=16, max_size=16)
SETTINGS = settings(max_examples=40, deadline=None)


def hash_strings(engine: Engine, strings: list[bytes], key: bytes) -> list[int]:
    k0, k1 = np.frombuffer(key, "<u8")
    offsets = np.cumsum([0, *map(len, strings)]).astype(np.uint64)
    data = np.frombuffer(b"".join(strings) + b"\0", np.uint8)
    hashes = engine.empty(len(strings), np.uint64)
    kernel = engine.kernel("common/hash.cl", "hash_strings")
    size = -(-len(strings) // 16) * 16
    arrays = {"bytes": engine.upload(data), "offsets": engine.upload(offsets)}
    engine.launch(kernel, (size,), (16,), **arrays, k0=k0, k1=k1, count=len(strings), hashes=hashes)
    return engine.download(hashes).tolist()


def expected(key: bytes, text: bytes) -> int:
    return siphash.SipHash_2_4(key, text).hash()


@given(key=KEYS, strings=st.lists(st.binary(max_size=70), min_size=1, max_size=40))
@SETTINGS
def test_strings_match_the_reference(engine: Engine, key: bytes, strings: list[bytes]) -> None:
    assert hash_strings(engine, strings, key) == [expected(key, text) for text in strings]


def test_every_length_up_to_300(engine: Engine) -> None:
    random = np.random.default_rng(7)
    key = random.bytes(16)
    strings = [random.bytes(length) for length in range(300)]
    assert hash_strings(engine, strings, key) == [expected(key, text) for text in strings]


def test_published_vector(engine: Engine) -> None:
    """The example in appendix A of the SipHash paper."""
    assert hash_strings(engine, [bytes(range(15))], bytes(range(16))) == [0xA129CA6149BE45E5]


@given(key=KEYS, numbers=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=64))
@SETTINGS
def test_numbers_match_their_bytes(engine: Engine, key: bytes, numbers: list[int]) -> None:
    k0, k1 = np.frombuffer(key, "<u8")
    hashes = engine.empty(len(numbers), np.uint64)
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    values = engine.upload(np.array(numbers, np.uint64))
    engine.launch(kernel, (64,), (16,), numbers=values, k0=k0, k1=k1, count=len(numbers), hashes=hashes)
    assert engine.download(hashes).tolist() == [expected(key, number.to_bytes(8, "little")) for number in numbers]


@pytest.mark.parametrize("words", [8, 64, 2048])
@pytest.mark.parametrize("blocks", [1, 2, 17, 70])
@pytest.mark.parametrize("rest", [0, 8])
def test_blocks_match_the_reference(engine: Engine, words: int, blocks: int, rest: int) -> None:
    """The last block may have fewer words; only the places of these blocks are written to."""
    size = blocks * words - min(rest, words - 8)
    data = np.random.default_rng(size).integers(0, 1 << 64, size, np.uint64)
    key, sums = bytes(range(16)), engine.upload(np.zeros(blocks + 5, np.uint64))
    k0, k1 = np.frombuffer(key, "<u8")
    kernel = engine.kernel("common/sum_blocks.cl", "sum_blocks", BLOCK=words)
    engine.launch_items(
        kernel, blocks, data=engine.upload(data), size=size, blocks=blocks, first=3, k0=k0, k1=k1, sums=sums
    )
    parts = [data[begin : begin + words].tobytes() for begin in range(0, size, words)]
    hashes = [int.from_bytes(siphash24.siphash24(part, key=key).digest(), "little") for part in parts]
    assert engine.download(sums).tolist() == [0, 0, 0, *hashes, 0, 0]


@pytest.mark.parametrize("builtin", [0, 1])
@pytest.mark.parametrize("width", [1, 8, 16])
def test_bits(engine: Engine, width: int, builtin: int) -> None:
    random = np.random.default_rng(3)
    words = random.integers(0, 2**64, 64, np.uint64) & random.integers(0, 2**64, 64, np.uint64)
    words[:4] = 0, 1, 1 << 63, 2**64 - 1
    result = engine.empty((64, 5), np.uint64)
    kernel = engine.kernel("common/probe_bits.cl", "probe_bits", VW=width, BUILTIN_POPCOUNT=builtin)
    engine.launch(kernel, (64,), (16,), words=engine.upload(words), results=result)
    for word, found in zip(words.tolist(), engine.download(result).tolist(), strict=True):
        low = word & 0xFFFFFFFF
        assert found[0] == word.bit_count() << 32 | low.bit_count()
        assert found[1] == ((low & -low).bit_length() - 1 if low else 32)
        assert found[2] == ((word & -word).bit_length() - 1 if word else 64)
        assert found[3] == int(f"{word:064b}"[::-1], 2)
        assert found[4] == (1 << (word % 65)) - 1


@pytest.mark.parametrize("builtin", [0, 1])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_vector_population_count_at_any_address(engine: Engine, width: int, builtin: int) -> None:
    words = np.random.default_rng(4).integers(0, 2**32, 129, np.uint32)
    result = engine.empty(128, np.uint32)
    engine.fill(result, 0)
    kernel = engine.kernel("common/probe_bits.cl", "probe_vectors", VW=width, BUILTIN_POPCOUNT=builtin)
    engine.launch(kernel, (128 // width,), None, words=engine.upload(words), results=result)
    assert np.array_equal(engine.download(result), np.bitwise_count(words[1:]))
