"""What the commands share: groups of options, the numbers and sizes in them, and the device that they choose."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from oclgenomics.app.files import Names, writes
from oclgenomics.app.output import PACKED, say, text_output
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

__all__ = [
    "OneLineParser",
    "add_device_options",
    "add_message_options",
    "add_output_options",
    "count",
    "open_engine",
    "parse_size",
    "report_profile",
    "shortened",
    "whole",
]

MAX_COUNT = 1e15  # any whole number up to it is exact in float64
MAX_SIZE = 1e18  # bytes; more than any memory, and fits in 64 bits
SHOWN_TEXT = 40
THOUSANDS = {"": 1, "K": 1_000, "M": 1_000_000}
SIZE_BITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong with the words of a command in one line."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unknown arguments: {' '.join(unknown)}")
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

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (options: {self.prog} --help)")


def parse_size(text: str) -> int:
    """Read a size such as "2G", "512M", "1.5GiB" or "1000000" (bytes); the units are powers of 1024."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:I?B)?", text.strip().upper())
    size = 0.0 if match is None else float(match[1]) * (1 << SIZE_BITS[match[2]])
    if not 0 < size < MAX_SIZE:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a size; write 512M or 2G")
    return int(size)


def count(text: str) -> int:
    """Read a whole number, also with thousands written as in 10k, 1.5M or 1e6.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else, or larger than 1e15.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?(?:[eE][0-9]+)?)([kKmM]?)", text.replace("_", ""))
    value = float(match[1]) * THOUSANDS[match[2].upper()] if match else 0.5
    if value > MAX_COUNT:
        raise argparse.ArgumentTypeError(f"{shortened(text)} is too large; {MAX_COUNT:g} is the most")
    if value != int(value):
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a whole number; write 100000, 100k or 0.1M")
    return int(value)


def whole(text: str) -> int:
    """Read a whole number, which may be negative.

    Raises
    ------
    argparse.ArgumentTypeError
        It is something else, or has more than 18 digits.
    """
    if not re.fullmatch(r"[-+]?[0-9]{1,18}", text.strip()):
        raise argparse.ArgumentTypeError(f"{shortened(text)} is not a whole number of at most 18 digits")
    return int(text)


def shortened(text: str) -> str:
    """What was given, as a message shows it."""
    return repr(text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + "...")


def _trace_path(text: str) -> str:
    # The file's name is optional, so `--profile INPUT` would otherwise take, and overwrite, the input.
    if text and not text.endswith(".json"):
        raise argparse.ArgumentTypeError(f"the trace file's name has to end in .json, which {text!r} does not")
    return text


def add_device_options(parser: argparse.ArgumentParser) -> None:
    """Add -d/--device, --max-memory and --profile."""
    group = parser.add_argument_group("device")
    group.add_argument(
        "-d",
        "--device",
        metavar="DEVICE",
        help="auto, cpu, gpu, an index of `oclgenomics devices`, part of a name, or platform:N "
        "(default: OCLGENOMICS_DEVICE, then PYOPENCL_CTX, then auto)",
    )
    group.add_argument(
        "--max-memory",
        type=parse_size,
        metavar="SIZE",
        help="largest device memory to use, such as 512M or 2G (default: 80 %% of the device's)",
    )
    profile = group.add_argument(
        "--profile",
        nargs="?",
        const="",
        type=_trace_path,
        metavar="FILE.json",
        help="print a table of the time in each kernel; with a file, write a trace for ui.perfetto.dev as well",
    )
    writes(profile)


def add_output_options(parser: argparse.ArgumentParser, names: Names | None = None) -> None:
    """Add -o/--output, --json, --quiet, -v and --debug; `names` as for `oclgenomics.app.files.writes`."""
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", default="-", metavar="FILE", help=f"file for the results, {PACKED} (default: standard output)"
    )
    writes(output, names)
    group.add_argument("--json", action="store_true", help="write results as JSON (default: the command's own format)")
    add_message_options(group)


def add_message_options(group: argparse._ArgumentGroup) -> None:
    """Add --quiet, -v and --debug."""
    group.add_argument("-q", "--quiet", action="store_true", help="only errors on standard error")
    group.add_argument("-v", "--verbose", action="count", default=0, help="more messages on standard error")
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def open_engine(args: argparse.Namespace) -> Engine:
    """Return an engine for the device options, and name the device on standard error."""
    from oclgenomics.runtime import Engine

    engine = Engine(args.device, max_memory=args.max_memory, profile=args.profile is not None)
    say(args, f"device {engine.device.index}: {engine.device}")
    return engine


def report_profile(args: argparse.Namespace, engine: Engine) -> None:
    """Print the profile's table on standard error and write the trace, where --profile asked for them."""
    if args.profile is None:
        return
    print(engine.profile.table(), file=sys.stderr)
    if args.profile:
        with text_output(args.profile) as stream:
            stream.write(engine.profile.trace_json())
