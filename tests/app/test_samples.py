"""All samples of a sheet: what is made, kept and reported. A toy command joins files, so runs take milliseconds."""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.app import samples as kit
from oclgenomics.app.commands import OneLineParser, add_command, add_output_options, check_files
from oclgenomics.app.files import reads, writes
from oclgenomics.app.samples import MakeSample, SheetUse, add_sheet_option, has_sheet, run_sheet
from oclgenomics.errors import AllocationError, DeviceLostError, InputError, OclGenomicsError, OutputError, UsageError
from oclgenomics.io.atomic_file import forget_files

USE = SheetUse("files", lambda args: ".txt" if args.format == "text" else f".{args.format}", "paired")


class Toy:
    """The command, and what it did."""

    def __init__(self) -> None:
        self.opened, self.made = 0, list[str]()
        self.before: Callable[[argparse.Namespace], None] = lambda _: None
        self.between: Callable[[argparse.Namespace], None] = lambda _: None
        self.parser = argparse.ArgumentParser()
        systems = self.parser.add_subparsers(dest="command", parser_class=argparse.ArgumentParser)
        actions = systems.add_parser("toy").add_subparsers(dest="action", parser_class=OneLineParser)
        parser = add_command(actions, self.run, "join", "", "")
        files = reads(parser.add_argument("files", nargs="+", metavar="FILES"))
        last = reads(parser.add_argument("last", metavar="LAST"))
        reads(parser.add_argument("--paired", nargs=2, action="extend", default=[], metavar="FILE"))
        add_sheet_option(parser, parser, files, last)
        for name in ("--target", "--decoy"):
            reads(parser.add_argument(name, metavar="FILE"))
        parser.add_argument("--word", default="")
        parser.add_argument("--threads", type=int)
        parser.add_argument("--sample-name")
        writes(add_output_options(parser, formats=("text", "json")).add_argument("--copy", metavar="FILE"))

    def __call__(self, *words: object) -> int:
        forget_files()
        self.opened, self.made = 0, []
        args = self.parser.parse_args(["toy", "join", *map(str, words)])
        args.parser, args.command_line = self.parser, ["toy"]
        check_files(args)
        status: int = args.run(args)
        return status

    def run(self, args: argparse.Namespace) -> int:
        args.format = args.format or "text"
        if has_sheet(args):
            return run_sheet(args, USE, self.open)
        self.make(args)
        return 0

    @contextmanager
    def open(self, args: argparse.Namespace) -> Iterator[MakeSample]:
        self.opened += 1
        yield self.make

    def make(self, args: argparse.Namespace) -> dict[str, Any]:
        self.before(args)
        self.made.append(args.sample_name)
        text = joined(args.word, args.files, args.paired, args.last)
        with kit.text_output(args.output) as stream:
            stream.write(text)
        self.between(args)
        if args.copy:
            with kit.text_output(args.copy) as stream:
                stream.write(text.upper())
        return {"size": len(text)}


def joined(word: str, files: list[str], paired: list[str], last: str) -> str:
    return "|".join([word, *(Path(name).read_text() for name in [*files, *paired, last])])


def write_inputs(folder: Path) -> None:
    for name in "abcd":
        (folder / name).write_text(name * 3)
    (folder / "last").write_text("z")
    (folder / "sheet.csv").write_text("sample,fastq_1,fastq_2\nA,a,\nB,b,c\nC,d,\n")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """The command in a folder with a sheet of the samples A, B (mates) and C."""
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    return Toy()


SHEET = ["last", "--samplesheet", "sheet.csv", "-o", "out"]


def listed() -> list[str]:
    return sorted(os.listdir("out"))


def records(*names: str) -> list[str]:
    return [f".{name}.txt.made" for name in names]


