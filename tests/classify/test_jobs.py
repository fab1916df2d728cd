"""Queries in pieces: they give the bytes of one run, whatever the cut, the inputs and the outputs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields, replace
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.classified import DATA
from helpers.classify_builds import assert_equal
from helpers.classify_databases import edge_database
from helpers.products import only_whole

from oclgenomics.app.jobs import Spread, make_piece, pieces_of
from oclgenomics.app.pieces import InputMark, PieceRecord, Shard, in_order
from oclgenomics.app.spread import _OnWorkers
from oclgenomics.classify import (
    ClassifiedReads,
    Input,
    QueryJob,
    QueryOptions,
    Run,
    Wanted,
    iter_query,
    query,
)  # fmt: skip
from oclgenomics.classify.database.file import read_database, write_database
from oclgenomics.classify.formats.words import LineReport
from oclgenomics.classify.index import Index
from oclgenomics.classify.jobs import cut_reads
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, ParameterError
from oclgenomics.io.file_slice import FileSlice
from oclgenomics.runtime import Device, Engine, select_devices

EDGE = DATA / "edge"
READS = 60
COUNTS = ("kreport", "abundances", "krona", "cami-profile")
SUMMARIES = (*COUNTS, "cami", "bracken", "hits-per-ref")
FLIPPED: dict[str, Any] = {
    "hitmin": 3, "hitdiff": 0.5, "maxcand": 3, "lowest": "genus", "highest": "genus", "insertsize": 99, "winstride": 5,
    "sketchlen": 3, "repeats": True, "min_readlen": 9, "max_readlen": 99, "cov_percentile": 0.5, "texts": True,
    "all_hits": True, "any_mates": True, "limit": 7, "features": True, "confidence": 0.1, "error_rate": 0.1,
    "min_distinct": 5, "min_coverage": 0.1, "min_evenness": 0.2,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database, and reads of its targets and of nothing: single, mates in two files, and mates behind each other."""
    folder = tmp_path_factory.mktemp("pieces")
    words = [f"{folder}/db", f"{EDGE}/edge_ref.fna", "--taxonomy", f"{EDGE}", "-q", "-d", f"{device.index}"]
    assert main(["classify", "build", *words]) == 0
    random = np.random.default_rng(5)
    records = [record.split("\n", 1) for record in (EDGE / "edge_ref.fna").read_text().split(">")[1:]]
    targets = [(head, letters.replace("\n", "")) for head, letters in records]
    targets = [(head, letters) for head, letters in targets if len(letters) > 200]

    def reads(name: str, mates: str = "", count: int = READS) -> list[str]:
        found = []
        for number in range(count):
            head, letters = targets[int(random.integers(len(targets)))]
            size = int(random.integers(60, 160))
            begin = int(random.integers(len(letters) - size))
            text = letters[begin : begin + size] if number % 7 else "".join(random.choice(list("ACGT"), size))
            found.append(f"@{name}{number}{mates} {head}\n{text}\n+\n{'@' * size}\n")
        return found

    (folder / "a.fq").write_text("".join(reads("a")))
    (folder / "b.fa").write_text(EDGE.joinpath("edge_reads.fa").read_text())
    (folder / "none.fq").write_text("")
    for mate in (1, 2):
        for name, count in (("p", READS), ("q", 5)):
            (folder / f"{name}_{mate}.fq").write_text("".join(reads(name, f"/{mate}", count)))
    both = zip(reads("i", "/1"), reads("i", "/2"), strict=True)
    (folder / "i.fq").write_text("".join(one for pair in both for one in pair))
    return folder


def run(device: Device, *words: object) -> int:
    return main(["classify", *map(str, words), "-q", *([] if words[0] == "combine" else ["-d", str(device.index)])])


def outputs_of(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in place.iterdir()}


