"""`oclgenomics classify serve`: a database that answers requests over HTTP."""

from __future__ import annotations

import argparse
import contextlib
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import oclgenomics
from oclgenomics import classify
from oclgenomics.app.commands import (
    add_command,
    add_device_options,
    add_message_options,
    add_options,
    count,
    open_engine,
    parse_size,
    report_profile,
    say,
)
from oclgenomics.app.files import reads, works_in, writes
from oclgenomics.classify import serving
from oclgenomics.classify.commands.query_options import add_mapping_option
from oclgenomics.errors import UsageError
from oclgenomics.io.atomic_file import temporary_folder
from oclgenomics.lazy_names import optional


def add_parser(actions: Any) -> None:
    """Add `serve` to the actions of `classify`."""
    parser = add_command(
        actions, run, "serve", "keep a database on the device and classify reads that come over HTTP",
        "Keep a database on the device and answer requests: POST /classify with reads in FASTA or FASTQ, uncompressed "
        "or gzip, and the options of `query` as parameters, as in "
        "`curl --data-binary @reads.fq.gz 'http://127.0.0.1:8080/classify?format=tsv'`; GET /info, /health and "
        "/openapi.json. Browsers get a page at /. An interrupt or SIGTERM ends it when the request at work is answered."
        " It needs the extra `serve`: pip install 'oclgenomics[serve]'.",
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `classify build`"))
    add_mapping_option(parser, default="for")
    group = parser.add_argument_group("where")
    group.add_argument(
        "--listen", metavar="HOST:PORT", help="where to listen; port 0 is any that is free (default: 127.0.0.1:8080)"
    )
    writes(group.add_argument("--socket", metavar="PATH", help="listen to a Unix socket instead, for this user alone"))
    _add_limits(parser)
    add_device_options(parser, threads=argparse.SUPPRESS)
    add_message_options(parser.add_argument_group("messages"))


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")
    body = "of the reads of a request, uncompressed; more is refused with status 413 (default: 1G)"
    numbers = {
        "max_waiting": "requests that wait; more are refused with status 429 (default: %(default)s)",
        "max_connections": "connections at a time (default: %(default)s)",
    }
    add_options(group, parse_size, "SIZE", {"max_body": body}, serving.Limits)
    add_options(group, count, "N", numbers, serving.Limits)
    group.add_argument(
        "--timeout", dest="idle_seconds", type=float, default=30.0, metavar="S",
        help="seconds for which a client may be silent (default: %(default)g)",
    )  # fmt: skip
    said = "folder for reads and answers at work (default: the system's)"
    works_in(group.add_argument("--tmp-dir", metavar="DIR", help=said))


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    for package in ("starlette", "uvicorn", "h11"):
        optional(package, "`classify serve` needs Starlette and uvicorn: pip install 'oclgenomics[serve]'")
    address = _address(args)
    limits = serving.Limits(args.max_body, args.max_waiting, args.max_connections, args.idle_seconds)
    oclgenomics.select_device(args.device)  # a device that is not there is reported before anything is read
    if not address.is_local:
        say(args, f"all who reach {address.url} may use it: there is no password")
    server = serving.Server(
        address, lambda: _answerer(args), limits=limits, tmp_dir=args.tmp_dir,
        log=lambda line: say(args, line, level=1), on_defect=lambda error: _tell_defect(args, error),
    )  # fmt: skip
    with server:
        say(args, f"listening on {server.address.url}")
        with contextlib.suppress(KeyboardInterrupt):  # which is what signals raise
            server.wait()
        say(args, "ending; a request that is at work is answered first")
    say(args, f"ended; requests answered: {server.queue.answered:,}")
    return 0


def _address(args: argparse.Namespace) -> serving.Address:
    if args.socket is None:
        return serving.Address.parse("127.0.0.1:8080" if args.listen is None else args.listen)
    if args.listen is not None:
        raise UsageError("--listen and --socket contradict each other; give one of them")
    return serving.Address(path=args.socket)


@contextlib.contextmanager
def _answerer(args: argparse.Namespace) -> Iterator[serving.IndexAnswerer]:
    with open_engine(args) as engine:
        with classify.Index(args.database, engine=engine, memory_mapping=bool(args.memory_mapping)) as index:
            answerer = serving.IndexAnswerer(index)
            answerer.warm_up(temporary_folder(args.tmp_dir))
            yield answerer
        report_profile(args, engine)


def _tell_defect(args: argparse.Namespace, error: Exception) -> None:
    if args.debug:
        traceback.print_exception(error, file=sys.stderr)
    say(args, f"{type(error).__name__}: {' '.join(str(error).split())} (a defect; --debug shows where)")
