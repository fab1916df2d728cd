"""`oclgenomics kmers count`: the k-mers of sequences into a database."""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from oclgenomics import kmers
from oclgenomics.app.commands import (
    add_command,
    add_device_options,
    add_message_options,
    begin_engine,
    count,
    open_engine,
    provenance,
    report_profile,
    say,
)  # fmt: skip
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import add_reference_option, reads_sequences, with_reference
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.app.samples import MakeSample, SheetUse, add_sheet_option, has_sheet, run_sheet
from oclgenomics.app.spread import add_spread_options, has_pieces, is_combined, work_of, write_shard
from oclgenomics.io.json_text import json_text
from oclgenomics.kmers import formats
from oclgenomics.kmers.commands.reading import (
    KMERS,
    add_count_bounds,
    add_counting_options,
    add_folder_option,
    at_work,
    only_of,
    showing_progress,
)
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from oclgenomics.runtime import Engine

sources = late("oclgenomics.kmers.sources")

FOREIGN = {  # options of KMC and Jellyfish
    r"-C|--canonical|--both-strands": "not needed; the canonical k-mer is counted unless --no-canonical is given",
    r"-m|--mer-len": "use -k K",
    r"-m\d+": "use -k K for the length of k-mers, --max-memory SIZE for the memory, as in --max-memory 8G",
    r"-s|--size": "not needed; the table grows, and --max-memory SIZE limits it",
    r"-L|--lower-count|-ci\d+": "use --min-count N",
    r"-U|--upper-count|-cx\d*": "use --max-count N",
    r"-cs\d+": "use --counter-max N",
    r"-t\d*": "use --threads N",
    r"-f[aqm]|-fbam|-fkmc": "not needed; FASTA and FASTQ are recognised (BAM: samtools fastq)",
    r"-Q|--min-quality-char|--min-qual-char": "use --min-quality Q",
    r"-b": "use --no-canonical",
}


def add_parser(actions: Any) -> None:
    """Add `count` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "count", "count the k-mers of FASTA and FASTQ files into a database",
        "Count all k-mers. Anything but A, C, G and T, and the ends of records, breaks them. Lower case "
        "counts as upper case.",
        FOREIGN,
    )  # fmt: skip
    inputs = parser.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help="FASTA or FASTQ files, uncompressed or compressed (gzip, bzip2, xz, zstd), or BAM, CRAM or SAM, in any "
        "mix; - for standard input; @LIST for the files that a text file names, one a line",
    )  # fmt: skip
    reads_sequences(inputs)
    add_sheet_option(parser, parser, inputs)
    group = parser.add_argument_group("counting")
    group.add_argument("-k", type=count, required=True, metavar="K", help="bases of a k-mer, 1 to 256")
    add_counting_options(group)
    add_reference_option(group)
    add_count_bounds(group, "leave out k-mers that occur less often", "leave out k-mers that occur more often")
    group.add_argument(
        "--counter-max", type=count, default=(1 << 32) - 1, metavar="N",
        help="counters stop here (default: %(default)s)",
    )  # fmt: skip
    only = group.add_argument(
        "--only", metavar="SET",
        help="count only the k-mers of a set: a database of the same k and strands, or a FASTA or FASTQ file or @LIST "
        "of such files, whose k-mers are the set (default: all k-mers)",
    )  # fmt: skip
    reads_sequences(only)
    add_spread_options(parser)
    add_device_options(parser)
    add_outputs(parser)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add --tmp-dir, -o, --json and options of messages."""
    group = parser.add_argument_group("inputs larger than memory")
    add_folder_option(group, "the compressed parts of such an input")
    group = parser.add_argument_group("output")
    output = group.add_argument("-o", "--output", required=True, metavar="DB", help="the database to write")
    writes(output, in_file=True)
    group.add_argument("--json", action="store_true", help="write a summary as JSON to standard output")
    add_multiqc_options(group, "the summary")
    add_message_options(group)


