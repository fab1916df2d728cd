"""Squiggles in files: they come back, damage is noticed, and nothing in them points anywhere else."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.kmer_signals import random_model
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, OutputError
from oclgenomics.io.array_file import ArrayFile, is_of_kind
from oclgenomics.io.array_writing import write_arrays
from oclgenomics.sdtw import Squiggle, build_squiggle, read_squiggle, write_squiggle
from oclgenomics.sdtw.formats.squiggle import KIND
from oclgenomics.signals.kmers import Molecule


def make(folder: Path, records: list[str], molecule: Molecule = "dna", k: int = 3) -> Squiggle:
    (folder / "x.fa").write_text("".join(f">r{i}\n{letters}\n" for i, letters in enumerate(records)))
    return build_squiggle(folder / "x.fa", random_model(k), molecule=molecule)


def same(found: Squiggle, expected: Squiggle) -> None:
    for field in fields(Squiggle):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        np.testing.assert_array_equal(one, other)
        assert getattr(one, "dtype", None) == getattr(other, "dtype", None)


@settings(max_examples=40)
@given(
    records=st.lists(st.text("ACGTN", max_size=20), max_size=5), names=st.lists(st.text(), min_size=6, max_size=6),
    molecule=st.sampled_from(["dna", "rna"]), name=st.text(),
)  # fmt: skip
def test_squiggles_come_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[str], names: list[str], molecule: Molecule, name: str
) -> None:
    folder = tmp_path_factory.mktemp("squiggle")
    squiggle = make(folder, [*records, "ACGTNACG"], molecule)
    squiggle = replace(squiggle, name=name, model=name, records=tuple(names[: len(squiggle.records)]))
    path = folder / "x"
    write_squiggle(path, squiggle)
    found = read_squiggle(path)
    same(found, squiggle)
    assert is_of_kind(path, KIND)
    whole = path.read_bytes()
    write_squiggle(path, found)
    assert path.read_bytes() == whole


def test_every_changed_byte_and_missing_end_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_squiggle(path, make(tmp_path, ["ACGTA"]))
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        refused(path)
    for size in (0, 8, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused(path)


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_squiggle(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def with_changes(folder: Path, changes: dict[str, Any], facts: dict[str, Any]) -> Path:
    """A file with right checksums, two records of which the second is cut, and something wrong."""
    path = folder / "x"
    write_squiggle(path, make(folder, ["ACGTA", "ACGTNACGTT"]))
    with ArrayFile(path, KIND) as file:
        sections = file.sections.items()
        arrays = {name: file.array(name, one.dtype, len(one.shape)).copy() for name, one in sections}
        metadata = dict(file.metadata)
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    write_arrays(path, KIND, "1", metadata | facts, {name: one for name, one in arrays.items() if one is not None})
    return path


def put(place: int, value: float) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        array[place] = value
        return array

    return change


def drop(array: np.ndarray) -> np.ndarray:
    return array[:-1]


@pytest.mark.parametrize(
    ("name", "change", "told"),
    [
        ("tracks", put(0, 1), "the tracks contradict each other"),
        ("tracks", put(1, 99), "the tracks contradict each other"),
        ("tracks", put(2, 3), "the tracks contradict each other"),
        ("tracks", put(-1, 12), "the tracks contradict each other"),
        ("tracks", drop, "the tracks contradict each other"),
        ("track_record", drop, "the tracks contradict each other"),
        ("track_strand", drop, "the tracks contradict each other"),
        ("track_first", drop, "the tracks contradict each other"),
        ("levels", drop, "the tracks contradict each other"),
        ("levels", put(3, np.nan), "a level is no finite number"),
        ("levels", put(3, -np.inf), "a level is no finite number"),
        ("track_record", put(0, 2), "a track is of a record that is not there"),
        ("track_record", put(0, -1), "a track is of a record that is not there"),
        ("track_strand", put(0, 1), "a track has a strand that it cannot have"),
        ("track_strand", put(-1, 2), "a track has a strand that it cannot have"),
        ("track_first", put(0, -1), "a track begins outside its record"),
        ("track_first", put(0, 3), "a track begins outside its record"),
        ("track_first", put(0, 1), "a track ends outside its record"),
        ("track_first", put(3, 1), "a track ends outside its record"),
        ("track_first", put(0, 1 << 62), "a track begins outside its record"),
        ("lengths", put(0, 4), "a track begins outside its record"),
        ("lengths", put(0, -(1 << 63)), "the lengths of the records contradict their names"),
        ("lengths", drop, "the lengths of the records contradict their names"),
        ("names", drop, "the names of the records contradict each other"),
        ("names", put(0, 255), "a name of a record is no UTF-8"),
        ("name_offsets", put(1, 9), "the names of the records contradict each other"),
        ("name_offsets", put(0, 1), "the names of the records contradict each other"),
    ],
)
def test_arrays_that_contradict_each_other(tmp_path: Path, name: str, change: Any, told: str) -> None:
    assert told in refused(with_changes(tmp_path, {name: change}, {}))


@pytest.mark.parametrize(
    "facts",
    [{"k": 0}, {"k": 13}, {"k": 3.0}, {"k": True}, {"k": "3"}, {"k": 6}, {"molecule": "rna"}, {"molecule": []},
     {"molecule": "protein"}, {"name": None}, {"model": 7}, {"more": 1}, {"pore": "R11"}, {"pore": None},
     {"model_checksum": 7}, {"rate": 0.0}, {"rate": -1.0}, {"rate": 4000}, {"rate": "4000"}],
)  # fmt: skip
def test_facts_that_cannot_be(tmp_path: Path, facts: dict[str, Any]) -> None:
    assert "make it again with `oclgenomics sdtw index`" in refused(with_changes(tmp_path, {}, facts))


def test_rna_has_no_reverse_strand(tmp_path: Path) -> None:
    """Though all k-mers of the track lie within the record."""
    squiggle = Squiggle(
        "x", ("r",), np.array([10]), 3, "m", "rna", np.arange(8.0), np.array([0, 4, 8]), np.zeros(2, np.int32),
        np.array([0, 1], np.uint8), np.array([5, 1]),
    )  # fmt: skip
    write_squiggle(tmp_path / "x", squiggle)
    with pytest.raises(InputError, match="a track has a strand that it cannot have"):
        read_squiggle(tmp_path / "x")
    both = replace(squiggle, track_strand=np.zeros(2, np.uint8), track_first=np.array([5, 4]))
    write_squiggle(tmp_path / "x", both)
    assert read_squiggle(tmp_path / "x").places(np.arange(8)).position.tolist() == [5, 4, 3, 2, 4, 3, 2, 1]


@pytest.mark.parametrize("missing", ["names", "levels", "tracks", "track_first"])
def test_missing_arrays(tmp_path: Path, missing: str) -> None:
    assert f"has no section '{missing}'" in refused(with_changes(tmp_path, {missing: lambda _: None}, {}))


def test_no_tracks(tmp_path: Path) -> None:
    empty = dict.fromkeys(("levels", "track_record", "track_strand", "track_first"), lambda array: array[:0])
    assert "the tracks contradict" in refused(with_changes(tmp_path, {**empty, "tracks": lambda array: array[:1]}, {}))


def test_other_files(tmp_path: Path) -> None:
    squiggle = make(tmp_path, ["ACGTA"])
    assert not is_of_kind(tmp_path / "x.fa", KIND)
    assert "is FASTA, and no reference of `oclgenomics sdtw`; make one with" in refused(tmp_path / "x.fa")
    assert "no such file" in refused(tmp_path / "none")
    with pytest.raises(OutputError):
        write_squiggle(tmp_path / "none" / "x", squiggle)
