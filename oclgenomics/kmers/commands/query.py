"""`oclgenomics kmers query`: counts of given k-mers, or of all k-mers of given sequences."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, Protocol

from oclgenomics.app.commands import add_output_options, provenance, say_written, text_output
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import reads_sequences
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked, refuse_packed
from oclgenomics.io.plain_json import json_text

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.query import QueryResult

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
        help="sequences of a FASTA or FASTQ file, plain or packed, - for standard input, @LIST for the files that a "
        "text file names; may be given more than once",
    )  # fmt: skip
    reads_sequences(files)
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--per-kmer", action="store_true",
        help="a line for each k-mer: record, position from 1, k-mer, count (default for sequences on the command line)",
    )  # fmt: skip
    how.add_argument(
        "--per-record", action="store_true",
        help="a line for each sequence: its k-mers, those found, mean and median of the counts (default with --file)",
    )  # fmt: skip
    how.add_argument(
        "--counts", action="store_true",
        help="a line for each sequence: record, and the count of each k-mer along it with commas between them, NA "
        "where a letter other than A, C, G and T is; arrays for NumPy if the name of -o ends in .npz",
    )  # fmt: skip
    how.add_argument(
        "--bed", action="store_true",
        help="BED of the letters that k-mers of the database cover; on each strand if it is not canonical",
    )  # fmt: skip
    how.add_argument(
        "--bedgraph", action="store_true",
        help="bedGraph of the counts, at the first letters of the k-mers; places without a count are left out",
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
    from oclgenomics.kmers.analysis.query import query
    from oclgenomics.kmers.analysis.record_counts import write_counts_npz
    from oclgenomics.sequence.files import file_names
    from oclgenomics.sequence.records import read_records

    sequences = itertools.chain(args.sequences, *map(read_records, file_names(args.file)))
    found = query(args.database, sequences, both_strands=args.bed)
    if args.counts and name_unpacked(args.output).endswith(".npz"):
        refuse_packed(args.output, "npz")
        if args.json:
            raise UsageError("--json and a name of -o that ends in .npz contradict each other; give one of them")
        write_counts_npz(found.along_records(), args.output)
    else:
        with text_output(args.output) as stream:
            _write(args, stream, found)
    say_written(args)
    return 0


def _write(args: argparse.Namespace, stream: IO[str], found: QueryResult) -> None:
    """Write text, part by part."""
    from oclgenomics.kmers.analysis.found_kmers import FoundKmers, RecordSummaries
    from oclgenomics.kmers.analysis.record_counts import count_lines, joined_records

    head: tuple[str, ...] = ()  # BED and bedGraph have none
    parts: Iterable[_Table]
    if args.counts:
        if args.json:
            _write_json(args, stream, _records(joined_records(found.along_records())))
        else:
            stream.writelines(itertools.chain(["record\tcounts\n"], count_lines(found.along_records())))
        return
    if args.bed or args.bedgraph:
        parts = found.intervals() if args.bed else found.count_intervals()
    elif args.per_kmer or not (args.file or args.per_record):
        parts, head = found, FoundKmers.COLUMNS
    else:
        parts, head = found.by_record(), RecordSummaries.COLUMNS
    if args.json:
        _write_json(args, stream, _records(parts))
    else:
        _write_table(stream, head, itertools.chain.from_iterable(part.rows() for part in parts))


class _HasRecords(Protocol):
    def records(self) -> Iterator[dict[str, Any]]: ...


class _Table(_HasRecords, Protocol):
    def rows(self) -> Iterator[tuple[Any, ...]]: ...


def _records(parts: Iterable[_HasRecords]) -> Iterator[dict[str, Any]]:
    return itertools.chain.from_iterable(part.records() for part in parts)


def _write_table(stream: IO[str], columns: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> None:
    rows = itertools.chain([columns] if columns else [], rows)
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
