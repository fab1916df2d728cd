"""`oclgenomics kmers count`, from the command line to the database."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from helpers.kmer_sets import B, C

from oclgenomics.cli.main import main
from oclgenomics.kmers import reference
from oclgenomics.kmers.device.reader import KmerDatabase
from oclgenomics.kmers.options import CountOptions
from oclgenomics.runtime import Device


@pytest.fixture
def texts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "b.fa", tmp_path / "c.fa"]
    for path, text in zip(paths, (B, C), strict=True):
        path.write_bytes(text)
    return paths


def counted(path: Path) -> dict[str, int]:
    with KmerDatabase.open(path) as database:
        return {record["kmer"]: record["count"] for record in database.records()}


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], CountOptions(4)),
        (["--no-canonical", "--min-count", "2"], CountOptions(4, canonical=False, min_count=2)),
        (["--max-count", "4", "--counter-max", "3"], CountOptions(4, max_count=4, counter_max=3)),
    ],
)
def test_count(device: Device, texts: list[Path], tmp_path: Path, words: list[str], options: CountOptions) -> None:
    output = tmp_path / "x.db"
    command = ["kmers", "count", *map(str, texts), "-k", "4", "-o", str(output), "-d", str(device.index), "-q", *words]
    assert main(command) == 0
    assert counted(output) == reference.count([B, C], options)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "oclgenomics: 17 5-mers, 9 distinct in "),
        (["--min-count", "2"], "oclgenomics: 17 5-mers, 13 of them kept, 5 distinct in "),
    ],
)
def test_what_is_told_of_a_count(
    words: list[str], told: str, device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "x.fa", tmp_path / "x.db"
    path.write_bytes(b">a\nGATTACAGATTACATGTAATC\n")
    assert main(["kmers", "count", str(path), "-k", "5", "-o", str(output), "-d", str(device.index), *words]) == 0
    assert told in capsys.readouterr().err


def test_letters_of_little_quality_break_kmers(
    device: Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "x.fq", tmp_path / "x.db"
    path.write_bytes(b"@r\nACGTACGTTGCA\n+\nIIIIIIII4567\n@s\nGATTACA\n+\n5555555\n")
    words = ["kmers", "count", str(path), "-k", "4", "-o", str(output), "-d", str(device.index)]
    assert main([*words, "-q", "--min-quality", "20", "--json"]) == 0
    assert counted(output) == reference.count([b">r\nACGTACGTNGCA\n>s\nGATTACA\n"], CountOptions(4))
    assert json.loads(capsys.readouterr().out)["parameters"]["min_quality"] == 20


def test_every_device_and_limit_writes_the_same_bytes(device: Device, texts: list[Path], tmp_path: Path) -> None:
    written = []
    for limit in ("3M", "1G"):
        output = tmp_path / f"{limit}.db"
        command = ["kmers", "count", *map(str, texts), "-k", "8", "-o", str(output), "-d", str(device.index)]
        assert main([*command, "-q", "--max-memory", limit]) == 0
        written.append(output.read_bytes())
    assert written[0] == written[1]


def test_standard_input_and_summary(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(B)))
    output = tmp_path / "x.db"
    assert main(["kmers", "count", "-", "-k", "4", "-o", str(output), "-d", str(device.index), "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)["result"]
    assert (result["windows"], result["distinct"], result["total"]) == (16, 11, 16)
    assert "16 4-mers, 11 distinct" in err
    assert f"wrote {output}" in err


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (b">a\n>b\n\n>c", "no 5-mer was found: none of 3 records has a sequence"),
        (b">a\nACGT\n>b\nNNNNNACG", "nowhere are 5 bases A, C, G or T in a row; 5 of 12 characters are others"),
        (b"@a\nACGN\n+\nIIII\n", "nowhere are 5 bases A, C, G or T in a row; 1 of 4 characters are others"),
        (b">a\nACGTACGTUACGTACGT", "1 of 17 characters are U, which breaks k-mers; turn the U of RNA into T"),
        (b">a\nACGTACGTLACGTACGT", "1 of 17 characters are no nucleotides; they break k-mers"),
        (b">a\rACGTAC\rGT\r", None),
    ],
)
def test_warnings(
    device: Device, text: bytes, warning: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / "x.fa", tmp_path / "x.db"
    path.write_bytes(text)
    assert main(["kmers", "count", str(path), "-k", "5", "-o", str(output), "-d", str(device.index)]) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if ": warning: " in line]
    assert len(warnings) == (warning is not None)
    assert (warning or "") in "".join(warnings)
    assert counted(output) == reference.count([text], CountOptions(5))


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["x.fa", "-k", "0", "-o", "x.db"], 2, "-k 0: k-mers have 1 to 256 bases"),
        (["x.fa", "-k", "5", "-o", "x.db", "--min-count", "0"], 2, "--min-count 0"),
        (["x.fa", "-k", "5", "-o", "x.db", "--min-count=4294967296", "--max-count=4294967296"], 2, "counters hold"),
        (["x.fa", "-k", "5", "-o", "x.db", "--counter-max", "0"], 2, "--counter-max 0"),
        (["missing.fa", "-k", "5", "-o", "x.db"], 3, "missing.fa: no such file"),
        (["x.fa", "-k", "5", "-o", "none/x.db"], 5, "there is no folder none"),
        (["x.fa", "-k", "five", "-o", "x.db"], 2, "is not a whole number; write"),
        (["x.fa", "-k", "5", "-o", "x.db", "--min-quality", "94"], 2, "--min-quality 94: qualities are 0 to 93"),
        (["x.fa", "-k", "5", "-o", "x.db", "--min-quality", "9"], 3, "x.fa: is FASTA, which has no qualities"),
        (["protein.fa", "-k", "2", "-o", "x.db"], 3, "protein.fa: 4 of 9 characters are no nucleotides"),
        (["bad.fq", "-k", "5", "-o", "x.db"], 3, "bad.fq, record 1, byte 0: letters and qualities"),
    ],
)
def test_errors_are_one_line(
    words: list[str],
    status: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.fa").write_bytes(B)
    Path("protein.fa").write_bytes(b">p\nMKVLEFAAP\n")
    Path("bad.fq").write_bytes(b"@a\nACGT\n+\nIII\n")
    assert main(["kmers", "count", *words, "-q"]) == status
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not Path("x.db").exists()
