"""Models and squiggles that are damaged, the latter also under right checksums: refused in one line, or safe to use."""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.fuzzing import SECONDS, command, draws, inputs, limited, mutated, mutated_zip
from helpers.kmer_signals import random_model

from oclgenomics.errors import InputError
from oclgenomics.io.array_file import ArrayFile, write_arrays
from oclgenomics.io.array_layout import ALIGNMENT, END, FOOT, HEAD, KEY
from oclgenomics.io.checksum import checksum
from oclgenomics.sdtw import Squiggle, build_squiggle, read_squiggle, write_squiggle
from oclgenomics.sdtw.squiggle_file import KIND
from oclgenomics.signals import read_model, write_model
from oclgenomics.signals.kmer_numbers import kmer_at

pytestmark = pytest.mark.fuzz

EXTREMES = (0, 1, 2, 3, 26, -1, 1 << 7, 1 << 31, 1 << 32, 1 << 62, -(1 << 63))
FASTA = b">a one\nGATTACAGATTACATGTAATC\nNNNACGTT\n>b\nacgtaACGTACGGTTA\n"


@cache
def samples() -> dict[str, bytes]:
    """A small valid input of each format."""
    model = random_model(2)
    rows = "".join(f"{kmer_at(i, 2)}\t{model.mean[i]:.4f}\t{model.deviation[i]:.4f}\n" for i in range(16))
    uncalled4 = io.BytesIO()
    kmers = np.array([kmer_at(i, 2) for i in range(16)])
    np.savez(uncalled4, **{"kmer": kmers, "current.mean": model.mean, "_k": np.int64(2), "_reverse": np.bool_(True)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        write_model(path, model)
        arrays = path.read_bytes()
        path.write_bytes(FASTA)
        write_squiggle(path, build_squiggle(path, model))
        squiggle = path.read_bytes()
    head = "# a table\nkmer\tlevel_mean\tlevel_stdv\n"
    return {
        "table": (head + rows).encode(), "bare": rows.encode(), "arrays": arrays, "uncalled4": uncalled4.getvalue(),
        "squiggle": squiggle, "fasta": FASTA,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["table", "bare", "arrays", "uncalled4"])
def test_models(tmp_path: Path, name: str) -> None:
    path, refusals = tmp_path / "x", []
    mutate = mutated_zip if name in ("arrays", "uncalled4") else mutated
    path.write_bytes(samples()[name])
    read_model(path)
    for number, data in inputs(samples(), name, SECONDS / 8, mutate):
        path.write_bytes(data)
        with limited(data, f"a model, {name}, number {number}"):
            try:
                model = read_model(path)
            except InputError as error:
                refusals.append(str(error))
            else:
                assert np.isfinite(model.mean).all()
                assert not (model.deviation < 0).any()
    assert refusals
    assert not any("\n" in line for line in refusals)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("table", ["sdtw", "index", "{fasta}", "--model", "{x}", "-o", "{out}"]),
        ("fasta", ["sdtw", "index", "{x}", "--model", "{table}", "-o", "{out}"]),
        ("squiggle", ["sdtw", "info", "{x}"]),
    ],
)
def test_commands(tmp_path: Path, name: str, words: list[str]) -> None:
    places = {one: tmp_path / one for one in (*samples(), "out", "x")}
    for one, data in samples().items():
        places[one].write_bytes(data)
    line = [word.format(**places) for word in words]
    for number, data in inputs(samples(), name, SECONDS / 8):
        places["x"].write_bytes(data)
        with limited(data, f"number {number} of {' '.join(line)}"):
            command(line)


def with_description(data: bytes, rng: np.random.Generator) -> bytes:
    """A squiggle whose description is changed."""
    mark, version, size = HEAD.unpack_from(data)
    text = mutated(data[HEAD.size : HEAD.size + size], [data], rng)
    text += b" " * (-(HEAD.size + len(text)) % ALIGNMENT)
    head = HEAD.pack(mark, version, len(text)) + text
    return head + data[HEAD.size + size : -FOOT.size] + FOOT.pack(checksum(KEY, head), END)


def with_array(path: Path, rng: np.random.Generator) -> bytes:
    """A squiggle in which some numbers of an array are changed, left out or doubled."""
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
    if array.dtype.kind == "f":
        array[at : at + 1] = rng.choice([np.nan, np.inf, 1e308, 0.0])
        return array
    value = EXTREMES[int(rng.integers(len(EXTREMES)))] + int(rng.integers(2)) * int(array[:at][-1:].sum())
    array[at : at + 1] = np.array([value & (1 << 64) - 1], np.uint64).astype(array.dtype)
    return array


def check_safe(squiggle: Squiggle) -> None:
    """Nothing points out of its array, or out of a record."""
    assert len(squiggle.records) == len(squiggle.lengths)
    assert np.isfinite(squiggle.levels).all()
    assert len(squiggle.column_strand) == len(squiggle) > 0
    assert (np.diff(squiggle.column_strand.astype(int)) >= 0).all()
    places = squiggle.places(np.arange(len(squiggle)))
    assert places.record.min() >= 0
    assert places.position.min() >= 0
    assert (places.position + squiggle.k <= squiggle.lengths[places.record]).all()


@pytest.mark.parametrize("part", ["description", "array"])
def test_right_checksums(tmp_path: Path, part: str) -> None:
    path, whole = tmp_path / "x", samples()["squiggle"]
    path.write_bytes(whole)
    check_safe(read_squiggle(path))
    refusals = []
    for number, rng in draws(f"squiggles, {part}", SECONDS / 4):
        path.write_bytes(whole)
        data = with_description(whole, rng) if part == "description" else with_array(path, rng)
        path.write_bytes(data)
        with limited(data, f"a squiggle with a damaged {part}, number {number}"):
            try:
                check_safe(read_squiggle(path))
            except InputError as error:
                refusals.append(str(error))
    assert refusals
    assert not any("\n" in line for line in refusals)
