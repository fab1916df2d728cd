"""`oclgenomics kmers query`: counts of given k-mers, or of all k-mers of given sequences."""

from __future__ import annotations

import argparse
import itertools
from typing import Any

from oclgenomics import kmers, sequence
from oclgenomics.app.commands import add_command, add_output_options, provenance, say_written, text_output
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_reference_option, reads_sequences, with_reference
from oclgenomics.app.reports import Report, write_reports
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked, refuse_packed
from oclgenomics.kmers import analysis, formats
from oclgenomics.kmers.commands.reading import showing_progress


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "query", "counts of given k-mers, or of all k-mers of sequences",
        "Look up the k-mers of sequences on the command line, in files, or both. In a canonical database, "
        "either strand may be given. Sequences on the command line are named 1, 2, ...",
    )  # fmt: skip
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    parser.add_argument("sequences", nargs="*", metavar="SEQ", help="sequences, at least as long as a k-mer")
    files = parser.add_argument(
        "--file", action="append", default=[], metavar="FILE",
        help="sequences of a FASTA or FASTQ file, uncompressed or compressed, or BAM, CRAM or SAM, - for standard "
        "input, @LIST for the files that a text file names; may be given more than once",
    )  # fmt: skip
    reads_sequences(files)
    add_reference_option(parser)
    how = parser.add_mutually_exclusive_group()
    for name, text in (
        ("--per-kmer", "a line for each k-mer: record, position from 1, k-mer, count (default for sequences on the "
         "command line)"),
        ("--per-record", "a line for each sequence: its k-mers, those found, mean and median of the counts (default "
         "with --file)"),
        ("--counts", "a line for each sequence: record, and the count of each k-mer along it with commas between them, "
         "NA where a base is none of A, C, G and T; arrays for NumPy if the name of -o ends in .npz"),
        ("--bed", "BED of the bases that k-mers of the database cover; on each strand if it is not canonical"),
        ("--bedgraph", "bedGraph of the counts, at the first bases of the k-mers; places without a count are left out"),
    ):  # fmt: skip
        how.add_argument(name, action="store_true", help=text)
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
    files = with_reference(args, args.file)
    with showing_progress(args, "looking up k-mers") as (shown, _):
        progress = sequence.InputProgress(files, shown.update)
        records = (sequence.read_records(name, progress=progress) for name in files)
        found = kmers.query(args.database, itertools.chain(args.sequences, *records), both_strands=args.bed)
        _write(args, found)
    say_written(args)
    return 0


def _write(args: argparse.Namespace, found: kmers.QueryResult) -> None:
    """Write what was found, part by part."""
    if args.counts and name_unpacked(args.output).endswith(".npz"):
        refuse_packed(args.output, "npz")
        if args.json:
            raise UsageError("--json and a name of -o that ends in .npz contradict each other; give one of them")
        formats.write_counts_npz(found.along_records(), args.output)
        return
    parts: Any
    report: Report[Any]
    if args.counts:
        parts, report = found.along_records(), formats.CountLines()
    elif args.bed or args.bedgraph:  # which have no head
        parts, report = found.intervals() if args.bed else found.count_intervals(), formats.RowLines()
    elif args.per_kmer or not (args.file or args.per_record):
        parts, report = found, formats.RowLines(kmers.FoundKmers.COLUMNS)
    else:
        parts, report = found.by_record(), formats.RowLines(kmers.RecordSummaries.COLUMNS)
    if args.json:
        parts = formats.records_of(analysis.joined_records(parts) if args.counts else parts)
        report = formats.JsonRows(provenance(args, None))
    elif not args.counts:
        parts = formats.rows_of(parts)
    with text_output(args.output, "wb") as stream:
        write_reports(parts, [(stream, report)])
