"""What commands write as text is packed where the name says so, and is the same text."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from helpers.kmer_sets import GOLDEN, A, pairs_of, set_of, write_database

from oclgenomics.cli import main as main_module
from oclgenomics.cli.main import main
from oclgenomics.io import packed_file
from oclgenomics.io.source import Source
from oclgenomics.omega.commands.scan import ReportNames, report_files

EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
SCAN = [
    "omega",
    "scan",
    str(EDGE / "plain.ms"),
    "--grid",
    "5",
    "--minwin",
    "100",
    "--maxwin",
    "50k",
    "--length",
    "100k",
]

COMMANDS = [
    ["kmers", "query", "DB", "--file", "FASTA"],
    ["kmers", "query", "DB", "GATTACA", "--per-kmer"],
    ["kmers", "query", "DB", "--file", "FASTA", "--counts"],
    ["kmers", "query", "DB", "--file", "FASTA", "--bed"],
    ["kmers", "query", "DB", "--file", "FASTA", "--bedgraph"],
    ["kmers", "histogram", "DB"],
    ["kmers", "histogram", "FASTA", "-k", "5"],
    ["kmers", "info", "DB"],
    ["kmers", "dump", "DB"],
    ["kmers", "dump", "DB", "--format", "fasta"],
    ["kmers", "matrix", "a=DB", "b=DB"],
    ["kmers", "filter", "DB", "FASTA"],
    ["fpga", "timing"],
    [*SCAN, "--format", "tsv"],
    ["simulate", "omega", "--seed", "1", "--replicates", "1", "--length", "1000"],
    ["simulate", "omega", "--seed", "1", "--replicates", "1", "--length", "1000", "--format", "vcf"],
]


def words_of(words: list[str], folder: Path) -> list[str]:
    fasta, database = folder / "x.fa", folder / "x.db"
    fasta.write_bytes(A)
    write_database(database, set_of(pairs_of(GOLDEN[0][3], 5), 5))
    return [word.replace("FASTA", str(fasta)).replace("DB", str(database)) for word in words]


def unpacked(path: Path) -> list[bytes]:
    """The lines of a file without those that tell how it was made."""
    with Source(path) as source:
        return [line for line in b"".join(source).splitlines() if not line.startswith((b"#", b"oclgenomics "))]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2] + words[3:])[:60])
@pytest.mark.parametrize(("ending", "magic"), [(".gz", b"\x1f\x8b"), (".xz", b"\xfd7zXZ")])
def test_outputs_are_packed_by_name(words: list[str], ending: str, magic: bytes, tmp_path: Path) -> None:
    words = words_of(words, tmp_path)
    plain, packed = tmp_path / "out.txt", tmp_path / f"out.txt{ending}"
    assert main([*words, "-o", str(plain)]) == 0
    assert main([*words, "-o", str(packed)]) == 0
    assert packed.read_bytes().startswith(magic)
    assert unpacked(packed) == unpacked(plain) != []


@pytest.mark.parametrize(
    "words",
    [
        ["kmers", "dump", "DB", "--format", "npz", "-o", "x.gz"],
        ["kmers", "matrix", "DB", "-o", "x.npz.gz"],
        ["kmers", "matrix", "DB", "--format", "npz", "-o", "x.xz"],
        ["kmers", "query", "DB", "GATTACA", "--counts", "-o", "x.npz.gz"],
        ["omega", "ld", str(EDGE / "plain.ms"), "--region", "1:1-2000", "--values", "x.npz.gz"],
    ],
    ids=lambda words: " ".join(words[:2] + words[-1:]),
)
def test_what_is_no_text_is_not_packed(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words_of(words, tmp_path)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "only text is packed, and npz is none; leave out ." in line
    assert not list(tmp_path.glob("x.npz*")) + list(tmp_path.glob("x.[gx]z"))


def test_a_package_that_is_missing_is_told_before_any_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_file, "zstd_module", lambda: None)
    assert main(["kmers", "dump", "there is no such file", "-o", "x.zst"]) == 2
    assert "pip install 'oclgenomics[zstd]'" in capsys.readouterr().err


def test_names_of_reports_end_as_the_output_does(tmp_path: Path) -> None:
    names = ReportNames(str(tmp_path / "x.tsv.gz"), [])
    assert names.name("chr1", 0) == str(tmp_path / "x.chr1.tsv.gz")
    (family,) = report_files(argparse.Namespace(reports=True), "x.tsv.gz")
    assert str(family) == "x.*.tsv.gz"


def test_help_says_how_inputs_may_be_packed(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["omega", "scan"], ["fpga", "run"], ["sdtw", "index"], ["signatures", "build"], ["kmers", "count"]):
        with pytest.raises(SystemExit):
            main_module._parser().parse_args([*words, "--help"])
        shown = " ".join(capsys.readouterr().out.split())
        assert "uncompressed or compressed (gzip, bzip2, xz, zstd)" in shown, words
        assert "plain or gzip" not in shown, words


def test_help_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (*COMMANDS, ["signatures", "scan"], ["classify", "query"], ["simulate", "reads"], ["sdtw", "align"]):
        with pytest.raises(SystemExit):
            main_module._parser().parse_args([*words[:2], "--help"])
        shown = " ".join(capsys.readouterr().out.split())
        assert "compressed if the name ends in .gz, .bz2, .xz or .zst" in shown, words
