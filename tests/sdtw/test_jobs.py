"""Alignments and classifications in pieces give what one run gives, byte for byte; other pieces are refused."""

from __future__ import annotations

import functools
import os
import pickle
import shutil
from collections.abc import Callable, Sequence
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
from helpers.sdtw_oracle import small_squiggle
from helpers.signal_files import WRITERS, need, npy_bytes
from hypothesis import given, strategies as st

from oclgenomics.app.jobs import Spread
from oclgenomics.app.pieces import PieceFile, Shard
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, ParameterError, UsageError
from oclgenomics.runtime import Device
from oclgenomics.sdtw import (
    AlignJob,
    Alignments,
    AlignOptions,
    Classified,
    ClassifyJob,
    Run,
    Stage,
    Thresholds,
    align,
    classify,
    iter_align,
    iter_classify,
    jobs as sdtw_jobs,
    plan,
    write_thresholds,
)
from oclgenomics.sdtw.device import reads as device_reads
from oclgenomics.sdtw.device.strips import ReferenceStrips
from oclgenomics.sdtw.formats.squiggle import write_squiggle
from oclgenomics.sdtw.jobs import ReadRows
from oclgenomics.sdtw.plan import cut_files
from oclgenomics.sdtw.squiggles import opened
from oclgenomics.signals import FilePart, Signals, TrimOptions, write_signals

RNG = np.random.default_rng(21)
REFERENCES = {name: small_squiggle(name, 80 + 12 * RNG.standard_normal(120)) for name in ("target", "decoy")}
LENGTHS = (700, 400, 650, 90, 500, 30, 320, 1, 610, 130, 480)
NAMES = [f"00000000-0000-4000-8000-{number:012}" for number in range(len(LENGTHS))]  # as POD5 wants them
THRESHOLDS = Thresholds((Stage(100, 0, -200), Stage(300, 0)), AlignOptions(), "difference")
STAGES = ["--stages", "100:-200..0,300:0"]
BOTH = ["--reference", "target.sdtw", "--decoy", "decoy.sdtw"]


def made_signals() -> Signals:
    """Reads of stretches of the target and the decoy in turn, some too short for a prefix."""
    reads = []
    for number, length in enumerate(LENGTHS):
        levels = REFERENCES["decoy" if number % 3 == 1 else "target"].levels
        signal = np.repeat(levels[number : number + 100], 9)[:length]
        reads.append((10 * signal + RNG.normal(0, 10, length)).astype(np.int16))
    return Signals.of(reads, NAMES)


SIGNALS = made_signals()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """References, thresholds, and reads in a file and, in other files, in a folder."""
    write_signals(tmp_path / "reads.npz", SIGNALS)
    (tmp_path / "run" / "more").mkdir(parents=True)
    write_signals(tmp_path / "run" / "b.npz", SIGNALS.take(np.arange(4)))
    write_signals(tmp_path / "run" / "none.npz", Signals.of([]))
    (tmp_path / "run" / "more" / "a.npy").write_bytes(npy_bytes(np.stack([SIGNALS.read(0)[:400]] * 3)))
    for name, reference in REFERENCES.items():
        write_squiggle(tmp_path / f"{name}.sdtw", reference)
    write_thresholds(tmp_path / "thresholds.json", THRESHOLDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plan, "READS_TOGETHER", 1)  # so that pieces of few reads have some each
    return tmp_path


def aligned(device: Device, *words: str) -> tuple[list[str], list[str]]:
    command = ["sdtw", "align", *words, "--reference", "target.sdtw", "--reference", "decoy.sdtw"]
    return [*command, "--prefixes", "100,450", "--trim", "20"], ["-d", str(device.index)]


def classified(device: Device, *words: str, by: Sequence[str] = STAGES) -> tuple[list[str], list[str]]:
    return ["sdtw", "classify", *words, *BOTH, *by, "--trim", "20"], ["-d", str(device.index)]


