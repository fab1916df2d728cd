"""How a command is declared: its options, what they may say, the files that it reads and writes, its formats.

A command is a module with `add_parser(actions)` and `run(args)`. It adds its options with the functions here, those
that name files with `app.files.reads` and `writes`, those of alignments, signals and sequences with `app.inputs`. `run`
parses nothing: it opens an engine, calls a verb and writes with `text_output`, all of `app.work`, whose names commands
find here.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NoReturn, TypeVar

from oclgenomics.app.files import Names, reads, writes
from oclgenomics.app.work import (
    begin_engine as begin_engine,
    binary_output as binary_output,
    check_files as check_files,
    check_writable as check_writable,
    chosen_engine as chosen_engine,
    open_engine as open_engine,
    provenance as provenance,
    report_profile as report_profile,
    saved_outputs as saved_outputs,
    say as say,
    say_written as say_written,
    started_progress as started_progress,
    text_output as text_output,
    write_facts as write_facts,
)
from oclgenomics.errors import UsageError
from oclgenomics.lazy_names import late

difflib = late("difflib")

MAX_COUNT = 1e15  # any whole number up to it is exact in float64
MAX_SIZE = 1e18  # bytes; more than any memory, and fits in 64 bits
SHOWN_TEXT = 40
SHORT_WORD = 2  # characters of a word, such as -o, that is like too many others
LIKE = 0.7  # how alike, by difflib, a word is that was perhaps meant
THOUSANDS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
SIZE_BITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
PACKED = "compressed if the name ends in .gz, .bz2, .xz or .zst"  # of every output that is text
FormatT = TypeVar("FormatT", bound=str)


# What a command is


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong with the words of a command in one line.

    Attributes
    ----------
    foreign : mapping of str to str
        Options of programs that users come from, as regular expressions, and what to use here. They are named where
        the words are wrong, so none takes an option from a command that has it.
    settle : callable, optional
        Settles values that depend on whether other options are given, and returns what is wrong with them, or None.
    """

    foreign: Mapping[str, str] = MappingProxyType({})
    settle: Callable[[argparse.Namespace], str | None] | None = None
    _words: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._words = list(args or ())
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unknown arguments: {' '.join(unknown)}{self._meant(unknown[0], self._option_string_actions)}")
        if self.settle is not None and (trouble := self.settle(known)):
            self.error(trouble)
        return known, unknown

    def _match_arguments_partial(self, actions: Sequence[argparse.Action], arg_strings_pattern: str) -> list[int]:
        """Say how many words each argument takes; one that may have none waits for words behind the next options.

        Without this, `query DB --hitmin 3 READS` fails: READS is content with nothing when --hitmin comes.
        """
        counts = super()._match_arguments_partial(actions, arg_strings_pattern)
        if "A" in arg_strings_pattern[sum(counts) :]:
            while counts and counts[-1] == 0:
                counts.pop()
        return counts

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the choice that was perhaps meant, and call commands so."""
        choices = action.choices
        if choices is None or value in choices:
            return
        meant = self._meant(str(value), choices)
        if not isinstance(action, argparse._SubParsersAction):
            listed = ", ".join(map(str, choices))
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{meant or f' (choose from {listed})'}")
        self.error(f"no command {value!r}{meant or f'; choose one of {_listed(choices)}'}")

    def _meant(self, word: str, known: Iterable[str]) -> str:
        """Ask for the known word that is most like a wrong one, if any is like it."""
        name = word.partition("=")[0].lstrip("-")
        names = {each.lstrip("-"): each for each in map(str, known) if len(each) > SHORT_WORD}
        close = difflib.get_close_matches(name, names, 1, LIKE) if len(name) > SHORT_WORD else []
        return f"; did you mean {names[close[0]]}?" if close else ""

    def error(self, message: str) -> NoReturn:
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction) and message.endswith(f"required: {action.metavar}"):
                message = f"give a command: {_listed(action.choices)}"
        raise UsageError("; ".join(self._foreign_words()) or f"{message} (options: {self.prog} --help)")

    def _foreign_words(self) -> Iterator[str]:
        """Name the words that are options of other programs, and ours."""
        words = dict.fromkeys(word.partition("=")[0] for word in self._words)
        for word in words:
            if word not in self._option_string_actions:
                yield from (f"{word}: {use}" for name, use in self.foreign.items() if re.fullmatch(name, word))


def _listed(names: Iterable[str] | None) -> str:
    return ", ".join(names or ())


def add_system(
    subparsers: Any,
    name: str,
    commands: str,
    parser_class: type[OneLineParser] = OneLineParser,
) -> None:
    """Add a system to the command line, and its commands, of which only that is imported which is asked for.

    Parameters
    ----------
    subparsers : argparse action
    name : str
        The system's.
    commands : str
        Names apart by spaces, in the order of the help. Each is a module of the system's `commands` with `add_parser`.
    parser_class : type, optional
    """
    parser = subparsers.add_parser(name)
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", required=True, parser_class=parser_class, action=_Commands
    )

    def add(command: str, some: Any) -> None:
        module = command.replace("-", "_")
        importlib.import_module(f"oclgenomics.{name}.commands.{module}").add_parser(some)

    actions.choices = actions._name_parser_map = _LateParsers(commands.split(), actions, add)


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The commands of a system; a help asks for all of them."""

    def _get_subactions(self) -> list[argparse.Action]:
        late: Any = self.choices
        return [shown for name in late for shown in late.shown(name)]


