"""Signatures that are written out on the command line find what a file of them finds."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from helpers.pieces import check_combined, without_made

from oclgenomics.app.files import named_files
from oclgenomics.cli.main import _parser, main
from oclgenomics.runtime import Device
from oclgenomics.signatures.commands.patterns import patterns_of, take_signatures

READS = "@r1\nACGTACGTTTGGCCAATT\n+\nIIIIIIIIIIIIIIIIII\n@r2\nTTGACCATTGGACGAACG\n+\nIIIIIIIII5555IIIII\n"
PATTERNS = ["-p", "GTTtgg", "--pattern", "b=ACNNAC"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x.fq").write_text(READS)
    Path("y.fa").write_text(">y\nCCAAAC\n")
    Path("all").write_text("x.fq\ny.fa\n")
    Path("s.fa").write_text(">GTTtgg\nGTTTGG\n>b\nACNNAC\n")
    return tmp_path


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("# ")]


@pytest.mark.parametrize("samples", [["x.fq"], ["x.fq", "y.fa"], ["@all"], ["y.fa", "@all"]])
def test_patterns_are_signatures(
    device: Device, folder: Path, samples: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["signatures", "scan", "--strand", "both", "-q", "-d", str(device.index)]
    assert main([*words, *samples, "s.fa", "-k", "1"]) == 0
    expected = rows(capsys.readouterr().out)
    assert len(expected) > 3
    for line in ([*samples, *PATTERNS], [*PATTERNS, *samples]):
        assert main([*words, *line, "--max-edits", "1"]) == 0
        assert rows(capsys.readouterr().out) == expected


def test_pieces_know_the_patterns(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["-d", str(device.index)]
    check_combined(["signatures", "scan", "x.fq", *PATTERNS], where, {"-o": "x.tsv", "--summary": "s.tsv"}, folder, [2])
    one, other = ("1.piece", "2.piece")
    words = ["signatures", "scan", "x.fq", *where, "-q"]
    assert main([*words, "-p", "ACG", "--shard", "1/2", "-o", one]) == 0
    assert main([*words, "-p", "ACC", "--shard", "2/2", "-o", other]) == 0
    assert main(["signatures", "combine", one, other, "-o", "x.tsv"]) == 3
    assert "combine pieces of one command" in capsys.readouterr().err


def parsed(*words: str) -> argparse.Namespace:
    return _parser().parse_args(["signatures", "scan", *words])


def test_names_and_bases() -> None:
    args = parsed("x.fq", "-p", "ACGTNN", "-p", "a=b=ryk", "-p", "c=ACGTNN")
    assert patterns_of(args) == (("ACGTNN", "ACGTNN"), ("a=b", "ryk"), ("c", "ACGTNN"))
    take_signatures(args, "samples")
    assert (args.samples, args.signatures) == (["x.fq"], None)


def test_every_file_is_checked_against_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = parsed("x.fq", "@all", "-p", "A")
    assert {str(file.name) for file in named_files(_parser(), args) if file.kind == "input"} >= {"x.fq", "y.fa", "all"}
    for line in ("x.fq y.fa -p A -o y.fa", "x.fq @all -p A -o y.fa", "x.fq s.fa -o s.fa"):
        assert main(["signatures", "scan", *line.split()]) == 2
        assert "the same file as the input" in capsys.readouterr().err
    assert Path("y.fa").read_text() == ">y\nCCAAAC\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x.fq", "SIGNATURES is missing: name a file of signatures last, or give --pattern BASES"),
        ("-p ACGT", "the following arguments are required: SAMPLES"),
        ("x.fq -p ACXT", "--pattern 'ACXT': base 3 is no nucleotide; write IUPAC codes"),
        ("x.fq -p a=", "--pattern 'a=': has no bases"),
        ("x.fq -p =A", "--pattern '=A': the name has to be one word"),
        ("x.fq -p A -p A", "--pattern 'A': another pattern has the name A"),
        ("x.fq -p b=A -p b=C", "--pattern 'b=C': another pattern has the name b"),
        ("- - -p A", "standard input (-) can be read once"),
    ],
)
def test_errors_are_one_line(folder: Path, line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signatures", "scan", *line.split(), "-o", "out"]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not Path("out").exists()


def test_a_name_is_one_word(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["signatures", "scan", "x.fq", "-p", "a b=A"]) == 2
    assert "--pattern 'a b=A': the name has to be one word" in capsys.readouterr().err


def test_samples_of_a_sheet(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sheet.csv").write_text("sample,input\none,x.fq\ntwo,y.fa\n")
    words = ["signatures", "scan", "--samplesheet", "sheet.csv", "-d", str(device.index), "-q"]
    assert main([*words, *PATTERNS, "-k", "1", "--format", "sam", "-o", "out"]) == 0
    for name, samples in (("one", "x.fq"), ("two", "y.fa")):
        capsys.readouterr()
        assert main(["signatures", "scan", samples, *PATTERNS, "-k", "1", "--format", "sam", "-q", *words[4:6]]) == 0
        found = Path(f"out/{name}.matches.sam").read_text()
        assert without_made(found.encode()) == without_made(capsys.readouterr().out.encode())
    assert main([*words, "s.fa", "-p", "ACGT", "-o", "out"]) == 2
    assert "s.fa: leave the file out, as --pattern gives the signatures" in capsys.readouterr().err
    assert main([*words, "-o", "out"]) == 2
    assert "SIGNATURES is missing" in capsys.readouterr().err