def test_each_sample_has_what_a_run_of_its_own_writes(toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    assert toy(*SHEET, "--copy", ".copy", "--word", "w") == 0
    assert toy.opened == 1
    assert toy.made == ["A", "B", "C"]
    assert listed() == sorted(
        [*records("A", "B", "C"), *(f"{name}{end}" for name in "ABC" for end in (".txt", ".copy"))]
    )
    for name, files in (("A", ["a"]), ("B", ["b", "c"]), ("C", ["d"])):
        text = joined("w", files, [], "last")
        assert Path(f"out/{name}.txt").read_text() == text
        assert Path(f"out/{name}.copy").read_text() == text.upper()
    assert capsys.readouterr().out == (
        "sample\tstatus\toutput\terror\nA\tmade\tout/A.txt\tNA\nB\tmade\tout/B.txt\tNA\nC\tmade\tout/C.txt\tNA\n"
    )


def test_what_is_whole_is_kept_and_nothing_is_opened(toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    toy(*SHEET)
    before = {name: os.stat(f"out/{name}").st_mtime_ns for name in listed()}
    capsys.readouterr()
    assert toy(*SHEET, "--threads", 2) == 0
    assert (toy.opened, toy.made) == (0, [])
    assert {name: os.stat(f"out/{name}").st_mtime_ns for name in listed()} == before
    told = capsys.readouterr()
    assert told.out.splitlines()[1] == "A\tkept\tout/A.txt\tNA"
    assert "0 made, 3 kept, 0 failed" in told.err


def test_the_summary_as_json_has_what_is_known_of_samples_that_are_kept(
    toy: Toy, capsys: pytest.CaptureFixture[str]
) -> None:
    toy(*SHEET, "--json")
    first = json.loads(capsys.readouterr().out)
    assert toy(*SHEET, "--json") == 0
    again = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in again["samples"]] == ["kept"] * 3
    assert [one["result"] for one in again["samples"]] == [one["result"] for one in first["samples"]]
    assert again["samples"][1] == {
        "sample": "B", "status": "kept", "error": None, "outputs": ["out/B.txt"], "result": {"size": 10},
    }  # fmt: skip
    assert again["parameters"]["samplesheet"] == "sheet.csv"


def changed(name: str, text: str = "new") -> Callable[[pytest.MonkeyPatch], object]:
    return lambda _: Path(name).write_text(text)


def same_size_and_time(name: str) -> None:
    """Another text of a file of which nothing else changes."""
    known = os.stat(name)
    Path(name).write_text(Path(name).read_text()[::-1].swapcase())
    os.utime(name, ns=(known.st_atime_ns, known.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "words", "made"),
    [
        (lambda _: None, ["--word", "v"], "ABC"),
        (lambda _: None, ["--copy", ".copy"], "ABC"),
        (lambda _: None, ["-o", "elsewhere"], "ABC"),
        (lambda _: None, ["-o", "./out/{sample}.txt"], ""),
        (lambda _: None, ["-o", "out/{sample}.text"], "ABC"),
        (changed("last"), [], "ABC"),
        (changed("c"), [], "B"),
        (lambda _: same_size_and_time("a"), [], "A"),
        (lambda _: os.utime("d", ns=(1, 1)), [], "C"),
        (lambda _: os.unlink("out/B.txt"), [], "B"),
        (changed("out/C.txt"), [], "C"),
        (lambda _: same_size_and_time("out/A.txt"), [], "A"),
        (lambda _: os.unlink("out/.A.txt.made"), [], "A"),
        (changed("out/.A.txt.made", ""), [], "A"),
        (changed("out/.A.txt.made", "[]"), [], "A"),
        (changed("out/.A.txt.made", '{"outputs": [1], "result": {}}'), [], "A"),
        (changed("out/.A.txt.made", '{"outputs": [{"name": 1}]}'), [], "A"),
        (changed("out/.A.txt.made", '{"outputs": [{"name": "a\\u0000b"}], "result": {}}'), [], "A"),
        (changed("out/.A.txt.made", "[" * 100_000), [], "A"),
        (lambda patch: patch.setattr(kit, "__version__", "9"), [], "ABC"),
        (changed("sheet.csv", "sample,input\nC,d\nE,a\n"), [], "E"),
        (changed("sheet.csv", "sample,fastq_1,fastq_2\nA,a,\nB,c,b\n"), [], "B"),
        (changed("sheet.csv", "sample,input\nA,a\nB,b\nB,c\n"), [], "B"),
    ],
)  # fmt: skip
def test_what_a_change_makes_again(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, change: Callable[..., object], words: list[str], made: str
) -> None:
    toy(*SHEET)
    change(monkeypatch)
    assert toy(*SHEET, *words) == 0
    assert toy.made == [*made]
    assert toy(*SHEET, *words) == 0
    assert toy.made == []


def test_a_file_for_another_option_is_another_input(toy: Toy) -> None:
    toy(*SHEET, "--target", "a")
    assert toy(*SHEET, "--decoy", "a") == 0
    assert toy.made == ["A", "B", "C"]


def test_outputs_that_are_not_asked_for_any_more_stay_or_go_with_the_others(toy: Toy) -> None:
    toy(*SHEET, "--copy", ".copy")
    Path("out/B.copy").write_text("of the user")
    assert toy(*SHEET) == 0
    assert toy.made == []
    assert toy(*SHEET, "--word", "other") == 0
    assert toy.made == ["A", "B", "C"]
    assert [name for name in listed() if name.endswith("copy")] == ["B.copy"]  # which is no output any more


def test_a_record_removes_nothing_outside_its_folder(toy: Toy) -> None:
    toy(*SHEET, "--copy", "{sample}.copy")
    assert Path("A.copy").exists()
    assert toy(*SHEET, "--word", "other") == 0
    assert Path("A.copy").read_text() == "|AAA|Z"


def test_samples_that_fail_do_not_stop_the_others(toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(args: argparse.Namespace) -> None:
        if args.sample_name != "B":
            kind = InputError if args.sample_name == "A" else OutputError
            raise kind("is `word`-less,\nso to say")

    toy.between = fail
    assert toy(*SHEET, "--copy", ".copy", "-q") == 3
    assert toy.made == ["A", "B", "C"]
    assert listed() == [".B.txt.made", "B.copy", "B.txt"]
    told = capsys.readouterr()
    lines = [f"oclgenomics: error: sample {name}: is --word-less,\\x0aso to say" for name in "AC"]
    assert told.err.splitlines() == lines
    assert told.out.splitlines()[3] == "C\tfailed\tNA\tis --word-less, so to say"
    toy.between = lambda _: None
    assert toy(*SHEET, "--copy", ".copy") == 0
    assert toy.made == ["A", "C"]


def test_a_sample_that_fails_has_no_old_outputs_either(toy: Toy) -> None:
    toy(*SHEET, "--copy", ".copy")

    def fail(args: argparse.Namespace) -> None:
        if args.sample_name == "A":
            raise AllocationError("too large")

    toy.before = fail
    assert toy(*SHEET, "--copy", ".copy", "--word", "w") == 4
    assert [name for name in listed() if "A" in name] == []
    assert toy.made == ["B", "C"]


def test_a_file_that_vanishes_meanwhile_fails_its_sample(toy: Toy, capsys: pytest.CaptureFixture[str]) -> None:
    toy.before = lambda args: Path("d").unlink(missing_ok=True)
    assert toy(*SHEET, "-q") == 3
    assert toy.made == ["A", "B"]
    assert capsys.readouterr().err == "oclgenomics: error: sample C: d: no such file\n"


def test_an_input_that_changes_meanwhile_is_made_again(toy: Toy) -> None:
    toy.between = lambda args: Path("a").write_text("later") if args.sample_name == "A" else None
    assert toy(*SHEET) == 0
    toy.between = lambda _: None
    assert toy(*SHEET) == 0
    assert toy.made == ["A"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), DeviceLostError("gone"), RuntimeError("a defect")])
