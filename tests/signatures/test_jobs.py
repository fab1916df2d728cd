"""Scans in pieces give what one scan gives, byte for byte; pieces of different scans are refused."""

from __future__ import annotations

import functools
import gzip
import importlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.pieces import (
    check_combined,
    check_refusals,
    in_one_thread,
    make_pieces,
    memory_kept,
    no_engine,
    noted,
    outputs_of,
    piece_of,
    spreads,
)
from helpers.products import tried
from helpers.signature_samples import random_letters

from oclgenomics.app.jobs import Spread
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.letters import letter_blocks
from oclgenomics.signatures import Panel, ScanJob, ScanOptions, ScanResult, iter_scan, jobs, read_panel, scan

SIGNATURES = [("one", "ACGTN"), ("two", "GATTANN"), ("three", "NNNRYACGNT"), ("long", "ACGTRYKMNN" * 12)]
OTHER_OPTIONS = {
    "report": "all", "strand": "both", "method": "brute", "max_mismatches": 1, "min_informative": 0.5, "min_score": 9.5,
    "max_edits": 2, "alignments": True, "overhang": 4, "overhang_at": "start",
}  # fmt: skip
NEEDED = {"overhang_at": {"overhang": 4}}  # by others


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


@pytest.mark.parametrize(
    ("samples", "numbers"),
    [("a.fq", [1, 7]), ("b.fq.gz", [3]), ("c.fa", [3]), ("none.fq", [7]), ("a.fq none.fq c.fa b.fq.gz", [3, 7])],
)
def test_combined_is_what_one_scan_writes(device: Device, folder: Path, samples: str, numbers: list[int]) -> None:
    command = ["signatures", "scan", *samples.split(), "s.fa", "--strand", "both"]
    outputs = {"-o": "x.tsv", "--summary": "sum.tsv", "--sample-report": "sure.tsv", "--plot": "x.svg"}
    check_combined(command, ["-d", str(device.index)], outputs, folder, tried(numbers, whole=range(1, 8)))


@pytest.mark.parametrize(
    ("options", "given", "outputs"),
    [
        ("--report all --max-mismatch 1", "--json", {"-o": "x.jsonl"}),
        ("--report first --min-informative 0.7", "--format bed", {"-o": "x.bed"}),
        ("--min-score 20", "--format course", {"-o": "x.txt"}),
        ("--max-edits 1", "", {"-o": "x.tsv.gz"}),
        ("--report read --strand both -k 1", "", {"-o": "x.tsv", "--sample-report": "sure.tsv", "--plot": "x.svg"}),
        ("--report all --strand both -k 1 --format sam", "", {"-o": "x.sam"}),
        ("--report read --max-mismatch 2 --format sam", "--format paf", {"-o": "x.paf"}),
    ],
)
def test_combined_takes_the_options_of_outputs(
    device: Device, folder: Path, options: str, given: str, outputs: dict[str, str]
) -> None:
    command = ["signatures", "scan", "a.fq", "b.fq.gz", "c.fa", "s.fa", *options.split()]
    if "course" in given or "--min-score" in options:
        command.remove("c.fa")
    check_combined(command, ["-d", str(device.index)], outputs, folder, [3], given=given.split())


def test_combined_keeps_the_format_of_the_pieces(device: Device, folder: Path) -> None:
    command = ["signatures", "scan", "a.fq", "s.fa", "--json"]
    check_combined(command, ["-d", str(device.index)], {"-o": "x"}, folder, [3])
    words = [*command[:-1], "-d", str(device.index), "--format", "bed"]
    whole = outputs_of(words, {"-o": "x"}, folder / "whole")
    pieces = [str(folder / f"{number}of3.piece") for number in (1, 2, 3)]
    assert outputs_of(["signatures", "combine", *pieces, "--format", "bed"], {"-o": "x"}, folder / "combined") == whole


