"""What commands share that take databases, or reads whose k-mers they count on the way."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from oclgenomics.app.commands import add_device_options, say
from oclgenomics.app.files import works_in
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.kmers.kmer_set import KmerSet
    from oclgenomics.kmers.options import CountOptions
    from oclgenomics.runtime import Engine

__all__ = ["add_reading_options", "check_databases", "chosen_set", "counting_options", "spill_teller"]


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add -k, --no-canonical, --min-quality, --threads, --tmp-dir and the options of the device."""
    group = parser.add_argument_group("counting of reads")
    group.add_argument("-k", type=int, metavar="K", help="letters of a k-mer, 1 to 256; needed for reads")
    group.add_argument(
        "--no-canonical", action="store_true",
        help="count a k-mer and its reverse complement separately (default: as one)",
    )  # fmt: skip
    group.add_argument(
        "--min-quality", type=int, metavar="Q",
        help="letters of FASTQ with a lower quality (Phred + 33, 0 to 93) count as N (default: none)",
    )  # fmt: skip
    group.add_argument(
        "--threads", type=int, metavar="N", help="host threads that decompress bgzip (default: at most 4)"
    )
    folder = group.add_argument(
        "--tmp-dir", metavar="FOLDER",
        help="folder for temporary files, of which nothing is left (default: TMPDIR or the system's folder)",
    )  # fmt: skip
    works_in(folder)
    add_device_options(parser)


def counting_options(args: argparse.Namespace, reads: Sequence[str]) -> CountOptions:
    """Return what of reads is counted.

    Raises
    ------
    UsageError
        There is no -k, or a value is out of range.
    OutputError
        The folder for temporary files is missing or not writable.
    """
    from oclgenomics.kmers.api import check_reading
    from oclgenomics.kmers.options import CountOptions

    if args.k is None:
        raise UsageError(f"{reads[0]} is no database of `kmers count`; if it holds reads, give -k to count them")
    check_reading(args.min_quality, args.tmp_dir)
    return CountOptions(args.k, not args.no_canonical)


def check_databases(args: argparse.Namespace) -> None:
    """Refuse options that say how reads are counted where there are none.

    Raises
    ------
    UsageError
        One of them is given.
    """
    for option, value in (("-k", args.k), ("--no-canonical", args.no_canonical or None),
                          ("--min-quality", args.min_quality)):  # fmt: skip
        if value is not None:
            raise UsageError(f"{option} says how reads are counted, and no input holds reads; leave it out")


@contextlib.contextmanager
def chosen_set(
    args: argparse.Namespace, name: str | None, options: CountOptions, engine: Engine
) -> Iterator[KmerSet | None]:
    """Lend the set of --only: a database, or the k-mers of a file, which are counted; None where it is not given.

    Raises
    ------
    UsageError
        A database of other k-mers.
    InputError, DeviceError, OutputError
        See `oclgenomics.kmers.count_to_database`.
    """
    if name is None:
        yield None
        return
    from oclgenomics.kmers.database.reader import KmerDatabase
    from oclgenomics.kmers.options import CountOptions
    from oclgenomics.kmers.sample import counted_for_a_while, is_database
    from oclgenomics.kmers.sets.restriction import check_alike

    if is_database(name):
        with KmerDatabase.open(name) as database:
            check_alike(options.k, options.canonical, database)
            yield database
    else:
        plain = CountOptions(options.k, options.canonical)
        with counted_for_a_while([name], plain, engine=engine, threads=args.threads, tmp_dir=args.tmp_dir) as counted:
            yield counted


def spill_teller(args: argparse.Namespace) -> Callable[[int, int], None]:
    """Return what tells of temporary runs, with -v."""

    def say_spilled(parts: int, written: int) -> None:
        say(args, f"part {parts:,} counted; {written:,} bytes in temporary files", level=1)

    return say_spilled