SINGLES = ["a.fq", "none.fq", "b.fa", "a.fq"]
PAIRS = ["--paired", "p_1.fq", "p_2.fq", "--paired", "q_1.fq", "q_2.fq"]
ALL_OF_READS = ["--tophits", "--allhits", "--locations", "--ground-truth", "--precision", "--queryids", "--lineage"]
FORMS = {
    "native": (SINGLES, ALL_OF_READS, []),
    "native, no lines": (SINGLES, ["--no-map", "--precision"], ["--taxids"]),
    "summaries": ([*SINGLES, *PAIRS], ["--format", "kraken"], ["SUMMARIES"]),
    "shares of calls": (PAIRS, ["--hitmin", "2", "--repeats", "--format", "tsv"], ["SUMMARIES"]),
    "texts": ([*SINGLES, *PAIRS], ["--classified-out", "OUT/c#.fq", "--unclassified-out", "OUT/u.fq.gz", "--json"], []),
    "interleaved": (["i.fq", "--interleaved", *PAIRS], ["--hitmin", "1", "--maxcand", "4"], ["--tophits"]),
    "coverage": (SINGLES, ["--hitmin", "2", "--cov-percentile", "0.6", "--maxcand", "3"], ["--tophits", "SUMMARIES"]),
    "lines of what is covered": (SINGLES, ["--hitmin", "2", "--cov-percentile", "0.6"], []),
    "limit": ([*SINGLES, *PAIRS], ["--query-limit", "3"], ["--queryids"]),
    "counts": ([*SINGLES, *PAIRS], ["--mapped-only", "--separator", ";"], ["COUNTS", "--no-summary"]),
    "evidence": ([*SINGLES, *PAIRS], ["--minimizer-data", "--format", "tsv"], ["--evidence", "OUT/taxa", "COUNTS"]),
    "shares": ([*SINGLES, *PAIRS], [], ["--shares", "OUT/shares", "--per-genome", "--bootstrap", "20"]),
    "support": (SINGLES, ["--min-distinct", "40", "--min-evenness", "0.5", "--min-coverage", "0.02"], ["COUNTS"]),
    "truth": (SINGLES, ["--ground-truth", "--allhits", "--tophits"], ["--comment", "% "]),
}


def spelled(words: list[str], folder: Path, out: Path) -> list[str]:
    """The words with the files that they mean."""
    found = []
    for word in words:
        if word == "SUMMARIES":
            found += [part for name in SUMMARIES for part in (f"--{name}", f"{out}/{name}")]
            found += ["--abundance-per", "species"]
        elif word == "COUNTS":
            found += [part for name in COUNTS for part in (f"--{name}", f"{out}/{name}")]
        else:
            found.append(f"{folder}/{word}" if (folder / word).exists() else word.replace("OUT", str(out)))
    return found


Whole = Callable[..., dict[str, bytes]]


