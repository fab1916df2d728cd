"""`kmers query`: where k-mers are looked up, and what the options of the device do."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from unittest import mock

import pytest
from helpers.kmer_sets import random_set, write_database

from oclgenomics import runtime
from oclgenomics.cli.main import main
from oclgenomics.runtime import Device

REPORTS = ("--per-record", "--counts", "--per-kmer", "--bed", "--bedgraph")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_database(Path("db"), random_set(5, 300))
    write_database(Path("stranded"), random_set(5, 300, canonical=False))
    Path("x.fa").write_bytes(b">c1\nTTGATTACATT\nTNTGTAATC\n>c2\nAC\n")
    Path("x.fq.gz").write_bytes(gzip.compress(b"@a b\nTTGATT\nACATT\n+\nIIIIII\nIIIII\n@\xff\n\n+\n\n"))  # wrapped
    return tmp_path


def no_device(*args: object, **options: object) -> None:
    raise AssertionError("a device is opened")


def query(*words: object) -> int:
    return main(["kmers", "query", *map(str, words)])


@pytest.mark.parametrize(
    "words", [("db", "GATTACA"), ("db", "--file", "x.fa", "-d", "host"), ("db", "A" * 9, "--counts")]
)
def test_what_the_host_looks_up(files: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with mock.patch.object(runtime.Engine, "__init__", no_device):
        assert query(*words) == 0
    shown = capsys.readouterr()
    assert shown.out
    assert shown.err == ""


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("x.fa", "x.fa is a file, and sequences are asked for; give it as --file x.fa"),
        ("stranded", "stranded is a file"),
        ("folder/y.fa", "'folder/y.fa' is no sequence, but holds other characters; give files as --file FILE"),
    ],
)
def test_a_file_is_no_sequence(files: Path, word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert query("db", "GATTACA", word) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert said in shown.err


@pytest.mark.parametrize("words", [("--file", "x.fa"), ("GATTACA", "--file", "x.fa"), ("GATTACA",)])
def test_what_the_device_looks_up(
    files: Path, device: Device, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert query("db", *words, "-d", device.index, "--max-memory", "64M", "--profile", "--threads", 1) == 0
    shown = capsys.readouterr()
    assert f"oclgenomics: device {device.index}: " in shown.err
    assert "take_counts" in shown.err
    assert query("db", *words, "-d", "host") == 0
    assert capsys.readouterr().out == shown.out


@pytest.mark.parametrize("option", [("--max-memory", "1G"), ("--profile",)])
def test_options_of_a_device_without_one(
    files: Path, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert query("db", "--file", "x.fa", "-d", "host", *option) == 2
    assert "-d host takes none" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("query", "db", "--file", "-", "--file", "@list", "-d", "host"),
        ("count", "-", "--only", "-", "-k", 5, "-o", "new"),
        ("matrix", "a=-", "b=x.fa,-", "-k", 5, "-o", "-"),
        ("matrix", "db", "a=-", "--only", "-", "-k", 5, "-o", "-"),
    ],
)
def test_standard_input_is_read_once(
    files: Path, words: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("list").write_text("-\n")
    with mock.patch.object(runtime.Engine, "__init__", no_device):
        assert main(["kmers", *map(str, words)]) == 2
    error = "oclgenomics: error: standard input (-) can be read once; name files for the others\n"
    assert capsys.readouterr() == ("", error)
    assert not Path("new").exists()


@pytest.mark.parametrize("how", REPORTS)
@pytest.mark.parametrize("database", ["db", "stranded"])
def test_reports_are_those_of_the_host(files: Path, device: Device, how: str, database: str) -> None:
    common = (database, "GATTACAN", "--file", "x.fa", "--file", "x.fq.gz", how, "-q")
    for more in ((), ("--json",)):
        assert query(*common, *more, "-o", "host", "-d", "host") == 0
        assert query(*common, *more, "-o", "device", "-d", device.index) == 0
        host, found = ((files / name).read_bytes() for name in ("host", "device"))
        if more:
            assert json.loads(host)["rows"] == json.loads(found)["rows"]
            assert json.loads(found)["provenance"]["device"]["name"] == device.name
        else:
            assert host == found


def test_arrays_are_those_of_the_host(files: Path, device: Device) -> None:
    for name, where in (("host", "host"), ("device", device.index)):
        assert query("db", "--file", "x.fa", "--counts", "-o", f"{name}.npz", "-q", "-d", where) == 0
    assert (files / "host.npz").read_bytes() == (files / "device.npz").read_bytes()
