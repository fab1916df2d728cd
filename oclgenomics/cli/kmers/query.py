"""`oclgenomics kmers query`: counts of given k-mers, or of all k-mers of given sequences."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator
from typing import IO, Any

from oclgenomics.cli.options import add_output_options
from oclgenomics.cli.output import atomic_output, provenance, say_written
from oclgenomics.commandkit.files import reads
from oclgenomics.commandkit.plain_json import json_text
from oclgenomics.errors import UsageError

__all__ = ["add_parser", "run"]

LINES = 1 << 12  # of a table that are written at a time


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `kmers`."""
    parser = actions.add_parser(
        "query",
        help="counts of given k-mers, or of all k-mers of sequences",
        description="Look up the k-mers of sequences on the command line, in files, or both. In a canonical database, "
        "either strand may be given. Sequences on the command line are named 1, 2, ...",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    parser.add_argument("sequences", nargs="*", metavar="SEQ", help="sequences, at least as long as a k-mer")
    files = parser.add_argument(
        "--file", action="append", default=[], metavar="FILE",
        help="sequences of a FASTA or FASTQ file, plain or gzip, - for standard input; may be given more than once",
    )  # fmt: skip
    reads(files)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--per-kmer", action="store_true",
        help="a line for each k-mer: record, position from 1, k-mer, count (default for sequences on the command line)",
    )  # fmt: skip
    how.add_argument(
        "--per-record", action="store_true",
        help="a line for each sequence: its k-mers, those found, mean and median of the counts (default with --file)",
    )  # fmt: skip
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the counts.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if not args.sequences and not args.file:
        raise UsageError("there is nothing to look up: give sequences, or --file FILE")
    from oclgenomics.kmers.analysis.found_kmers import FoundKmers, RecordSummaries
    from oclgenomics.kmers.analysis.query import query
    from oclgenomics.sequence.records import read_records

    found = query(args.database, itertools.chain(args.sequences, *map(read_records, args.file)))
    by_kmer = args.per_kmer or not (args.file or args.per_record)
    columns = FoundKmers.COLUMNS if by_kmer else RecordSummaries.COLUMNS
    parts: Iterable[FoundKmers | RecordSummaries] = found if by_kmer else found.by_record()
    with atomic_output(args.output) as stream:
        if args.json:
            _write_json(args, stream, itertools.chain.from_iterable(part.records() for part in parts))
        else:
            _write_table(stream, columns, itertools.chain.from_iterable(part.rows() for part in parts))
    say_written(args)
    return 0


def _write_table(stream: IO[str], columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> None:
    rows = itertools.chain([columns], rows)
    while lines := ["\t".join([_cell(value) for value in row]) + "\n" for row in itertools.islice(rows, LINES)]:
        stream.write("".join(lines))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "NA" if value is None else str(value)


def _write_json(args: argparse.Namespace, stream: IO[str], records: Iterable[dict[str, Any]]) -> None:
    """Write record by record, as there may be many."""
    stream.write(f'{{"provenance": {json_text(provenance(args, None))}, "rows": [')
    for number, record in enumerate(records):
        stream.write((",\n" if number else "\n") + json_text(record))
    stream.write("\n]}\n")
