"""Values as bytes and back: numbers, texts, lists, mappings, NumPy arrays, and dataclasses that the reader names.

A record is a head, a text in JSON and the bytes of arrays, all of it under a checksum. Nothing in a record says what to
import or to call, so a record from anywhere is safe to read.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import OclGenomicsError
from oclgenomics.io.array_layout import KEY, checksum

HEAD = struct.Struct("<QQQ")  # bytes of the text, bytes of the arrays, checksum of both
NUMBERS = "biuf"  # kinds of NumPy that are stored
NARROW = [np.dtype(name) for name in ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4")]  # types for small numbers
TEXTS = ("same", "lines", "text")  # how arrays of texts are stored
MOST_SAME = 1 << 26  # of a text that is stored once: no few bytes fill memory
TEXT_ERRORS = "surrogatepass"  # names of files may be of any bytes


def pack_record(value: Any) -> list[bytes | memoryview]:
    """Return a value as the bytes of a record, in pieces.

    Raises
    ------
    TypeError
        There is something else in it than the module names.
    """
    arrays: list[bytes | memoryview] = []
    text = json.dumps(_plain(value, arrays), separators=(",", ":")).encode("ascii")
    size = sum(map(len, arrays))
    return [HEAD.pack(len(text), size, checksum(KEY, text, *arrays)), text, *arrays]


def unpack_record(text: bytes | bytearray, arrays: bytearray, kinds: Sequence[type] = ()) -> Any:
    """Return the value of a record, whose checksum was compared.

    Parameters
    ----------
    text : bytes or bytearray
    arrays : bytearray
        The arrays of the value lie in it, and may be written to.
    kinds : sequence of type
        Dataclasses that may be in the value.

    Raises
    ------
    ValueError
        What is wrong with it.
    """
    reader = _Reader(arrays, {kind.__name__: kind for kind in kinds})
    try:
        value = reader.value(json.loads(text))
    except (LookupError, TypeError, AttributeError, OverflowError, RecursionError, OclGenomicsError) as error:
        raise ValueError(f"it is malformed ({type(error).__name__}: {error})") from error
    if reader.place != len(arrays):
        raise ValueError("its arrays have another size than it says")
    return value


def _plain(value: Any, arrays: list[bytes | memoryview]) -> Any:
    """A value as JSON has it: what JSON does not know is a mapping of one letter to what it is made of."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays)
    if isinstance(value, np.ndarray):
        return {"a": _stored(value, arrays)}
    if isinstance(value, list):
        return [_plain(item, arrays) for item in value]
    if isinstance(value, tuple):
        return {"t": [_plain(item, arrays) for item in value]}
    if isinstance(value, (set, frozenset)):
        return {"s": [_plain(item, arrays) for item in sorted(value)]}
    if isinstance(value, Mapping):
        return {"m": [[_plain(key, arrays), _plain(item, arrays)] for key, item in value.items()]}
    if isinstance(value, bytes):
        return {"b": _stored(np.frombuffer(value, np.uint8), arrays)}
    if is_dataclass(value):
        own = {field.name: _plain(getattr(value, field.name), arrays) for field in fields(value) if field.init}
        return {"d": [type(value).__name__, own]}
    raise TypeError(f"a {type(value).__name__} cannot be stored in a record")


def _stored(array: NDArray[Any], arrays: list[bytes | memoryview]) -> list[Any]:
    """What tells an array's type and shape; its bytes go to the others."""
    if array.dtype == object:
        kind = _store_texts(array.reshape(-1).tolist(), arrays)
        return [kind, list(array.shape), len(arrays[-1])]
    if array.dtype.kind not in NUMBERS:
        raise TypeError(f"an array of {array.dtype} cannot be stored in a record")
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
    stored = plain.astype(_narrow(plain), copy=False)
    arrays.append(stored.view(np.uint8).data)
    types = [plain.dtype.str, list(array.shape)]
    return types if stored.dtype == plain.dtype else [*types, stored.dtype.str]


