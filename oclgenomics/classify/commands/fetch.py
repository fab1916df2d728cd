"""`oclgenomics classify fetch`: public collections of reference genomes into a database."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from oclgenomics.app.commands import (
    add_command,
    add_device_options,
    add_message_options,
    count,
    open_engine,
    report_profile,
    say,
    started_progress,
    text_output,
)
from oclgenomics.app.files import reads, works_in, writes
from oclgenomics.classify.commands.build import add_feature_options, add_sketch_options, build_options
from oclgenomics.classify.commands.query_options import chosen
from oclgenomics.classify.commands.reference_options import add_manifest_option, built, with_manifest, write_built
from oclgenomics.classify.database import assemblies
from oclgenomics.classify.options import ASSEMBLY_LEVELS, GTDB_SOURCE, NCBI_SOURCE, BuildOptions, FetchOptions
from oclgenomics.errors import OutputError, UsageError, readable_bytes
from oclgenomics.io import downloads
from oclgenomics.io.atomic_file import open_whole
from oclgenomics.notices import number_of

NAMING = ("smart", "ncbi", "filename")  # rules by which a file of sequences has the accession of its assembly
REQUESTS = 2  # for an assembly
LIST = "references.txt"


def add_parser(actions: Any) -> None:
    """Add `fetch` to the actions of `classify`."""
    parser = add_command(
        actions, run, "fetch", "download public genomes and build a database of them",
        "Download assemblies of NCBI's or GTDB's collections and their taxonomy, check them by the published MD5, and "
        "build a database of them. A command that was stopped goes on when it is given again. It needs the extra "
        "`fetch`: pip install 'oclgenomics[fetch]'.",
    )  # fmt: skip
    sources = parser.add_argument(
        "sources", nargs="+", metavar="SOURCE",
        help="refseq-GROUP or genbank-GROUP, as in refseq-viral, with a GROUP of "
        f"{', '.join(assemblies.GROUPS)}; gtdb; or a text file with an accession of an assembly on each line",
    )  # fmt: skip
    reads(sources, lambda _, name: [] if name in assemblies.collections() else [name])
    _add_choice(parser)
    _add_downloads(parser)
    add_sketch_options(parser)
    add_feature_options(parser)
    add_device_options(parser)
    group = parser.add_argument_group("output")
    output = group.add_argument(
        "-o", "--output", metavar="DB", help="the database to write (default: only download to --folder)"
    )
    writes(output, with_manifest, in_file=True)
    add_manifest_option(group)
    add_message_options(group)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("assemblies")
    group.add_argument(
        "--assembly-level", type=_names, default=(), metavar="LEVELS",
        help=f"only assemblies of these levels: {', '.join(ASSEMBLY_LEVELS)}, with commas between (default: all)",
    )  # fmt: skip
    group.add_argument(
        "--representative", action="store_true",
        help="only reference and representative genomes of NCBI, or the representatives of GTDB's species",
    )  # fmt: skip
    group.add_argument("--reference", action="store_true", help="only reference genomes of NCBI")
    group.add_argument(
        "--top", type=count, metavar="N",
        help="assemblies of a species at most: the best by category, level and date (default: all)",
    )  # fmt: skip
    group.add_argument(
        "--dry-run", action="store_true",
        help="only write how many assemblies and bytes there are to download, and how long it takes",
    )  # fmt: skip


def _add_downloads(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("downloads")
    works_in(group.add_argument(
        "--folder", metavar="FOLDER", help="for what is downloaded, which stays there (default: DB.fetch)"
    ))  # fmt: skip
    group.add_argument(
        "--keep", action="store_true", help="keep DB.fetch when the database is written (default: remove it then)"
    )
    group.add_argument(
        "--parallel", type=count, default=FetchOptions.parallel, metavar="N",
        help="downloads at a time, 1 to 32 (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--skip-missing", action="store_true",
        help="build without assemblies that cannot be had (default: that is an error, when all others are there)",
    )  # fmt: skip
    group.add_argument(
        "--source", default=NCBI_SOURCE, metavar="URL", help="server with NCBI's layout (default: %(default)s)"
    )
    group.add_argument(
        "--gtdb-source", default=GTDB_SOURCE, metavar="URL",
        help="folder of a release of GTDB, such as .../releases/release226/226.0 (default: %(default)s)",
    )  # fmt: skip


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in text.split(",") if name.strip())


def run(args: argparse.Namespace) -> int:
    """Download, and build a database.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    options, kept = chosen(FetchOptions, args), build_options(args)
    if args.output is None and args.folder is None and not args.dry_run:
        raise UsageError("name the database with -o, or the folder of the downloads with --folder")
    if args.sequence_id_format not in NAMING:
        names = ", ".join(NAMING)
        raise UsageError(f"--sequence-id-format {args.sequence_id_format}: names no assembly; choose one of {names}")
    assemblies.check_sources(args.sources)
    folder = args.folder or f"{args.output or ''}.fetch"
    progress = started_progress(args, "downloading")
    net = downloads.Downloader(options.parallel, progress.update)
    with contextlib.ExitStack() as stack:
        if args.dry_run and not os.path.isdir(folder):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
        collections = assemblies.Collections(folder, options, net)
        stack.enter_context(collections.alone())
        if not args.dry_run:
            stack.enter_context(_telling_how_to_go_on(args, folder))
        start = time.perf_counter()
        choice = collections.choose(args.sources)
        progress.clear()
        if args.dry_run:
            _write_plan(collections, choice, net.received / max(time.perf_counter() - start, 1e-9))
            return 0
        _say_choice(args, collections, choice)
        args.taxonomy = collections.fetch_taxonomy(choice)
        references = collections.fetch(choice)
        progress.clear()
        listed = os.path.join(folder, LIST)
        with open_whole(listed, "w", OutputError) as file:
            file.writelines(f"{name}\n" for name in references)
        _say_fetched(args, choice, references, net.received)
        if args.output is None:
            say(args, f"to build: oclgenomics classify build DB @{listed} --taxonomy {args.taxonomy}")
            return 0
        _build(args, kept, listed)
        if args.folder is None and not args.keep:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(listed)
            collections.remove()
    return 0