def test_alignments_are_in_pieces_that_were_made_with_them(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = make_pieces(["signatures", "scan", "a.fq", "s.fa", "-d", str(device.index)], 2, folder)
    capsys.readouterr()
    assert main(["signatures", "combine", *pieces, "--format", "sam", "-o", "x.sam"]) == 2
    message = "--format sam: the pieces have no alignments; give this option with --shard, too"
    assert capsys.readouterr().err == f"oclgenomics: error: {message}\n"
    assert not Path("x.sam").exists()


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
    for name, value in OTHER_OPTIONS.items():
        job = ScanJob(("a.fq",), "s.fa", ScanOptions(**NEEDED.get(name, {})))
        other = replace(job, options=replace(job.options, **{name: value}))
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
    options = ScanOptions("read", "both", max_edits=1, alignments=True)
    expected = scan(paths, str(folder / "s.fa"), options, engine=where)
    with ThreadPoolExecutor(2) as executor:
        found = scan(paths, str(folder / "s.fa"), options, engine=where, executor=Spread(executor, 3))
    same(found, expected)
    for name, column in vars(expected.alignments).items():
        assert getattr(found.alignments, name).tolist() == column.tolist()
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
    assert vars(again).keys() == {"samples", "panel", "options", "patterns"}  # and not what was made of them
    assert again.parameters() == asdict(job.options)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What of panels is read and made, in its order."""
    done: list[str] = []

    for where, name in (("jobs", "read_panel"), ("jobs", "Finder"), ("device.seed_table", "make_table")):
        module = f"oclgenomics.signatures.{where}"
        monkeypatch.setattr(f"{module}.{name}", noted(done, name, getattr(importlib.import_module(module), name)))
    return done


@pytest.mark.parametrize("max_edits", [0, 1])
def test_a_panel_is_prepared_once(device: Device, folder: Path, prepared: list[str], max_edits: int) -> None:
    options = ScanOptions("all", method="index", max_edits=max_edits)
    job = ScanJob(("a.fq", "c.fa"), "s.fa", options)
    with in_one_thread() as do:
        kept = [do(piece_of, job, number, 4, device) for number in (1, 2, 3, 4)]
        assert prepared == ["read_panel", "Finder", "make_table"]
        assert do(memory_kept) > 0
        assert do(memory_kept, close=True) == 0
    for number, piece in enumerate(kept, 1):
        with in_one_thread() as do:
            assert do(piece_of, job, number, 4, device) == piece


@pytest.mark.parametrize("same", [False, True], ids=["read anew", "the same panel"])
def test_what_is_prepared_is_of_this_panel_and_these_options(
    device: Device, folder: Path, prepared: list[str], monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    """A process that has done pieces of other jobs gives what a fresh one gives."""
    job = ScanJob(("a.fq", "c.fa"), "s.fa", ScanOptions("all", strand="both"))
    Path("t.fa").write_text(">one\nACGTA\n>two\nGATT\n")
    changes = [
        {}, {"options": ScanOptions()}, {"options": ScanOptions(max_edits=1)}, {}, {"panel": "t.fa"}, {},
        {"samples": ("a.fq",)}, *({"options": ScanOptions(**{name: value, **NEEDED.get(name, {})})}
                                  for name, value in OTHER_OPTIONS.items() if name != "min_score"),
    ]  # fmt: skip
    if same:
        monkeypatch.setattr("oclgenomics.signatures.jobs.read_panel", functools.cache(read_panel))
    with in_one_thread() as do:
        for change in changes:
            other = replace(job, **change)
            prepared.clear()
            piece = do(piece_of, other, 2, 3, device)
            assert same or prepared.count("Finder") == 1, change
            with in_one_thread() as anew:
                assert piece == anew(piece_of, other, 2, 3, device), change
        assert do(memory_kept) > 0
        assert do(memory_kept, close=True) == 0


def test_a_panel_that_changes_is_prepared_anew(device: Device, folder: Path, prepared: list[str]) -> None:
    job = ScanJob(("a.fq",), "s.fa", ScanOptions("all"))
    time = os.stat("s.fa").st_mtime_ns
    with in_one_thread() as do:
        first = do(piece_of, job, 1, 2, device)
        Path("s.fa").write_text(Path("s.fa").read_text().replace("GATTANN", "GATTCNN"))
        os.utime("s.fa", ns=(time, time))  # of the same size, too
        prepared.clear()
        second = do(piece_of, job, 1, 2, device)
        assert prepared[:2] == ["read_panel", "Finder"]
    with in_one_thread() as do:
        assert do(piece_of, job, 1, 2, device) == second != first


def test_a_record_that_was_cut_by_an_error_does_not_go_on(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "oclgenomics.signatures.jobs.letter_blocks", functools.partial(letter_blocks, block_bytes=1 << 16)
    )
    Path("x.fa").write_text(">x\n" + "A" * (1 << 16) + "!\n")
    Path("y.fa").write_text(">y\n" + "A" * (1 << 16) + "\n")
    Path("s.fa").write_text(">one\nAAAAAAAA\n")
    job = ScanJob(("x.fa", "y.fa"), "s.fa", ScanOptions("all", max_edits=1, method="brute"))
    with in_one_thread() as do:
        with pytest.raises(InputError, match="'!' is no nucleotide"):
            do(piece_of, job, 1, 2, device)
        piece = do(piece_of, job, 2, 2, device)
    with in_one_thread() as do:
        assert do(piece_of, job, 2, 2, device) == piece


def test_a_run_knows_how_many_blocks_its_files_are(
    device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that tables which pay for all of them are made, whatever the first block alone is worth."""
    seen: list[int] = []

    class Noted(jobs.Finder):
        def __init__(self, engine: Engine, panel: Panel, options: ScanOptions, times: int = 1) -> None:
            seen.append(times)
            super().__init__(engine, panel, options, times)

    monkeypatch.setattr(jobs, "Finder", Noted)
    monkeypatch.setattr(jobs, "largest_block", lambda _: 1_000)
    sizes = [Path(name).stat().st_size for name in ("a.fq", "b.fq.gz")]
    assert sizes[0] > 2_000
    options = ScanOptions(strand="both")
    whole = scan(["a.fq", "b.fq.gz"], "s.fa", options, engine=device).columns()
    scan("none.fq", "s.fa", options, engine=device)
    assert seen == [sum(sizes) // 1_000, 1]
    monkeypatch.setattr(jobs, "largest_block", lambda _: 1 << 30)
    found = scan(["a.fq", "b.fq.gz"], "s.fa", options, engine=device).columns()
    assert seen[2:] == [1]
    for name, column in found.items():
        np.testing.assert_array_equal(column, whole[name])
