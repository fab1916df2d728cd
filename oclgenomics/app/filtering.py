"""Commands that write some of the reads of their input: options of single reads and of mates, and of where they go."""

from __future__ import annotations

import argparse

from oclgenomics.app.commands import PACKED, add_message_options
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import add_reference_option, reads_sequences, with_reference
from oclgenomics.errors import UsageError
from oclgenomics.lazy_names import late

read_files = late("oclgenomics.app.read_files")


def add_reads_and_mates(parser: argparse.ArgumentParser) -> None:
    """Add the files of single reads, as `args.reads`, --paired and what says how mates are found."""
    files = parser.add_argument(
        "reads", nargs="+", default=[], metavar="READS",
        help="files, all FASTA or all FASTQ, uncompressed or compressed (gzip, bzip2, xz, zstd); BAM, CRAM and SAM "
        "count as FASTQ; - for standard input; @LIST for the files that a text file names, one a line; none if "
        "--paired names all",
    )  # fmt: skip
    files.required = False  # with nargs="*", argparse takes reads that stand behind an option for unknown
    reads_sequences(files)
    group = parser.add_argument_group("reads")
    pairs = group.add_argument(
        "--paired", nargs=2, action="extend", default=[], metavar="FILE",
        help="two files of mates, or @LIST of first and @LIST of second ones: the n-th read of the one and of the "
        "other are a pair; may be given more than once",
    )  # fmt: skip
    reads_sequences(pairs)
    add_reference_option(group)
    group.add_argument("--interleaved", action="store_true", help="mates follow each other in READS")
    group.add_argument("--any-mates", action="store_true", help="take mates that have different names as pairs")


def add_pair_rule(group: argparse._ArgumentGroup) -> None:
    """Add --pairs and --drop."""
    group.add_argument(
        "--pairs", choices=("either", "both"), default="either",
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


def check_kept_reads(args: argparse.Namespace) -> None:
    """Refuse a summary in the midst of reads.

    Raises
    ------
    UsageError
    """
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
