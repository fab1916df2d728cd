"""`oclgenomics kmers histogram`: how many k-mers there are of each count, and what that says of a genome."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oclgenomics import kmers
from oclgenomics.app.commands import (
    OutputOptions,
    add_command,
    add_output_options,
    binary_output,
    provenance,
    say,
    say_written,
)  # fmt: skip
from oclgenomics.app.files import writes
from oclgenomics.app.html_output import add_html_option, elsewhere, input_title, write_page
from oclgenomics.app.inputs import reads_sequences, with_reference
from oclgenomics.app.multiqc import add_multiqc_options, sample_name, write_content
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked, refuse_packed
from oclgenomics.kmers import formats, plots
from oclgenomics.kmers.commands.reading import add_reading_options, at_work, check_databases, counting_options

FORMATS = ("tsv", "jellyfish", "genomescope", "fastk", "json")
SEQUENCES = (".fa", ".fasta", ".fna", ".ffn", ".fq", ".fastq")


def add_parser(actions: Any) -> None:
    """Add `histogram` to the actions of `kmers`."""
    parser = add_command(
        actions, run, "histogram", "number of k-mers with each count; coverage and genome size, also as a figure",
        "Write a line for each count that occurs: the count, a tab, and the number of distinct k-mers with "
        "it. What the histogram says about a sequenced genome (coverage, size, heterozygosity) goes to standard error, "
        "into the JSON and into the figure. Numbers in brackets are approximate 95 % confidence intervals. They cover "
        "random error, which comes of the sampling of reads, and not systematic error, such as that of uneven "
        "coverage, of repeats that the model does not know, and of the ends of sequences. Reads are counted on "
        "the way, without a database.",
    )  # fmt: skip
    inputs = parser.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help="a database of `kmers count`, or FASTA or FASTQ files, uncompressed or compressed (gzip, bzip2, xz, "
        "zstd), to be counted with -k; - for standard input; @LIST for the files that a text file names, one a line",
    )  # fmt: skip
    reads_sequences(inputs)
    writes(parser.add_argument("--plot", metavar="FILE", help="draw the k-mer spectrum; .png, .svg or .pdf"))
    add_reading_options(parser)
    note = (
        "jellyfish has a blank between the columns, as MultiQC expects of files named *_jf.hist; genomescope has in "
        "addition a line for every count from 1 on; fastk is FastK's .hist"
    )
    group = add_output_options(parser, formats=FORMATS, what="histogram", note=note)
    add_html_option(group, "the spectrum")
    add_multiqc_options(group, "the spectrum")


def run(args: argparse.Namespace) -> int:
    """Write the histogram and the figure.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    if args.plot:
        plots.plot_format(args.plot)
    output = OutputOptions.resolve(args, FORMATS)
    if output.format == "fastk":
        _check_binary(output.path)
    counted = _counted(args)
    found, k = counted.histogram, counted.k
    spectrum = kmers.read_spectrum(found, k)
    if output.format == "json":
        about = counted.provenance
        output.write(formats.histogram_json(found, spectrum, k=k, canonical=counted.canonical, provenance=about))
    elif output.format == "fastk":
        with binary_output(output.path) as stream:
            stream.write(formats.fastk_histogram(found, k))
    elif output.format == "genomescope":
        output.write(formats.genomescope_table(found))
    else:
        output.write(formats.histogram_table(found, between="\t" if output.format == "tsv" else " "))
    for line in formats.reading_lines(spectrum):
        say(args, line)
    if args.plot:
        figure = kmers.plot_spectrum(found, spectrum, k=k, title=input_title(args.inputs))
        plots.write_figure(args.plot, figure)
    if args.html:
        page = plots.spectrum_page(found, spectrum, k=k, title=input_title(args.inputs), more=elsewhere(args))
        write_page(args, page.text(counted.provenance))
    if args.multiqc:
        write_content(args, formats.spectrum_content(sample_name(args, args.inputs), found, spectrum, k=k))
    say_written(args)
    return 0


def _check_binary(path: str) -> None:
    """Refuse terminals and compressed names for what is no text."""
    refuse_packed(path, "fastk")
    if path == "-" and sys.stdout.isatty():
        raise UsageError("--format fastk is not for terminals; give -o FILE")


@dataclass(frozen=True)
class _Counted:
    k: int
    canonical: bool
    histogram: kmers.Histogram
    provenance: dict[str, Any]


def _counted(args: argparse.Namespace) -> _Counted:
    """The histogram of a database, or of reads."""
    inputs = with_reference(args, args.inputs)
    databases = [name for name in inputs if kmers.is_database(name)]
    if databases and len(inputs) > 1:
        raise UsageError(f"{databases[0]} is a database; give it alone, or merge databases with `kmers merge` first")
    if databases or (args.k is None and not _holds_sequences(inputs[0])):
        check_databases(args)
        with kmers.KmerDatabase.open(inputs[0]) as database:
            return _Counted(database.k, database.canonical, kmers.histogram(database), provenance(args, None))
    options = counting_options(args, inputs)
    with at_work(args, "counting k-mers") as work:
        found = kmers.histogram_of_reads(
            inputs, options, engine=work.engine, run=work.run, min_quality=args.min_quality, tmp_dir=args.tmp_dir,
            on_spill=work.say_spilled,
        )  # fmt: skip
    say(args, f"{found.total:,} {options.k}-mers, {found.distinct:,} distinct in {work.seconds:.2f} s")
    return _Counted(options.k, options.canonical, found, provenance(args, work.engine))


def _holds_sequences(name: str) -> bool:
    """Whether an input may be meant to be counted; else it is a database or wrong."""
    return name == "-" or name_unpacked(Path(name).name.lower()).endswith(SEQUENCES)
