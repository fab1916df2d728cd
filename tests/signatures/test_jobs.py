"""Scans in pieces give what one scan gives, byte for byte; pieces of different scans are refused."""

from __future__ import annotations

import gzip
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pieces import check_combined, check_refusals, make_pieces, no_engine, outputs_of, spreads
from helpers.signature_samples import random_letters

from oclgenomics.app.jobs import Spread
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.runtime import Device, Engine
from oclgenomics.signatures import Panel, ScanJob, ScanOptions, ScanResult, iter_scan, read_panel, scan
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.panels.panel import Patterns

SIGNATURES = [("one", "ACGTN"), ("two", "GATTANN"), ("three", "NNNRYACGNT"), ("long", "ACGTRYKMNN" * 12)]
OTHER_OPTIONS = {
    "report": "all", "strand": "both", "method": "brute", "max_mismatches": 1, "min_informative": 0.5, "min_score": 9.5,
    "max_edits": 2,
}  # fmt: skip


def records(first: int, count: int, *, fastq: bool = True) -> str:
    """Samples of many lengths, from none on; names come twice."""
    rng, texts = np.random.default_rng(first), []
    for number in range(first, first + count):
        letters = random_letters(rng, int(rng.choice([0, 3, 40, 150, 600])), 0.05, "ACGTacgtR").decode()
        if fastq:
            scores = rng.integers(33, 75, len(letters)).astype(np.uint8).tobytes().decode()
            texts.append(f"@read{number % 7} more\n{letters}\n+\n{scores}\n")
        else:
            texts.append(f">read{number % 7} more\n{letters[:70]}\n{letters[70:]}\n")
    return "".join(texts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.fq").write_text(records(0, 30))
    Path("b.fq.gz").write_bytes(gzip.compress(records(30, 20).encode()))
    Path("c.fa").write_text(records(50, 15, fastq=False))
    Path("none.fq").write_text("")
    Path("s.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in SIGNATURES))
    return tmp_path


@pytest.mark.parametrize("samples", ["a.fq", "b.fq.gz", "c.fa", "none.fq", "a.fq none.fq c.fa b.fq.gz"])
def test_combined_is_what_one_scan_writes(device: Device, folder: Path, samples: str) -> None:
    command = ["signatures", "scan", *samples.split(), "s.fa", "--strand", "both"]
    outputs = {"-o": "x.tsv", "--summary": "sum.tsv", "--sample-report": "sure.tsv", "--plot": "x.svg"}
    check_combined(command, ["-d", str(device.index)], outputs, folder)


@pytest.mark.parametrize(
    ("options", "given", "outputs"),
    [
        ("--report all --max-mismatch 1", "--json", {"-o": "x.jsonl"}),
        ("--report first --min-informative 0.7", "--format bed", {"-o": "x.bed"}),
        ("--min-score 20", "--format course", {"-o": "x.txt"}),
        ("--max-edits 1", "", {"-o": "x.tsv.gz"}),
    ],
)
def test_combined_takes_the_options_of_outputs(
    device: Device, folder: Path, options: str, given: str, outputs: dict[str, str]
) -> None:
    command = ["signatures", "scan", "a.fq", "b.fq.gz", "s.fa", *options.split()]
    check_combined(command, ["-d", str(device.index)], outputs, folder, [2, 5], given=given.split())


def test_combined_keeps_the_format_of_the_pieces(device: Device, folder: Path) -> None:
    command = ["signatures", "scan", "a.fq", "s.fa", "--json"]
    check_combined(command, ["-d", str(device.index)], {"-o": "x"}, folder, [3])
    words = [*command[:-1], "-d", str(device.index), "--format", "bed"]
    whole = outputs_of(words, {"-o": "x"}, folder / "whole")
    pieces = [str(folder / f"{number}of3.piece") for number in (1, 2, 3)]
    assert outputs_of(["signatures", "combine", *pieces, "--format", "bed"], {"-o": "x"}, folder / "combined") == whole


def test_combining_reads_no_samples(device: Device, folder: Path) -> None:
    words = ["signatures", "scan", "a.fq", "c.fa", "s.fa", "-d", str(device.index)]
    whole = outputs_of(words, {"-o": "x.tsv"}, folder / "whole")
    pieces = make_pieces(words, 3, folder)
    for name in ("a.fq", "c.fa"):
        Path(name).unlink()
    with no_engine():
        assert outputs_of(["signatures", "combine", *pieces], {"-o": "x.tsv"}, folder / "combined") == whole


def test_another_panel_than_that_of_the_pieces_is_refused(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = make_pieces(["signatures", "scan", "a.fq", "s.fa", "-d", str(device.index)], 2, folder)
    Path("s.fa").write_text("".join(f">{name}\n{letters}\n" for name, letters in reversed(SIGNATURES)))
    capsys.readouterr()
    assert main(["signatures", "combine", *pieces, "-o", "x.tsv"]) == InputError.exit_code
    assert "s.fa: is not the file that" in capsys.readouterr().err
    assert not Path("x.tsv").exists()


def test_options_that_matter_are_compared(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(OTHER_OPTIONS) == {field.name for field in fields(ScanOptions)}
    job = ScanJob(("a.fq",), "s.fa", ScanOptions())
    for name, value in OTHER_OPTIONS.items():
        other = replace(job, options=ScanOptions(**{name: value}))
        assert other.parameters() != job.parameters(), name
    first = ["signatures", "scan", "a.fq", "s.fa", "-d", str(device.index)]
    Path("t.fa").write_text(">one\nACGTA\n")
    others = [
        ["signatures", "scan", "a.fq", "c.fa", "s.fa", *first[4:]],
        ["signatures", "scan", "c.fa", "s.fa", *first[4:]],
        ["signatures", "scan", "a.fq", "t.fa", *first[4:]],
        [*first, "--strand", "both"],
    ]
    check_refusals("signatures", first, others, folder, capsys)


def same(found: ScanResult, expected: ScanResult) -> None:
    assert found.records() == expected.records()
    for name, column in vars(expected.samples).items():
        np.testing.assert_array_equal(getattr(found.samples, name), column, name)


def test_executors_give_what_one_scan_gives(device: Device, folder: Path) -> None:
    samples, options, where = ["a.fq", "c.fa", "b.fq.gz"], ScanOptions(strand="both"), str(device.index)
    paths = [str(folder / name) for name in samples]  # a process that is spawned may be elsewhere
    expected = scan(paths, str(folder / "s.fa"), options, engine=where)
    assert len(expected.matches) > 50
    for spread in spreads():
        same(scan(paths, str(folder / "s.fa"), options, engine=where, executor=spread), expected)
    with ThreadPoolExecutor(1) as executor:
        same(scan(paths, folder / "s.fa", options, engine=where, executor=executor), expected)


def test_parts_of_executors_come_in_order(device: Device, folder: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with ThreadPoolExecutor(2) as executor:
        from oclgenomics.signatures import Run

        run = Run(progress=lambda done, total: told.append((done, total)))
        spread = Spread(executor, 4, folder)
        parts = list(iter_scan("a.fq", "s.fa", engine=str(device.index), run=run, executor=spread))
    numbers = [number for part in parts for number in part.samples.number[part.samples.ends].tolist()]
    assert numbers == list(range(30))
    done, (total,) = [done for done, _ in told], {total for _, total in told}  # bytes of all inputs
    assert done == sorted(done)
    assert done[-1] == total
    assert not list(folder.glob("oclgenomics-*"))


def test_workers_have_no_memory_of_this_process(device: Device, folder: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ParameterError, match="panel must be a file with executor"):
            scan("a.fq", read_panel("s.fa"), executor=executor)
        with pytest.raises(ParameterError, match="engine must be the name of a device"):
            scan("a.fq", "s.fa", engine=device, executor=executor)
        with pytest.raises(InputError, match="standard input: pieces of a job all read the input; give a file"):
            scan("-", "s.fa", engine=str(device.index), executor=executor)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "-"], "--shard 1/2: name the file of the piece with -o"),
        (["-o", "x.gz"], "x.gz"),
        (["-o", "x", "--summary", "y"], "--summary y: a piece is no whole result; give this option to combine"),
        (["-o", "a.fq"], "a.fq"),
    ],
)
def test_outputs_that_a_piece_does_not_have(
    device: Device, folder: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["signatures", "scan", "a.fq", "s.fa", "-d", str(device.index), "--shard", "1/2"]
    assert main([*command, *words]) == 2
    assert told in capsys.readouterr().err
    assert not any(Path(name).exists() for name in ("x", "x.gz", "y"))


def test_a_job_is_the_same_in_another_process(folder: Path) -> None:
    import pickle

    job = ScanJob(("a.fq",), "s.fa", ScanOptions(report="all"))
    assert isinstance(job.signatures, Panel)
    again: Any = pickle.loads(pickle.dumps(job))
    assert again == job
    assert vars(again).keys() == {"samples", "panel", "options"}  # and not what was made of them
    assert again.parameters() == asdict(job.options)


@pytest.mark.parametrize("options", [ScanOptions(strand="both"), ScanOptions(report="all", max_edits=1)])
def test_a_panel_is_brought_to_the_device_once_by_a_process(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch, options: ScanOptions
) -> None:
    brought: list[int] = []
    upload = DevicePatterns.upload

    def noted(engine: Engine, patterns: Patterns, options: ScanOptions) -> DevicePatterns:
        brought.append(len(patterns.lengths))
        return upload(engine, patterns, options)

    samples, where = ["a.fq", "b.fq.gz", "c.fa"], str(device.index)
    whole = scan(samples, "s.fa", options, engine=where).columns()
    monkeypatch.setattr(DevicePatterns, "upload", noted)
    with ThreadPoolExecutor(1) as executor:
        for expected, changed in enumerate([options, options, replace(options, min_informative=0.9), options], 1):
            found = scan(samples, "s.fa", changed, engine=where, executor=Spread(executor, 5, folder)).columns()
            for name, column in found.items() if changed == options else ():
                np.testing.assert_array_equal(column, whole[name])
            assert len(brought) == expected - (expected > 1)  # the second scan has what the first one had
        Path("s.fa").write_text(">other\nACGTA\n")
        scan(samples, "s.fa", options, engine=where, executor=Spread(executor, 3, folder))
    assert len(brought) == 4
    assert brought[-1] < brought[0]