def test_what_ends_a_run_leaves_whole_samples_only(
    toy: Toy, stop: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(args: argparse.Namespace) -> None:
        if args.sample_name == "A":
            raise InputError("bad")
        if args.sample_name == "C":
            raise stop

    toy.between = end
    with pytest.raises(type(stop)):
        toy(*SHEET, "--copy", ".copy", "-q")
    assert listed() == [".B.txt.made", "B.copy", "B.txt"]
    assert capsys.readouterr().err == "oclgenomics: error: sample A: bad\n"
    toy.between = lambda _: None
    assert toy(*SHEET, "--copy", ".copy") == 0
    assert toy.made == ["A", "C"]


@pytest.mark.parametrize(
    ("words", "trouble"),
    [
        (["a", *SHEET], "--samplesheet: the sheet names the files; leave FILES out"),
        (SHEET[1:], "the following arguments are required: LAST"),
        (["a", "-o", "x"], "the following arguments are required: LAST"),
        (["-o", "x"], "the following arguments are required: FILES, LAST"),
        (SHEET[:3], "--samplesheet: name the folder for the outputs with -o"),
        ([*SHEET, "-o", "last"], "-o last: with --samplesheet, it is a folder, and this is none"),
        ([*SHEET, "--paired", "a", "b"], "--paired: the sheet names the files of mates; leave the option out"),
        ([*SHEET, "--sample-name", "A"], "--sample-name and --samplesheet contradict each other"),
        ([*SHEET, "--copy", "copy.txt"], "--copy copy.txt: with --samplesheet, give what comes behind the name of a"),
        ([*SHEET, "--copy", "-"], "--copy -: with --samplesheet, give what"),
        ([*SHEET, "--copy", ".d/copy"], "--copy .d/copy: with --samplesheet, give what"),
        ([*SHEET, "--copy", ".txt"], "--copy out/A.txt of sample A: is -o out/A.txt of sample A, too; choose other"),
        ([*SHEET, "--copy", "{sample}.txt/../a"], "is the input a, too; choose other names"),
        ([*SHEET, "-o", "./{sample}.csv", "--copy", "{sample}/../sheet.csv"], "is --samplesheet sheet.csv, too"),
        ([*SHEET, "--copy", "last{sample}/../last"], "is the input last, too; choose other names"),
        ([*SHEET, "-o", "out/all{sample}/../x"], "of sample B: is -o out/allA/../x of sample A, too"),
        ([*SHEET, "--versions", "last"], "--versions last: the same file as the input last"),
        (["-", *SHEET[1:]], "--samplesheet: standard input could not be compared by a later run; name a file"),
        (["-", "--samplesheet", "-", *SHEET[3:]], "standard input (-) can be read once; name files for the others"),
        (["pipe", *SHEET[1:]], "--samplesheet: pipe, a pipe or a device, could not be compared by a later run"),
    ],
)  # fmt: skip
def test_what_contradicts_a_sheet_is_refused_before_anything_is_made(
    toy: Toy, words: list[str], trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo("pipe")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("sheet.csv").read_bytes())))
    with pytest.raises(UsageError) as caught:
        toy(*words)
    assert trouble in str(caught.value)
    assert toy.opened == 0
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("words", "prepare", "trouble"),
    [
        (SHEET, lambda: (os.mkdir("out"), os.mkdir("out/B.txt")), "-o out/B.txt: is a folder; name a file"),
        ([*SHEET, "-o", "a/out"], lambda: None, "-o a/out/A.txt: lies within the input a; choose another place"),
        ([*SHEET, "-o", "pipe/out"], lambda: os.mkfifo("pipe"), "-o pipe/out: the folder cannot be made (Not a direc"),
        (["none", *SHEET[1:]], lambda: None, "none: no such file"),
    ],
)
def test_what_could_not_be_done_is_reported_before_anything_is_made(
    toy: Toy, words: list[str], prepare: Callable[[], object], trouble: str
) -> None:
    prepare()
    with pytest.raises(OclGenomicsError) as caught:
        toy(*words)
    assert trouble in str(caught.value)
    assert toy.opened == 0


