"""`oclgenomics signatures filter`: outputs, messages and mistakes."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pysam
import pytest

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

READS = ["CCGATTACAGG", "CCCCCCCC", "TTTGTAATCTT", "GATTACA"]


def record(name: str, letters: str) -> str:
    return f"@{name} more words\n{letters}\n+\n{'I' * len(letters)}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = [record(f"r{number}", letters) for number, letters in enumerate(READS)]
    Path("a.fq").write_text("".join(texts))
    Path("b.fq.gz").write_bytes(gzip.compress("".join(texts[:2] + texts[3:1:-1]).replace("@r", "@r", 4).encode()))
    Path("s.fa").write_text(">virus\nGATTACA\n>other\nCCCCCCCCC\n")
    return tmp_path


def text_of(*numbers: int) -> str:
    return "".join(record(f"r{number}", READS[number]) for number in numbers)


def run(device: Device, *words: str) -> int:
    return main(["signatures", "filter", *words, "-d", str(device.index)])


def test_what_is_kept_and_the_rest(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(device, "a.fq", "s.fa", "-o", "kept.fq", "--rest", "rest.fq.GZ") == 0
    assert Path("kept.fq").read_text() == text_of(0, 3)
    assert gzip.decompress(Path("rest.fq.GZ").read_bytes()).decode() == text_of(1, 2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "kept 2 of 4 reads; signatures match 2 of them (50.0 %); " in shown.err
    assert "wrote kept.fq" in shown.err


def test_options_of_matches(device: Device, folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for words, kept in (
        (["s.fa", "--strand", "both"], [0, 2, 3]),
        (["-p", "GATTACA", "-p", "TTTG"], [0, 2, 3]),
        (["s.fa", "--drop"], [1, 2]),
        (["-p", "CCCCCCCCG", "-k", "1"], [1]),
        (["-p", "TTTTT", "--max-mismatch", "1"], [2]),
        (["-p", "GGGGG", "--max-mismatch", "1"], []),
        (["-p", "CAGGTTTT", "--overhang", "4"], [0]),
        (["-p", "CAGGTTTT", "--overhang", "4", "--overhang-at", "start"], []),
    ):
        assert run(device, "a.fq", *words, "-q") == 0
        assert capsysbinary.readouterr() == (text_of(*kept).encode(), b""), words


def test_reads_are_cut_and_labelled(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(device, "a.fq", "s.fa", "--strand", "both", "--trim", "before", "--label") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[::4] == [f"@r{number} more words signature=virus" for number in (0, 2, 3)]
    assert (lines[1::4], lines[3::4]) == (["GG", "TT", ""], ["II", "II", ""])
    assert "kept 3 of 4 reads and 4 of 37 bp; signatures match 3 of them (75.0 %); trimming left no base of 1; " in err
    assert run(device, "a.fq", "-p", "x=GATT", "-p", "y=TACA", "-p", "z=CCGA", "--label") == 0
    out, err = capsys.readouterr()
    assert [line for line in out.splitlines() if " more" in line] == [
        "@r0 more words signature=x ties=2", "@r3 more words signature=x ties=1",
    ]  # fmt: skip
    assert "signatures match 2 of them (50.0 %), 2 by several signatures equally well; " in err
    at_the_end = ["-p", "CAGGTTTT", "--overhang", "4", "--trim", "before", "-q"]
    for words, cut in (([], ""), (["--overhang-at", "both"], "@r0 more words\n\n+\n\n")):
        assert run(device, "a.fq", *at_the_end, *words) == 0
        assert capsys.readouterr().out == cut
    assert run(device, "a.fq", "s.fa", "--trim", "after", "-q") == 0
    assert capsys.readouterr().out == "@r0 more words\nCC\n+\nII\n@r3 more words\n\n+\n\n"


def test_pairs(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--paired", "a.fq", "b.fq.gz", "s.fa", "--any-mates", "--pairs", "both", "-o", "x#.fq", "--rest", "y#.fq"]
    assert run(device, *words, "--strand", "both", "--trim", "after", "--json", "-q") == 0
    assert [Path(name).read_text().count("@") for name in ("x_1.fq", "x_2.fq", "y_1.fq", "y_2.fq")] == [3, 3, 1, 1]
    result = json.loads(capsys.readouterr().out)["result"]
    del result["seconds"]
    assert result == {
        "reads": 8, "kept": 6, "pairs": 4, "matching": 6, "ambiguous": 0, "bases": 74, "kept_bases": 8, "empty": 2,
        "signatures": {"virus": 6},
    }  # fmt: skip
    assert run(device, "a.fq", "s.fa", "--interleaved", "--any-mates", "-q") == 0
    assert capsys.readouterr().out == text_of(0, 1, 2, 3)


def test_standard_input_and_bam(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path("a.fq").read_bytes())))
    assert run(device, "-", "s.fa", "-q") == 0
    assert capsys.readouterr().out == text_of(0, 3)
    header = pysam.AlignmentHeader.from_dict({"HD": {"VN": "1.6"}})
    with pysam.AlignmentFile("a.bam", "wb", header=header) as out:
        for number, letters in enumerate(READS):
            row = pysam.AlignedSegment.fromstring(
                f"r{number}\t4\t*\t0\t0\t*\t*\t0\t0\t{letters}\t{'I' * len(letters)}", header
            )
            out.write(row)
    assert run(device, "a.bam", "s.fa", "-q", "--trim", "after", "-o", "x.fq") == 0
    assert Path("x.fq").read_text() == "@r0\nCC\n+\nII\n@r3\n\n+\n\n"


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("a.fq", 2, "SIGNATURES is missing: name a file of signatures last, or give --pattern BASES"),
        ("--paired a.fq b.fq.gz", 2, "SIGNATURES is missing"),
        ("-p ACGT", 2, "there are no reads to filter"),
        ("a.fq s.fa --drop --trim after", 2, "--trim after: cuts reads that match, which --drop leaves out"),
        ("a.fq s.fa --json", 2, "--json and the reads both go to standard output"),
        ("a.fq s.fa -o a.fq", 2, "-o a.fq: the same file as the input a.fq"),
        ("a.fq s.fa -o s.fa", 2, "-o s.fa: the same file as the input s.fa"),
        ("--paired a.fq b.fq.gz s.fa -o x --rest b.fq.gz", 2, "--rest b.fq.gz: the same file as --paired b.fq.gz"),
        (
            "--paired a.fq b.fq.gz s.fa -o x",
            3,
            "the mates of a pair have different names, 'r2' and 'r3'; give --any-mates",
        ),
        ("a.fq s.fa -k 1001", 2, "--max-edits 1001: "),
        ("a.fq s.fa -a ACGT", 2, "-a: give the adapter with --pattern, and --trim after"),
        ("c.fa s.fa --min-score 3 -o x", 3, "c.fa: is FASTA, which has no qualities that --min-score could look at"),
        ("a.fq c.fa s.fa -o x", 3, "c.fa: is FASTA, but a.fq is FASTQ; filter them apart"),
        ("none.fq s.fa -o x", 3, "none.fq: no such file"),
        ("a.fq none.fa -o x", 3, "none.fa: no such file"),
    ],
)
def test_errors_are_one_line(
    folder: Path, line: str, status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("c.fa").write_text(">c\nGATTACA\n")
    before = sorted(path.name for path in folder.iterdir())
    assert main(["signatures", "filter", *line.split(), "-q"]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before
