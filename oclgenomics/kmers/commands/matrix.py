"""`oclgenomics kmers matrix`: the counts of k-mers in many samples."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from oclgenomics import kmers, sequence
from oclgenomics.app.commands import (
    PACKED,
    add_command,
    add_message_options,
    count,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
)
from oclgenomics.app.files import reads, writes
from oclgenomics.app.html_output import add_html_option, elsewhere, write_page
from oclgenomics.app.inputs import reads_sequences, with_reference
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked
from oclgenomics.kmers import plots, sets
from oclgenomics.kmers.commands.reading import (
    BYTES,
    KMERS,
    add_reading_options,
    check_databases,
    counting_options,
    only_of,
    showing_progress,
)
from oclgenomics.notices import number_of

if TYPE_CHECKING:
    from oclgenomics.kmers.options import MatrixFormat


FORMATS = ("tsv", "npz", "parquet")


def add_parser(actions: Any) -> None:
    """Add `matrix` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "matrix", "counts of k-mers in many samples: a row for each k-mer, a column for each sample",
        "Lay the counts of samples side by side, in ascending order of the k-mers. Samples are databases, "
        "or reads that are counted on the way. Neither a sample nor the matrix is in memory as a whole.",
    )  # fmt: skip
    samples = parser.add_argument(
        "samples", nargs="+", metavar="SAMPLE",
        help="FILE, NAME=FILE or NAME=FILE,FILE: a database of `kmers count`, or FASTA or FASTQ files, uncompressed or "
        "compressed (gzip, bzip2, xz, zstd); - for standard input; without a NAME it is that of the file, without its "
        "endings. @LIST: a sample for each file that a text file names, one a line; NAME=@LIST: one sample of all of "
        "them",
    )  # fmt: skip
    reads(samples, lambda _, given: _files_read(given))
    _add_row_options(parser.add_argument_group("rows"))
    add_reading_options(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", metavar="|".join(FORMATS),
        help="tsv: text; npz: arrays for NumPy; parquet: a table, needs the extra `parquet` (default: by the end of "
        "OUT's name, else tsv)",
    )  # fmt: skip
    output = group.add_argument(
        "-o", "--output", required=True, metavar="OUT", help=f"the matrix; - for standard output; text is {PACKED}"
    )
    writes(output)
    add_html_option(group, "how samples resemble each other")
    add_message_options(group)


def _add_row_options(group: argparse._ArgumentGroup) -> None:
    """Add the options that say which k-mers have a row."""
    group.add_argument(
        "--min-samples", type=count, default=1, metavar="N",
        help="leave out k-mers that are in fewer samples (default: %(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--min-count", type=count, default=1, metavar="N",
        help="take lower counts of a sample for 0 (default: %(default)s)",
    )  # fmt: skip
    only = group.add_argument(
        "--only", metavar="SET",
        help="only the k-mers of a set: a database, or a FASTA or FASTQ file or @LIST of such files, whose k-mers are "
        "the set (default: all k-mers)",
    )  # fmt: skip
    reads_sequences(only)
    group.add_argument(
        "--keep-zeros", action="store_true",
        help="a row for each k-mer of --only, also where no sample has it (default: leave these out)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Write the matrix.

    Raises
    ------
    UsageError, InputError, DeviceError, MissingDependencyError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    samples = _samples(args.samples)
    given = [name for files in samples.values() for name in files] + ([] if args.only is None else [args.only])
    counted = [name for name in given if not kmers.is_database(name)]
    for files in samples.values():
        _check_files(files)
    if not counted:
        check_databases(args)
    options = counting_options(args, counted) if counted else None
    only, known = only_of(args), {name: with_reference(args, files) for name, files in samples.items()}
    sources = {name: files[0] if len(files) == 1 else files for name, files in known.items()}
    totals = plots.MatrixTotals(len(samples)) if args.html else None
    label, unit = ("counting k-mers", BYTES) if counted else ("merging k-mers", KMERS)
    with open_engine(args) if counted else contextlib.nullcontext() as engine:
        with showing_progress(args, label, unit) as (shown, say_spilled):
            summary = kmers.write_matrix(
                sources, args.output, _format(args), options, min_count=args.min_count, min_samples=args.min_samples,
                only=only, keep_zeros=args.keep_zeros, engine=engine, run=kmers.Run(args.threads, shown.update),
                min_quality=args.min_quality, tmp_dir=args.tmp_dir, on_spill=say_spilled,
                on_merge=lambda: shown.stage("merging k-mers", *KMERS), on_block=None if totals is None else totals.add,
            )  # fmt: skip
        if engine is not None:
            report_profile(args, engine)
        made = provenance(args, engine)
    if totals is not None:
        write_page(args, plots.matrix_page(totals, summary.names, k=summary.k, more=elsewhere(args)).text(made))
    say(args, f"{number_of(summary.kmers, f'{summary.k}-mer')} in {number_of(len(summary.names), 'sample')}")
    say_written(args)
    return 0


def samples_of(given: str) -> list[tuple[str, list[str]]]:
    """Return the name and the files of a sample as the command line has it, or of each sample of a list.

    Raises
    ------
    InputError
        A list that cannot be read.
    """
    name, words = _named(given)
    if name is not None:
        return [(name, sequence.file_names(words))]
    return [(_stem(file), [file]) for file in sequence.file_names(words)]


def _files_read(given: str) -> list[str]:
    """The files of a sample or of those of a list, and the lists themselves."""
    return [*sequence.list_names(_named(given)[1]), *(name for _, files in samples_of(given) for name in files)]


def _named(given: str) -> tuple[str | None, list[str]]:
    """The name of a sample, if it has one, and the words that name its files."""
    name, mark, files = given.partition("=")
    if mark and not given.startswith("@") and not os.path.exists(given):
        return name, files.split(",")
    return None, [given]


def _stem(path: str) -> str:
    """The name of a file without what says how it is packed, and without its own ending."""
    name = os.path.basename(path)
    return os.path.splitext(name_unpacked(name))[0] or name


def _samples(words: Iterable[str]) -> dict[str, list[str]]:
    named = [sample for word in words for sample in samples_of(word)]
    sets.check_names([name for name, _ in named])
    return dict(named)


def _check_files(files: list[str]) -> None:
    if "" in files:
        raise UsageError("the name of a file is empty; write NAME=FILE,FILE")
    for name in files:
        if len(files) > 1 and kmers.is_database(name):
            raise UsageError(f"{name} is a database, and a sample has one at most; merge them with `kmers merge` first")


def _format(args: argparse.Namespace) -> MatrixFormat:
    ending = os.path.splitext(name_unpacked(args.output))[1].removeprefix(".")
    asked = args.format or (ending if ending in FORMATS else "tsv")
    if asked not in FORMATS:
        raise UsageError(f"--format {asked}: choose one of {', '.join(FORMATS)}")
    return cast("MatrixFormat", asked)
