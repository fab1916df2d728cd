"""Panels that are damaged under right checksums: each is refused in one line, or safe to use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.fuzz_samples import SAMPLES
from helpers.fuzzing import SECONDS, draws, limited, mutated

from oclgenomics.errors import InputError
from oclgenomics.io.array_file import ArrayFile, write_arrays
from oclgenomics.io.array_layout import ALIGNMENT, END, FOOT, HEAD, KEY
from oclgenomics.io.checksum import checksum
from oclgenomics.signatures.panel_file import KIND, BuiltPanel, open_panel
from oclgenomics.signatures.seed_table import SeedTable
from oclgenomics.signatures.seeds import TAIL

pytestmark = pytest.mark.fuzz

EXTREMES = (0, 1, 2, 3, 26, -1, 1 << 7, 1 << 31, 1 << 32, 1 << 62, -(1 << 63))


def with_description(data: bytes, rng: np.random.Generator) -> bytes:
    """A panel whose description is changed."""
    mark, version, size = HEAD.unpack_from(data)
    text = mutated(data[HEAD.size : HEAD.size + size], [data], rng)
    text += b" " * (-(HEAD.size + len(text)) % ALIGNMENT)
    head = HEAD.pack(mark, version, len(text)) + text
    return head + data[HEAD.size + size : -FOOT.size] + FOOT.pack(checksum(KEY, head), END)


def with_array(path: Path, rng: np.random.Generator) -> bytes:
    """A panel in which some numbers of an array are changed, left out or doubled."""
    with ArrayFile(path, KIND) as file:
        sections = file.sections.items()
        arrays = {name: file.array(name, one.dtype, len(one.shape)).copy() for name, one in sections}
        metadata = file.metadata
    name = list(arrays)[int(rng.integers(len(arrays)))]
    arrays[name] = changed(arrays[name], rng)
    write_arrays(path, KIND, "1", metadata, arrays)
    return path.read_bytes()


def changed(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    at, kind = int(rng.integers(array.size + 1)), int(rng.integers(4))
    if kind == 0:
        return np.delete(array, slice(at, at + int(rng.integers(1, 3))))
    if kind == 1:
        return np.insert(array, at, array[:at][-1:])
    if kind == 2:
        return rng.permutation(array)
    value = EXTREMES[int(rng.integers(len(EXTREMES)))] + int(rng.integers(2)) * int(array[:at][-1:].sum())
    array[at : at + 1] = np.array([value & (1 << 64) - 1], np.uint64).astype(array.dtype)
    return array


def check_safe(panel: BuiltPanel) -> None:
    """Nothing points out of its array."""
    assert len(panel.names) == len(set(panel.names)) == len(panel.lengths)
    assert panel.lengths.min() >= 1
    assert panel.offsets[-1] == len(panel.sets)
    assert 1 <= panel.sets.min() <= panel.sets.max() <= 15
    for key in panel.tables.numbers:
        check_table(panel, key.strand, panel.tables.read(key))


def check_table(panel: BuiltPanel, strand: Any, table: SeedTable) -> None:
    lengths = panel.patterns(strand).lengths
    assert (lengths[table.pattern] - table.offset.astype(np.int64) >= table.head + TAIL).all()
    assert (np.diff(table.first.astype(np.int64)) >= 0).all()
    assert table.first[-1] == len(table.lists)
    assert (table.lists < len(table.pattern)).all()
    assert len(table.barred) == len(table.offset) == len(table.pattern)
    assert set(table.pattern.tolist()) | set(table.unseeded.tolist()) == set(range(len(lengths)))


@pytest.mark.parametrize("part", ["description", "array"])
def test_right_checksums(tmp_path: Path, part: str) -> None:
    path, whole = tmp_path / "x", SAMPLES["built_panel"]
    path.write_bytes(whole)
    check_safe(open_panel(path))
    refusals = []
    for number, rng in draws(f"panels, {part}", SECONDS / 2):
        path.write_bytes(whole)
        data = with_description(whole, rng) if part == "description" else with_array(path, rng)
        path.write_bytes(data)
        with limited(data, f"a panel with a damaged {part}, number {number}"):
            try:
                check_safe(open_panel(path))
            except InputError as error:
                refusals.append(str(error))
    assert refusals
    assert not any("\n" in line for line in refusals)