@pytest.mark.usefixtures("one_reader")
@pytest.mark.parametrize("kind", [*WRITERS, "npy"])
def test_combined_is_what_one_alignment_writes(device: Device, folder: Path, kind: str) -> None:
    """For each format, whose reads are told apart and left out in ways of its own."""
    need(kind)
    if kind == "npy":
        Path("x").write_bytes(
            npy_bytes(np.stack([SIGNALS.read(0)[:480], SIGNALS.read(2)[:480], SIGNALS.read(4)[:480]]))
        )
    else:
        WRITERS[kind](Path("x"), SIGNALS)
    check_combined(*aligned(device, "x"), {"-o": "x.tsv"}, folder, [4])


@pytest.mark.parametrize("reads", ["reads.npz", "run", "run reads.npz run/b.npz"])
@pytest.mark.parametrize("verb", [aligned, classified])
def test_combined_is_what_one_run_writes(
    device: Device, folder: Path, verb: Callable[..., tuple[list[str], list[str]]], reads: str
) -> None:
    outputs = {"-o": "x.tsv"} | ({} if verb is aligned else {"--summary": "sum.tsv", "--multiqc": "x_mqc.json"})
    check_combined(*verb(device, *reads.split()), outputs, folder)


@pytest.mark.parametrize("verb", [aligned, classified])
@pytest.mark.parametrize(
    ("made", "given"),
    [
        ("--starts", ""), ("--starts", "--json"), ("--format paf", ""), ("--json", ""), ("", "--format jsonl"),
        ("--starts", "--format paf"), ("--preset crescent --arithmetic float32 --starts", "--format paf"),
    ],
)  # fmt: skip
def test_combined_takes_the_options_of_outputs(
    device: Device, folder: Path, verb: Callable[..., tuple[list[str], list[str]]], made: str, given: str
) -> None:
    command, where = verb(device, "reads.npz", "run")
    outputs = {"-o": "x.gz"} | ({} if verb is aligned else {"--summary": "sum.tsv", "--multiqc": "x_mqc.json"})
    check_combined([*command, *made.split()], where, outputs, folder, [3], given=given.split())


def test_thresholds_of_a_file(device: Device, folder: Path) -> None:
    command = classified(device, "reads.npz", by=["--thresholds", "thresholds.json"])
    check_combined(*command, {"-o": "x.tsv", "--summary": "y"}, folder, [3])
    whole = outputs_of([*command[0], *command[1]], {"-o": "x.tsv"}, folder / "whole")
    assert whole == outputs_of([*classified(device, "reads.npz")[0], *command[1]], {"-o": "x.tsv"}, folder / "same")


@pytest.mark.parametrize("trim", ["none", "stall", "35"])
@pytest.mark.parametrize("verb", [aligned, classified])
def test_trimming(device: Device, folder: Path, verb: Callable[..., tuple[list[str], list[str]]], trim: str) -> None:
    command, where = verb(device, "reads.npz")
    check_combined([*command[:-1], trim], where, {"-o": "x.tsv"}, folder, [4])


def test_combining_reads_no_signals(device: Device, folder: Path) -> None:
    command, where = classified(device, "reads.npz", "run")
    whole = outputs_of([*command, *where], {"-o": "x.tsv"}, folder / "whole")
    pieces = make_pieces([*command, *where], 3, folder)
    Path("reads.npz").unlink()
    shutil.rmtree("run")
    with no_engine():
        assert outputs_of(["sdtw", "combine", *pieces], {"-o": "x.tsv"}, folder / "combined") == whole


def test_pieces_hold_no_references(device: Device, folder: Path) -> None:
    write_squiggle("target.sdtw", small_squiggle("target", 80 + 12 * RNG.standard_normal(40_000)))
    for command, where in (aligned(device, "reads.npz"), classified(device, "reads.npz")):
        (piece,) = make_pieces([*command, *where], 1, folder)
        assert Path(piece).stat().st_size < 10_000 < Path("target.sdtw").stat().st_size