def run(args: argparse.Namespace) -> int:
    """Count into a database.

    Raises
    ------
    UsageError, InputError, DeviceError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if has_sheet(args):
        return run_sheet(args, SHEET, _counting_samples)
    if not is_combined(args):
        _begin(args)
    options = _options(args)
    if args.shard is not None:
        job = kmers.CountJob.of(
            with_reference(args, args.inputs), options, args.min_quality, args.tmp_dir, only_of(args)
        )
        return write_shard(args, job, "counting k-mers")
    counted = (_combined if is_combined(args) else _counted)(args, options)
    result = _finished(args, counted)
    if args.json:
        print(json_text(counted.provenance | {"result": result}, indent=1))
    return 0


def _begin(args: argparse.Namespace) -> None:
    begin_engine(args)
    importlib.import_module("oclgenomics.kmers.device.counting")  # before the engine, which waits for libraries


def _options(args: argparse.Namespace) -> kmers.CountOptions:
    options = kmers.CountOptions(
        args.k, not args.no_canonical, args.min_count, args.max_count, args.counter_max, args.compress_homopolymers
    )
    options.check_reading(args.min_quality, args.tmp_dir)
    return options


SHEET = SheetUse("inputs", ending=lambda _: ".db", check=_options)


@contextmanager
def _counting_samples(args: argparse.Namespace) -> Iterator[MakeSample]:
    """Open the device and the set of --only, and lend what counts a sample."""
    _begin(args)
    options = _options(args)
    with (
        open_engine(args) as engine,
        sources.chosen_kmers(options, only_of(args), engine, kmers.Run(args.threads), args.tmp_dir) as (only, _),
    ):

        def make(sample: argparse.Namespace) -> Mapping[str, Any]:
            return _finished(sample, _counted(sample, options, engine, only))

        yield make
        report_profile(args, engine)


class _Counted(NamedTuple):
    """What was written, how long it took, and what made it."""

    summary: kmers.CountSummary
    seconds: float
    provenance: dict[str, Any]


def _counted(
    args: argparse.Namespace,
    options: kmers.CountOptions,
    engine: Engine | None = None,
    only: kmers.KmerSet | None = None,
) -> _Counted:
    """Count on the device of the options or on one that is open, with the set of --only, which may be open, too."""
    with at_work(args, "counting k-mers", engine) as work:
        summary = kmers.count_to_database(
            with_reference(args, args.inputs), options, args.output, engine=work.engine, run=work.run,
            min_quality=args.min_quality, tmp_dir=args.tmp_dir, on_spill=work.say_spilled,
            only=only_of(args) if only is None else only,
        )  # fmt: skip
    return _Counted(summary, work.seconds, provenance(args, work.engine))


def _finished(args: argparse.Namespace, counted: _Counted) -> dict[str, Any]:
    """Write what goes with the database, say what was counted, and return it as JSON has it."""
    if args.multiqc:
        write_content(args, formats.count_content(sample_name(args, args.inputs), counted.summary, k=args.k))
    _say_summary(args, counted.summary, counted.seconds)
    return _record(counted.summary, counted.seconds)


def _combined(args: argparse.Namespace, options: kmers.CountOptions) -> _Counted:
    start = time.perf_counter()
    if has_pieces(args):
        job = kmers.CountJob((), options, tmp_dir=args.tmp_dir)  # which reads no input again
    else:
        job = kmers.CountJob.of(
            with_reference(args, args.inputs), options, args.min_quality, args.tmp_dir, only_of(args)
        )
    with work_of(args) as work, showing_progress(args, "counting k-mers") as (shown, _):
        how = kmers.Run(args.threads, shown.update)
        with work.engine() as opened, closing(work.parts(job, how)) as parts:
            counted = next(parts)
            shown.stage("merging k-mers", *KMERS)
            summary = counted.write(args.output, shown.update, opened())
        seconds = time.perf_counter() - start
        work.report_profile()
        return _Counted(summary, seconds, work.provenance())


def _record(summary: kmers.CountSummary, seconds: float) -> dict[str, Any]:
    numbers = asdict(summary)
    return {"windows": numbers.pop("kmers"), **numbers, "seconds": seconds}


def _say_summary(args: argparse.Namespace, summary: kmers.CountSummary, seconds: float) -> None:
    kept = "" if summary.total == summary.kmers else f"{summary.total:,} of them kept, "
    say(
        args,
        f"{summary.kmers:,} {args.k}-mers, {kept}{summary.distinct:,} distinct in {seconds:.2f} s "
        f"({summary.kmers / max(seconds, 1e-9) / 1e6:.1f} million a second); wrote {args.output}",
    )
    if summary.temporary_runs:
        say(
            args,
            f"counted in {summary.temporary_runs:,} parts; {summary.temporary_bytes:,} bytes were written to "
            "temporary files",
        )
    for warning in _warnings(summary, args.k):
        say(args, f"warning: {warning}")


def _warnings(summary: kmers.CountSummary, k: int) -> list[str]:
    """Tell what users may not expect of their input."""
    census = summary.census
    characters = f"of {census.letters:,} characters"
    found = []
    if census.foreign:
        found.append(f"{census.foreign:,} {characters} are no nucleotides; they break k-mers")
    if census.uracils:
        found.append(f"{census.uracils:,} {characters} are U, which breaks k-mers; turn the U of RNA into T")
    if not census.letters:
        found.append(f"no {k}-mer was found: none of {census.records:,} records has a sequence")
    elif not summary.kmers:
        found.append(
            f"no {k}-mer was found: nowhere are {k} bases A, C, G or T in a row; "
            f"{census.others:,} {characters} are others"
        )
    return found
