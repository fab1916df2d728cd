"""`oclgenomics sdtw index` and `info`: files whole or absent, one line and the right exit code for a mistake."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from oclgenomics import signals
from oclgenomics.app.inputs import MODEL_NAMES
from oclgenomics.cli.main import main
from oclgenomics.sdtw import build_squiggle, read_squiggle
from oclgenomics.signals import read_model

FASTA = ">one first\nGATTACAGATTACA\nNNNACGTACGT\n>two\nacguacgu\n>three\nAC\n"


def sdtw(*words: object) -> int:
    return main(["sdtw", *map(str, words)])


@pytest.fixture
def fasta(tmp_path: Path) -> Path:
    path = tmp_path / "x.fa"
    path.write_text(FASTA)
    return path


def test_index(fasta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.sdtw"
    assert sdtw("index", fasta, "--model", "r9.4.1", "-o", out) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"oclgenomics: 3 sequences of 35 bases, 30 k-mers in 6 tracks (both strands); wrote {out}\n"
    expected = build_squiggle(fasta, read_model("r9.4.1"))
    found = read_squiggle(out)
    np.testing.assert_array_equal(found.levels, expected.levels)
    assert (found.name, found.model, found.molecule, found.records) == ("x", "r9.4.1", "dna", ("one", "two", "three"))


def test_options(fasta: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.txt"
    model.write_text("".join(f"{a}{b} {i}\n" for i, (a, b) in enumerate((a, b) for a in "ACGU" for b in "ACGU")))
    words = ["--model", model, "--molecule", "rna", "--name", "other", "--pore", "rna004", "-q"]
    for options, reverse in (([], False), (["--reverse-kmers"], True)):
        assert sdtw("index", fasta, "-o", tmp_path / "y", *words, *options) == 0
        found = read_squiggle(tmp_path / "y")
        expected = build_squiggle(fasta, read_model(model, reverse_kmers=reverse), molecule="rna")
        assert found.levels.tolist() == expected.levels.tolist()
        assert (found.name, found.model, found.k, found.molecule) == ("other", "m", 2, "rna")
        assert found.pore == "RNA004"


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FASTA.encode())))
    assert sdtw("index", "-", "--model", "r9.4.1", "-o", tmp_path / "y", "-q") == 0
    assert read_squiggle(tmp_path / "y").name == "reference"


def test_info(fasta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sdtw("index", fasta, "--model", "r9.4.1", "-o", tmp_path / "y", "-q") == 0
    assert sdtw("info", tmp_path / "y", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    strands = facts.pop("strands")
    assert facts == {
        "name": "x", "sequences": 3, "letters": 35, "molecule": "dna", "model": "r9.4.1", "k": 6, "columns": 30,
        "tracks": 6, "model_checksum": read_model("r9.4.1").checksum, "pore": "R9", "rate": 4000.0,
        "checksum": read_squiggle(tmp_path / "y").checksum,
    }  # fmt: skip
    levels = read_squiggle(tmp_path / "y").levels
    for number, own in enumerate(strands):
        half = levels[15 * number :][:15]
        assert own == {"strand": "+-"[number], "columns": 15, "mean": half.mean(), "deviation": half.std()}
    assert sdtw("info", tmp_path / "y", "-o", tmp_path / "info.tsv") == 0
    rows = dict(line.split("\t") for line in (tmp_path / "info.tsv").read_text().splitlines())
    assert rows["columns"] == "30"
    shown = [f"{o['strand']} columns=15 mean={o['mean']:.6g} deviation={o['deviation']:.6g}" for o in strands]
    assert rows["strands"] == "; ".join(shown)


def test_what_a_model_is_for(fasta: Path, tmp_path: Path) -> None:
    for words, pore, rate in (([], "R9", 4000.0), (["--pore", "r9.5", "--rate", "5000"], "R9", 5000.0)):
        assert sdtw("index", fasta, "--model", "r9.4.1", *words, "-o", tmp_path / "y", "-q") == 0
        found = read_squiggle(tmp_path / "y")
        assert (found.pore, found.rate, found.model_checksum) == (pore, rate, read_model("r9.4.1").checksum)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["index", "x.fa", "--model", "r9.4.1", "--pore", "R11", "-o", "y"], 2, "--pore R11: is none of R7, R9, R10"),
        (["index", "x.fa", "--model", "r9.4.1", "--pore", "R10", "-o", "y"], 2, "--pore R10: contradicts the model"),
        (["index", "x.fa", "--model", "r9.4.1", "--rate", "0", "-o", "y"], 2, "--rate 0.0: give samples per second"),
        (["index", "x.fa", "--model", "r9.4.1", "--name", "a\tb", "-o", "y"], 2, r"--name 'a\tb': a name is one line"),
        (["index", "x.fa", "--model", "r9.4.1", "--name", "", "-o", "y"], 2, "--name '': a name is one line"),
        (["index", "x.fa", "-o", "y"], 2, "required: --model"),
        (["index", "x.fa", "--model", "r9.4.1"], 2, "required: -o/--output"),
        (["index", "x.fa", "--model", "r8", "-o", "y"], 3, "r8: there is neither such a file nor such a model"),
        (["index", "x.fa", "--model", "x.fa", "-o", "y"], 3, "x.fa, line 1: '"),
        (["index", "none", "--model", "r9.4.1", "-o", "y"], 3, "none: "),
        (["index", "short.fa", "--model", "r9.4.1", "-o", "y"], 3, "short.fa: has no 6 bases A, C, G, T or U in a r"),
        (["index", "x.fa", "--model", "r9.4.1", "-o", "x.fa"], 2, "the same file as the input"),
        (["index", "x.fa", "--model", "m", "-o", "m"], 2, "the same file as --model m"),
        (["index", "x.fa", "--model", "r9.4.1", "-o", "none/y"], 5, "none/y: "),
        (["info", "x.fa"], 3, "x.fa, byte 0: is FASTA, and no reference of `oclgenomics sdtw`; make"),
    ],
)
def test_mistakes(
    fasta: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    told: str,
) -> None:
    monkeypatch.chdir(fasta.parent)
    (fasta.parent / "short.fa").write_text(">a\nACGTA\n")
    (fasta.parent / "m").write_text("")
    before = sorted(os.listdir())
    assert sdtw(*words) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("oclgenomics: error: ")
    assert told in line
    assert sorted(os.listdir()) == before


def test_the_command_knows_all_models() -> None:
    assert MODEL_NAMES == signals.MODEL_NAMES
