"""`oclgenomics classify add`: more reference genomes into a database."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from oclgenomics import classify
from oclgenomics.app.commands import add_command, open_engine, report_profile
from oclgenomics.app.files import writes
from oclgenomics.classify.commands.reference_options import add_building_options, built, with_manifest, write_built
from oclgenomics.errors import InputError, OutputError


def add_parser(actions: Any) -> None:
    """Add `add` to the actions of `classify`."""
    parser = add_command(
        actions, run, "add", "add reference genomes to a database",
        "Add reference genomes behind those that a database holds. The result is the one that building it of all of "
        "them in this order gives.",
    )  # fmt: skip
    writes(parser.add_argument("database", metavar="DB", help="the database"), _written)
    group = add_building_options(parser)
    output = group.add_argument(
        "-o", "--output", metavar="FILE", help="a new file for the database (default: it is replaced)"
    )
    writes(output, with_manifest, in_file=True)


def run(args: argparse.Namespace) -> int:
    """Add to a database.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    with _kept_to_this_run(args.database, in_place=not args.output) as check_unchanged, open_engine(args) as engine:
        start = time.perf_counter()
        before = classify.read_database(args.database)
        made = built(args, engine, "reading", before=before)
        check_unchanged()
        write_built(args, made, args.output or args.database, start, engine, len(before.targets))
        report_profile(args, engine)
    return 0


@contextlib.contextmanager
def _kept_to_this_run(path: str, *, in_place: bool) -> Iterator[Callable[[], None]]:
    """Keep other runs from replacing a database that this one is going to replace: what they added would be lost.

    Gives a function that refuses to go on if the file was replaced after all, by a program that asks for no lock or
    on a file system that has none.

    Raises
    ------
    OutputError
        Another run is about to replace it.
    """
    if not in_place:
        yield lambda: None
        return
    with contextlib.ExitStack() as stack:
        try:
            while True:
                file = stack.enter_context(open(path, "rb"))
                with contextlib.suppress(OSError):  # a file system without locks
                    _lock(file.fileno(), path)
                known = os.fstat(file.fileno())
                if os.path.samestat(known, os.stat(path)):  # else another run has just replaced it
                    break
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", source=path) from error

        def check_unchanged() -> None:
            try:
                now = os.stat(path)
            except OSError:
                now = None
            if now is None or not os.path.samestat(now, known) or now.st_mtime_ns != known.st_mtime_ns:
                raise OutputError(f"{path}: was replaced while references were added; run the command again")

        yield check_unchanged


def _lock(number: int, path: str) -> None:
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        told = "another `classify add` is at work on it; wait for its end, or write to another file with --output"
        raise OutputError(f"{path}: {told}") from None


def _written(args: argparse.Namespace, database: str) -> Iterable[str]:
    """The database is an output where it is replaced."""
    return [] if args.output else with_manifest(args, database)
