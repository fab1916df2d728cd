"""`oclgenomics kmers filter`: outputs, messages and mistakes."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path

import pytest
from helpers.kmer_sets import set_of, write_database

from oclgenomics.cli.main import main
from oclgenomics.kmers import reference
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Device

READS = ["GATTACAGATTACA", "CCCCCCCCCC", "TTTGATTACA", "ACG"]


def record(name: str, letters: str) -> str:
    return f"@{name} more words\n{letters}\n+\n{'I' * len(letters)}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of two reads' 5-mers, and reads."""
    monkeypatch.chdir(tmp_path)
    counts = reference.count([b">a\nGATTACAGATTACA\n"], CountOptions(5))
    write_database(tmp_path / "db", set_of(counts, 5))
    texts = [record(f"r{number}", letters) for number, letters in enumerate(READS)]
    (tmp_path / "a.fq").write_text("".join(texts))
    (tmp_path / "b.fq").write_text("".join(texts[::-1]))
    return tmp_path


def text_of(*numbers: int) -> str:
    return "".join(record(f"r{number}", READS[number]) for number in numbers)


def run(device: Device, *words: str) -> int:
    return main(["kmers", "filter", "db", *words, "-d", str(device.index)])


def test_what_is_kept_and_the_rest(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(device, "a.fq", "-o", "kept.fq", "--rest", "rest.fq.GZ") == 0
    assert (folder / "kept.fq").read_text() == text_of(0, 2)
    assert gzip.decompress((folder / "rest.fq.GZ").read_bytes()).decode() == text_of(1, 3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "kept 2 of 4 reads; the database has 13 of their 22 k-mers (59.1 %)" in shown.err
    assert "wrote kept.fq" in shown.err


def test_standard_output_and_bounds(device: Device, folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for words, kept in (
        (["--min-kmers", "5"], [0]),
        (["--max-kmers", "3"], [1, 2, 3]),
        (["--min-fraction", "0.5", "--max-fraction", "1"], [0, 2]),
        (["--min-count", "2", "--max-fraction", "0.55"], [1, 2, 3]),
        (["--max-count", "1", "--drop"], [1, 2, 3]),
    ):
        assert run(device, "a.fq", "-q", *words) == 0
        assert capsysbinary.readouterr().out.decode() == text_of(*kept), words


def test_the_summary_as_json(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(device, "--paired", "a.fq", "b.fq", "--any-mates", "--pairs", "both", "--json", "-o", "out#.fq") == 0
    result = json.loads(capsys.readouterr().out)["result"]
    result.pop("seconds")
    assert result == {"reads": 8, "kept": 0, "pairs": 4, "kmers": 44, "found": 26}
    assert (folder / "out_1.fq").read_text() == (folder / "out_2.fq").read_text() == ""


def test_interleaved_mates(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "both.fq").write_text(record("x/1", READS[0]) + record("x/2", READS[1]) + record("y", READS[1]) * 2)
    assert run(device, "both.fq", "--interleaved", "-o", "out.fq") == 0
    assert (folder / "out.fq").read_text() == record("x/1", READS[0]) + record("x/2", READS[1])
    assert run(device, "a.fq", "--interleaved", "-o", "no.fq") == 3
    assert "have different names, 'r0' and 'r1'; give --any-mates" in capsys.readouterr().err
    assert not (folder / "no.fq").exists()


def test_lists_of_files(device: Device, folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (folder / "first").write_text("a.fq\nb.fq\n")
    (folder / "second").write_text("a.fq.bz2\nb.fq.bz2\n")
    for name in ("a.fq", "b.fq"):
        (folder / f"{name}.bz2").write_bytes(bz2.compress((folder / name).read_bytes()))
    assert run(device, "@first", "-q") == run(device, "@second", "-q") == 0
    assert capsysbinary.readouterr().out.decode() == 2 * text_of(0, 2, 2, 0)
    assert run(device, "--paired", "@first", "@second", "-q") == 0
    assert capsysbinary.readouterr().out.decode() == text_of(0, 0, 2, 2, 2, 2, 0, 0)
    (folder / "second").write_text("a.fq.bz2\n")
    before = (folder / "b.fq").read_bytes()
    for words, message in (
        (["@first"], "-o b.fq: the same file as the input b.fq"),
        (["--paired", "@second", "@first"], "-o b.fq: the same file as --paired b.fq"),
    ):
        assert run(device, *words, "-o", "b.fq") == 2
        assert message in capsysbinary.readouterr().err.decode()
        assert (folder / "b.fq").read_bytes() == before
    assert run(device, "--paired", "@first", "@second", "-o", "x") == 2
    assert "@first names 2 files and @second 1" in capsysbinary.readouterr().err.decode()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["a.fq", "--json"], 2, "both go to standard output"),
        (["-o", "x"], 2, "there are no reads to filter: name a file, or files of mates with --paired"),
        (["-", "-", "-o", "x"], 2, "standard input (-) can be read once"),
        (["--paired", "a.fq", "./a.fq", "-o", "x"], 2, "are one file"),
        (["a.fq", "-o", "a.fq"], 2, "the same file as the input"),
        (["a.fq", "-o", "x", "--rest", "x"], 2, "the same file as -o"),
        (["a.fq", "-o", "db"], 2, "the same file as the input"),
        (
            ["a.fq", "-o", "x", "--min-kmers", "3", "--max-kmers", "2"],
            2,
            "--min-kmers 3 --max-kmers 2: take min <= max",
        ),
        (["a.fq", "-o", "x", "--min-fraction", "2"], 2, "--min-fraction 2.0: a share is 0 to 1"),
        (["a.fq", "-o", "x", "--min-count", "0"], 2, "--min-count 0"),
        (["a.fq", "-o", "none/x"], 5, "there is no folder none"),
        (["missing.fq", "-o", "x"], 3, "missing.fq"),
        (["db", "-o", "x"], 3, "neither FASTA nor FASTQ"),
    ],
)
def test_mistakes(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    before = (folder / "a.fq").read_bytes()
    assert run(device, *words) == code
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "device" not in line]
    assert message in line
    assert not (folder / "x").exists()
    assert (folder / "a.fq").read_bytes() == before


@pytest.mark.parametrize("words", [["-o", "x#.fq"], ["-o", "x", "--rest", "x#.fq"]])
def test_files_of_mates_are_for_mates(folder: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kmers", "filter", "db", "a.fq", *words]) == 2
    assert f"{words[-2]} x#.fq: # is for two files of mates; give --paired" in capsys.readouterr().err
    assert not list(folder.glob("x*"))


def test_mates_in_two_files_are_checked_before_the_work(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "out_2.fq").symlink_to("a.fq")
    assert main(["kmers", "filter", "db", "--paired", "a.fq", "b.fq", "-o", "out#.fq"]) == 2
    assert "out_2.fq: the same file as" in capsys.readouterr().err