def test_options_that_matter_are_compared(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.json").write_bytes(Path("thresholds.json").read_bytes() + b"\n")
    for command, where in (aligned(device, "reads.npz"), classified(device, "reads.npz")):
        first = [*command, *where]
        changes = [["--norm", "blocks"], ["--cost", "absolute"], ["--bonus", "dwell"], ["--bits", "5"], ["--step", "5"],
                   ["--arithmetic", "int32"], ["--starts"], ["--trim", "21"]]  # fmt: skip
        others = [[*first, *change] for change in changes]
        others.append([*first[:2], "run", *first[2:]])
        if command[1] == "align":
            others += [[*first, "--prefixes", "100,451"], [word for word in first if word != "--reference"][:-6]]
            others[-1] = [*first[:3], "--reference", "target.sdtw", *command[7:], *where]
        else:
            others += [
                [*first, "--stages", "100:-200..0,301:0"], [*first, "--stages", "100:-200..0,300:0.5"],
                [*first, "--stages", "100:0,300:0"], [*first, "--score", "cost"],
                [*first[:3], "--reference", "decoy.sdtw", "--decoy", "target.sdtw", *first[7:]],
                [*first[:7], "--thresholds", "thresholds.json", *first[9:]],
            ]  # fmt: skip
        check_refusals("sdtw", first, others, folder, capsys)
    by = [
        [*words, *where]
        for words in ([*command[:7], "--thresholds", name] for name in ("thresholds.json", "other.json"))
    ]
    check_refusals("sdtw", by[0], by[1:], folder, capsys)


def test_parameters_have_all_fields(folder: Path) -> None:
    """Whatever a job is given is compared, as an option or as an input."""
    job = AlignJob(("x",), ("target.sdtw",), AlignOptions(), (100,), starts=False, trim=None)
    assert {field.name for field in fields(AlignOptions)} <= set(job.parameters())
    assert {field.name for field in fields(AlignJob)} == {
        "signals", "references", "options", "prefixes", "starts", "trim"
    }  # fmt: skip
    assert {field.name for field in fields(ClassifyJob)} == {
        "signals", "targets", "decoys", "thresholds", "thresholds_file", "starts", "trim"
    }  # fmt: skip
    rows = set(Alignments.ROWS) | set(Classified.ROWS)
    shared = {"references", "prefixes", "options", "trim", "reads", "targets", "thresholds"}
    assert {field.name for part in (Alignments, Classified) for field in fields(part)} == rows | shared


def test_a_target_is_no_decoy(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same inputs in the same order may still be another classification."""
    words = ["sdtw", "classify", "reads.npz", "--reference", "target.sdtw", "--stages", "100:9000", "--score", "cost"]
    where = ["-d", str(device.index)]
    two = [*words, "--reference", "decoy.sdtw", *where]
    check_refusals("sdtw", [*words, "--decoy", "decoy.sdtw", *where], [two], folder, capsys)


def test_references_have_to_be_the_same_when_combined(
    device: Device, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, where in (aligned(device, "reads.npz"), classified(device, "reads.npz")):
        pieces = make_pieces([*command, *where], 2, folder)
        shutil.copy("decoy.sdtw", "kept.sdtw")
        write_squiggle("decoy.sdtw", replace(REFERENCES["decoy"], records=("other",)))
        capsys.readouterr()
        assert main(["sdtw", "combine", *pieces, "-o", "out"]) == 3
        assert "decoy.sdtw: is not the file that" in capsys.readouterr().err
        shutil.copy2("kept.sdtw", "decoy.sdtw")


@pytest.mark.parametrize("given", [["--starts"], ["--format", "paf"]])
def test_starts_cannot_be_added(
    device: Device, folder: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, where = aligned(device, "reads.npz")
    pieces = make_pieces([*command, *where], 2, folder)
    capsys.readouterr()
    assert main(["sdtw", "combine", *pieces, "-o", "out", *given]) == 2
    assert "1of2.piece: has no starts; make the pieces with --starts" in capsys.readouterr().err
    assert not Path("out").exists()


def same(found: Alignments | Classified, expected: Alignments | Classified) -> None:
    for name, value in vars(expected).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(found, name), value, name)
    assert found.records() == expected.records()
    assert [one.checksum for one in found.references] == [one.checksum for one in expected.references]


def test_executors_give_what_one_run_gives(device: Device, folder: Path) -> None:
    where, trim = str(device.index), TrimOptions(stall=False, extra=20)
    reads, target, decoy = ([str(folder / name) for name in names] for names in (
        ["run", "reads.npz"], ["target.sdtw"], ["decoy.sdtw"]
    ))  # fmt: skip
    how: dict[str, Any] = {"prefixes": (100, 450), "starts": True, "trim": trim, "engine": where}
    every = align(reads, [*target, *decoy], **how)
    judged = classify(reads, target, THRESHOLDS, decoys=decoy, trim=trim, engine=where)
    assert len(every) == len(judged) == len(LENGTHS) + 7
    for spread in spreads():
        found = align(reads, [*target, *decoy], executor=spread, **how)
        same(found, every)
        assert (found.trim, found.reads, found.options) == (every.trim, every.reads, every.options)
        same(classify(reads, target[0], THRESHOLDS, decoys=decoy, trim=trim, engine=where, executor=spread), judged)
    with ThreadPoolExecutor(1) as executor:
        by_file = classify(
            reads, Path(target[0]), folder / "thresholds.json", decoys=decoy[0], trim=trim, engine=where,
            executor=executor,
        )  # fmt: skip
    same(by_file, judged)


def test_parts_of_executors_come_in_order(device: Device, folder: Path) -> None:
    told: list[tuple[int, int | None]] = []
    with ThreadPoolExecutor(2) as executor:
        run = Run(progress=lambda done, total: told.append((done, total)))
        spread = Spread(executor, 4, folder)
        parts = list(iter_align("reads.npz", "target.sdtw", prefixes=[100], engine=str(device.index), run=run,
                                executor=spread))  # fmt: skip
    assert [name for part in parts for name in part.names] == NAMES
    done, (total,) = [done for done, _ in told], {total for _, total in told}  # bytes of all inputs
    assert done == sorted(done)
    assert done[-1] == total
    assert not list(folder.glob("oclgenomics-*"))


def test_workers_have_no_memory_of_this_process(device: Device, folder: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        for how, name in (
            ((SIGNALS, "target.sdtw"), "signals"), (([SIGNALS], "target.sdtw"), "signals"),
            (("reads.npz", REFERENCES["target"]), "references"), (("reads.npz", [*REFERENCES.values()]), "references"),
        ):  # fmt: skip
            with pytest.raises(ParameterError, match=f"{name} must be a file with executor"):
                align(*how, executor=executor)
        with pytest.raises(ParameterError, match="decoys must be a file with executor"):
            classify("reads.npz", "target.sdtw", THRESHOLDS, decoys=REFERENCES["decoy"], executor=executor)
        with pytest.raises(ParameterError, match="engine must be the name of a device"):
            next(iter_classify("reads.npz", "target.sdtw", THRESHOLDS, engine=device, executor=executor))
        with pytest.raises(InputError, match="no such file"):
            align("no.npz", "target.sdtw", engine=str(device.index), executor=executor)


def test_reads_of_all_pieces_are_of_one_kind(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What one run refuses is refused, though no piece sees both."""
    for name, rate in (("1.npz", 4000.0), ("2.npz", 5000.0)):
        write_signals(name, Signals.of([SIGNALS.read(0)] * 3, [f"{name}.{number}" for number in range(3)], rate=rate))
    for command, where in (aligned(device, "1.npz", "2.npz"), classified(device, "1.npz", "2.npz")):
        capsys.readouterr()
        assert main([*command, *where, "-o", "out", "-q"]) == 2
        wanted = capsys.readouterr().err
        assert "read 2.npz.0 is of 5,000 samples per second, but reads before it of 4,000" in wanted
        pieces = make_pieces([*command, *where], 2, folder)
        capsys.readouterr()
        assert main(["sdtw", "combine", *pieces, "-o", "out", "-q"]) == 2
        assert capsys.readouterr().err == wanted
        assert not Path("out").exists()


def test_an_empty_file_is_told_by_every_piece(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty.npz").write_bytes(b"")
    command, where = aligned(device, "reads.npz", "empty.npz")
    for number in (1, 2):
        assert main([*command, *where, "--shard", f"{number}/2", "-o", "x", "-q"]) == 3
        assert "empty.npz: the file is empty" in capsys.readouterr().err
        assert not Path("x").exists()


def test_a_job_is_the_same_in_another_process(folder: Path) -> None:
    for job in (
        AlignJob(("run",), ("target.sdtw",), AlignOptions(), (100,), starts=False, trim=TrimOptions()),
        ClassifyJob(("run",), ("target.sdtw",), ("decoy.sdtw",), THRESHOLDS, None, starts=True, trim="thresholds"),
    ):
        job.open()
        assert [Path(name).name for name in job.files] == ["b.npz", "a.npy", "none.npz"]
        again: Any = pickle.loads(pickle.dumps(job))
        assert again == job
        assert vars(again).keys() == {field.name for field in fields(job)}  # and not what was made of them
        assert again.parameters() == job.parameters()


def test_parts_of_pieces_are_read_whole(device: Device, folder: Path) -> None:
    command, where = aligned(device, "reads.npz")
    (piece,) = make_pieces([*command, *where], 1, folder)
    (rows,) = PieceFile(piece).parts(AlignJob.KINDS)
    assert isinstance(rows, ReadRows)
    assert rows.arrays["start"] is None
    assert list(rows.arrays["names"]) == NAMES
    assert [asdict(kind)["rate"] for kind, _ in rows.kinds] == [None]


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(1, 30))
def test_the_cut_has_each_byte_once(sizes: list[int], of: int) -> None:
    files = [FilePart(str(number), 0, size, size) for number, size in enumerate(sizes)]
    cut = [cut_files(files, Shard(number, of)) for number in range(1, of + 1)]
    lengths = [sum(map(len, piece)) for piece in cut]
    assert max(lengths) - min(lengths) <= 1
    every = [part for piece in cut for part in piece if part.size]
    for file in files:
        own = [part for part in every if part.path == file.path]
        assert [part.begin for part in own] == [0, *(part.end for part in own[:-1])][: len(own)]
        assert not own or own[-1].end == file.size
        assert bool(own) == bool(file.size)
    assert [part.path for part in every] == sorted((part.path for part in every), key=int)
    assert all([part.path for part in piece if not part.size] == [one.path for one in files if not one.size]
               for piece in cut)  # fmt: skip


def test_damaged_and_missing_pieces(device: Device, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, where = classified(device, "reads.npz")
    pieces = make_pieces([*command, *where], 3, folder)
    data = Path(pieces[1]).read_bytes()
    for damaged in (data[:-10], data[: len(data) // 2], data[:-200] + b"\xff" + data[-199:]):
        Path(pieces[1]).write_bytes(damaged)
        capsys.readouterr()
        assert main(["sdtw", "combine", *pieces, "-o", "out"]) == 3
        assert "2of3.piece" in capsys.readouterr().err
        assert not Path("out").exists()
    Path(pieces[1]).write_bytes(data)
    assert main(["sdtw", "combine", pieces[0], pieces[2], "-o", "out"]) == 3
    assert "of which 2 is missing" in capsys.readouterr().err
    assert main(["sdtw", "combine", *pieces, pieces[1], "-o", "out"]) == 3
    assert "give each piece once" in capsys.readouterr().err


def test_check_of_starts_in_python(device: Device, folder: Path) -> None:
    command, where = aligned(device, "reads.npz")
    (piece,) = make_pieces([*command, *where], 1, folder)
    job = AlignJob(("reads.npz",), ("target.sdtw", "decoy.sdtw"), AlignOptions(), (100, 450), starts=True, trim=None)
    with pytest.raises(UsageError, match="has no starts"):
        next(job.combined([PieceFile(piece)]))


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 10**6))
def test_reads_are_cut_where_devices_align_them_together(reads: int, of: int, size: int) -> None:
    cut = [cut_files([FilePart("x", 0, size, size)], Shard(number, of)) for number in range(1, of + 1)]
    numbers = [part.numbers(reads) for piece in cut for part in piece]
    assert [number for some in numbers for number in some] == list(range(reads))
    assert all(some.start % 64 == 0 for some in numbers if some)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What of references is read and laid out, in its order."""
    done: list[str] = []

    monkeypatch.setattr(opened, "read_squiggle", noted(done, "read", opened.read_squiggle))
    monkeypatch.setattr(ReferenceStrips, "__init__", noted(done, "strips", ReferenceStrips.__init__))
    monkeypatch.setattr(device_reads, "StartFinder", noted(done, "starts", device_reads.StartFinder))
    return done


ALIGN = AlignJob(("reads.npz",), ("target.sdtw",), AlignOptions(), (100, 450), starts=True, trim=None)
CLASSIFY = ClassifyJob(("reads.npz",), ("target.sdtw",), ("decoy.sdtw",), THRESHOLDS, None, starts=True, trim=None)


@pytest.mark.parametrize("job", [ALIGN, CLASSIFY], ids=["align", "classify"])
def test_references_are_prepared_once(device: Device, folder: Path, prepared: list[str], job: Any) -> None:
    with in_one_thread() as do:
        kept = [do(piece_of, job, number, 3, device) for number in (1, 2, 3)]
        assert prepared == ["read"] * len(job.read_again()) + ["starts", "strips"]
        assert do(memory_kept) > 0
        assert do(memory_kept, close=True) == 0
    for number, piece in enumerate(kept, 1):
        with in_one_thread() as do:
            assert do(piece_of, job, number, 3, device) == piece


@pytest.mark.parametrize("same", [False, True], ids=["read anew", "the same references"])
def test_what_is_prepared_is_of_these_references_and_options(
    device: Device, folder: Path, prepared: list[str], monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    """A process that has done pieces of other jobs gives what a fresh one gives."""
    others = AlignOptions(norm="blocks"), AlignOptions(cost="absolute"), AlignOptions(bonus="dwell")
    jobs = [
        ALIGN, replace(ALIGN, references=("decoy.sdtw",)), replace(ALIGN, references=("target.sdtw", "decoy.sdtw")),
        ALIGN, CLASSIFY, replace(CLASSIFY, targets=("decoy.sdtw",), decoys=("target.sdtw",)), ALIGN,
        replace(ALIGN, starts=False), replace(ALIGN, prefixes=(100, 300)), replace(ALIGN, signals=("run",)),
        *(replace(ALIGN, options=options) for options in others),
    ]  # fmt: skip
    if same:
        for name in ("open_references", "open_targets"):
            monkeypatch.setattr(sdtw_jobs, name, functools.cache(getattr(sdtw_jobs, name)))
    with in_one_thread() as do:
        for job in jobs:
            prepared.clear()
            piece = do(piece_of, job, 2, 3, device)
            assert same or "strips" in prepared, job
            with in_one_thread() as anew:
                assert piece == anew(piece_of, job, 2, 3, device), job
        assert do(memory_kept) > 0
        assert do(memory_kept, close=True) == 0


def test_references_that_change_are_prepared_anew(device: Device, folder: Path, prepared: list[str]) -> None:
    time = os.stat("target.sdtw").st_mtime_ns
    with in_one_thread() as do:
        first = do(piece_of, ALIGN, 1, 2, device)
        write_squiggle("target.sdtw", replace(REFERENCES["decoy"], name="target"))
        os.utime("target.sdtw", ns=(time, time))
        prepared.clear()
        second = do(piece_of, ALIGN, 1, 2, device)
        assert prepared == ["read", "starts", "strips"]
    with in_one_thread() as do:
        assert do(piece_of, ALIGN, 1, 2, device) == second != first