def _build(args: argparse.Namespace, options: BuildOptions, listed: str) -> None:
    """Write the database of the references that a file lists."""
    args.references, args.taxpostmap, args.reset_taxa = [f"@{listed}"], [], False
    with open_engine(args) as engine:
        start = time.perf_counter()
        write_built(args, built(args, engine, "reading", options), args.output, start, engine)
        report_profile(args, engine)


@contextlib.contextmanager
def _telling_how_to_go_on(args: argparse.Namespace, folder: str) -> Iterator[None]:
    """Say what is left when the command ends early."""
    try:
        yield
    except BaseException:
        say(args, f"what was downloaded is in {folder}; the same command goes on with it")
        raise


def _write_plan(collections: assemblies.Collections, choice: assemblies.Choice, rate: float) -> None:
    """Write what there is to download, at so many bytes a second."""
    missing = collections.missing(choice)
    lines = [("assemblies", f"{len(choice.assemblies):,}"), ("to download", f"{len(missing):,}")]
    lines += [(f"left out, {why}", f"{number:,}") for why, number in choice.left_out.items()]
    if choice.lost:
        lines.append(("not listed", f"{len(choice.lost):,}"))
    seconds = REQUESTS * len(missing) / downloads.PER_SECOND
    size = assemblies.stored_bytes(missing) if missing else 0
    if size is None:
        lines.append(("size", "not listed"))
    else:
        seconds = max(seconds, size / max(rate, 1))
        lines.append(("size", f"about {readable_bytes(size)} of {readable_bytes(_free(collections.folder))} free"))
    lines.append(("time", f"about {_clock(seconds)} at {readable_bytes(int(rate))}/s"))
    with text_output("-") as stream:
        stream.write("".join(f"{name}\t{text}\n" for name, text in lines))


def _free(folder: str) -> int:
    return shutil.disk_usage(folder).free


def _clock(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def _say_choice(args: argparse.Namespace, collections: assemblies.Collections, choice: assemblies.Choice) -> None:
    missing = collections.missing(choice)
    others = "".join(f"; left out: {number:,} {why}" for why, number in choice.left_out.items())
    size = assemblies.stored_bytes(missing)
    about = f" (about {readable_bytes(size)})" if size else ""
    say(
        args,
        f"{number_of(len(choice.assemblies), 'assembly', 'assemblies')}, {len(missing):,} to download{about}{others}",
    )


def _say_fetched(args: argparse.Namespace, choice: assemblies.Choice, references: Sequence[str], received: int) -> None:
    lost = len(choice.assemblies) + len(choice.lost) - len(references)
    say(args, f"{len(references):,} assemblies are there; {readable_bytes(received)} came")
    if lost:
        say(args, f"warning: {lost:,} assemblies could not be had and are left out")
