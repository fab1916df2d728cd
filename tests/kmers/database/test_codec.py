"""Variable-length quantities and Simple-8b against plain Python, and the arithmetic of keys of several words."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oclgenomics.kmers.database import simple8b, vlq
from oclgenomics.kmers.database.keys import differences, is_ascending, key_words, running_sums, sortable

GOLDEN = {
    0: "00",
    127: "7f",
    128: "8100",
    1234: "8952",
    (1 << 56) - 1: "ffffffffffffff7f",
    1 << 56: "818080808080808000",
    (1 << 62) - 1: "bfffffffffffffff7f",
    (1 << 64) - 1: "81ffffffffffffffff7f",
}


def words_of(numbers: list[int], words: int) -> np.ndarray:
    return np.array([[number >> 64 * word & (1 << 64) - 1 for number in numbers] for word in range(words)], np.uint64)


def numbers_of(keys: np.ndarray) -> list[int]:
    return [sum(int(word) << 64 * place for place, word in enumerate(column)) for column in keys.T]


def plain_vlq(number: int) -> bytes:
    digits = [number & 127]
    while number := number >> 7:
        digits.append(number & 127 | 128)
    return bytes(reversed(digits))


def plain_simple8b(numbers: list[int]) -> list[int]:
    words = []
    for start in range(0, len(numbers), simple8b.STRETCH):
        stretch = numbers[start : start + simple8b.STRETCH]
        while stretch:
            for selector, (size, width) in enumerate(zip(simple8b.SIZES, simple8b.WIDTHS, strict=True)):
                if size <= len(stretch) and max(stretch[:size]) < 1 << width:
                    items = sum(item << width * place for place, item in enumerate(stretch[:size]))
                    words.append(selector << 60 | items)
                    stretch = stretch[size:]
                    break
    return words


@st.composite
def wide_numbers(draw: st.DrawFn) -> tuple[list[int], int]:
    words = draw(st.integers(1, 8))
    widths = draw(st.lists(st.integers(0, 64 * words), min_size=1, max_size=30))
    return [draw(st.integers(0, (1 << width) - 1)) for width in widths], words


@pytest.mark.parametrize(("number", "code"), GOLDEN.items())
def test_published_quantities(number: int, code: str) -> None:
    assert plain_vlq(number).hex() == code
    assert vlq.encode(words_of([number], 1)).tobytes().hex() == code


@given(wide_numbers())
def test_quantities_of_any_width(example: tuple[list[int], int]) -> None:
    numbers, words = example
    code = vlq.encode(words_of(numbers, words))
    assert code.tobytes() == b"".join(map(plain_vlq, numbers))
    assert numbers_of(vlq.decode(code, len(numbers), words)) == numbers


def test_every_length_of_a_quantity() -> None:
    numbers = [bound + step for bits in range(0, 512, 7) for bound in [1 << bits] for step in (-1, 0)]
    code = vlq.encode(words_of(numbers, 8))
    assert code.tobytes() == b"".join(map(plain_vlq, numbers))
    assert numbers_of(vlq.decode(code, len(numbers), 8)) == numbers


def test_no_quantities() -> None:
    assert not len(vlq.encode(np.empty((2, 0), np.uint64)))
    assert vlq.decode(np.empty(0, np.uint8), 0, 2).shape == (2, 0)


@pytest.mark.parametrize(
    ("code", "size"), [("81", 1), ("8100", 2), ("810081", 1), ("00", 0), ("", 1), ("81" * 10 + "00", 1)]
)
def test_bytes_that_are_no_such_quantities(code: str, size: int) -> None:
    with pytest.raises(ValueError, match=r"numbers end in|does not fit"):
        vlq.decode(np.frombuffer(bytes.fromhex(code), np.uint8), size, 1)


@given(st.lists(st.tuples(st.integers(0, 32), st.integers(1, 700), st.integers(0, 1 << 32)), min_size=1, max_size=6))
def test_simple8b_of_runs(runs: list[tuple[int, int, int]]) -> None:
    numbers = np.concatenate(
        [np.random.default_rng(seed).integers(0, 1 << width, size, np.uint64) for width, size, seed in runs]
    ).astype(np.uint32)
    words, starts = simple8b.encode(numbers)
    assert words.tolist() == plain_simple8b(numbers.tolist())
    np.testing.assert_array_equal(simple8b.decode(words, len(numbers)), numbers)
    sizes = np.array(simple8b.SIZES)[words >> np.uint64(60)]
    np.testing.assert_array_equal(starts, np.cumsum(sizes) - sizes)


@pytest.mark.parametrize("selector", range(16))
def test_every_selector(selector: int) -> None:
    size, width = simple8b.SIZES[selector], min(simple8b.WIDTHS[selector], 32)
    numbers = np.full(size, (1 << width) - 1, np.uint32)
    words, _ = simple8b.encode(numbers)
    assert (words >> np.uint64(60)).tolist() == [selector]
    np.testing.assert_array_equal(simple8b.decode(words, size), numbers)


def test_words_that_hold_other_numbers() -> None:
    with pytest.raises(ValueError, match="hold 240 numbers, and 239"):
        simple8b.decode(np.array([0], np.uint64), 239)
    with pytest.raises(ValueError, match="hold 0 numbers"):
        simple8b.decode(np.array([], np.uint64), 1)
    with pytest.raises(ValueError, match="wider than 32 bits"):
        simple8b.decode(np.array([15 << 60 | 1 << 32], np.uint64), 1)


@given(k=st.integers(1, 256), seed=st.integers(0, 1 << 32), data=st.data())
def test_differences_of_wide_keys(k: int, seed: int, data: st.DataObject) -> None:
    ends = data.draw(st.lists(st.integers(0, (1 << 2 * k) - 1), max_size=20))
    edges = [1 << bits for bits in range(63, 2 * k, 64)] + [(1 << bits) - 1 for bits in range(64, 2 * k, 64)]
    numbers = sorted({*ends, *edges, (1 << 2 * k) - 1, seed % (1 << 2 * k)})
    keys = words_of(numbers, key_words(k))
    gaps = differences(keys)
    assert numbers_of(gaps) == [after - before for before, after in itertools.pairwise(numbers)]
    np.testing.assert_array_equal(running_sums(keys[:, 0], gaps), keys)
    assert is_ascending(keys)
    assert np.argsort(sortable(keys)).tolist() == list(range(len(numbers)))
    if len(numbers) > 1:
        assert not is_ascending(keys[:, ::-1])
        assert not is_ascending(keys[:, [0, 0]])
