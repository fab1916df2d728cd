"""Files of reads with nothing in them: samples without reads, as blank controls are, not errors."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.classify_databases import EDGE

from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

READS = b"@a\n" + b"ACGTTGCA" * 20 + b"\n+\n" + b"I" * 160 + b"\n"
COMMANDS = [
    "kmers count -k 9 -o out EMPTY",
    "kmers histogram -k 9 -o out EMPTY",
    "kmers matrix x=EMPTY y=reads.fq -k 9 -o out",
    "kmers filter kmers.db EMPTY -o out",
    "kmers filter kmers.db --paired EMPTY blank.fq -o out#",
    "signatures scan EMPTY reads.fa -o out",
    "signatures scan EMPTY -p ACGT -k 1 --report read --format sam -o out",
    "signatures filter EMPTY reads.fa -o out --rest other",
    "classify query taxa.db EMPTY -o out --kreport k --hits-per-ref h --abundances a --bracken b --krona r",
    "classify query taxa.db EMPTY -o out --cami b --cami-profile c",
    "classify query taxa.db --paired EMPTY blank.fq -o out",
    "classify run EMPTY --targets references.fa -o out",
]
TABLES = ["-o out --format tsv", "-o out --format kraken", "-o out --format json"]


@pytest.fixture
def folder(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reads, a panel, and databases of k-mers and of references."""
    monkeypatch.chdir(tmp_path)
    Path("reads.fq").write_bytes(READS)
    Path("reads.fa").write_bytes(b">a\n" + b"ACGTTGCA" * 20 + b"\n")
    Path("references.fa").write_bytes((EDGE / "edge_ref.fna").read_bytes())
    for name in ("blank.fq", "empty.fq"):
        Path(name).write_bytes(b"")
    Path("lines.fq").write_bytes(b"\n\n")
    Path("empty.fq.gz").write_bytes(gzip.compress(b""))
    assert run(device, "kmers count -k 9 -o kmers.db reads.fq") == 0
    assert run(device, "classify build taxa.db references.fa") == 0
    return tmp_path


def run(device: Device, line: str) -> int:
    return main([*line.split(), "-d", str(device.index)])


@pytest.mark.one_cpu
@pytest.mark.parametrize("command", [*COMMANDS, *(f"classify query taxa.db EMPTY {table}" for table in TABLES)])
def test_nothing_but_an_empty_file(
    device: Device, folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    for name, trouble in (("empty.fq", "the file is empty"), ("empty.fq.gz", "holds no sequence")):
        assert run(device, command.replace("EMPTY", name)) == 0
        told = capsys.readouterr().err
        assert f"oclgenomics: warning: {name}: {trouble}; it is taken for a sample without reads" in told
        assert "Error" not in told


@pytest.mark.one_cpu
@pytest.mark.parametrize(
    "command",
    [
        "kmers count -k 9 -o OUT reads.fq",
        "kmers filter kmers.db reads.fq -o OUT",
        "signatures scan reads.fq reads.fa -o OUT",
        "signatures filter reads.fq reads.fa --trim after -o OUT",
        "classify query taxa.db reads.fq -o OUT",
    ],
)
def test_an_empty_file_among_others_changes_nothing(device: Device, folder: Path, command: str) -> None:
    assert run(device, command.replace("OUT", "alone")) == 0
    among = command.replace("reads.fq", "empty.fq reads.fq lines.fq empty.fq.gz").replace("OUT", "among")
    assert run(device, among) == 0
    one, other = (folder / "alone").read_text("latin-1"), (folder / "among").read_text("latin-1")
    assert without_names(one) == without_names(other)


def without_names(report: str) -> list[str]:
    """A report without the lines that say how it was made."""
    return [line for line in report.splitlines() if not line.startswith("#")]


@pytest.mark.one_cpu
@pytest.mark.parametrize(
    "command", ["classify build new.db empty.fq", "classify add taxa.db empty.fq", "signatures scan reads.fq empty.fq"]
)
def test_references_and_signatures_are_there(
    device: Device, folder: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(device, command) == 3
    assert "empty.fq: the file is empty" in capsys.readouterr().err
