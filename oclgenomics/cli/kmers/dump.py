"""`oclgenomics kmers dump`: the k-mers of a database in other formats."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from oclgenomics.cli import options as common
from oclgenomics.commandkit.files import reads, writes
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.kmers.export.select import SelectedKmers

__all__ = ["add_parser", "run"]

FORMATS = ("tsv", "fasta", "npz", "kmc", "parquet")
BINARY = ("npz", "parquet")
LARGEST = (1 << 32) - 1


def add_parser(actions: Any) -> None:
    """Add `dump` to the actions of `kmers`."""
    parser = actions.add_parser(
        "dump",
        help="write the k-mers of a database as text, arrays, a KMC database or Parquet",
        description="Write k-mers and their counts in ascending order. The whole database is never in memory.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    parser.add_argument(
        "--format", default="tsv", metavar="|".join(FORMATS),
        help="tsv: k-mer, tab, count; fasta: >count and the k-mer; npz: arrays for NumPy; kmc: a database of KMC, "
        "files OUT.kmc_pre and OUT.kmc_suf; parquet: a table, needs the extra `parquet` (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--min-count", type=int, default=1, metavar="N", help="leave out rarer k-mers (default: 1)")
    parser.add_argument(
        "--max-count", type=int, default=LARGEST, metavar="N", help="leave out commoner k-mers (default: none)"
    )
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", default="-", metavar="OUT",
        help="where k-mers go; needed for kmc (default: standard output)",
    )  # fmt: skip
    writes(output, _outputs)
    common.add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Write the k-mers.

    Raises
    ------
    UsageError, InputError, MissingDependencyError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    _check(args)
    from oclgenomics.kmers.database.reader import KmerDatabase
    from oclgenomics.kmers.export.select import SelectedKmers

    with KmerDatabase.open(args.database) as database:
        _write(args, SelectedKmers(database, args.min_count, args.max_count))
    for path in common.saved_outputs():
        common.say(args, f"wrote {path}")
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.format not in FORMATS:
        raise UsageError(f"--format {args.format}: choose one of {', '.join(FORMATS)}")
    if args.output == "-":
        if args.format == "kmc":
            raise UsageError("--format kmc writes two files; name them: -o OUT makes OUT.kmc_pre and OUT.kmc_suf")
        if args.format in BINARY and sys.stdout.isatty():
            raise UsageError(f"--format {args.format} is not for terminals; give -o FILE")
    if args.format == "parquet":
        from oclgenomics.kmers.export.parquet import require_pyarrow

        require_pyarrow()


def _outputs(args: argparse.Namespace, output: str) -> list[str]:
    return [f"{output}.kmc_pre", f"{output}.kmc_suf"] if args.format == "kmc" else [output]


def _write(args: argparse.Namespace, kmers: SelectedKmers) -> None:
    from oclgenomics.kmers.export import text
    from oclgenomics.kmers.export.kmc import write_kmc
    from oclgenomics.kmers.export.npz import write_npz
    from oclgenomics.kmers.export.parquet import write_parquet

    writers: dict[str, Any] = {
        "tsv": text.write_tsv, "fasta": text.write_fasta, "npz": write_npz, "parquet": write_parquet,
        "kmc": write_kmc,
    }  # fmt: skip
    with ExitStack() as files:
        streams = [files.enter_context(common.atomic_output(name, "wb")) for name in _outputs(args, args.output)]
        writers[args.format](kmers, *streams)
