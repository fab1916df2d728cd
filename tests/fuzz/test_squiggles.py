"""Models and squiggles that are damaged, the latter also under right checksums: refused in one line, or safe to use."""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.array_file_damage import check_refused_or_safe
from helpers.fuzzing import SECONDS, command, inputs, limited, mutated, mutated_zip
from helpers.kmer_signals import random_model

from oclgenomics.errors import InputError
from oclgenomics.sdtw import Squiggle, build_squiggle, read_squiggle, write_squiggle
from oclgenomics.sdtw.formats.squiggle import KIND
from oclgenomics.signals import read_model, write_model
from oclgenomics.signals.kmers import kmer_at

pytestmark = pytest.mark.fuzz

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
    for number, data in inputs(samples(), name, SECONDS / 8, each=0.003):
        places["x"].write_bytes(data)
        with limited(data, f"number {number} of {' '.join(line)}"):
            command(line)


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
    check_refused_or_safe(
        tmp_path / "x", samples()["squiggle"], KIND, part, SECONDS / 4, lambda path: check_safe(read_squiggle(path))
    )
