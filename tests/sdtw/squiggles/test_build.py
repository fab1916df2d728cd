"""The expected signal of references: that of plain loops over letters, with the place of each column."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.kmer_signals import expected_tracks, random_model
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.sdtw import Squiggle, build_squiggle
from oclgenomics.signals.kmers import Molecule

MOLECULES: tuple[Molecule, ...] = ("dna", "rna")


def built(path: Path, records: list[str], k: int, molecule: Molecule = "dna", **options: Any) -> Squiggle:
    path.write_text("".join(f">r{i} more\n{letters}\n" for i, letters in enumerate(records)))
    return build_squiggle(path, random_model(k), molecule=molecule, **options)


def check(squiggle: Squiggle, records: list[str], molecule: Molecule) -> None:
    tracks = expected_tracks(records, random_model(squiggle.k), molecule)
    columns = [column for track in tracks for column in track]
    assert squiggle.levels.tolist() == [column.level for column in columns]
    assert squiggle.tracks.tolist() == np.cumsum([0, *map(len, tracks)]).tolist()
    places = squiggle.places(np.arange(len(squiggle)))
    assert places.record.tolist() == [column.record for column in columns]
    assert places.strand.tolist() == squiggle.column_strand.tolist() == [column.strand for column in columns]
    assert places.position.tolist() == [column.position for column in columns]
    assert squiggle.records == tuple(f"r{i}" for i in range(len(records)))
    assert squiggle.lengths.tolist() == [len(letters) for letters in records]
    kinds = ("levels", "tracks", "track_record", "track_strand", "track_first", "lengths")
    assert [getattr(squiggle, name).dtype.name for name in kinds] == [
        "float64", "int64", "int32", "uint8", "int64", "int64",
    ]  # fmt: skip


records = st.lists(st.text("ACGTacgtuUNnRy-.", max_size=30) | st.text("ACGT", max_size=40), min_size=1, max_size=5)


@settings(max_examples=150)
@given(records=records, k=st.integers(1, 4), molecule=st.sampled_from(MOLECULES))
def test_loops_over_letters(
    tmp_path_factory: pytest.TempPathFactory, records: list[str], k: int, molecule: Molecule
) -> None:
    path = tmp_path_factory.mktemp("squiggle") / "x.fa"
    if expected_tracks(records, random_model(k), molecule):
        check(built(path, records, k, molecule), records, molecule)
    else:
        with pytest.raises(InputError, match="nothing to align with"):
            built(path, records, k, molecule)


@pytest.mark.parametrize("molecule", MOLECULES)
@pytest.mark.parametrize(
    "records",
    [
        ["ACGTA"], ["ACGT", "ACGTA", ""], ["", "ACGTA", "", "GATTACA"], ["NACGTANACGTANN"], ["ACGTANACGT"],
        ["ACGTA", "CGTAC"], ["AAAAANCCCCC", "NGGGGG"], ["acguaACGUA"],
    ],
)  # fmt: skip
def test_borders(tmp_path: Path, records: list[str], molecule: Molecule) -> None:
    check(built(tmp_path / "x.fa", records, 5, molecule), records, molecule)


def test_strands_of_a_sequence(tmp_path: Path) -> None:
    squiggle = built(tmp_path / "x.fa", ["ACGTTGCA"], 6)
    assert squiggle.tracks.tolist() == [0, 3, 6]
    assert squiggle.track_first.tolist() == [0, 2]
    assert squiggle.track_strand.tolist() == [0, 1]
    mirrored = built(tmp_path / "x.fa", ["TGCAACGT"], 6)  # its reverse complement
    assert squiggle.levels.tolist() == [*mirrored.levels[3:], *mirrored.levels[:3]]


def test_rna_is_read_from_its_end(tmp_path: Path) -> None:
    dna, rna = (built(tmp_path / "x.fa", ["ACGUUGCAGG"], 6, molecule) for molecule in MOLECULES)
    assert rna.levels.tolist() == dna.levels[:5][::-1].tolist()
    assert rna.places(np.arange(5)).position.tolist() == [4, 3, 2, 1, 0]


def test_every_form_of_input(tmp_path: Path) -> None:
    expected = built(tmp_path / "x.fa", ["ACGTACCGTTAA"], 4).levels.tolist()
    packed = tmp_path / "x.fa.gz"
    packed.write_bytes(gzip.compress(b">r0\r\nACGTAC\r\ncgttaa\r\n"))
    (tmp_path / "x.fastq").write_text("@r0\nACGTACCGTTAA\n+\nIIIIIIIIIIII\n")
    for path in (packed, tmp_path / "x.fastq"):
        squiggle = build_squiggle(path, random_model(4))
        assert squiggle.levels.tolist() == expected
        assert (squiggle.name, squiggle.model, squiggle.k, squiggle.molecule) == ("x", "4mers", 4, "dna")


def test_names(tmp_path: Path) -> None:
    assert built(tmp_path / "a.b.fasta", ["ACGTAC"], 4).name == "a.b"
    assert built(tmp_path / "a.fa", ["ACGTAC"], 4, name="other").name == "other"


def test_what_cannot_be_built(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x.fa: has no 5 bases A, C, G, T or U in a row: nothing to align with$"):
        built(tmp_path / "x.fa", ["ACGT", "NACGTN"], 5)
    with pytest.raises(ParameterError, match="molecule='protein': choose one of dna, rna"):
        built(tmp_path / "x.fa", ["ACGTACGT"], 5, "protein")  # type: ignore[arg-type]
    (tmp_path / "y").write_text("ACGT\n")
    with pytest.raises(InputError, match="neither FASTA nor FASTQ"):
        build_squiggle(tmp_path / "y", random_model(2))
    with pytest.raises(InputError, match=r"x.fa: 6 of 33 characters are no nucleotides; it seems to be protein"):
        built(tmp_path / "x.fa", ["MKVLAAGIVGLCACTGATLLEAK", "GATTACAGAT"], 5)
    assert len(built(tmp_path / "x.fa", ["GATTACAGATXRYKMSWBDHVN.-?acgtuU*"], 5))  # 1 of 32
    assert len(built(tmp_path / "x.fa", ["GAUUACAGAUUACA"], 5))


def test_tracks_hold_all_columns(tmp_path: Path) -> None:
    """A long sequence with many gaps, both strands."""
    rng = np.random.default_rng(5)
    letters = "".join(rng.choice(list("ACGTN"), 5000, p=[0.24, 0.24, 0.24, 0.24, 0.04]))
    squiggle = built(tmp_path / "x.fa", [letters, letters[:1000]], 6)
    check(squiggle, [letters, letters[:1000]], "dna")
    assert all(a < b for a, b in pairwise(squiggle.tracks.tolist()))