class _LateParsers(Mapping[str, argparse.ArgumentParser]):
    """The parsers of some commands, each made when it is first asked for."""

    def __init__(self, names: Sequence[str], actions: Any, add: Callable[[str, Any], None]) -> None:
        self._names, self._add = names, add
        self._how = {"prog": actions._prog_prefix, "parser_class": actions._parser_class}
        self._made: dict[str, argparse.ArgumentParser] = {}
        self._shown: dict[str, list[argparse.Action]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> argparse.ArgumentParser:
        if name not in self._made:
            actions = argparse.ArgumentParser().add_subparsers(**self._how)
            self._add(name, actions)
            self._made.update(actions.choices)
            self._shown[name] = actions._choices_actions
        return self._made[name]

    def shown(self, name: str) -> list[argparse.Action]:
        """Return what a help lists for a command."""
        self[name]
        return self._shown[name]


def add_late_parsers(actions: Any, helps: Mapping[str, str], add: Callable[[str, Any], None]) -> None:
    """Add commands whose parsers are made when they are first asked for: helps need nothing of what they import.

    Parameters
    ----------
    actions : argparse action
        What `add_subparsers` returned.
    helps : mapping of str to str
        Names of the commands, and what helps say of them.
    add : callable
        Takes a name and such actions as those, and adds the parser of this command, and perhaps those of others.
    """
    for name, text in helps.items():
        actions.add_parser(name, help=text)
    actions.choices = actions._name_parser_map = _LateParsers(tuple(helps), actions, add)


def add_command(
    actions: Any,
    run: Callable[[argparse.Namespace], int],
    name: str,
    help: str,
    description: str,
    foreign: Mapping[str, str] | None = None,
) -> OneLineParser:
    """Add a command, which `run` carries out, to the actions of its system; return its parser.

    `foreign` is that of `OneLineParser`.
    """
    parser: OneLineParser = actions.add_parser(name, help=help, description=description, allow_abbrev=False)
    parser.set_defaults(run=run)
    if foreign is not None:
        parser.foreign = foreign
    return parser


def add_options(
    group: argparse._ActionsContainer,
    kind: Callable[[str], Any],
    metavar: str | tuple[str, ...],
    texts: Mapping[str, str],
    defaults: object = None,
) -> None:
    """Add options that take values of one kind.

    Parameters
    ----------
    group : ArgumentParser or a group of it
    kind : callable
        Reads a value.
    metavar : str or tuple of str
        Options have as many values as it has words.
    texts : mapping of str to str
        The names in `args`, and the help of each.
    defaults : object, optional
        Its attributes of these names are the defaults; None where it has none.
    """
    for name, text in texts.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", type=kind, metavar=metavar, help=text,
            nargs=len(metavar) if isinstance(metavar, tuple) else None, default=getattr(defaults, name, None),
        )  # fmt: skip