def test_outputs_do_not_lie_within_a_folder_that_is_read(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "USE", SheetUse("files", USE.ending, signals=True))
    Path("in").mkdir()
    Path("sheet.csv").write_text("sample,input\nA,in\n")
    with pytest.raises(UsageError, match=r"-o in/out/A\.txt: lies within the input in; choose another place"):
        toy(*SHEET, "-o", "in/out")


def test_names_with_an_at_are_files_not_lists(toy: Toy) -> None:
    Path("@a").write_text("at")
    Path("sheet.csv").write_text("sample,input\n@A,@a\n")
    assert toy(*SHEET) == 0
    assert Path("out/@A.txt").read_text() == "|at|z"


OPERATIONS = st.one_of(
    st.tuples(st.just("input"), st.sampled_from("abcd")),
    st.tuples(st.just("last"), st.just("")),
    st.tuples(st.just("word"), st.sampled_from("vw")),
    st.tuples(st.just("copy"), st.sampled_from(["", ".copy"])),
    st.tuples(st.just("lost"), st.sampled_from(["A.txt", "B.copy", ".C.txt.made"])),
    st.tuples(st.just("fails"), st.sampled_from("ABC")),
    st.tuples(st.just("run"), st.just("")),
)


@settings(max_examples=40)
@given(st.lists(OPERATIONS, max_size=12))
def test_a_folder_holds_what_the_last_run_would_make_anew(operations: list[tuple[str, str]]) -> None:
    """After each run all outputs of samples that did not fail are as new, and a second run makes those that did."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            _operate(Path(place), operations)
        finally:
            os.chdir(here)


def _operate(place: Path, operations: list[tuple[str, str]]) -> None:
    write_inputs(place)
    toy, number, word, copy, failing = Toy(), 0, "v", "", set[str]()
    sizes = {"A": ["a"], "B": ["b", "c"], "C": ["d"]}

    def fail(args: argparse.Namespace) -> None:
        if args.sample_name in failing:
            raise InputError("bad")

    toy.between = fail
    for what, which in [*operations, ("run", "")]:
        number += 1
        if what in ("input", "last"):
            Path(which or "last").write_text(f"{number:9}")
        elif what == "word":
            word = which
        elif what == "copy":
            copy = which
        elif what == "lost":
            Path("out", which).unlink(missing_ok=True)
        elif what == "fails":
            failing ^= {which}
        else:
            words = [*SHEET, "--word", word, *(["--copy", copy] if copy else []), "-q"]
            toy(*words)
            for name, files in sizes.items():
                text = joined(word, files, [], "last")
                record = Path("out", f".{name}.txt.made")
                if not record.exists():
                    assert name in failing
                    assert not Path("out", f"{name}.txt").exists()
                    continue
                assert Path("out", f"{name}.txt").read_text() == text
                known = [output["name"] for output in json.loads(record.read_text())["outputs"]]
                assert len(known) >= 1 + bool(copy)
                other = Path("out", f"{name}.copy")
                if copy or (f"{name}.copy" in known and other.exists()):  # else it is of a run whose record was lost
                    assert other.read_text() == text.upper()
            before, failing = failing, set()
            lacking = [name for name in sizes if not Path("out", f".{name}.txt.made").exists()]
            toy(*words)
            assert toy.made == lacking
            failing = before
