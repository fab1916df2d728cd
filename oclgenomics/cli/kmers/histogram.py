"""`oclgenomics kmers histogram`: how many k-mers there are of each count, and what that says of a genome."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oclgenomics.cli.options import add_output_options
from oclgenomics.cli.output import atomic_output, provenance, say, say_written
from oclgenomics.commandkit.files import reads, writes
from oclgenomics.commandkit.plain_json import json_text

if TYPE_CHECKING:
    from oclgenomics.kmers.analysis.histogram import Histogram
    from oclgenomics.kmers.analysis.spectrum import Spectrum
    from oclgenomics.kmers.database.reader import KmerDatabase

__all__ = ["add_parser", "run"]


def add_parser(actions: Any) -> None:
    """Add `histogram` to the actions of `kmers`."""
    parser = actions.add_parser(
        "histogram",
        help="number of k-mers with each count; coverage and genome size, also as a figure",
        description="Write a line for each count that occurs: the count, a tab, and the number of distinct k-mers with "
        "it. What the histogram says about a sequenced genome (coverage, size, heterozygosity) goes to standard error, "
        "into the JSON and into the figure.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    reads(parser.add_argument("database", metavar="DB", help="database of `kmers count`"))
    writes(parser.add_argument("--plot", metavar="FILE", help="draw the k-mer spectrum; .png, .svg or .pdf"))
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Write the histogram and the figure.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    from oclgenomics.kmers.analysis.histogram import histogram
    from oclgenomics.kmers.analysis.spectrum import read_spectrum
    from oclgenomics.kmers.database.reader import KmerDatabase

    _check(args)
    with KmerDatabase.open(args.database) as database:
        found = histogram(database)
        spectrum = read_spectrum(found, database.k)
        with atomic_output(args.output) as stream:
            stream.write(_json(args, database, found, spectrum) if args.json else _table(found))
        for line in _reading(spectrum):
            say(args, line)
        if args.plot:
            _write_plot(args, database.k, found, spectrum)
    say_written(args)
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.plot:
        from oclgenomics.plot_style import plot_format

        plot_format(args.plot)


def _table(histogram: Histogram) -> str:
    return "".join([f"{count}\t{kmers}\n" for count, kmers in histogram.rows()])


def _json(args: argparse.Namespace, database: KmerDatabase, histogram: Histogram, spectrum: Spectrum) -> str:
    (reading,) = spectrum.records()
    whole = {
        "provenance": provenance(args, None), "k": database.k, "canonical": database.canonical,
        "distinct": histogram.distinct, "total": histogram.total, "spectrum": reading,
        "histogram": histogram.rows(),
    }  # fmt: skip
    return json_text(whole) + "\n"


def _reading(spectrum: Spectrum) -> list[str]:
    """Put what the histogram says into lines for people."""
    from oclgenomics.kmers.analysis.spectrum_plot import bases_text

    lines = []
    if spectrum.coverage is not None and spectrum.genome_size is not None:
        parts = [f"k-mer coverage {spectrum.coverage:.1f}", f"genome size {bases_text(spectrum.genome_size)}"]
        if spectrum.half_peak is not None:
            parts.append(f"heterozygosity {100 * (spectrum.heterozygosity or 0):.2g} %")
        parts.append(f"errors {100 * (spectrum.error_share or 0):.2g} % of all k-mers")
        parts.append(f"repeats {100 * (spectrum.repeat_share or 0):.2g} % of the genome")
        lines.append("; ".join(parts))
    if spectrum.other is not None:
        other = spectrum.other
        lines.append(
            f"or k-mer coverage {other.coverage:.1f}; genome size {bases_text(other.genome_size)}; heterozygosity "
            f"{100 * other.heterozygosity:.2g} %: the histogram fits both"
        )
    return [*lines, *spectrum.notes]


def _write_plot(args: argparse.Namespace, k: int, histogram: Histogram, spectrum: Spectrum) -> None:
    from oclgenomics.kmers.analysis.spectrum_plot import plot_spectrum
    from oclgenomics.plot_style import plot_format, save_plot

    figure = plot_spectrum(histogram, spectrum, k=k, title=Path(args.database).name)
    with atomic_output(args.plot, "wb") as stream:
        save_plot(figure, stream, plot_format(args.plot))