@pytest.fixture(scope="module")
def whole(device: Device, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Do a query in one run, once for all tests that compare with it; its files."""

    @functools.cache
    def done(*words: str) -> dict[str, bytes]:
        place = tmp_path_factory.mktemp("one")
        assert run(device, "query", folder / "db", *spelled([*words], folder, place), "-o", place / "out") == 0
        return outputs_of(place)

    return done


@pytest.mark.each_value
@pytest.mark.parametrize("of", [1, 3, 7])
@pytest.mark.parametrize("form", FORMS)
def test_pieces_give_the_files_of_one_run(
    device: Device, folder: Path, whole: Whole, form: str, of: int, tmp_path: Path
) -> None:
    inputs, early, late = FORMS[form]
    many = tmp_path / "many"
    many.mkdir()
    words = [folder / "db", *spelled(inputs, folder, many)]
    pieces = [tmp_path / f"{number}.piece" for number in range(1, of + 1)]
    for number, piece in enumerate(pieces, 1):
        shown = spelled(early, folder, many)
        assert run(device, "query", *words, *shown, "--shard", f"{number}/{of}", "-o", piece) == 0
    assert not outputs_of(many)
    texts = [word for word in spelled(early, folder, many) if form == "texts" and word != "--json"]
    assert run(device, "combine", *pieces[::-1], *texts, *spelled(late, folder, many), "-o", many / "out") == 0
    assert outputs_of(many) == whole(*inputs, *early, *late)


@pytest.fixture
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def joined(parts: Iterable[ClassifiedReads]) -> list[Any]:
    """All that is known of each read."""
    found = []
    for part in parts:
        columns = zip(*(getattr(part.candidates, field.name) for field in fields(part.candidates)), strict=True)
        texts = list(zip(*part.texts, strict=True)) or [()] * len(part)
        hits = [None] * len(part)
        if part.located is not None:
            ends = part.located.offsets.tolist()
            rows = list(zip(part.located.targets.tolist(), part.located.windows.tolist(), strict=True))
            hits = [rows[begin:end] for begin, end in pairwise(ends)]
        for at, (name, numbers) in enumerate(zip(part.reads.names, columns, strict=True)):
            call = int(part.calls.taxon[at]), int(part.calls.hitmin[at])
            shown = [one.tolist() for one in numbers]
            found.append((part.reads.number + at, part.reads.source, name, shown, call, texts[at], hits[at]))
    return found


@pytest.mark.parametrize("of", [1, 3, 70, *only_whole(2, 4, 5, 6, 7, 150)])
def test_any_number_of_pieces(device: Device, folder: Path, of: int, threads: Executor) -> None:
    how: dict[str, Any] = {"paired": [(folder / "p_1.fq", folder / "p_2.fq")], "wanted": Wanted(True, True)}
    reads, options = [folder / name for name in SINGLES], QueryOptions(2, cov_percentile=0.4)
    for chosen in (None, options) if of < READS else (options,):
        one = query(reads, folder / "db", chosen, engine=device, **how)
        many = query(reads, folder / "db", chosen, executor=Spread(threads, of, device=f"{device.index}"), **how)
        assert joined(many.parts) == joined(one.parts)
        assert many.records() == one.records()


def test_processes(device: Device, folder: Path) -> None:
    how: dict[str, Any] = {"interleaved": True, "wanted": Wanted(texts=True)}
    one = iter_query([folder / "i.fq"], folder / "db", engine=device, **how)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        spread = Spread(pool, 3, folder, str(device.index), 1 << 30)
        many = joined(iter_query([folder / "i.fq"], folder / "db", executor=spread, **how))
    assert many == joined(one)
    assert not list(folder.glob("oclgenomics-*"))


def test_workers(device: Device, folder: Path, tmp_path: Path) -> None:
    """Those that the command starts itself: a process on each device."""
    words = ["query", folder / "db", folder / "a.fq", "--allhits", "--precision"]
    outputs = [["-o", tmp_path / f"{who}.txt", "--unclassified-out", tmp_path / f"{who}.fq"] for who in ("one", "many")]
    assert run(device, *words, *outputs[0]) == 0
    assert main([*map(str, ["classify", *words, *outputs[1], "--workers", device.index, "-q"])]) == 0
    for ending in ("txt", "fq"):
        assert (tmp_path / f"many.{ending}").read_bytes() == (tmp_path / f"one.{ending}").read_bytes()
    build = ["classify", "build", f"{tmp_path}/db", f"{EDGE}/edge_ref.fna", "--taxonomy", f"{EDGE}", "-q"]
    assert main([*build, "--workers", f"{device.index}"]) == 0
    assert_equal(read_database(tmp_path / "db"), read_database(folder / "db"))


def brought_lines(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, bool]]:
    """What is known of the parts that are written: whether they bring lines, and nothing else of single reads."""
    seen: list[tuple[bool, bool]] = []
    brought = LineReport.brought

    def watched(report: LineReport, part: ClassifiedReads) -> memoryview | None:
        lines = brought(report, part)
        seen.append((lines is not None, len(part) > 0 == len(part.reads.names) == len(part.candidates)))
        return lines

    monkeypatch.setattr(LineReport, "brought", watched)
    return seen


class ThreadOfADevice(ThreadPoolExecutor):
    """In the place of a `DevicePool`: a thread of this process."""

    def __init__(self, devices: str) -> None:
        super().__init__(1)
        self.devices = select_devices(devices)


NEED_MORE = {
    "cami": (SINGLES, [], ["--cami", "OUT/cami"]),
    "hits": (SINGLES, ["--format", "tsv"], ["--hits-per-ref", "OUT/hits"]),
    "bracken": (SINGLES, [], ["--bracken", "OUT/bracken"]),
    "abundances": (SINGLES, [], ["--abundances", "OUT/abundances", "--abundance-per", "genus"]),
}
NOT_BROUGHT = {"native", "coverage", "lines of what is covered", "support", "limit"}
NOT_ALONE = {"summaries", "evidence", "shares", "shares of calls", *NEED_MORE}
LATE: list[tuple[str, list[str]]] = [  # whose lines they are
    ("native", ["--format", "native", "--comment", "; ", "--no-summary"]),
    *[("other", ["--format", "native", *more]) for more in (["--tophits"], ["--no-map"], ["--separator", ";"])],
    *[(lines, ["--format", lines]) for lines in ("kraken", "tsv", "json")],
]


@pytest.mark.parametrize("form", [*FORMS, *NEED_MORE])
def test_workers_make_the_lines(
    device: Device, folder: Path, whole: Whole, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else of single reads comes from them, unless it is asked for."""
    inputs, early, late = {**FORMS, **NEED_MORE}[form]
    seen = brought_lines(monkeypatch)
    monkeypatch.setenv("OCLGENOMICS_DEVICE", f"{device.index}")
    monkeypatch.setattr("oclgenomics.app.pools.DevicePool", ThreadOfADevice)
    opened = mock.Mock(side_effect=_OnWorkers.engine)
    monkeypatch.setattr(_OnWorkers, "engine", lambda work: opened(work))
    expected = whole(*inputs, *early, *late)
    assert not opened.called
    seen.clear()
    words = [*spelled([*inputs, *early, *late], folder, tmp_path), "-o", tmp_path / "out"]
    assert main(["classify", "query", *map(str, [folder / "db", *words, "-q", "--workers", device.index])]) == 0
    assert outputs_of(tmp_path) == expected
    assert len(seen) > 3
    assert set(seen) == {(form not in NOT_BROUGHT, form not in NOT_BROUGHT | NOT_ALONE)}
    assert opened.called == (form in NOT_BROUGHT | NOT_ALONE)


@pytest.mark.parametrize("early", ["native", "kraken", "tsv", "json"])
def test_lines_are_made_once(
    device: Device, folder: Path, whole: Whole, early: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless others are asked for where pieces are combined."""
    words = [folder / "db", *spelled([*SINGLES, *PAIRS], folder, tmp_path)]
    assert run(device, "query", *words, "--format", early, "--shard", "1/1", "-o", tmp_path / "piece") == 0
    seen = brought_lines(monkeypatch)
    for lines, late in LATE:
        expected = whole(*SINGLES, *PAIRS, *late)
        seen.clear()
        assert run(device, "combine", tmp_path / "piece", *late, "-o", tmp_path / "many") == 0
        assert {"out": (tmp_path / "many").read_bytes()} == expected
        assert set(seen) == {(lines == early, False)}


def test_coverage_is_that_of_all_pieces(device: Device, folder: Path, threads: Executor) -> None:
    """Covering each piece by itself would give another result, as does none at all."""
    options = QueryOptions(2, cov_percentile=0.6, maxcand=3)
    names = [folder / "a.fq", folder / "p_1.fq"]
    whole = query(names, folder / "db", options, engine=device)
    alone = [part for name in names for part in query([name], folder / "db", options, engine=device).parts]
    none = query(names, folder / "db", replace(options, cov_percentile=0.0), engine=device)
    columns = [
        np.concatenate([part.candidates.targets for part in parts]) for parts in (whole.parts, alone, none.parts)
    ]
    assert not np.array_equal(columns[0], columns[1])
    assert not np.array_equal(columns[0], columns[2])
    many = query(names, folder / "db", options, executor=Spread(threads, 2, device=f"{device.index}"))
    assert joined(many.parts) == joined(whole.parts)


def test_no_input_is_cut_that_has_a_limit(folder: Path) -> None:
    inputs = [Input(f"{folder}/{name}") for name in SINGLES] + [Input(f"{folder}/p_1.fq", f"{folder}/p_2.fq")]
    for of in range(1, 9):
        cut = [cut_reads(inputs, Shard(number, of), whole=True) for number in range(1, of + 1)]
        assert [one for part in cut for one in part] == inputs
        assert max(map(len, cut)) <= -(-len(inputs) // of)


def test_inputs_are_cut_between_pairs(folder: Path) -> None:
    inputs = [Input(f"{folder}/i.fq", None, True), Input(f"{folder}/p_1.fq", f"{folder}/p_2.fq")]
    cut = [cut_reads(inputs, Shard(number, 8), whole=False) for number in range(1, 9)]
    assert all(isinstance(name, FileSlice) for part in cut for one in part for name in (one.path, one.mates) if name)
    assert all(one.interleaved == (one.mates is None) for part in cut for one in part)
    assert [len(part) for part in cut].count(1) >= 7
    mixed = [*inputs, Input(f"{folder}/a.fq")]  # which are single reads
    assert [cut_reads(mixed, Shard(number, 3), whole=False) for number in (1, 2, 3)] == [[one] for one in mixed]


def test_all_that_matters_is_compared(folder: Path, tmp_path: Path) -> None:
    write_database(tmp_path / "other.db", edge_database())
    job = QueryJob((Input(f"{folder}/p_1.fq"), Input(f"{folder}/p_2.fq")), f"{folder}/db", QueryOptions())
    names = {field.name for kind in (QueryOptions, Wanted) for field in fields(kind)}
    assert names == FLIPPED.keys()

    def record(number: int, job: QueryJob) -> tuple[str, PieceRecord]:
        marks = tuple(InputMark.of(name) for name in job.inputs())
        return f"{number}", PieceRecord(job.NAME, "1", Shard(number, 2), job.parameters(), marks, {}, {})

    assert in_order([record(2, job), record(1, replace(job))]) == [1, 0]
    others = [
        replace(job, reads=(Input(f"{folder}/p_1.fq", f"{folder}/p_2.fq"),)),
        replace(job, reads=tuple(Input(one.path, None, True) for one in job.reads)),
        replace(job, reads=job.reads[::-1]),
        replace(job, reads=(*job.reads, Input(f"{folder}/a.fq"))),
        replace(job, file=f"{tmp_path}/other.db"),
    ]
    for name, value in FLIPPED.items():
        kind = "options" if hasattr(job.options, name) else "wanted"
        others.append(replace(job, **{kind: replace(getattr(job, kind), **{name: value})}))
    for other in others:
        with pytest.raises(InputError, match="combine pieces of one command"):
            in_order([record(1, job), record(2, other)])


def test_files_are_named_as_where_pieces_are_combined(device: Device, folder: Path, tmp_path: Path) -> None:
    """Machines may have the same files in different places."""
    job = QueryJob((Input(f"{folder}/a.fq"), Input(f"{folder}/b.fa")), f"{folder}/db", QueryOptions())
    for name in ("a.fq", "b.fa", "db"):
        os.link(folder / name, tmp_path / name)
    moved = QueryJob(
        tuple(Input(f"{tmp_path}/{Path(one.path).name}") for one in job.reads), f"{tmp_path}/db", job.options
    )
    with Engine(device) as engine:
        whole = joined(job.parts(engine, Run()))
        for number, one in ((1, job), (2, moved)):
            make_piece(one, Shard(number, 2), f"{tmp_path}/{number}.piece", engine=engine)
    found = joined(job.combined(pieces_of([f"{tmp_path}/1.piece", f"{tmp_path}/2.piece"])))
    assert found == whole
    (tmp_path / "other").write_bytes((folder / "db").read_bytes())
    with pytest.raises(InputError, match=r"other: is not the file that .*1.piece was made with, or has changed since"):
        list(replace(job, file=f"{tmp_path}/other").combined(pieces_of([f"{tmp_path}/{i}.piece" for i in (1, 2)])))


def test_the_database_stays_open(
    device: Device, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: Executor
) -> None:
    opened: list[Index] = []
    monkeypatch.setattr(
        "oclgenomics.classify.jobs.Index", lambda *given, **how: opened.append(Index(*given, **how)) or opened[-1]
    )
    os.link(folder / "db", tmp_path / "db")
    job = QueryJob((Input(f"{folder}/a.fq"), Input(f"{folder}/b.fa")), f"{folder}/db", QueryOptions())
    with ThreadPoolExecutor(1) as pool:

        def make(one: QueryJob, number: int) -> None:
            pool.submit(make_piece, one, Shard(number, 2), f"{tmp_path}/{number}", device=f"{device.index}").result()

        for number in (1, 2, 1):
            make(job, number)
        assert len(opened) == 1
        make(replace(job, file=f"{tmp_path}/db"), 1)
        assert len(opened) == 2
    assert opened[0].engine is opened[1].engine


@pytest.mark.parametrize(
    ("early", "late", "message"),
    [
        (
            [],
            ["--classified-out", "c.fq"],
            "--classified-out: the pieces have no texts of reads; give this option with",
        ),
        ([], ["--precision"], "--precision: the pieces have no texts of reads"),
        ([], ["--allhits"], "--allhits: the pieces have no windows that were hit; give this option with --shard, too"),
        (["--kreport", "k"], [], "--kreport k: a piece is no whole result; give this option to combine"),
        (["-o", "-"], [], "--shard 1/1: name the file of the piece with -o"),
        (["--format", "kraken"], ["--tophits"], "--tophits is for --format native, not for kraken"),
        ([], ["--abundance-per", "genus"], "--abundance-per needs --abundances FILE"),
        ([], ["-o", "a.fq"], "the same file as the input"),
    ],
)
def test_what_is_refused(
    device: Device, folder: Path, early: list[str], late: list[str], message: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    os.link(folder / "a.fq", "a.fq")
    status = run(device, "query", folder / "db", "a.fq", "--shard", "1/1", "-o", "piece", *early)
    if not status:
        status = run(device, "combine", "piece", "-o", "out", *late)
    assert status == 2
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_errors_say_where_the_part_begins(device: Device, folder: Path, tmp_path: Path, threads: Executor) -> None:
    """Records are counted from there; nobody knows how many come before."""
    one, two = tmp_path / "1.fq", tmp_path / "2.fq"
    records = [f"@r{number}\nACGTACGT\n+\nIIIIIIII\n" for number in range(99)]
    for path, name in ((one, "@r90"), (two, "@x90")):
        path.write_text("".join(records).replace("@r90", name))
    how: dict[str, Any] = {"executor": Spread(threads, 2, device=f"{device.index}"), "paired": [(one, two)]}
    with pytest.raises(InputError, match=r"1\.fq from stored byte \d+ on \+ .*2\.fq from .* 'r90' and 'x90'"):
        query([], folder / "db", **how)


def test_standard_input_cannot_be_cut(device: Device, folder: Path, threads: Executor) -> None:
    with pytest.raises(InputError, match="standard input: pieces of a job all read the input; give a file"):
        query("-", folder / "db", executor=Spread(threads, 2, device=f"{device.index}"))
    with Index(folder / "db", engine=device) as index, pytest.raises(ParameterError, match="database must be a file"):
        query(folder / "a.fq", index.database, executor=threads)


def test_combining_needs_no_device_and_no_reads(device: Device, folder: Path, tmp_path: Path) -> None:
    os.link(folder / "a.fq", tmp_path / "a.fq")
    assert run(device, "query", folder / "db", tmp_path / "a.fq", "-o", tmp_path / "one") == 0
    assert run(device, "query", folder / "db", tmp_path / "a.fq", "--shard", "1/1", "-o", tmp_path / "piece") == 0
    os.unlink(tmp_path / "a.fq")
    with mock.patch("oclgenomics.runtime.Engine", side_effect=AssertionError("no device")):
        assert run(device, "combine", tmp_path / "piece", "-o", tmp_path / "many") == 0
    assert (tmp_path / "many").read_bytes() == (tmp_path / "one").read_bytes()
