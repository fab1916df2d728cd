"""`oclgenomics kmers histogram`: how many k-mers there are of each count, and what that says of a genome."""

from __future__ import annotations

import argparse
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.app.commands import (
    add_output_options,
    binary_output,
    open_engine,
    provenance,
    report_profile,
    say,
    say_written,
    text_output,
)
from oclgenomics.app.files import writes
from oclgenomics.app.inputs import reads_sequences
from oclgenomics.errors import UsageError
from oclgenomics.io.plain_json import json_text
from oclgenomics.kmers.commands.reading import add_reading_options, check_databases, counting_options, spill_teller

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.histogram import Histogram
    from oclgenomics.kmers.analysis.spectrum import Spectrum

__all__ = ["add_parser", "run"]

PACKED = re.compile(r"\.(gz|bgz|bz2|xz|zst)$")
INTERVALS = (
    "approximate 95 % confidence intervals; they cover random error (sampling of reads), not systematic error "
    "(uneven coverage, repeats, ends of sequences)"
)
SEQUENCES = (".fa", ".fasta", ".fna", ".ffn", ".fq", ".fastq")


def add_parser(actions: Any) -> None:
    """Add `histogram` to the actions of `kmers`."""
    parser = actions.add_parser(
        "histogram",
        help="number of k-mers with each count; coverage and genome size, also as a figure",
        description="Write a line for each count that occurs: the count, a tab, and the number of distinct k-mers with "
        "it. What the histogram says about a sequenced genome (coverage, size, heterozygosity) goes to standard error, "
        "into the JSON and into the figure. Numbers in brackets are approximate 95 % confidence intervals. They cover "
        "random error, which comes of the sampling of reads, and not systematic error, such as that of uneven "
        "coverage, of repeats that the model does not know, and of the ends of sequences. Reads are counted on "
        "the way, without a database.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    inputs = parser.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help="a database of `kmers count`, or FASTA or FASTQ files, plain or packed (gzip, bzip2, xz, zstd), to be "
        "counted with -k; - for standard input; @LIST for the files that a text file names, one a line",
    )  # fmt: skip
    reads_sequences(inputs)
    writes(parser.add_argument("--plot", metavar="FILE", help="draw the k-mer spectrum; .png, .svg or .pdf"))
    add_reading_options(parser)
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the histogram and the figure.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.kmers.analysis.spectrum import read_spectrum

    _check(args)
    counted = _counted(args)
    found = counted.histogram
    spectrum = read_spectrum(found, counted.k)
    with text_output(args.output) as stream:
        stream.write(_json(args, counted, spectrum) if args.json else _table(found))
    for line in _reading(spectrum):
        say(args, line)
    if args.plot:
        _write_plot(args, counted.k, found, spectrum)
    say_written(args)
    return 0


@dataclass(frozen=True)
class _Counted:
    k: int
    canonical: bool
    histogram: Histogram
    provenance: dict[str, Any]


def _counted(args: argparse.Namespace) -> _Counted:
    """The histogram of a database, or of reads."""
    from oclgenomics.kmers.sample import is_database
    from oclgenomics.sequence.files import file_names

    inputs = file_names(args.inputs)
    databases = [name for name in inputs if is_database(name)]
    if databases and len(inputs) > 1:
        raise UsageError(f"{databases[0]} is a database; give it alone, or merge databases with `kmers merge` first")
    if databases or (args.k is None and not _holds_sequences(inputs[0])):
        return _of_database(args, inputs[0])
    return _of_reads(args, inputs)


def _holds_sequences(name: str) -> bool:
    """Whether an input may be meant to be counted; else it is a database or wrong."""
    return name == "-" or PACKED.sub("", Path(name).name.lower()).endswith(SEQUENCES)


def _of_database(args: argparse.Namespace, name: str) -> _Counted:
    from oclgenomics.kmers.analysis.histogram import histogram
    from oclgenomics.kmers.database.reader import KmerDatabase

    check_databases(args)
    with KmerDatabase.open(name) as database:
        return _Counted(database.k, database.canonical, histogram(database), provenance(args, None))


