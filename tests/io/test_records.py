"""Values come back from records as they were; nothing else does, and forged sizes cost no memory."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from oclgenomics.errors import ParameterError
from oclgenomics.io.array_layout import KEY, checksum
from oclgenomics.io.records import HEAD, pack_record, unpack_record


@dataclass(frozen=True)
class Inner:
    """A part of another one; a number of 1 or more."""

    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ParameterError("number", "give 1 or more", self.number)


@dataclass
class Outer:
    """Of many kinds of values."""

    name: str
    inner: tuple[Inner, ...]
    values: NDArray[Any]
    own: int = field(init=False, default=3)  # made of the others


KINDS = (Inner, Outer)
DTYPES = ["bool", "i1", "u1", "<i2", "<u4", "<i8", "<u8", "<f4", "<f8", ">i4", ">f8"]


def packed(value: Any) -> tuple[bytes, bytearray]:
    """The text and the arrays of a record, which follow its head."""
    head, text, *arrays = pack_record(value)
    rest = b"".join(arrays)
    assert HEAD.unpack(head) == (len(text), len(rest), checksum(KEY, text, rest))
    return bytes(text), bytearray(rest)


def returned(value: Any) -> Any:
    return unpack_record(*packed(value), KINDS)


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
keys = st.integers() | st.text() | st.tuples(st.integers(), st.text())
values = st.recursive(
    plain | st.frozensets(st.integers()),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner),
    max_leaves=20,
)


@given(values)
def test_plain_values(value: Any) -> None:
    found = returned(value)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (3, 0, 2)])
def test_arrays(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    found = returned([array, array[..., ::-1] if shape else array, 5])
    assert (found[0].dtype, found[0].shape, found[2]) == (array.dtype.newbyteorder("="), shape, 5)
    assert np.array_equal(found[0], array)
    assert np.array_equal(found[1], array[..., ::-1] if shape else array)
    found[0][...] = 0  # it is the reader's own


@pytest.mark.parametrize("stored", ["u1", "i1", "u2", "i2", "u4", "i4"])
@pytest.mark.parametrize("dtype", ["<u2", "<i2", "<u4", ">i4", "<u8", "<i8"])
def test_whole_numbers_take_few_bytes(dtype: str, stored: str) -> None:
    low, high = np.iinfo(stored).min, np.iinfo(stored).max
    for beyond in (0, 1):
        numbers = np.array([low, high + beyond]).astype(dtype)  # of unsigned types, -1 is the largest one
        found, (_, data) = returned(numbers), packed(numbers)
        assert (found.dtype, found.tolist()) == (np.dtype(dtype).newbyteorder("="), numbers.tolist())
        if np.dtype(stored).itemsize < numbers.itemsize:
            assert (len(data) == numbers.size * np.dtype(stored).itemsize) == (not beyond)


def test_the_largest_number_takes_one_byte() -> None:
    """It means that there is none, among small numbers."""
    for dtype in ("u2", "u4", "u8"):
        numbers = np.array([[3, np.iinfo(dtype).max]] * 4, dtype)
        assert (returned(numbers).tolist(), len(packed(numbers)[1])) == (numbers.tolist(), 8)


def test_texts_in_arrays_and_names_of_any_bytes() -> None:
    array = np.array([["", "a"], ["ß\n", "file\udcff"]], object)
    found = returned({"names": array, "none": np.empty(0, object)})
    assert found["names"].tolist() == array.tolist()
    assert found["none"].shape == (0,)


@given(st.lists(st.text(st.sampled_from("aß\n\udcff"), max_size=3), max_size=6), st.sampled_from([1, 5, 300]))
def test_texts_of_all_kinds(texts: list[str], times: int) -> None:
    """Equal ones, lines, and others."""
    array = np.array(texts * times, object)
    assert returned(array).tolist() == array.tolist()


@pytest.mark.parametrize(
    ("texts", "size"),
    [(["name"] * 9, 4), (["one", "two", ""], 8), (["one", "t\no"], 8 * 2 + 6), ([""] * 3, 0), ([], 0)],
)
def test_bytes_of_texts(texts: list[str], size: int) -> None:
    assert len(packed(np.array(texts, object))[1]) == size


def test_numbers_of_numpy_and_infinities() -> None:
    assert returned([np.int64(3), np.float32(0.5), np.bool_(True), float("inf")]) == [3, 0.5, True, float("inf")]
    assert np.isnan(returned(float("nan")))


def test_dataclasses_that_the_reader_names() -> None:
    value = Outer("x", (Inner(1), Inner(2)), np.array([1.5]))
    found = returned(value)
    assert (found.name, found.inner, found.values.tolist(), found.own) == ("x", value.inner, [1.5], 3)
    with pytest.raises(ValueError, match=r"it is malformed .KeyError: 'Inner'"):
        unpack_record(*packed(Inner(1)), [Outer])


@pytest.mark.parametrize(
    "value", [object(), len, Inner, 3j, np.array([1j]), np.array(["x"]), np.array(["2000"], "M8[Y]"), [{"a": object()}]]
)
def test_what_is_something_else_is_no_record(value: Any) -> None:
    with pytest.raises((TypeError, AttributeError)):
        pack_record(value)


FORGED = [
    ({"a": ["<i8", [1 << 60]]}, "another size"),
    ({"a": ["<i8", [1 << 31, 1 << 31]]}, "another size"),
    ({"a": ["<i8", [-1]]}, "a shape that no array has"),
    ({"a": ["<i8", [True]]}, "a shape that no array has"),
    ({"a": ["<i8", [2.0]]}, "a shape that no array has"),
    ({"a": ["<i8", [0, 1 << 80]]}, ".+"),
    ({"a": ["<i8", [1] * 100]}, ".+"),
    ({"a": ["O", [1]]}, "a type that no record has"),
    ({"a": ["V8", [1]]}, "a type that no record has"),
    ({"a": ["<U4", [1]]}, "a type that no record has"),
    ({"a": ["nonsense", [1]]}, "malformed"),
    ({"a": [[["x", "<i8"]], [1]]}, ".+"),
    ({"a": ["<i8", [16], "<u2"]}, "another size"),
    ({"a": ["<i8", [1], "<i8"]}, "a type that no record has"),
    ({"a": ["<i8", [1], "<f4"]}, "a type that no record has"),
    ({"a": ["<f8", [1], "<u2"]}, "a type that no record has"),
    ({"a": ["<i8", [1], "O"]}, "a type that no record has"),
    ({"a": ["text", [1 << 40], 8]}, "another size"),
    ({"a": ["text", [0, 1 << 40], 8]}, ".+"),
    ({"a": ["text", [1], -8]}, ".+"),
    ({"a": ["text", [1], 1 << 60]}, "another size"),
    ({"a": ["text", [1]]}, "malformed"),
    ({"a": ["text", [2], 1 << 4]}, ".+"),
    ({"a": ["same", [1 << 27], 0]}, "more often than any is"),
    ({"a": ["same", [0], 0]}, "more often than any is"),
    ({"a": ["same", [2], 1 << 60]}, "another size"),
    ({"a": ["lines", [1 << 40], 0]}, "other lines than its texts"),
    ({"a": ["lines", [0], 0]}, "other lines than its texts"),
    ({"a": ["lines", [2], 1 << 60]}, "another size"),
    ({"b": ["|u1", [1 << 50]]}, "another size"),
    ({"a": 5}, "malformed"),
    ({"d": ["Unknown", {}]}, "malformed"),
    ({"d": ["Inner", {}]}, "malformed"),
    ({"d": ["Inner", {"number": 1, "more": 2}]}, "malformed"),
    ({"d": ["Inner", {"number": 0}]}, "give 1 or more"),
    ({"d": ["Inner", {"number": "x"}]}, "malformed"),
    ({"d": ["__class__", {}]}, "malformed"),
    ({"_": 1}, "malformed"),
    ({"s": [[1]]}, "malformed"),
    ({"m": [[[1], 2]]}, "malformed"),
    ({"m": [[1]]}, ".+"),
    ({}, ".+"),
    ({"t": [1], "m": []}, ".+"),
]


@pytest.mark.parametrize(("plain", "told"), FORGED)
def test_forged_records_are_malformed_and_cost_no_memory(plain: Any, told: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=told):
            unpack_record(json.dumps(plain).encode(), bytearray(16), KINDS)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"\xff", b"9" * 5000, b'{"a":["<i8",[1]]'])
def test_what_is_no_json_is_malformed(text: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unpack_record(text, bytearray(), KINDS)


def test_arrays_that_nobody_names_are_malformed() -> None:
    with pytest.raises(ValueError, match="its arrays have another size than it says"):
        unpack_record(b"1", bytearray(8))