def _narrow(array: NDArray[Any]) -> np.dtype[Any]:
    """The smallest type from which a cast gives whole numbers back; the largest of a type, which means none, is -1."""
    if array.dtype.kind not in "iu" or array.itemsize == 1 or not array.size:
        return array.dtype
    signed = array.view(f"<i{array.itemsize}")
    low, high = int(signed.min()), int(signed.max())
    fit = (kind for kind in NARROW if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return next((kind for kind in fit if kind.itemsize < array.itemsize), array.dtype)


def _store_texts(texts: list[str], arrays: list[bytes | memoryview]) -> str:
    """Append the bytes of texts, in the way that is read fastest, and return how."""
    if texts and texts.count(texts[0]) == len(texts) <= MOST_SAME:
        arrays.append(texts[0].encode("utf-8", TEXT_ERRORS))
        return "same"
    lines = "\n".join(texts)
    if texts and lines.count("\n") == len(texts) - 1:
        arrays.append(lines.encode("utf-8", TEXT_ERRORS))
        return "lines"
    encoded = [text.encode("utf-8", TEXT_ERRORS) for text in texts]
    lengths: NDArray[np.int64] = np.fromiter(map(len, encoded), np.int64, len(encoded))
    arrays += [lengths.astype("<i8").tobytes(), b"".join(encoded)]
    return "text"


class _Reader:
    """Makes a value of what JSON has, and takes the bytes of arrays in their order."""

    def __init__(self, arrays: bytearray, kinds: Mapping[str, type]) -> None:
        self._arrays, self._kinds, self.place = arrays, kinds, 0

    def value(self, plain: Any) -> Any:
        if isinstance(plain, list):
            return [self.value(item) for item in plain]
        if not isinstance(plain, dict):
            return plain
        ((letter, content),) = plain.items()
        return getattr(self, f"_of_{letter}")(content)

    def _of_t(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(self.value(item) for item in items)

    def _of_s(self, items: list[Any]) -> frozenset[Any]:
        return frozenset(self.value(item) for item in items)

    def _of_m(self, pairs: list[list[Any]]) -> dict[Any, Any]:
        return {self.value(key): self.value(item) for key, item in pairs}

    def _of_d(self, content: list[Any]) -> Any:
        name, own = content
        return self._kinds[name](**{field: self.value(item) for field, item in own.items()})

    def _of_b(self, content: list[Any]) -> bytes:
        return self._of_a(content).tobytes()

    def _of_a(self, content: list[Any]) -> NDArray[Any]:
        dtype, shape, *more = content
        if not all(type(extent) is int and extent >= 0 for extent in shape):
            raise ValueError("an array has a shape that no array has")
        count = math.prod(shape)
        if dtype in TEXTS:
            found = getattr(self, f"_{dtype}")(count, *more)  # before there is an array, whose size may be forged
            texts: NDArray[np.object_] = np.empty(count, object)
            texts[:] = found
            return texts.reshape(shape)
        kind, stored = np.dtype(dtype), np.dtype(more[0] if more else dtype)
        if kind.kind not in NUMBERS or (more and (kind.kind not in "iu" or stored not in NARROW)):
            raise ValueError("an array has a type that no record has")
        array = self._take(count * stored.itemsize).view(stored).reshape(shape)
        native: NDArray[Any] = array.astype(kind.newbyteorder("="), copy=False)
        return native

    def _same(self, count: int, size: int) -> list[str]:
        text = self._take(size).tobytes().decode("utf-8", TEXT_ERRORS)
        if not 1 <= count <= MOST_SAME:
            raise ValueError("a text is there more often than any is")
        return [text] * count

    def _lines(self, count: int, size: int) -> list[str]:
        found = self._take(size).tobytes().decode("utf-8", TEXT_ERRORS).split("\n")
        if len(found) != count:
            raise ValueError("there are other lines than its texts")
        return found

    def _text(self, count: int, size: int) -> list[str]:
        ends = np.cumsum(self._take(8 * count).view("<i8"))
        content = self._take(size).tobytes()
        starts = [0, *ends.tolist()]
        if starts[-1] != size or starts != sorted(starts):
            raise ValueError("its texts have another size than it says")
        return [content[begin:end].decode("utf-8", TEXT_ERRORS) for begin, end in pairwise(starts)]

    def _take(self, size: int) -> NDArray[np.uint8]:
        begin, self.place = self.place, self.place + size
        if not begin <= self.place <= len(self._arrays):
            raise ValueError("its arrays have another size than it says")
        return np.frombuffer(self._arrays, np.uint8, size, begin)
