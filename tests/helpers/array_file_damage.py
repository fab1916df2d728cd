"""Files of `io.array_file` that are damaged under right checksums."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.fuzzing import draws, limited, mutated
from oclgenomics.errors import InputError
from oclgenomics.io.array_file import ArrayFile, FileKind
from oclgenomics.io.array_layout import ALIGNMENT, BLOCK_SUMS, END, FOOT, HEAD, KEY, checksum
from oclgenomics.io.array_writing import write_arrays

__all__ = ["check_every_damaged_byte", "check_refused_or_safe", "contents"]

EXTREMES = (0, 1, 2, 3, 26, -1, 1 << 7, 1 << 31, 1 << 32, 1 << 62, -(1 << 63))
REAL_EXTREMES = (np.nan, np.inf, 1e308, 0.0)


def check_every_damaged_byte(
    path: Path, whole: bytes, read: Callable[[Path], object], places: Iterable[int] | None = None
) -> None:
    """Damage the bytes of a file, one after the other: reading it is refused each time, in one line that names it.

    Parameters
    ----------
    path : Path
        Where to write.
    whole : bytes
        The file.
    read : callable
        Reads the path, all of it.
    places : iterable of int, optional
        Which bytes; all if not given.
    """
    for place in range(len(whole)) if places is None else places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def check_refused_or_safe(
    path: Path, whole: bytes, kind: FileKind, part: str, seconds: float, open_safely: Callable[[Path], None]
) -> None:
    """Damage a file at random for some seconds: each one is refused in one line, or passes.

    Parameters
    ----------
    path : Path
        Where to write.
    whole : bytes
        The file.
    kind : FileKind
    part : {'description', 'array'}
        What is damaged.
    seconds : float
    open_safely : callable
        Opens the path and asserts that nothing of it points where it must not.
    """
    path.write_bytes(whole)
    open_safely(path)
    refusals = []
    for number, rng in draws(f"{kind.name}, {part}", seconds):
        path.write_bytes(whole)
        data = _with_description(whole, rng) if part == "description" else _with_array(path, kind, rng)
        path.write_bytes(data)
        with limited(data, f"a {kind.name} with a damaged {part}, number {number}"):
            try:
                open_safely(path)
            except InputError as error:
                refusals.append(str(error))
    assert refusals
    assert not any("\n" in line for line in refusals)


def _with_description(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a file whose description is changed."""
    mark, version, size = HEAD.unpack_from(data)
    text = mutated(data[HEAD.size : HEAD.size + size], [data], rng)
    text += b" " * (-(HEAD.size + len(text)) % ALIGNMENT)
    head = HEAD.pack(mark, version, len(text)) + text
    return head + data[HEAD.size + size : -FOOT.size] + FOOT.pack(checksum(KEY, head), END)


def _with_array(path: Path, kind: FileKind, rng: np.random.Generator) -> bytes:
    """Return a file in which some numbers of an array are changed, left out or doubled; `path` is that file, too."""
    metadata, arrays = contents(path, kind)
    name = list(arrays)[int(rng.integers(len(arrays)))]
    arrays[name] = _changed(arrays[name], rng)
    write_arrays(path, kind, "1", metadata, arrays)
    return path.read_bytes()


def contents(path: Path, kind: FileKind) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the metadata of a file, and the arrays that were written to it."""
    with ArrayFile(path, kind) as file:
        sections = [one for one in file.sections.values() if one.name != BLOCK_SUMS]
        arrays = {one.name: file.array(one.name, one.dtype, len(one.shape)).copy() for one in sections}
        return json.loads(json.dumps(file.metadata)), arrays


def _changed(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    at, kind = int(rng.integers(array.size + 1)), int(rng.integers(4))
    if kind == 0:
        return np.delete(array, slice(at, at + int(rng.integers(1, 3))))
    if kind == 1:
        return np.insert(array, at, array[:at][-1:])
    if kind == 2:
        return rng.permutation(array)
    if array.dtype.kind == "f":
        array[at : at + 1] = rng.choice(REAL_EXTREMES)
        return array
    value = EXTREMES[int(rng.integers(len(EXTREMES)))] + int(rng.integers(2)) * int(array[:at][-1:].sum())
    array[at : at + 1] = np.array([value & (1 << 64) - 1], np.uint64).astype(array.dtype)
    return array
