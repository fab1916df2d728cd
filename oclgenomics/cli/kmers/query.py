"""`oclgenomics kmers query`: counts of given k-mers, or of all k-mers of given sequences."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from oclgenomics.cli import options as common
from oclgenomics.commandkit.files import reads
from oclgenomics.commandkit.plain_json import json_text
from oclgenomics.errors import UsageError

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.query import FoundKmers, RecordSummaries
    from oclgenomics.sequence.records import Record

__all__ = ["add_parser", "run"]

KMER_COLUMNS = ("record", "position", "kmer", "count")
RECORD_COLUMNS = ("record", "kmers", "found", "mean", "median")
ROWS = 1 << 16  # k-mers that are text at a time
LINES = 1 << 12  # that are written at a time
Row = tuple[Any, ...]


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `kmers`."""
    parser = actions.add_parser(
        "query",
        help="counts of given k-mers, or of all k-mers of sequences",
        description="Look up the k-mers of sequences given on the command line, of files, or of both. Of a canonical "
        "database, either strand may be given. Sequences on the command line are named by their running numbers.",
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
        help="a line a k-mer: record, position from 1, k-mer, count (default for sequences on the command line)",
    )  # fmt: skip
    how.add_argument(
        "--per-record", action="store_true",
        help="a line a sequence: its k-mers, those found, mean and median of the counts (default with --file)",
    )  # fmt: skip
    common.add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the counts.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.kmers.analysis.query import query_records, summarise
    from oclgenomics.kmers.database.reader import KmerDatabase

    rows: Iterator[Row]
    if not args.sequences and not args.file:
        raise UsageError("there is nothing to look up: give sequences, or --file FILE")
    with KmerDatabase.open(args.database) as database:
        found = query_records(database, _records(args, database.k))
        if args.per_kmer or not (args.file or args.per_record):
            rows = itertools.chain([KMER_COLUMNS], _kmer_rows(found, database.k))
        else:
            rows = itertools.chain([RECORD_COLUMNS], _record_rows(summarise(found)))
        with common.atomic_output(args.output) as stream:
            (_write_json if args.json else _write_table)(args, stream, rows)
    for path in common.saved_outputs():
        common.say(args, f"wrote {path}")
    return 0


def _records(args: argparse.Namespace, k: int) -> Iterator[Record]:
    from oclgenomics.sequence.records import Record, read_records

    for number, letters in enumerate(args.sequences, 1):
        if len(letters) < k:
            raise UsageError(f"{letters!r} has {len(letters)} letters; the database has k-mers of {k}")
        yield Record(str(number), letters.encode("ascii", "replace"))
    yield from itertools.chain.from_iterable(map(read_records, args.file))


def _kmer_rows(found: Iterable[FoundKmers], k: int) -> Iterator[Row]:
    for some in found:
        for begin in range(0, len(some.counts), ROWS):
            part = slice(begin, begin + ROWS)
            names = [some.names[number] for number in some.record[part].tolist()]
            text = some.letters(k, part).tobytes().decode("ascii")
            kmers = [text[start : start + k] for start in range(0, len(text), k)]
            yield from zip(names, (some.position[part] + 1).tolist(), kmers, some.counts[part].tolist(), strict=True)


def _record_rows(summaries: Iterable[RecordSummaries]) -> Iterator[Row]:
    for some in summaries:
        none = some.kmers == 0
        mean, median = (
            [None if missing else value for value, missing in zip(values.tolist(), none.tolist(), strict=True)]
            for values in (some.mean, some.median)
        )
        yield from zip(some.names, some.kmers.tolist(), some.found.tolist(), mean, median, strict=True)


def _write_table(args: argparse.Namespace, stream: IO[str], rows: Iterator[Row]) -> None:
    while lines := ["\t".join([_cell(value) for value in row]) + "\n" for row in itertools.islice(rows, LINES)]:
        stream.write("".join(lines))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "NA" if value is None else str(value)


def _write_json(args: argparse.Namespace, stream: IO[str], rows: Iterator[Row]) -> None:
    """Row by row, as there may be many."""
    columns = next(rows)
    stream.write(f'{{"provenance": {json_text(common.provenance(args, None))}, "rows": [')
    for number, row in enumerate(rows):
        stream.write((",\n" if number else "\n") + json_text(dict(zip(columns, row, strict=True))))
    stream.write("\n]}\n")
