"""Scans in pieces give what one scan gives, byte for byte; pieces of different scans are refused."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pickle
import re
import weakref
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.devices import gpu_shape
from helpers.pieces import check_combined, check_refusals, make_pieces, no_engine, outputs_of, spreads
from helpers.products import tried

from oclgenomics.app import jobs as app_jobs
from oclgenomics.app.jobs import KeptItems, Spread, make_piece, pieces_of
from oclgenomics.app.pieces import PieceFile, Shard
from oclgenomics.cli.main import main
from oclgenomics.errors import DeviceError, InputError, ParameterError
from oclgenomics.omega import (
    Run,
    Scan,
    ScanJob,
    ScanOptions,
    ThresholdJob,
    detect_sweeps,
    find_thresholds,
    iter_scan,
    jobs,
    read_thresholds,
    scan,
)
from oclgenomics.omega.formats.thresholds import as_json
from oclgenomics.omega.jobs import ScanShare
from oclgenomics.omega.plan import batch, shards, windows
from oclgenomics.omega.significance import Observation
from oclgenomics.omega.sites import open_alignments
from oclgenomics.runtime import Device, Engine
from oclgenomics.simulate import NeutralReplicates, Region
from oclgenomics.variation import Alignment, ReadOptions, sources

EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
WINDOWS = ["--grid", "50", "--minwin", "100", "--maxwin", "50000"]
MS = ["--length", "1M", *WINDOWS]
OPTIONS = ScanOptions(grid=50, minwin=100, maxwin=50_000)
LENGTH = ReadOptions(length=1_000_000)
OTHER_OPTIONS = {
    "grid": 51, "minwin": 101, "maxwin": 50_001, "minsnps": 6, "border": 3, "ld": "D", "precision": "compat",
    "kernel": "1", "maf": 0.1, "no_singletons": True, "binary": True, "impute": frozenset({"N"}), "seed": 5,
    "chunk_positions": 7,
}  # fmt: skip
OTHER_READING = {
    "length": 999_999, "format": "mbs", "samples": ("a",), "phase": "strict", "region": "20:5-",
    "exact_positions": True, "records": "raisd", "ancestral": True,
}  # fmt: skip


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small alignments cut, too."""
    monkeypatch.setattr(shards, "GRAIN", 2_000)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = {name: (EDGE / f"{name}.ms").read_text() for name in ("plain", "few", "six")}
    replicates = [
        text[name][text[name].index("//") :] for name in ("plain", "few", "six", "few", "plain", "six", "few")
    ]
    Path("many.ms").write_text(text["plain"][: text["plain"].index("//")] + "\n".join(replicates))
    for name in ("plain.ms", "few.ms", "twochrom.vcf", "phased.vcf", "unphased.vcf", "multiallelic.vcf"):
        Path(name).write_bytes((EDGE / name).read_bytes())
    Path("gaps.bed").write_text("chrA\t1000\t12000\nchrB\t1\t9999\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("plain.ms --length 1M", [1, 7]), ("few.ms --length 1M", [3]), ("many.ms --length 1M --maf 0.1", [3]),
        ("twochrom.vcf", [3, 7]),
    ],
)  # fmt: skip
def test_combined_is_what_one_scan_writes(
    device: Device, folder: Path, cut: None, words: str, numbers: list[int]
) -> None:
    command, outputs = ["omega", "scan", *words.split(), *WINDOWS], {"-o": "x.tsv", "--plot": "x.svg"}
    check_combined(command, ["-d", str(device.index)], outputs, folder, tried(numbers, whole=range(1, 8)))


@pytest.mark.parametrize(
    ("options", "given", "outputs"),
    [
        ("twochrom.vcf --exclude gaps.bed --minsnps 2", "--json", {"-o": "x.json", "--plot": "x.svg"}),
        ("phased.vcf --maf 0.1 --no-singletons", "", {"-o": "x.tsv.gz", "--samples-out": "names"}),
        ("unphased.vcf --border 4 --kernel 1", "--json --threshold 2.5", {"-o": "x.json", "--plot": "x.svg"}),
        ("multiallelic.vcf --binary --seed 3 --impute N --ld DOM", "", {"-o": "x.tsv"}),
    ],
)
def test_combined_takes_the_options_of_outputs(
    device: Device, folder: Path, cut: None, options: str, given: str, outputs: dict[str, str]
) -> None:
    command = ["omega", "scan", *options.split(), *WINDOWS]
    check_combined(command, ["-d", str(device.index)], outputs, folder, [3], given=given.split())