def add_info(
    actions: Any, run: Callable[[argparse.Namespace], int], what: str, holds: str, file: str, kind: str
) -> argparse.ArgumentParser:
    """Add `info`, the command that says what a file holds: one fact on each line, or JSON; see `write_facts`.

    Parameters
    ----------
    actions : subparsers of argparse
    run : callable
    what, holds : str
        "a database", "k, strands, numbers of k-mers".
    file, kind : str
        Its metavar, in lower case its name in `args`, and its help.

    Returns
    -------
    ArgumentParser
        To which arguments may be added.
    """
    description = f"Write what {what} holds, one fact on each line."
    parser = add_command(actions, run, "info", f"what {what} holds: {holds}", description)
    reads(parser.add_argument(file.lower(), metavar=file, help=kind))
    add_output_options(parser)
    return parser


# Numbers and sizes


def parse_size(text: str) -> int:
    """Read a size such as "2G", "512M", "1.5GiB" or "1000000" (bytes); the units are powers of 1024."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    size = 0.0 if match is None else float(match[1]) * (1 << SIZE_BITS[match[2]])
    if not 0 < size < MAX_SIZE:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a size; write 512M or 2G")
    return int(size)


def count(text: str) -> int:
    """Read a whole number from 0 on, also with thousands written as in 10k, 1.5M, 2G or 1e6.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else, or larger than 1e15.
    """
    match = re.fullmatch(r"-?([0-9]+(?:\.[0-9]+)?(?:[eE][0-9]+)?)([kKmMgG]?)", text.replace("_", ""))
    value = float(match[1]) * THOUSANDS[match[2].upper()] if match else 0.5
    if match and text.startswith("-"):
        raise argparse.ArgumentTypeError(f"{shortened(text)} is below 0; give 0 or more")
    if value > MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is too large; {MAX_COUNT:g} is the most")
    if value != int(value):
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a whole number; write 100000, 100k or 0.1M")
    return int(value)


def whole(text: str) -> int:
    """Read a whole number, which may be negative and have 18 digits; thousands may be written as `count` takes them.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else.
    """
    text = text.strip()
    if re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        return int(text)
    return -count(text[1:]) if text.startswith("-") else count(text.removeprefix("+"))


def shortened(text: str) -> str:
    """What was given, as a message shows it."""
    return repr(text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + "...")


# Options of many commands


class FromReport:
    """The default of an option: what a report says, or a value where there is none."""

    def __init__(self, shown: str, value: Any = None) -> None:
        self.shown, self.value = shown, value

    def __str__(self) -> str:
        return self.shown


def add_device_options(parser: argparse.ArgumentParser, *, threads: str | None = None) -> None:
    """Add -d/--device, --max-memory, --threads and --profile.

    Parameters
    ----------
    parser : ArgumentParser
    threads : str, optional
        What `args.threads` is without the option: None, or `argparse.SUPPRESS` for no such attribute, and so no such
        parameter in the provenance of a command that hands it to nobody.
    """
    group = add_device_choice(parser, "OCLGENOMICS_DEVICE, then PYOPENCL_CTX, then auto")
    group.add_argument(
        "--threads", type=count, default=threads, metavar="N",
        help="cores to use at most: host threads, and the cores of a CPU device (default: OCLGENOMICS_THREADS, then "
        "all that the system allows this process)",
    )  # fmt: skip
    profile = group.add_argument(
        "--profile", nargs="?", const="", type=_trace_path, metavar="FILE.json",
        help="print a table of the time in each kernel; with a file, write a trace for ui.perfetto.dev as well",
    )  # fmt: skip
    writes(profile, of_run=True)


def add_device_choice(parser: argparse.ArgumentParser, default: str) -> argparse._ArgumentGroup:
    """Add -d/--device, of which the help tells the default, and --max-memory; return their group."""
    group = parser.add_argument_group("device")
    group.add_argument(
        "-d", "--device", metavar="DEVICE",
        help=f"auto, cpu, gpu, an index of `oclgenomics devices`, part of a name, or platform:N (default: {default})",
    )  # fmt: skip
    group.add_argument(
        "--max-memory", type=parse_size, metavar="SIZE",
        help="largest device memory to use, such as 512M or 2G (default: 80 %% of the device's)",
    )  # fmt: skip
    return group


def _trace_path(text: str) -> str:
    # The file's name is optional, so `--profile INPUT` would otherwise take, and overwrite, the input.
    if text and not text.endswith(".json"):
        raise argparse.ArgumentTypeError(f"the trace file's name has to end in .json, which {text!r} does not")
    return text


def add_output_options(
    parser: argparse.ArgumentParser,
    names: Names | None = None,
    *,
    formats: Sequence[str] = (),
    what: str = "results",
    note: str = "",
) -> argparse._ArgumentGroup:
    """Add -o, --format, --json and options of messages; return their group.

    Parameters
    ----------
    parser : ArgumentParser
    names : callable, optional
        As for `app.files.writes`.
    formats : sequence of str
        All that the command writes, the default first; --json is short for "json" or "jsonl". None adds no --format.
    what : str
        What is written, in the plural.
    note : str
        Said of the formats in the help.
    """
    group = parser.add_argument_group("output")
    writes(group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help=f"file for the {what}, {PACKED} (default: standard output)"
    ), names)  # fmt: skip
    if not formats:
        group.add_argument(
            "--json", action="store_true", help=f"write {what} as JSON (default: the command's own format)"
        )
    else:
        listed = ", ".join(formats[:-1]) + f" or {formats[-1]}"
        more = f"; {note}" if note else ""
        group.add_argument(
            "--format", metavar="NAME", help=f"format of the {what}: {listed}{more} (default: {formats[0]})"
        )
        group.add_argument("--json", action="store_true", help=f"short for --format {_json_among(formats)}")
    add_message_options(group)
    return group


def _json_among(formats: Sequence[str]) -> str:
    return next((name for name in formats if name.startswith("json")), "json")


def add_message_options(group: argparse._ArgumentGroup) -> None:
    """Add --versions, --quiet, -v and --debug."""
    add_versions_option(group)
    group.add_argument("-q", "--quiet", action="store_true", help="only errors on standard error")
    group.add_argument("-v", "--verbose", action="count", default=0, help="more messages on standard error")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_versions_option(group: argparse._ArgumentGroup) -> None:
    """Add --versions."""
    writes(group.add_argument(
        "--versions", metavar="FILE.yml",
        help="write the versions of this program and of what it runs on as YAML, for reports of workflows and MultiQC",
    ), of_run=True)  # fmt: skip


@dataclass(frozen=True)
class OutputOptions(Generic[FormatT]):
    """Where results go, and in which format.

    Attributes
    ----------
    path : str
        As -o names it; "-" is standard output.
    format : str
    """

    path: str
    format: FormatT

    @classmethod
    def resolve(cls, args: argparse.Namespace, formats: Sequence[FormatT]) -> OutputOptions[FormatT]:
        """Settle what --format, --json and -o ask for.

        Parameters
        ----------
        args : Namespace
            Its `format` becomes the one that is written, which is what the provenance says.
        formats : sequence of str
            All that the command writes; the first is the one without --format and --json.

        Raises
        ------
        UsageError
            --json and --format contradict each other, or there is no such format.
        """
        json = _json_among(formats)
        if args.json and args.format not in (None, json):
            raise UsageError(f"--json and --format {args.format} contradict each other; give one of them")
        asked = args.format or (json if args.json else formats[0])
        for known in formats:
            if known == asked:
                args.format = known
                return cls(args.output, known)
        raise UsageError(f"--format {asked}: choose one of {', '.join(formats)}")

    def write(self, text: str) -> None:
        """Write the whole of the results.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        with text_output(self.path) as stream:
            stream.write(text)
