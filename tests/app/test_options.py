"""Sizes, output files, and how the command ends."""

from __future__ import annotations

import argparse
import json
import os
import stat
from pathlib import Path

import pytest

from oclgenomics.app import commands as options, commands as output
from oclgenomics.cli import devices, main
from oclgenomics.errors import InputError, OutputError, UsageError
from oclgenomics.io import atomic_file as whole
from oclgenomics.io.json_text import json_text
from oclgenomics.runtime import Device, Engine


@pytest.mark.parametrize(
    ("text", "size"),
    [("1000", 1000), ("1k", 1024), ("512M", 512 << 20), ("2G", 2 << 30), ("1.5GiB", 3 << 29), ("2 GB", 2 << 30)],
)
def test_sizes(text: str, size: int) -> None:
    assert options.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "2X", "1e9", "0.0M"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a size"):
        options.parse_size(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1000", 1000), ("10k", 10_000), ("0.1M", 100_000), ("1e15", 10**15), ("1000000000m", 10**15), ("2G", 2 * 10**9)],
)
def test_counts(text: str, number: int) -> None:
    assert options.count(text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1000000000000001", "is too large; 1e[+]15 is the most"), ("1000000000000.001k", "is too large"),
        ("999999999999999.5", "is not a whole number"), ("-1", "'-1' is below 0; give 0 or more"),
        ("-10k", "is below 0"), ("-x", "is not a whole number"), ("--1", "is not a whole number"),
    ],
)  # fmt: skip
def test_what_is_no_count(text: str, message: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=message):
        options.count(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("-1", -1), ("+5", 5), ("123456789012345678", 123456789012345678), ("10k", 10_000), ("-1.5M", -1_500_000)],
)
def test_whole_numbers(text: str, number: int) -> None:
    assert options.whole(text) == number


@pytest.mark.parametrize("text", ["", "-", "2.5", "-x", "--1k", "1234567890123456789"])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        options.whole(text)


def numeric_options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options and arguments of a parser, and of all commands within it, that take whole numbers."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [one for inner in action.choices.values() for one in numeric_options(inner)]
        elif action.type in (int, options.count, options.whole) and action.choices is None:
            found.append(action)
    return found


def test_every_count_may_be_written_in_thousands() -> None:
    for name in main.SYSTEMS:
        actions = numeric_options(main._parser()._actions[-1].choices[name])
        assert actions or name == "fpga", "only `hls_model`'s own parsers have any"
        assert [action.dest for action in actions if action.type is int] == []


def device_options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("input", nargs="?")
    options.add_device_options(parser)
    options.add_output_options(parser)
    return parser.parse_args(words)


def test_device_options() -> None:
    assert device_options().profile is None
    assert device_options("--profile").profile == ""
    assert device_options("--profile", "trace.json").profile == "trace.json"
    assert device_options("--max-memory", "2G").max_memory == 2 << 30


def test_profile_does_not_take_the_input_for_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        device_options("--profile", "input.vcf")
    assert "has to end in .json" in capsys.readouterr().err


def test_json_has_no_words_for_infinities() -> None:
    record = {"parameters": {"omega": float("inf")}, "rows": [(1.5, float("nan")), [-float("inf"), True, None, "inf"]]}
    text = json_text(record, indent=1)
    assert json.loads(text, parse_constant=pytest.fail) == {
        "parameters": {"omega": None}, "rows": [[1.5, None], [None, True, None, "inf"]],
    }  # fmt: skip
    assert json_text({"a": [1.5, None]}) == json.dumps({"a": [1.5, None]})


def test_output_appears_when_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.tsv"
    with output.text_output(target) as stream:
        stream.write("one\n")
        assert not target.exists()
    assert target.read_text() == "one\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~whole._umask()
    assert target in output.saved_outputs()
    with output.binary_output(str(target)) as stream:
        stream.write(b"two\n")
        assert target.read_text() == "one\n"
    assert target.read_bytes() == b"two\n"
    assert os.listdir(tmp_path) == ["report.tsv"]