@pytest.mark.parametrize("words", ["plain.ms --length 1M", "multiallelic.vcf", "twochrom.vcf --ld ABSD"])
def test_combined_in_compat_precision(
    device: Device, folder: Path, cut: None, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    if not Engine(device).traits.fp64:
        pytest.skip("compat precision needs float64")
    monkeypatch.setattr(windows, "COMPAT_MAX_SPAN", 25)  # which narrows the windows of all positions
    command = ["omega", "scan", *words.split(), *WINDOWS, "--precision", "compat", "--format", "omegaplus"]
    check_combined([*command, "--all"], ["-d", str(device.index)], {"-o": "x"}, folder, [4])
    check_combined(command, ["-d", str(device.index)], {"-o": "x"}, folder, [3], given=["--no-separator"])


@pytest.mark.parametrize("when", ["with the pieces", "with combine"])
def test_a_report_for_each_alignment(device: Device, folder: Path, cut: None, when: str) -> None:
    words = ["omega", "scan", "many.ms", *MS, "-d", str(device.index), "-q"]
    Path("whole").mkdir()
    Path("combined").mkdir()
    assert main([*words, "--reports", "-o", "whole/x.tsv"]) == 0
    early = when == "with the pieces"
    pieces = make_pieces([*words, *["--reports"] * early], 3, folder)
    assert main(["omega", "combine", *pieces, *["--reports"] * (not early), "-o", "combined/x.tsv", "-q"]) == 0
    names = sorted(path.name for path in Path("whole").iterdir())
    assert len(names) == 7
    assert sorted(path.name for path in Path("combined").iterdir()) == names
    for name in names:
        whole, combined = (Path(where, name).read_text().splitlines() for where in ("whole", "combined"))
        assert [line for line in combined if not line.startswith("# ")] == [
            line for line in whole if not line.startswith("# ")
        ]


def test_messages_are_those_of_one_scan(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "omega",
        "scan",
        "unphased.vcf",
        *WINDOWS,
        "-d",
        str(device.index),
        "-o",
        "x",
        "--exclude",
        "gaps.bed",
        "-v",
    ]

    def told() -> list[str]:
        lines = capsys.readouterr().err.splitlines()
        kept = [line for line in lines if ": wrote" not in line and ": device " not in line]
        return [re.sub(r"[\d.]+ s\b|\([\d.,]+ million/s\)", "", line) for line in kept]  # without what is measured

    assert main(words) == 0
    expected = told()
    assert any("heterozygous and unphased" in line for line in expected)
    assert any("warning: --exclude gaps.bed: no chromosome" in line for line in expected)
    pieces = make_pieces(words[:-3] + words[-3:-1], 2, folder)
    capsys.readouterr()
    assert main(["omega", "combine", *pieces, "-o", "x", "-v"]) == 0
    assert told() == expected


def test_combining_reads_no_alignments(device: Device, folder: Path) -> None:
    words = ["omega", "scan", "plain.ms", *MS, "-d", str(device.index)]
    whole = outputs_of(words, {"-o": "x.json"}, folder / "whole")
    pieces = make_pieces(words, 3, folder)
    Path("plain.ms").unlink()
    with no_engine():
        assert outputs_of(["omega", "combine", *pieces], {"-o": "x.json"}, folder / "combined") == whole


def test_a_large_alignment_is_cut(device: Device, folder: Path, cut: None) -> None:
    """Each piece has a share of it, and scans no more than that."""
    job, total = ScanJob(("plain.ms",), OPTIONS, LENGTH), 0
    pieces = make_pieces(["omega", "scan", "plain.ms", *MS, "-d", str(device.index)], 3, folder)
    end, scores = 0, []
    for piece in pieces:
        share, found, last = list(PieceFile(piece).parts(job.KINDS))
        assert isinstance(share, ScanShare)
        assert isinstance(found, Scan)
        assert (share.number, share.begin) == (0, end)
        assert len(found.positions) == share.end - share.begin
        assert last.count == 1
        end, total = share.end, total + found.stats.scores
        scores.append(found.stats.scores)
    assert end == 50
    assert max(scores) < 0.6 * total


@pytest.fixture
def outgrown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Three alignments, of which the second one has sums in its last third that outgrow a format made too fine."""
    monkeypatch.setattr(batch, "fraction_bits", lambda *_: 46)
    rng = np.random.default_rng(3)
    independent = rng.integers(0, 2, (40, 300))
    linked = independent.copy()
    linked[:, 200:] = (np.arange(40) < 16)[:, None]
    text = ["ms 40 3", "3"]
    for states in (independent, linked, independent):
        places = " ".join(f"{(site + 0.5) / 300:.6f}" for site in range(300))
        rows = ["".join(map(str, row)) for row in states.tolist()]
        text += ["", "//", "segsites: 300", f"positions: {places}", *rows]
    Path("outgrown.ms").write_text("\n".join(text) + "\n")
    return "outgrown.ms"


OUTGROWN = ScanOptions(grid=60, minwin=100, maxwin=180_000)


def units_of(parts: Iterable[Any]) -> list[float]:
    return [part.unit for part in parts if isinstance(part, Scan)]


@pytest.mark.parametrize("number", [2, 3, 7])
def test_sums_that_outgrow_their_format_in_one_piece_are_coarser_in_all(
    device: Device, cut: None, outgrown: str, folder: Path, number: int
) -> None:
    where = str(device.index)
    whole = list(iter_scan(outgrown, OUTGROWN, reading=LENGTH, engine=where))
    units = units_of(whole)
    assert units[0] == units[2] < units[1]
    job, alone = ScanJob((outgrown,), OUTGROWN, LENGTH), set()
    with Engine(device) as engine:
        for one in range(1, number + 1):
            alone |= set(units_of(job.parts(engine, Run(), Shard(one, number))))
    assert {units[0], units[1]} <= alone
    with ThreadPoolExecutor(1) as executor:
        told: list[str] = []
        found = scan(
            outgrown, OUTGROWN, reading=LENGTH, engine=where, executor=Spread(executor, number, folder),
            on_result=lambda one: told.append(one.name),
        )  # fmt: skip
    assert units_of(found) == units
    assert told == [one.name for one in whole]
    for one, other in zip(found, whole, strict=True):
        same(one, other)


@pytest.mark.parametrize("shape", ["own", "gpu"])
def test_sums_that_no_window_holds_do_not_count(device: Device, shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linked sites of which two windows hold one half each, and a third one would be wide enough for nearly all."""
    monkeypatch.setattr(batch, "fraction_bits", lambda *_: 46)
    states = np.random.default_rng(3).integers(0, 2, (300, 40)).astype(np.int8)
    states[100:200] = np.arange(40) < 16
    alignment = Alignment.from_haplotypes(np.arange(300) * 3_333 + 1, states)
    if shape == "gpu" and device.family != "intel":
        pytest.skip("the kernels for GPUs run on GPUs, and on Intel's CPU runtime as a check")
    with Engine(device, tuning=gpu_shape(device) if shape == "gpu" else None) as engine:
        for grid, bits in ((4, 46), (31, 42)):
            (found,) = scan(alignment, ScanOptions(grid=grid, minwin=100, maxwin=180_000), engine=engine)
            assert found.unit == 2.0**-bits, grid


def test_combine_says_which_pieces_need_coarser_sums(
    device: Device, cut: None, outgrown: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    windows = ["--grid", "60", "--minwin", "100", "--maxwin", "180000", "--length", "1M", "-d", str(device.index)]
    command = ["omega", "scan", outgrown, *windows]
    expected = outputs_of(command, {"-o": "x.tsv"}, folder / "whole")
    pieces = make_pieces(command, 3, folder)
    capsys.readouterr()
    assert main(["omega", "combine", *pieces, "-o", "x.tsv", "-q"]) == 3
    told = capsys.readouterr().err
    assert not Path("x.tsv").exists()
    coarse, asked, bits = re.fullmatch(
        r"oclgenomics: error: (\S+): has sums of 2 that outgrew their format; "
        r"make (.*) again with --sum-bits (\S+), too\n", told,
    ).groups()  # type: ignore[union-attr]  # fmt: skip
    for shard in asked.split(", "):
        path = pieces[int(shard.split("/")[0]) - 1]
        assert path != coarse
        assert main([*command, "--shard", shard, "--sum-bits", bits, "-o", path, "-q"]) == 0
    assert outputs_of(["omega", "combine", *pieces], {"-o": "x.tsv"}, folder / "combined") == expected
    assert main([*command, "--sum-bits", bits, "-o", "x.tsv", "-q"]) == 2
    assert "--sum-bits has a meaning only with --shard" in capsys.readouterr().err
    for wrong in ("3", "a:1", "1:-2", ":"):
        assert main([*command, "--shard", "1/2", "--sum-bits", wrong, "-o", "x.piece", "-q"]) == 2
        assert "is no N:BITS" in capsys.readouterr().err


def test_options_that_matter_are_compared(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(OTHER_OPTIONS) == {field.name for field in fields(ScanOptions)}
    assert set(OTHER_READING) == {field.name for field in fields(ReadOptions)}
    job = ScanJob(("plain.ms",), ScanOptions(seed=1))
    for name, value in OTHER_OPTIONS.items():
        options = ScanOptions(**{"seed": 1, name: value})
        assert replace(job, options=options).parameters() != job.parameters(), name
    for name, value in OTHER_READING.items():
        assert replace(job, reading=ReadOptions(**{name: value})).parameters() != job.parameters(), name
    first = ["omega", "scan", "twochrom.vcf", *WINDOWS, "-d", str(device.index)]
    Path("names").write_text("s1\n")
    others = [
        ["omega", "scan", "phased.vcf", *first[3:]],
        [*first, "--exclude", "gaps.bed"],
        [*first, "--maf", "0.1"],
        [*first, "--phase", "ignore"],
    ]
    check_refusals("omega", first, others, folder, capsys)
    Path("other.bed").write_text("chrA\t1\t5\n")
    check_refusals("omega", others[1], [[*first, "--exclude", "other.bed"]], folder, capsys)


def test_names_of_samples_are_an_input(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["omega", "scan", "phased.vcf", *WINDOWS, "-d", str(device.index)]
    assert main([*words, "-o", "x", "--samples-out", "all", "-q"]) == 0
    lines = Path("all").read_text().splitlines(keepends=True)
    Path("some").write_text("".join(lines[:-2]))
    Path("others").write_text("".join(lines[2:]))
    check_refusals("omega", [*words, "--samples", "some"], [[*words, "--samples", "others"]], folder, capsys)
    outputs = {"-o": "x.tsv", "--samples-out": "names"}
    check_combined([*words[:-2], "--samples", "some"], words[-2:], outputs, folder, [2])


def same(found: Scan, expected: Scan) -> None:
    assert list(found.records()) == list(expected.records())
    for name in ("discarded", "data", "maxwin", "possible", "sites", "haplotypes", "digits", "parameters"):
        assert getattr(found, name) == getattr(expected, name), name
    assert (found.stats.scores, found.stats.pairs) == (expected.stats.scores, expected.stats.pairs)
    if expected.enough_sites is not None:
        np.testing.assert_array_equal(found.enough_sites, expected.enough_sites)


def test_executors_give_what_one_scan_gives(device: Device, folder: Path, cut: None) -> None:
    where, source = str(device.index), [str(folder / "many.ms"), folder / "plain.ms"]
    expected = scan(source, OPTIONS, reading=LENGTH, engine=where)
    assert len(expected) == 8
    told: list[str] = []
    rounds = list[str]()
    for spread in spreads():
        rounds += (one.name for one in expected)
        found = scan(
            source, OPTIONS, reading=LENGTH, engine=where, executor=spread, on_result=lambda one: told.append(one.name)
        )
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    assert told == rounds


def test_regions_of_a_file_are_excluded_by_executors(device: Device, folder: Path, cut: None) -> None:
    how: dict[str, Any] = {"exclude": folder / "gaps.bed", "engine": str(device.index)}
    expected = scan("twochrom.vcf", OPTIONS, **how)
    assert expected[0].discarded["excluded"] > 0
    told: list[tuple[int, int | None]] = []
    run = Run(progress=lambda done, total: told.append((done, total)))
    with ThreadPoolExecutor(2) as executor:
        scans = iter_scan("twochrom.vcf", OPTIONS, executor=Spread(executor, 4, folder), run=run, **how)
        for one, other in zip(scans, expected, strict=True):
            same(one, other)
    assert told == sorted(told)
    assert {total for _, total in told} == {sum(Path(name).stat().st_size for name in ("twochrom.vcf", "gaps.bed"))}


def test_workers_have_no_memory_of_this_process(device: Device, folder: Path) -> None:
    alignment = Alignment.from_haplotypes([1, 2], [[0, 1], [1, 0]])
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ParameterError, match="source must be a file with executor"):
            scan(alignment, OPTIONS, executor=executor)
        with pytest.raises(ParameterError, match="on_alignment cannot be called with executor"):
            scan("plain.ms", OPTIONS, executor=executor, on_alignment=lambda _: None)
        with pytest.raises(ParameterError, match="engine must be the name of a device"):
            scan("plain.ms", OPTIONS, engine=device, executor=executor)
        with pytest.raises(InputError, match="standard input: pieces of a job all read the input; give a file"):
            scan("-", OPTIONS, engine=str(device.index), executor=executor)


def test_pieces_that_saw_other_alignments_are_refused(
    device: Device, folder: Path, cut: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it would be with an input that changed, and has its time and its ends all the same."""
    words = ["omega", "scan", "many.ms", *MS, "-d", str(device.index), "-q"]
    first, second = make_pieces(words, 2, folder)
    monkeypatch.setattr(shards, "GRAIN", 1 << 40)
    assert main([*words, "--shard", "2/2", "-o", second]) == 0
    assert main(["omega", "combine", first, second, "-o", "out", "-q"]) == 3
    assert "saw other alignments than" in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-o", "-"], "--shard 1/2: name the file of the piece with -o"),
        (["-o", "x", "--plot", "y.svg"], "--plot y.svg: a piece is no whole result; give this option to combine"),
        (["-o", "x", "--samples-out", "y"], "--samples-out y: a piece is no whole result"),
        (["-o", "x", "--threshold", "2"], "--threshold 2: a piece has no figure; give this option to combine"),
        (["-o", "x", "--samples", "names"], "--samples has no effect: this input does not name its samples"),
    ],
)
def test_what_a_piece_does_not_have(
    device: Device, folder: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("names").write_text("a\n")
    assert main(["omega", "scan", "plain.ms", *MS, "-d", str(device.index), "--shard", "1/2", *words]) == 2
    assert told in capsys.readouterr().err
    assert not any(Path(name).exists() for name in ("x", "y", "y.svg"))


def test_a_job_is_the_same_in_another_process() -> None:
    job = ScanJob(("a.ms",), OPTIONS, LENGTH, "b.bed")
    again: Any = pickle.loads(pickle.dumps(job))
    assert again == job
    assert again.inputs() == ("a.ms", "b.bed")


# What is read once by a worker that does several pieces

SOURCES = {
    "plain": (("plain.ms",), None), "many": (("many.ms", "plain.ms"), None), "few": (("few.ms",), None),
    "excluded": (("twochrom.vcf",), "gaps.bed"),
}  # fmt: skip


class Worker:
    """A thread that does pieces of a job, as a process on a device does."""

    def __init__(self, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: list[Any] = []
        self.told: list[tuple[int, int | None]] = []
        self._device, self._threads = str(device.index), ThreadPoolExecutor(1)

        def opened(source: Any, *args: Any, **how: Any) -> Any:
            self.reads.append(source)
            return open_alignments(source, *args, **how)

        monkeypatch.setattr(jobs, "open_alignments", opened)

    def piece(self, job: Any, number: int, of: int, **how: Any) -> PieceFile:
        path, run = f"{number}of{of}.piece", Run(progress=lambda done, total: self.told.append((done, total)))
        how = how or {"device": self._device}
        self._threads.submit(make_piece, job, Shard(number, of), path, run=run, **how).result()
        return PieceFile(path)

    def scans(self, job: ScanJob, of: int) -> list[Scan]:
        pieces = [self.piece(job, number, of) for number in range(of, 0, -1)][::-1]
        parts = list(job.combined(pieces))
        assert [isinstance(part, Scan) for part in parts] == [False, True] * (len(parts) // 2)
        assert [bool(part.samples) for part in parts[2::2]] == [False] * len(parts[2::2])  # of the first one alone
        return [part for part in parts if isinstance(part, Scan)]


@pytest.fixture
def worker(device: Device, folder: Path, cut: None, monkeypatch: pytest.MonkeyPatch) -> Worker:
    return Worker(device, monkeypatch)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have alignments scanned before the next one is read."""
    monkeypatch.setattr(sources, "BATCH_SITES", 0)


def check_same(found: list[Scan], expected: Any) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        same(one, other)


@pytest.mark.parametrize("name", SOURCES)
def test_a_worker_reads_its_input_once(device: Device, worker: Worker, one_by_one: None, name: str) -> None:
    source, exclude = SOURCES[name]
    reading = ReadOptions() if exclude else LENGTH
    expected = scan(source, OPTIONS, reading=reading, exclude=exclude, engine=device)
    check_same(worker.scans(ScanJob(source, OPTIONS, reading, exclude), 3), expected)
    worker.told.clear()
    check_same(worker.scans(ScanJob(source, OPTIONS, reading, exclude), 5), expected)  # an equal job, cut otherwise
    assert worker.reads == [source]
    assert worker.told == [(done, len(expected)) for done in range(len(expected))] * 5
    other = ScanJob(source, replace(OPTIONS, maf=0.2), reading, exclude)
    check_same(worker.scans(other, 2), scan(source, other.options, reading=reading, exclude=exclude, engine=device))
    assert worker.reads == [source] * 2


def test_samples_without_effect_are_refused_whatever_is_kept(worker: Worker) -> None:
    job = ScanJob(("plain.ms",), OPTIONS, LENGTH)
    worker.piece(job, 1, 2)
    with pytest.raises(ParameterError, match="has no effect: this input does not name its samples"):
        worker.piece(replace(job, named=True), 2, 2)


def test_the_input_is_read_again_when_it_has_changed(device: Device, worker: Worker) -> None:
    job = ScanJob(("plain.ms",), OPTIONS, LENGTH)
    first = worker.piece(job, 1, 2)
    Path("plain.ms").write_bytes(Path("many.ms").read_bytes())
    second = worker.piece(job, 2, 2)
    with pytest.raises(InputError, match=r"the input plain\.ms was another one, or changed since"):
        pieces_of([first.name, second.name])
    found = [part for part in job.combined([worker.piece(job, 1, 2), second]) if isinstance(part, Scan)]
    check_same(found, scan("many.ms", OPTIONS, reading=LENGTH, engine=device))
    assert worker.reads == [job.source] * 2


@pytest.mark.parametrize("bound", ["bytes", "memory", "memory that others take meanwhile"])
def test_no_more_is_kept_than_there_is_room_for(
    device: Device, worker: Worker, one_by_one: None, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ScanJob(("many.ms",), OPTIONS, LENGTH)
    expected = scan(job.source, OPTIONS, reading=LENGTH, engine=device)
    sizes = [one.held_bytes() for one in job._prepared(Run())]
    worker.reads.clear()
    assert min(sizes) > 20 * 50  # positions and bits of sites, at least
    left = itertools.count(8 * sum(sizes), -sum(sizes)) if "others" in bound else itertools.repeat(4 * sum(sizes) - 4)
    monkeypatch.setattr(app_jobs, "KEPT_BYTES", sum(sizes) - (bound == "bytes"))
    monkeypatch.setattr(app_jobs, "available_memory", lambda: None if bound == "bytes" else next(left))
    monkeypatch.setattr(app_jobs, "KEPT_LOOK", 0)
    check_same(worker.scans(job, 3), expected)
    assert worker.reads == [job.source] * 3
    monkeypatch.setattr(app_jobs, "KEPT_BYTES", sum(sizes))
    monkeypatch.setattr(app_jobs, "available_memory", lambda: 4 * sum(sizes))
    worker.scans(replace(job, options=replace(OPTIONS, minsnps=3)), 3)
    assert worker.reads[3:] == [job.source]


def test_what_is_too_much_is_forgotten_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_jobs, "KEPT_BYTES", 30)
    kept, made = KeptItems[Any](keep=True), list[weakref.ref[Any]]()

    def read() -> Generator[Any, None, None]:
        for size in (10, 20, 1, 5):
            one = np.zeros(size, np.uint8)
            made.append(weakref.ref(one))
            yield one
            del one

    with closing(kept.walk("all", read, lambda one: one.nbytes)) as items:
        alive = [sum(other() is not None for other in made) for one in items]
    assert alive == [1, 2, 1, 1]
    assert sum(len(one) for one in kept.walk("all", read, len)) == 36
    assert len(made) == 8


def test_what_was_not_read_to_its_end_is_not_kept(
    device: Device, worker: Worker, one_by_one: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, scan_batch = ScanJob(("many.ms",), OPTIONS, LENGTH), jobs.scan_batch

    def refused(*_args: Any, **_how: Any) -> Any:
        raise DeviceError("is gone")

    monkeypatch.setattr(jobs, "scan_batch", refused)
    with pytest.raises(DeviceError, match="is gone"):
        worker.piece(job, 1, 2)
    monkeypatch.setattr(jobs, "scan_batch", scan_batch)
    check_same(worker.scans(job, 2), scan(job.source, OPTIONS, reading=LENGTH, engine=device))
    assert worker.reads == [job.source] * 2


def test_a_process_of_one_piece_keeps_nothing(device: Device, worker: Worker) -> None:
    """It gives an engine of its own, which it closes afterwards."""
    job = ScanJob(("plain.ms",), OPTIONS, LENGTH)
    with Engine(device) as engine:
        for number in (1, 2):
            worker.piece(job, number, 2, engine=engine)
    assert worker.reads == [job.source] * 2


# Replicates and what they say of omegas

SMALL = ["--grid", "12", "--minwin", "1k", "--maxwin", "30k"]
SIMULATED = [*SMALL, "--length", "200k", "--samples", "12", "--theta", "40", "--rho", "40", "--seed", "5"]
SWEPT = ["--model", "sweep", "--sweep-position", "80000", "--selection", "0.005"]
SOME = ScanOptions(grid=12, minwin=1_000, maxwin=30_000)
REGION = Region(12, 200_000, 10_000, theta=40, rho=40)


@pytest.fixture(scope="module")
def replicates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Neutral replicates, some with a sweep, and a report of one of them."""
    where = tmp_path_factory.mktemp("replicates")
    common = ["simulate", "omega", "--samples", "12", "--theta", "40", "--rho", "40", "--length", "200k", "--seed", "5"]
    for name, words in (
        ("neutral.ms.gz", ["--replicates", "19"]), ("sweeps.ms", ["--replicates", "4", *SWEPT]),
        ("one.ms", ["--replicates", "1", "--seed", "9"]),
    ):  # fmt: skip
        assert main([*common, *words, "-q", "-o", str(where / name)]) == 0
    scanned = ["omega", "scan", str(where / "one.ms"), "--length", "200k", *SMALL, "-q"]
    assert main([*scanned, "-o", str(where / "one.tsv"), "-d", "cpu"]) == 0
    (where / "gaps.bed").write_text("1\t50000\t90000\n")
    return where


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("{0}/neutral.ms.gz --length 200k --grid 12 --minwin 1k --maxwin 30k --fpr 0.1,0.3", [1, 3]),
        ("{0}/neutral.ms.gz --length 200k --scan {0}/one.tsv --sweeps {0}/sweeps.ms --site 80k --within 20k", [23]),
    ],
)
def test_combined_thresholds_are_those_of_one_run(
    device: Device, folder: Path, replicates: Path, words: str, numbers: list[int]
) -> None:
    command = ["omega", "threshold", *words.format(replicates).split()]
    check_combined(command, ["-d", str(device.index)], {"-o": "x.tsv"}, folder, numbers)


@pytest.mark.parametrize(
    "words",
    [
        "--replicates 20 --jobs 1",
        "--replicates 19 --jobs 1 --theta 35 --population-size 5k --scan {0}/one.tsv --peaks 2",
        "--replicates 19 --jobs 2 --sweeps {0}/sweeps.ms --site 80k --exclude {0}/gaps.bed",
        "--replicates 20 --jobs 1 --genotypes --missing 0.1 --fpr 0.2",
    ],
)
def test_pieces_simulate_the_replicates_of_one_run(device: Device, folder: Path, replicates: Path, words: str) -> None:
    command = ["omega", "threshold", *SIMULATED, *words.format(replicates).split()]
    check_combined(command, ["-d", str(device.index)], {"-o": "x.tsv"}, folder, [2])
    words_of_json = [*command, "-d", str(device.index), "--json"]

    def found(words: list[str]) -> dict[str, Any]:
        assert main([*words, "-o", "x.json", "-q"]) == 0
        record: dict[str, Any] = json.loads(Path("x.json").read_text())
        assert read_thresholds("x.json").maxima
        return {name: value for name, value in record.items() if name not in ("provenance", "checksum")}

    pieces = [str(folder / f"{number}of2.piece") for number in (1, 2)]
    assert found(["omega", "combine", *pieces, "--json"]) == found(words_of_json)


def test_thresholds_of_other_replicates_are_not_combined(
    device: Device, folder: Path, replicates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["-d", str(device.index)]
    first = ["omega", "threshold", *SIMULATED, "--replicates", "20", "--jobs", "1", *where]
    changes = [
        "--seed 6", "--replicates 21", "--theta 41", "--rho 41", "--length 201k",
        "--genotypes", "--missing 0.2", f"--exclude {replicates}/gaps.bed", "--fpr 0.1", "--grid 13", "--maf 0.1",
        f"--sweeps {replicates}/sweeps.ms --site 80k",
    ]  # fmt: skip
    others = [[*first, *change.split()] for change in changes]
    check_refusals("omega", first, others, folder, capsys)
    first = ["omega", "threshold", f"{replicates}/neutral.ms.gz", "--length", "200k", *SMALL, *where]
    others = [[*first, "--scan", f"{replicates}/one.tsv"], [*first[:2], f"{replicates}/sweeps.ms", *first[3:]]]
    check_refusals("omega", first, others, folder, capsys)
    with_sweeps = [*first, "--sweeps", f"{replicates}/sweeps.ms", "--site", "80k"]
    check_refusals(
        "omega", with_sweeps, [[*with_sweeps, "--site", "81k"], [*with_sweeps, "--within", "1k"]], folder, capsys
    )


def test_figures_are_not_of_thresholds(
    device: Device, folder: Path, replicates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["omega", "threshold", f"{replicates}/neutral.ms.gz", "--length", "200k", *SMALL, "-d", str(device.index)]
    pieces = make_pieces(words, 2, folder)
    for option in (["--plot", "x.svg"], ["--reports"], ["--samples-out", "y"]):
        assert main(["omega", "combine", *pieces, "-o", "x.tsv", *option]) == 2
        assert f"{option[0]}: `omega threshold` has no such option" in capsys.readouterr().err
    assert main(["omega", "combine", *pieces, "-o", "x.tsv", "--format", "omegaplus"]) == 2
    assert "--format omegaplus: choose one of tsv, json" in capsys.readouterr().err
    assert main(["omega", "combine", *pieces, "-o", f"{replicates}/neutral.ms.gz"]) == 2


def test_sweeps_that_do_not_suit_are_told_by_pieces(
    device: Device, folder: Path, replicates: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        "omega",
        "threshold",
        *SIMULATED,
        "--samples",
        "14",
        "--sweeps",
        f"{replicates}/sweeps.ms",
        "--site",
        "80k",
    ]
    assert main([*words, "--shard", "1/2", "-o", "x.piece", "-d", str(device.index)]) == 2
    assert "make both of the same number" in capsys.readouterr().err
    words = ["omega", "threshold", *SIMULATED, "--samples", "14", "--scan", f"{replicates}/one.tsv", "--jobs", "1"]
    assert main([*words, "--shard", "2/2", "-o", "x.piece", "-d", str(device.index)]) == 2
    assert "has 12 haplotypes and the replicates have 14" in capsys.readouterr().err
    assert not Path("x.piece").exists()


def test_executors_give_the_thresholds_of_one_run(device: Device, replicates: Path) -> None:
    where, neutral = str(device.index), NeutralReplicates(REGION, 3, 20)
    expected = find_thresholds(neutral, SOME, engine=where)
    length = ReadOptions(length=200_000)
    swept = detect_sweeps(
        replicates / "sweeps.ms", SOME, expected.thresholds, site=80_000, reading=length, engine=where
    )
    for spread in spreads([1, 7]):
        found = find_thresholds(neutral, SOME, engine=where, executor=spread)
        assert as_json(found, {}) == as_json(expected, {})
        sweeps = detect_sweeps(
            replicates / "sweeps.ms", SOME, expected.thresholds, site=80_000, reading=length, engine=where,
            executor=spread,
        )  # fmt: skip
        assert as_json(dataclasses.replace(found, sweeps=sweeps), {}) == as_json(
            dataclasses.replace(expected, sweeps=swept), {}
        )
    with ThreadPoolExecutor(1) as executor, pytest.raises(ParameterError, match="source must be a file with executor"):
        find_thresholds(iter(neutral), SOME, executor=executor)


def test_a_worker_reads_replicates_once(device: Device, worker: Worker, replicates: Path) -> None:
    neutral, sweeps = ((str(replicates / name),) for name in ("neutral.ms.gz", "sweeps.ms"))
    job = ThresholdJob(neutral, SOME, ReadOptions(length=200_000), sweeps=sweeps, observation=Observation(missing=0.1))
    expected = list(job.parts(device, Run()))
    worker.reads.clear()
    pieces = [worker.piece(job, number, 3) for number in (1, 2, 3)]
    assert [repr(one) for one in job.combined(pieces)] == [repr(one) for one in expected]
    assert worker.reads == [neutral, sweeps]


def test_replicates_by_themselves_are_those_of_all() -> None:
    neutral = NeutralReplicates(REGION, 7, 9)
    every = list(neutral)
    assert [one.name for one in every] == [str(number) for number in range(1, 10)]
    for begin, end in ((0, 0), (0, 4), (4, 9), (8, 9)):
        for one, other in zip(neutral.between(begin, end), every[begin:end], strict=True):
            assert one.replicate == other.replicate
            np.testing.assert_array_equal(one.bits, other.bits)
            np.testing.assert_array_equal(one.positions, other.positions)


def test_all_that_is_asked_of_replicates_is_compared() -> None:
    job = ThresholdJob(NeutralReplicates(REGION, 7, 9), SOME, observation=Observation())
    for name, value in {"genotypes": True, "missing": 0.1, "chromosome": "1", "first": 2, "room": 3, "seed": 4}.items():
        other = replace(job, observation=Observation(**{name: value}))
        assert other.parameters() != job.parameters()
    changed = {"seed": 8, "replicates": 10, "engine": "msprime", "region": replace(REGION, rho=41)}
    for name, value in changed.items():
        assert replace(job, neutral=replace(job.neutral, **{name: value})).parameters() != job.parameters()
    assert replace(job, neutral=replace(job.neutral, jobs=3)).parameters() == job.parameters()
    again: Any = pickle.loads(pickle.dumps(job))
    assert again == job
    full = ThresholdJob(("n.ms",), SOME, exclude="b.bed", sweeps=("s.ms",), report="r.tsv", questions={"fpr": "0.1"})
    assert full.inputs() == ("n.ms", "s.ms", "b.bed", "r.tsv")
    assert full.parameters()["fpr"] == "0.1"


def test_an_input_is_read_once_by_a_process(
    device: Device, cut: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it is the same file, read and scanned in the same way, and not too large."""
    read: list[str] = []
    opened = jobs.open_alignments

    def noted(source: Any, *args: Any, **how: Any) -> Any:
        read.append(str(source))
        return opened(source, *args, **how)

    monkeypatch.setattr(jobs, "open_alignments", noted)
    data = tmp_path / "two.ms"
    data.write_bytes((EDGE / "plain.ms").read_bytes())
    job = ScanJob((str(data),), OPTIONS, LENGTH)

    def pieces(job: ScanJob, *numbers: int) -> list[bytes]:
        made = []
        for number in numbers:
            path = str(tmp_path / f"{number}.piece")
            make_piece(job, Shard(number, 3), path, device=str(device.index))
            scans = [part for part in PieceFile(path).parts(job.KINDS) if isinstance(part, Scan)]
            made.append(b"".join(scan.omega.tobytes() for scan in scans))
        return made

    first = pieces(job, 1, 2, 3, 1)
    assert len(read) == 1
    assert first[0] == first[3]
    assert len(set(first)) > 1
    pieces(replace(job, options=replace(OPTIONS, grid=7)), 1)
    assert len(read) == 2
    assert pieces(job, 1) == first[:1]
    assert len(read) == 3
    data.write_bytes(data.read_bytes() + b"\n")
    pieces(job, 1, 2)
    assert len(read) == 4
    monkeypatch.setattr(app_jobs, "KEPT_BYTES", 100)
    data.write_bytes(data.read_bytes() + b"\n")
    assert pieces(job, 1, 2, 3, 1) == first
    assert len(read) == 8


def test_what_is_kept_is_not_kept_where_no_piece_follows(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[bool] = []
    made = KeptItems.__init__
    monkeypatch.setattr(KeptItems, "__init__", lambda one, *, keep: (kept.append(keep), made(one, keep=keep))[1])
    job = ScanJob((str(EDGE / "plain.ms"),), OPTIONS, LENGTH)
    with Engine(device) as engine:
        make_piece(job, Shard(1, 2), str(tmp_path / "1.piece"), engine=engine)
    make_piece(job, Shard(1, 2), str(tmp_path / "1.piece"), device=str(device.index))
    assert kept == [False, True]
