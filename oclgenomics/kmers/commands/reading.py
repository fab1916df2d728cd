"""What the commands share: options of reading and counting, and the progress that they show."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oclgenomics import kmers
from oclgenomics.app.commands import add_device_options, count, open_engine, report_profile, say, started_progress
from oclgenomics.app.files import works_in
from oclgenomics.app.inputs import add_reference_option, with_reference
from oclgenomics.app.progress import Progress
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

BYTES = ("MB", 1e6)
KMERS = ("million k-mers", 1e6)


def add_counting_options(group: Any) -> None:
    """Add --no-canonical, --compress-homopolymers and --min-quality."""
    group.add_argument(
        "--no-canonical", action="store_true",
        help="count a k-mer and its reverse complement separately (default: as one)",
    )  # fmt: skip
    group.add_argument(
        "--compress-homopolymers", action="store_true",
        help="runs of equal bases count as one base (default: no)",
    )  # fmt: skip
    group.add_argument(
        "--min-quality", type=count, metavar="Q",
        help="bases of FASTQ with a lower quality (Phred + 33, 0 to 93) count as N (default: none)",
    )  # fmt: skip


def add_count_bounds(group: Any, *texts: str) -> None:
    """Add --min-count and --max-count with what their help says."""
    bounds = (("--min-count", 1), ("--max-count", (1 << 32) - 1))
    for (name, default), text in zip(bounds, texts, strict=True):
        group.add_argument(name, type=count, default=default, metavar="N", help=f"{text} (default: %(default)s)")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Add -k, --no-canonical, --min-quality, --reference, --tmp-dir and the options of the device."""
    group = parser.add_argument_group("counting of reads")
    group.add_argument("-k", type=count, metavar="K", help="bases of a k-mer, 1 to 256; needed for reads")
    add_counting_options(group)
    add_reference_option(group)
    add_folder_option(group)
    add_device_options(parser)


def add_folder_option(group: Any, what: str = "temporary files, of which nothing is left") -> None:
    """Add --tmp-dir, a folder for `what`."""
    works_in(group.add_argument(
        "--tmp-dir", metavar="FOLDER", help=f"folder for {what} (default: TMPDIR or the system's folder)"
    ))  # fmt: skip


def only_of(args: argparse.Namespace) -> str | None:
    """Return the set of --only, which knows --reference if it is one file."""
    only: str | None = args.only
    return only if only is None or only.startswith("@") else with_reference(args, [only])[0]


def counting_options(args: argparse.Namespace, reads: Sequence[str]) -> kmers.CountOptions:
    """Return what of reads is counted.

    Raises
    ------
    UsageError
        There is no -k, or a value is out of range.
    OutputError
        The folder for temporary files is missing or not writable.
    """
    if args.k is None:
        name = "standard input" if reads[0] == "-" else reads[0]
        raise UsageError(f"{name} is no database of `kmers count`; if it holds reads, give -k to count them")
    kmers.CountOptions.check_reading(args.min_quality, args.tmp_dir)
    return kmers.CountOptions(args.k, not args.no_canonical, compressed=args.compress_homopolymers)


def check_databases(args: argparse.Namespace) -> None:
    """Refuse options that say how reads are counted where there are none.

    Raises
    ------
    UsageError
        One of them is given.
    """
    for option, value in (("-k", args.k), ("--no-canonical", args.no_canonical or None),
                          ("--compress-homopolymers", args.compress_homopolymers or None),
                          ("--min-quality", args.min_quality)):  # fmt: skip
        if value is not None:
            raise UsageError(f"{option} says how reads are counted, and no input holds reads; leave it out")


@dataclass
class Work:
    """A command at work: its engine, how it runs, what takes word of temporary runs and of stages, its time."""

    engine: Engine
    run: kmers.Run
    say_spilled: Callable[[int, int], None]
    stage: Callable[[str, str, float], None]
    seconds: float = 0.0


@contextlib.contextmanager
def at_work(args: argparse.Namespace, label: str, engine: Engine | None = None) -> Iterator[Work]:
    """Open the engine of a command that reads sequences, show how far it is, take the time and report its profile.

    An engine that is open already is used and stays open, and its profile is left to its owner.
    """
    with open_engine(args) if engine is None else contextlib.nullcontext(engine) as lent:
        start = time.perf_counter()
        with showing_progress(args, label) as (shown, say_spilled):
            work = Work(lent, kmers.Run(args.threads, shown.update), say_spilled, shown.stage)
            yield work
        work.seconds = time.perf_counter() - start
        if engine is None:
            report_profile(args, lent)


@contextlib.contextmanager
def showing_progress(
    args: argparse.Namespace, label: str, what: tuple[str, float] = BYTES
) -> Iterator[tuple[Progress, Callable[[int, int], None]]]:
    """Show how far the work is, on a terminal; lend what shows it, and what is to be told of temporary runs."""
    shown = started_progress(args, label, *what)

    def say_spilled(parts: int, written: int) -> None:
        shown.clear()
        say(args, f"part {parts:,} counted; {written:,} bytes in temporary files", level=1)

    try:
        yield shown, say_spilled
    finally:
        shown.clear()
