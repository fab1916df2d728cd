"""Commands that do all samples of a sheet: what each sample's outputs are called, which samples are whole already, and
the loop that makes the others, in which a sample that fails does not keep the next one from being made.

A command gives `run_sheet` a `SheetUse` and a function that opens what all samples share, such as the device and a
database. That lends a function that does one sample, called with the options as they would be for this sample alone.

Next to the main output of a sample lies a record, `.NAME.made`, of what made its outputs. A sample is whole if this
says the same as a new one would, and if the outputs are still those that it lists.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from oclgenomics import __version__
from oclgenomics.app.commands import OneLineParser, check_writable, provenance, say, text_output
from oclgenomics.app.files import (
    FileKey,
    chosen_actions,
    file_key,
    named_files,
    of_samples,
    option_of,
    reads,
    role_of,
)
from oclgenomics.app.spread import NOT_KEPT
from oclgenomics.app.streams import printable
from oclgenomics.errors import (
    AllocationError,
    DeviceError,
    InputError,
    OclGenomicsError,
    OutputError,
    UsageError,
)
from oclgenomics.io.atomic_file import replace_file, saved_files
from oclgenomics.io.json_text import json_text
from oclgenomics.io.packed_file import check_packer
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.app.pieces import InputMark
    from oclgenomics.app.sheets import Sample

json = late("json")
pieces = late("oclgenomics.app.pieces")
reports = late("oclgenomics.app.reports")
sheets = late("oclgenomics.app.sheets")

OPTION = "--samplesheet"
HOLE = "{sample}"  # in the name of an output, for the name of the sample
BEHIND = (".", "_", "-")  # how the end of a name begins that goes behind the sample's
MADE, KEPT, FAILED = "made", "kept", "failed"
COLUMNS = ("sample", "status", "output", "error")
SPREAD = {
    "workers": "--workers", "shard": "--shard", "scheduler": "--scheduler", "piece_count": "--pieces",
    "piece_dir": "--piece-dir", "sample_name": "--sample-name",
}  # fmt: skip
Facts = Mapping[str, Any] | None
MakeSample = Callable[[argparse.Namespace], Facts]
OpenShared = Callable[[argparse.Namespace], contextlib.AbstractContextManager[MakeSample]]


@dataclass(frozen=True)
class SheetUse:
    """How a command does samples of a sheet.

    Attributes
    ----------
    files : str
        Name in `args` of the list of the sample's files.
    ending : callable
        Gives, of the options, what comes behind the sample's name in that of its main output: ".db".
    paired : str, optional
        Name in `args` of the list of files of mates, two and two; if not given, these are files as all others.
    signals : bool
        Files are of signals, and may be folders of them; else they are of reads.
    check : callable, optional
        Called with the options of the first sample, to refuse what no sample could be made with.
    """

    files: str
    ending: Callable[[argparse.Namespace], str]
    paired: str | None = None
    signals: bool = False
    check: Callable[[argparse.Namespace], object] | None = None


def add_sheet_option(
    group: argparse._ActionsContainer,
    parser: OneLineParser,
    files: argparse.Action,
    last: argparse.Action | None = None,
    *,
    signals: bool = False,
) -> None:
    """Add --samplesheet; without it, `args` has no such name, so that outputs are as they were.

    Parameters
    ----------
    group : ArgumentParser or a group of it
    parser : OneLineParser
        Of the command.
    files : Action
        The argument for files, which a sheet takes the place of.
    last : Action, optional
        An argument behind it.
    signals : bool
        As of `SheetUse`.
    """
    columns = "sample and input" if signals else "sample, fastq_1 and fastq_2, or sample and input"
    reads(group.add_argument(
        OPTION, default=argparse.SUPPRESS, metavar="FILE.csv",
        help=f"do all samples of a table (CSV or TSV) with the columns {columns}, into the folder that -o names; other "
        "outputs are given as what comes behind a sample's name, such as _mqc.json; samples that are whole are kept",
    ))  # fmt: skip
    needed = [action for action in (files, last) if action is not None and action.required]
    for action in needed:
        action.required = False
    files.default = []
    parser.settle = partial(_settle, files, last, needed)


def _settle(
    files: argparse.Action, last: argparse.Action | None, needed: Sequence[argparse.Action], args: argparse.Namespace
) -> str | None:
    """Say what arguments are missing, or too many with a sheet, whose only argument is the last one."""
    given = getattr(args, files.dest)
    if hasattr(args, "samplesheet"):
        if last is not None and getattr(args, last.dest) is None and len(given) == 1:
            setattr(args, last.dest, given[0])
            setattr(args, files.dest, [])
        if getattr(args, files.dest):
            return f"{OPTION}: the sheet names the files; leave {files.metavar} out"
        needed = [action for action in needed if action is not files]
    missing = [str(action.metavar) for action in needed if not getattr(args, action.dest)]
    return f"the following arguments are required: {', '.join(missing)}" if missing else None


def has_sheet(args: argparse.Namespace) -> bool:
    """Whether a command does all samples of a sheet."""
    return hasattr(args, "samplesheet")


def run_sheet(args: argparse.Namespace, use: SheetUse, opened: OpenShared) -> int:
    """Make all samples of --samplesheet that are not whole, and list all on standard output.

    Parameters
    ----------
    args : Namespace
        `format`, if there is one, is settled.
    use : SheetUse
    opened : callable
        Opens, with `args`, what samples share, when the first one is to be made.

    Returns
    -------
    int
        The exit status: 0, or that of the first sample that failed.

    Raises
    ------
    UsageError, InputError, OutputError
        Before anything is made: options contradict each other, the sheet is wrong, or an output is an input or another
        output, or could not be written.
    OclGenomicsError
        What is shared cannot be opened, or the device fails.
    """
    samples = _planned(args, use)
    done: list[_Done] = []
    try:
        with contextlib.ExitStack() as stack:
            make: MakeSample | None = None
            for number, sample in enumerate(samples, 1):
                try:
                    record = sample.record()
                    facts = sample.kept(record)
                except OclGenomicsError as error:
                    done.append(_Done(sample, FAILED, error=error))
                    continue
                if facts is not None:
                    say(args, f"sample {sample.name} ({number:,} of {len(samples):,}): whole, kept", level=1)
                    done.append(_Done(sample, KEPT, facts))
                    continue
                make = make or stack.enter_context(opened(args))
                say(args, f"sample {sample.name} ({number:,} of {len(samples):,})")
                done.append(_made(sample, make, record))
    finally:
        _tell_failures(args, done)
    say(args, ", ".join(f"{[one.status for one in done].count(word):,} {word}" for word in (MADE, KEPT, FAILED)))
    _list_samples(args, done)
    return next((one.error.exit_code for one in done if one.error is not None), 0)


class _Planned:
    """A sample, and the options that make it."""

    def __init__(self, sample: Sample, args: argparse.Namespace, mark: Callable[[str], InputMark]) -> None:
        self.name, self.args, self._mark = sample.name, args, mark
        named = named_files(args.parser, args)
        self.inputs = [file for file in named if file.kind == "input"]
        self.outputs = [file for file in named if file.kind == "output"]
        self.folder, main = os.path.split(args.output)
        self.record_name = os.path.join(self.folder, f".{main}.made")

    def record(self) -> dict[str, Any]:
        """What makes the outputs, as the record has it, with inputs as they are now.

        Raises
        ------
        InputError
            An input is not there.
        """
        known = provenance(self.args, None)
        files = {action.dest for action in chosen_actions(self.args.parser, self.args) if role_of(action) is not None}
        return {
            "program": known["program"], "version": __version__,
            "command": [self.args.command, self.args.action],
            "parameters": _plain(
                {name: value for name, value in known["parameters"].items() if name not in files | NOT_KEPT | {"json"}}
            ),
            "inputs": [{"option": file.option, **asdict(self._mark(str(file.name)))} for file in self.inputs],
        }  # fmt: skip

    def kept(self, now: Mapping[str, Any]) -> Facts:
        """The facts of a sample that is whole, for which a new record would say this; None if it has to be made."""
        before = self._before
        if before is None or any(before.get(name) != now[name] for name in ("program", "version", "command")):
            return None
        if before.get("parameters") != now["parameters"] or _keys(before.get("inputs")) != _keys(now["inputs"]):
            return None
        known = {file["name"]: file for file in before["outputs"]}
        for output in self.outputs:
            listed = known.get(self._own_name(str(output.name)))
            if listed is None or listed != self._as_listed(output.option, str(output.name)):
                return None
        facts: dict[str, Any] = before["result"]
        return facts

    @cached_property
    def _before(self) -> dict[str, Any] | None:
        """The record that there is, if it is one."""
        try:
            with open(self.record_name, encoding="utf-8") as file:
                found = json.load(file)
            whole = all(isinstance(one["name"], str) for one in found["outputs"]) and isinstance(found["result"], dict)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return None
        return found if whole else None

    def _own_name(self, name: str) -> str:
        return os.path.relpath(name, self.folder or os.curdir)

    def _as_listed(self, option: str, name: str) -> dict[str, Any] | None:
        """What a record says of an output; None if it is not there."""
        try:
            mark = pieces.InputMark.of(name)
        except (InputError, ValueError):  # of a name that no file can have, as a damaged record may list
            return None
        return {"option": option, **asdict(mark), "name": self._own_name(name)}

    def remove_before(self) -> None:
        """Remove the record, and the outputs that it lists, so that no old ones are left among new ones."""
        for listed in [] if self._before is None else self._before["outputs"]:
            name = os.path.join(self.folder, listed["name"])
            inside = not os.path.isabs(listed["name"]) and os.pardir not in listed["name"].split(os.sep)
            if inside and listed == self._as_listed(listed.get("option", ""), name):
                _remove(name)
        if os.path.lexists(self.record_name):
            _remove(self.record_name)

    def remove_saved(self) -> None:
        """Remove the outputs that were written, since others of the sample were not."""
        saved = {os.path.realpath(name) for name in saved_files()}
        for output in self.outputs:
            if os.path.realpath(str(output.name)) in saved:
                with contextlib.suppress(OutputError):
                    _remove(str(output.name))

    def write_record(self, record: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
        """Write what made the outputs that are there now."""
        outputs = [self._as_listed(output.option, str(output.name)) for output in self.outputs]
        text = json_text({**record, "outputs": outputs, "result": facts}, indent=1) + "\n"
        try:
            replace_file(self.record_name, text.encode(), private=False)
        except OSError as error:
            raise OutputError(f"{self.record_name}: cannot be written ({error.strerror or error})") from error


@dataclass(frozen=True)
class _Done:
    """What became of a sample."""

    sample: _Planned
    status: str
    facts: Facts = None
    error: OclGenomicsError | None = None


def _made(sample: _Planned, make: MakeSample, record: Mapping[str, Any]) -> _Done:
    """Make a sample: all of its outputs, and then the record of them; or nothing."""
    try:
        sample.remove_before()
        facts = _plain(make(sample.args) or {})
        sample.write_record(record, facts)
    except BaseException as error:
        sample.remove_saved()
        lost = isinstance(error, DeviceError) and not isinstance(error, AllocationError)
        if not isinstance(error, OclGenomicsError) or lost:
            raise
        return _Done(sample, FAILED, error=error)
    return _Done(sample, MADE, facts)


def _tell_failures(args: argparse.Namespace, done: Sequence[_Done]) -> None:
    """Write a line for each sample that failed, also with --quiet."""
    for one in done:
        if one.error is not None:
            one.error.option_of = option_of(args.parser, args)
            print(f"oclgenomics: error: sample {printable(f'{one.sample.name}: {one.error}')}", file=sys.stderr)


def _list_samples(args: argparse.Namespace, done: Sequence[_Done]) -> None:
    """Write to standard output what became of each sample."""
    with text_output("-") as stream:
        if not args.json:
            rows = [
                (
                    one.sample.name,
                    one.status,
                    reports.MISSING if one.error else one.sample.args.output,
                    _reason(one) or reports.MISSING,
                )
                for one in done
            ]
            stream.write(reports.table_text({}, COLUMNS, rows))
            return
        listed = [
            {
                "sample": one.sample.name, "status": one.status, "error": _reason(one),
                "outputs": [] if one.error else [str(output.name) for output in one.sample.outputs],
                **({"result": one.facts} if one.facts else {}),
            }
            for one in done
        ]  # fmt: skip
        stream.write(json_text(provenance(args, None) | {"samples": listed}, indent=1) + "\n")


def _reason(done: _Done) -> str | None:
    return None if done.error is None else " ".join(str(done.error).split())


def _planned(args: argparse.Namespace, use: SheetUse) -> list[_Planned]:
    """The samples with their options, whose outputs can all be written."""
    for name, option in SPREAD.items():
        if getattr(args, name, None) is not None:
            raise UsageError(f"{option} and {OPTION} contradict each other; give one of them")
    if use.paired is not None and getattr(args, use.paired):
        raise UsageError(f"--{use.paired}: the sheet names the files of mates; leave the option out")
    if args.output == "-":
        raise UsageError(f"{OPTION}: name the folder for the outputs with -o")
    if HOLE not in args.output and os.path.lexists(args.output) and not os.path.isdir(args.output):
        raise UsageError(f"-o {args.output}: with {OPTION}, it is a folder, and this is none; name another one")
    sheet = sheets.read_sheet(args.samplesheet, mates=not use.signals, folders=use.signals)
    marks: dict[str, InputMark] = {}

    def mark(name: str) -> InputMark:
        """Of an input; what all samples read is looked at once."""
        found: InputMark = marks.get(name) or pieces.InputMark.of(name)
        if name in shared:
            marks[name] = found
        return found

    named = named_files(args.parser, args)
    shared = {str(file.name) for file in named if file.kind == "input" and file.option != OPTION}
    for name in sorted(shared):
        if name == "-" or (os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name)):
            what = "standard input" if name == "-" else f"{name}, a pipe or a device,"
            raise UsageError(f"{OPTION}: {what} could not be compared by a later run; name a file")
        mark(name)  # what all samples need is missed once, before anything is made
    samples = [_Planned(sample, _own_args(args, use, sample), mark) for sample in sheet]
    if use.check is not None:
        use.check(samples[0].args)
    _check_outputs(args, samples)
    return samples


def _own_args(args: argparse.Namespace, use: SheetUse, sample: Sample) -> argparse.Namespace:
    """The options as they would be for a sample alone."""
    given = {name: value for name, value in vars(args).items() if name != "samplesheet"}
    main = args.output.replace(HOLE, sample.name)
    if HOLE not in args.output:
        main = os.path.join(args.output, sample.name + use.ending(args))
    for action in chosen_actions(args.parser, args):
        value = getattr(args, action.dest, None)
        if of_samples(action) and isinstance(value, str) and value and action.dest != "output":
            given[action.dest] = _own_name(max(action.option_strings, key=len), value, sample.name, main)
    files = [os.path.join(os.curdir, name) if name.startswith("@") else name for name in sample.files]
    mates = use.paired is not None and sample.paired
    own = {"output": main, "sample_name": sample.name, "versions": None, "profile": None}
    own[use.paired if use.paired is not None and mates else use.files] = files
    return argparse.Namespace(**given | own)


def _own_name(option: str, value: str, sample: str, main: str) -> str:
    """The name of an output of a sample, in the folder of its main one unless the option says where."""
    if HOLE in value:
        return value.replace(HOLE, sample)
    if value == "-" or not value.startswith(BEHIND) or os.path.basename(value) != value:
        raise UsageError(
            f"{option} {value}: with {OPTION}, give what comes behind the name of a sample and begins with a dot or _, "
            f"or a name with {HOLE} in it"
        )
    return os.path.join(os.path.dirname(main), sample + value)


def _check_outputs(args: argparse.Namespace, samples: Sequence[_Planned]) -> None:
    """Make the folders of outputs, and refuse outputs that are an input or another output, or cannot be written.

    Raises
    ------
    UsageError, OutputError
    """
    taken: dict[FileKey | None, str] = {None: ""}
    named = [file for file in named_files(args.parser, args) if str(file.name) != "-"]
    for file in [*named, *(file for sample in samples for file in sample.inputs)]:
        taken.setdefault(file_key(str(file.name)), str(file))
    within: dict[str, str] = {}
    for sample in samples:
        for option, name in [(file.option, str(file.name)) for file in sample.outputs] + [("-o", sample.record_name)]:
            key = file_key(os.path.realpath(name))  # as it will be when all folders on its way are made
            shown = f"{option} {name}"
            if key in taken:
                other = f"is {taken[key]}, too" if key is not None else "is a pipe or a device"
                raise UsageError(f"{shown} of sample {sample.name}: {other}; choose other names")
            taken[key] = f"{shown} of sample {sample.name}"
            folder = os.path.dirname(name) or os.curdir
            if folder not in within:
                within[folder] = next((taken[key] for key in _folders(folder) if key in taken), "")
            if within[folder]:
                raise UsageError(f"{shown}: lies within {within[folder]}; choose another place")
            check_packer(name)
    for folder in within:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise OutputError(f"-o {folder}: the folder cannot be made ({error.strerror or error})") from error
    for sample in samples:
        for file in sample.outputs:
            check_writable(file.option, str(file.name))
        check_writable("-o", sample.record_name)


def _folders(folder: str) -> Iterator[FileKey | None]:
    """A folder and those around it."""
    place = os.path.realpath(folder)
    while True:
        yield file_key(place)
        place, below = os.path.dirname(place), place
        if place == below:
            return


def _remove(name: str) -> None:
    try:
        os.unlink(name)
    except OSError as error:
        raise OutputError(f"{name}: cannot be removed ({error.strerror or error})") from error


def _keys(marks: Any) -> list[tuple[Any, ...]]:
    """What of inputs has to be the same."""
    if not isinstance(marks, list) or not all(isinstance(mark, dict) for mark in marks):
        return []
    return [tuple(mark.get(name) for name in ("option", "size", "time", "ends")) for mark in marks]


def _plain(values: Mapping[str, Any]) -> Any:
    """Values as they are when they come back from JSON."""
    return json.loads(json_text(values))
