"""`oclgenomics kmers query`: counts of given k-mers, or of all k-mers of given sequences."""

from __future__ import annotations

import argparse
import os
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from oclgenomics import kmers
from oclgenomics.app.commands import (
    add_command,
    add_device_options,
    add_output_options,
    begin_engine,
    provenance,
    say_written,
    shortened,
    text_output,
)  # fmt: skip
from oclgenomics.app.files import reads
from oclgenomics.app.inputs import add_reference_option, reads_sequences, with_reference
from oclgenomics.app.reports import Report, write_reports
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked, refuse_packed
from oclgenomics.kmers import analysis, formats
from oclgenomics.kmers.commands.reading import at_work, showing_progress

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

HOST = "host"  # instead of a device
SEQUENCE = re.compile(r"[A-Za-z*-]+")  # also gaps and stops, as records of FASTA may have


def add_parser(actions: Any) -> None:
    """Add `query` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "query", "counts of given k-mers, or of all k-mers of sequences",
        "Look up the k-mers of sequences on the command line, in files, or both. In a canonical database, "
        "either strand may be given. Sequences on the command line are named 1, 2, ... Files are looked up on a "
        "device, sequences without files on the host, which needs no start of a device and reads only the parts of the "
        "database that it needs; -d host has files looked up there, too.",
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
        ("--per-kmer", "a line for each k-mer: record, position from 1, the k-mer as it stands in the sequence, count "
         "(default for sequences on the command line)"),
        ("--per-record", "a line for each sequence: its k-mers, those found, mean and median of the counts (default "
         "with --file)"),
        ("--counts", "a line for each sequence: record, and the count of each k-mer along it with commas between them, "
         "NA where a base is none of A, C, G and T; arrays for NumPy if the name of -o ends in .npz"),
        ("--bed", "BED of the bases that k-mers of the database cover; on each strand if it is not canonical"),
        ("--bedgraph", "bedGraph of the counts, at the first bases of the k-mers; places without a count are left out"),
    ):  # fmt: skip
        how.add_argument(name, action="store_true", help=text)
    add_device_options(parser)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the counts.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if not args.sequences and not args.file:
        raise UsageError("there is nothing to look up: give sequences, or --file FILE")
    for word in args.sequences:
        if os.path.exists(word):
            raise UsageError(f"{word} is a file, and sequences are asked for; give it as --file {word}")
        if not SEQUENCE.fullmatch(word):
            raise UsageError(f"{shortened(word)} is no sequence, but holds other characters; give files as --file FILE")
    if _asks_for_device(args):
        begin_engine(args)
    with ExitStack() as stack:
        engine: Engine | None = None
        if _asks_for_device(args):
            work = stack.enter_context(at_work(args, "looking up k-mers"))
            engine, how = work.engine, work.run
        else:
            shown, _ = stack.enter_context(showing_progress(args, "looking up k-mers"))
            how = kmers.Run(args.threads, shown.update)
        files = with_reference(args, args.file)
        found = kmers.query(args.database, args.sequences, files=files, both_strands=args.bed, engine=engine, run=how)
        _write(args, found, engine)
    say_written(args)
    return 0


def _asks_for_device(args: argparse.Namespace) -> bool:
    """Whether k-mers are looked up on a device: those of files, unless -d names the host, or where an option asks."""
    options = (args.device, args.max_memory, args.profile)
    if args.device == HOST:
        if options[1:] != (None, None):
            raise UsageError("--max-memory and --profile are of a device, and -d host takes none; leave them out")
        return False
    return bool(args.file) or options != (None, None, None)


def _write(args: argparse.Namespace, found: kmers.QueryResult, engine: Engine | None) -> None:
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
    elif args.bed or args.bedgraph:
        parts, report = found.intervals() if args.bed else found.count_intervals(), formats.IntervalLines()
    elif args.per_kmer or not (args.file or args.per_record):
        parts, report = formats.pieces_of(found), formats.KmerLines()
    else:
        parts, report = found.by_record(), formats.SummaryLines()
    if args.json:
        parts = formats.records_of(analysis.joined_records(parts) if args.counts else parts)
        report = formats.JsonRows(provenance(args, engine))
        with text_output(args.output, "wb") as stream:
            write_reports(parts, [(stream, report)])
        return
    with text_output(args.output, "wb") as stream:
        formats.write_lines(parts, report, stream, args.threads)