def test_what_was_there_stays_after_trouble(tmp_path: Path) -> None:
    target = tmp_path / "report.tsv"
    target.write_text("before")

    def write(trouble: BaseException) -> None:
        with output.text_output(target) as stream:
            stream.write("half")
            raise trouble

    for trouble in (InputError("bad"), KeyboardInterrupt(), ZeroDivisionError()):
        with pytest.raises(type(trouble)):
            write(trouble)
    assert target.read_text() == "before"
    assert os.listdir(tmp_path) == ["report.tsv"]


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("")
    (tmp_path / "link").symlink_to("real")
    with output.text_output(tmp_path / "link") as stream:
        stream.write("text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "report.tsv", tmp_path / ("x" * 300)):
        with pytest.raises(OutputError) as caught, output.text_output(path) as stream:
            stream.write("text")
        assert str(path) in str(caught.value)
        assert caught.value.exit_code == 5
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk() -> None:
    with (
        pytest.raises(OutputError, match=r"/dev/full: cannot be written \(No space left"),
        output.text_output("/dev/full") as stream,
    ):
        stream.write("text" * 10_000)


def test_pipes_and_devices_are_written_in_place() -> None:
    with output.text_output(os.devnull) as stream:
        stream.write("text")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_provenance(device: Device) -> None:
    args = device_options("-d", str(device.index))
    args.impute = frozenset("N")
    args.run = print
    with Engine(device) as engine:
        record = json.loads(json.dumps(output.provenance(args, engine)))
    assert record["device"]["driver"] == device.driver
    assert record["parameters"]["impute"] == ["N"]
    assert "run" not in record["parameters"]


@pytest.mark.parametrize(
    ("words", "format"),
    [([], "tsv"), (["--json"], "json"), (["--format", "bed"], "bed"), (["--json", "--format", "json"], "json")],
)
def test_output_options(words: list[str], format: str) -> None:
    args = output_options(*words)
    assert output.OutputOptions.resolve(args, ("tsv", "bed", "json")) == output.OutputOptions("-", format)
    assert args.format == format  # for the provenance


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--json", "--format", "tsv"], "--json and --format tsv contradict"),
        (["--format", "x"], "choose one of tsv, json"),
    ],
)
def test_formats_that_are_not_there(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        output.OutputOptions.resolve(output_options(*words), ("tsv", "json"))


def output_options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--format")
    options.add_output_options(parser)
    return parser.parse_args(words)


WORDS = [
    ("db --number 3 a b", ("db", ["a", "b"], 3)),
    ("--number 3 db a", ("db", ["a"], 3)),
    ("db a b --number 3", ("db", ["a", "b"], 3)),
    ("db --flag a", ("db", ["a"], 0)),
    ("--flag db --number 3 a --profile x.json", ("db", ["a"], 3)),
    ("db --number 3", ("db", [], 3)),
    ("db --number 3 --flag", ("db", [], 3)),
    ("db", ("db", [], 0)),
    ("db --flag -- -a", ("db", ["-a"], 0)),
]


@pytest.mark.parametrize(("words", "found"), WORDS)
@pytest.mark.parametrize("middle", [False, True])
def test_arguments_may_follow_options(words: str, found: tuple[str, list[str], int], middle: bool) -> None:
    """Also those of which there may be none, and after another one that may be missing."""
    parser = options.OneLineParser()
    parser.add_argument("database")
    if middle:
        parser.add_argument("list", nargs="?")
    parser.add_argument("reads", nargs="*")
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--flag", action="store_true")
    options.add_device_options(parser)
    args = parser.parse_args(words.split())
    others = [word for word in (getattr(args, "list", None), *args.reads) if word is not None]
    assert (args.database, others, args.number) == found


def test_arguments_that_are_too_many() -> None:
    parser = options.OneLineParser()
    parser.add_argument("one")
    parser.add_argument("--flag", action="store_true")
    with pytest.raises(UsageError, match="unknown arguments: b"):
        parser.parse_args(["a", "--flag", "b"])


class Command:
    """A command that does what it is told, in place of `devices`."""

    def __init__(self, action: object) -> None:
        self.action = action

    def add_parser(self, subparsers: object) -> None:
        parser = subparsers.add_parser("devices")  # type: ignore[attr-defined]
        parser.add_argument("--debug", action="store_true")
        parser.set_defaults(run=self.run)

    def run(self, args: argparse.Namespace) -> int:
        if isinstance(self.action, BaseException):
            raise self.action
        return int(self.action)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("action", "status", "message"),
    [
        (0, 0, ""),
        (InputError("no GT field", source="a.vcf", line=3), 3, "error: a.vcf, line 3: no GT field"),
        (OutputError("b: disk full"), 5, "error: b: disk full"),
        (KeyboardInterrupt(), 130, "interrupted; saved: "),
        (RuntimeError("odd\nthing"), 1, "error: RuntimeError: odd thing (a defect"),
    ],
)
def test_how_commands_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], action: object, status: int, message: str
) -> None:
    monkeypatch.setattr(main, "_module", lambda name: Command(action))
    assert main.main(["devices"]) == status
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == (1 if message else 0)
    main.main(["devices", "--debug"])
    assert ("Traceback" in capsys.readouterr().err) == bool(message)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "give a command: classify, devices, "),
        ("sweeps", "give a command: scan, threshold, combine, peaks (options: oclgenomics sweeps --help)"),
        ("sweep scan x.vcf", "no command 'sweep'; did you mean sweeps? (options: oclgenomics --help)"),
        ("sweeps plot x", "no command 'plot'; choose one of scan, threshold, combine, peaks (options: "),
        ("simulate read", "no command 'read'; did you mean reads? (options: oclgenomics simulate --help)"),
        ("devices --nonesuch", "unknown arguments: --nonesuch (options: oclgenomics devices --help)"),
        ("devices --jso", "unknown arguments: --jso; did you mean --json? (options: "),
        ("kmers dump x --json", "unknown arguments: --json (options: "),
        ("simulate signatures --preset paper-larg", "invalid choice: 'paper-larg'; did you mean paper-large?"),
    ],
)
def test_wrong_usage_is_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(words.split()) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("oclgenomics ")


def test_a_full_memory_is_one_line(monkeypatch, capsys):

    def run(args: object) -> int:
        raise MemoryError("Unable to allocate 9.1 TiB")

    monkeypatch.setattr(devices, "run", run)
    assert main.main(["devices"]) == 4
    assert capsys.readouterr().err == (
        "oclgenomics: error: not enough memory (Unable to allocate 9.1 TiB); ask for less at a time, or free some\n"
    )
