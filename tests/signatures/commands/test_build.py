"""`oclgenomics signatures build` and `info`: panels whole or absent, one line and the right exit code for a mistake."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from oclgenomics import __version__
from oclgenomics.cli.main import main
from oclgenomics.signatures import read_panel
from oclgenomics.signatures.formats.panel_file import BuiltPanel

FASTA = ">one first\nACGTNACGTACGTTGCA\nACGT\n>two\nGATTACAGRTTACAGATTACA\n>three\nNNN\n"
FACTS = {
    "signatures": 3,
    "letters": 45,
    "shortest": 3,
    "median_length": 21.0,
    "longest": 21,
    "n_share": 4 / 45,
    "ambiguous_share": 5 / 45,
    "tables": [],
    "program": None,
}


def signatures(*words: object) -> int:
    return main(["signatures", *map(str, words)])


@pytest.fixture
def fasta(tmp_path: Path) -> Path:
    path = tmp_path / "x.fa"
    path.write_text(FASTA)
    return path


def built(path: Path) -> BuiltPanel:
    panel = read_panel(path)
    assert isinstance(panel, BuiltPanel)
    return panel


def test_build(fasta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.sig"
    assert signatures("build", fasta, "-o", out, "--strand", "both", "--max-mismatch", 1, "-v") == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        f"oclgenomics: 3 signatures of 45 bp; wrote {out}",
        "oclgenomics: 2 of 6 patterns have no seeds: too short, too few A, C, G and T in a row, or too many",
    ]
    panel = built(out)
    assert panel.names == ("one", "two", "three")
    assert [key[:2] for key in panel.tables.numbers] == [("both", 1)]


def test_equal_signatures_are_equal_files(fasta: Path, tmp_path: Path) -> None:
    assert signatures("build", fasta, "-o", tmp_path / "x.sig", "-q") == 0
    fasta.write_text(FASTA.lower().replace("one first", "one").replace("\nacgt\n", "ACGT\n"))
    assert signatures("build", fasta, "-o", tmp_path / "y.sig", "-q") == 0
    assert (tmp_path / "x.sig").read_bytes() == (tmp_path / "y.sig").read_bytes()


def test_tables_are_added(fasta: Path, tmp_path: Path) -> None:
    assert signatures("build", fasta, "-o", tmp_path / "x.sig", "-q") == 0
    assert signatures("build", tmp_path / "x.sig", "--strand", "-", "-o", tmp_path / "y.sig", "-q") == 0
    assert [key[:2] for key in built(tmp_path / "y.sig").tables.numbers] == [("+", 0), ("-", 0)]


def test_standard_input(fasta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(fasta.read_bytes())))
    assert signatures("build", "-", "-o", tmp_path / "x.sig", "-q") == 0
    assert len(built(tmp_path / "x.sig")) == 3


def test_info(fasta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert signatures("info", fasta, "--json") == 0
    assert json.loads(capsys.readouterr().out) == FACTS
    assert signatures("build", fasta, "-o", tmp_path / "x.sig", "-q") == 0
    assert signatures("info", tmp_path / "x.sig", "--json") == 0
    (key,) = built(tmp_path / "x.sig").tables.numbers
    assert json.loads(capsys.readouterr().out) == FACTS | {"tables": [key._asdict()], "program": __version__}
    assert signatures("info", tmp_path / "x.sig", "-o", tmp_path / "x.txt") == 0
    assert (tmp_path / "x.txt").read_text() == (
        "signatures\t3\nletters\t45\nshortest\t3\nmedian_length\t21\nlongest\t21\nn_share\t0.0888889\n"
        f"ambiguous_share\t0.111111\ntables\tstrand=+ max_mismatches=0 head={key.head}\nprogram\t{__version__}\n"
    )
    assert signatures("info", fasta) == 0
    assert capsys.readouterr().out.endswith("\ntables\tNA\nprogram\tNA\n")


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        (["build", "{fasta}"], 2, "-o/--output"),
        (["build", "{fasta}", "-o", "{fasta}"], 2, "the same file as the input"),
        (["build", "{fasta}", "-o", "{out}", "--max-mismatch", "8"], 2, "--max-mismatch 8: 0 to 7 can be found"),
        (["build", "{fasta}", "-o", "{out}", "--strand", "x"], 2, "--strand"),
        (["build", "{fasta}", "-o", "/nowhere/x"], 5, "there is no folder /nowhere"),
        (["build", "{fasta}", "-o", "{out}", "--loud"], 2, "unknown arguments: --loud"),
        (["build", "/nowhere/x", "-o", "{out}"], 3, "/nowhere/x: no such file"),
        (["build", "{odd}", "-o", "{out}"], 3, "is neither FASTA nor FASTQ"),
        (["info", "/nowhere/x"], 3, "/nowhere/x: no such file"),
        (["info", "{fasta}", "-o", "{fasta}"], 2, "the same file as the input"),
    ],
)
def test_mistakes(
    words: list[str], status: int, part: str, fasta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd").write_text("ACGT\n")
    places = {"fasta": fasta, "out": tmp_path / "out", "odd": tmp_path / "odd"}
    assert signatures(*(word.format(**places) for word in words)) == status
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = shown.err.splitlines()
    assert line.startswith("oclgenomics: error: ")
    assert part in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd", "x.fa"]
    assert fasta.read_text() == FASTA


def test_a_damaged_panel(fasta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.sig"
    assert signatures("build", fasta, "-o", out, "-q") == 0
    out.write_bytes(out.read_bytes()[:-1])
    for words in (["info", out], ["build", out, "-o", tmp_path / "y.sig"]):
        assert signatures(*words) == 3
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "cut off, or damaged at its end; make it again with `oclgenomics signatures build`" in shown.err
    assert not (tmp_path / "y.sig").exists()