def _of_reads(args: argparse.Namespace, inputs: list[str]) -> _Counted:
    from oclgenomics.kmers.analysis.histogram import Histogram
    from oclgenomics.kmers.api import tally_counts

    options = counting_options(args, inputs)
    with open_engine(args) as engine:
        start = time.perf_counter()
        tally, summary = tally_counts(
            inputs, options, engine=engine, threads=args.threads, min_quality=args.min_quality,
            tmp_dir=args.tmp_dir, on_spill=spill_teller(args),
        )  # fmt: skip
        seconds = time.perf_counter() - start
        report_profile(args, engine)
        say(args, f"{summary.kmers:,} {options.k}-mers, {summary.distinct:,} distinct in {seconds:.2f} s")
        return _Counted(options.k, options.canonical, Histogram.of(tally), provenance(args, engine))


def _check(args: argparse.Namespace) -> None:
    if args.plot:
        from oclgenomics.app.figures import plot_format

        plot_format(args.plot)


def _table(histogram: Histogram) -> str:
    return "".join([f"{count}\t{kmers}\n" for count, kmers in histogram.rows()])


def _json(args: argparse.Namespace, counted: _Counted, spectrum: Spectrum) -> str:
    histogram = counted.histogram
    (reading,) = spectrum.records()
    whole = {
        "provenance": counted.provenance, "k": counted.k, "canonical": counted.canonical,
        "distinct": histogram.distinct, "total": histogram.total, "spectrum": reading,
        "histogram": histogram.rows(),
    }  # fmt: skip
    return json_text(whole) + "\n"


def _reading(spectrum: Spectrum) -> list[str]:
    """Put what the histogram says into lines for people."""
    from oclgenomics.kmers.analysis.spectrum_plot import bases_between, bases_text, percent_between

    lines = []
    if spectrum.coverage is not None and spectrum.genome_size is not None:
        sure, size = spectrum.intervals, bases_text(spectrum.genome_size)
        between = "" if sure is None else f" ({bases_between(sure.genome_size)})"
        parts = [f"k-mer coverage {spectrum.coverage:.1f}", f"genome size {size}{between}"]
        rate = None if sure is None else sure.heterozygosity
        if spectrum.half_peak is not None and spectrum.heterozygosity is not None:
            found = f"heterozygosity {100 * spectrum.heterozygosity:.2g} %"
            parts.append(found if rate is None else f"{found} ({percent_between(rate)})")
        elif rate is not None:
            parts.append(f"heterozygosity at most {100 * rate.high:.2g} %")
        parts.append(f"errors {100 * (spectrum.error_share or 0):.2g} % of all k-mers")
        parts.append(f"repeats {100 * (spectrum.repeat_share or 0):.2g} % of the genome")
        lines.append("; ".join(parts))
        if sure is not None:
            condition = "" if spectrum.other is None else ", if this reading is right"
            lines.append(f"in brackets: {INTERVALS}{condition}")
    if spectrum.other is not None:
        other = spectrum.other
        lines.append(
            f"or k-mer coverage {other.coverage:.1f}; genome size {bases_text(other.genome_size)}; heterozygosity "
            f"{100 * other.heterozygosity:.2g} %: the histogram fits both"
        )
    return [*lines, *spectrum.notes]


def _title(inputs: list[str]) -> str:
    name = "standard input" if inputs[0] == "-" else Path(inputs[0]).name
    return name if len(inputs) == 1 else f"{name} and {len(inputs) - 1} more"


def _write_plot(args: argparse.Namespace, k: int, histogram: Histogram, spectrum: Spectrum) -> None:
    from oclgenomics.app.figures import plot_format, save_plot
    from oclgenomics.kmers.analysis.spectrum_plot import plot_spectrum

    figure = plot_spectrum(histogram, spectrum, k=k, title=_title(args.inputs))
    with binary_output(args.plot) as stream:
        save_plot(figure, stream, plot_format(args.plot))
