"""Commands that write some of the reads of their input: options of single reads and of mates, and of where they go."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Literal, get_args

from oclgenomics.app.commands import PACKED, add_message_options
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import add_reads_and_mates, with_reference
from oclgenomics.errors import UsageError
from oclgenomics.lazy_names import late

read_files = late("oclgenomics.app.read_files")

PairRule = Literal["either", "both"]
PAIR_RULES: tuple[PairRule, ...] = get_args(PairRule)


def add_filtered_reads(parser: argparse.ArgumentParser) -> None:
    """Add the files of single reads, as `args.reads`, --paired and what says how mates are found."""
    files = "files, all FASTA or all FASTQ, uncompressed or compressed (gzip, bzip2, xz, zstd); BAM, CRAM and SAM "
    add_reads_and_mates(
        parser, files + "count as FASTQ",
        "two files of mates, or @LIST of first and @LIST of second ones: the n-th read of the one and of the other are "
        "a pair; may be given more than once",
    )  # fmt: skip


def add_pair_rule(group: argparse._ArgumentGroup) -> None:
    """Add --pairs and --drop."""
    group.add_argument(
        "--pairs", choices=PAIR_RULES, default="either",
        help="a pair passes if either mate does, or both do; mates stay together (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--drop", action="store_true", help="keep the reads that do not pass")


def add_kept_reads(parser: argparse.ArgumentParser) -> None:
    """Add -o, --rest, --json and options of messages."""
    group = parser.add_argument_group("output")
    outputs = (("-o", "--output", "-", "the reads that are kept"), (None, "--rest", None, "all other reads"))
    for short, name, default, what in outputs:
        action = group.add_argument(
            *([name] if short is None else [short, name]), default=default, metavar="FILE",
            help=f"where {what} go: {PACKED}, - for standard output; # in the name becomes _1 "
            "and _2 for the mates of pairs, which else follow each other (default: "
            f"{'nowhere' if default is None else 'standard output'})",
        )  # fmt: skip
        writes(action, lambda _, given: read_files.output_names(given))
    group.add_argument("--json", action="store_true", help="write a summary as JSON to standard output; needs -o")
    add_message_options(group)


def check_mates(args: argparse.Namespace, outputs: Iterable[tuple[str, str | None]]) -> None:
    """Refuse outputs of first and second mates where reads are single; `outputs` are options and what they name.

    Raises
    ------
    UsageError
    """
    if args.paired or args.interleaved or getattr(args, "pairfiles", False):
        return
    for option, name in outputs:
        if "#" in (name or ""):
            told = "# is for two files of mates; give --paired or --interleaved, or a name without it"
            raise UsageError(f"{option} {name}: {told}")


def check_kept_reads(args: argparse.Namespace) -> None:
    """Refuse a summary in the midst of reads, and files of mates where there are none.

    Raises
    ------
    UsageError
    """
    check_mates(args, (("-o", args.output), ("--rest", args.rest)))
    if args.json and "-" in (args.output, args.rest):
        raise UsageError("--json and the reads both go to standard output; name a file for the reads with -o")


def reads_and_mates(args: argparse.Namespace) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the files of single reads, and those of first and second mates; all know --reference if it is given.

    Raises
    ------
    UsageError
        There are none, or they cannot be read together.
    InputError
        A list that cannot be read, or a reference without an index.
    """
    pairs = read_files.mate_files(zip(args.paired[::2], args.paired[1::2], strict=True))
    singles = with_reference(args, args.reads)
    firsts, seconds = (with_reference(args, names) for names in ([one for one, _ in pairs], [two for _, two in pairs]))
    pairs = list(zip(firsts, seconds, strict=True))
    read_files.check_filter_inputs(singles, pairs)
    return singles, pairs
