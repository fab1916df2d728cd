"""Histograms of counts as text and JSON, and what they say of a genome in words."""

from __future__ import annotations

import struct
from math import floor, log10
from typing import Any

from oclgenomics.app.figures import number_text
from oclgenomics.app.multiqc import Content
from oclgenomics.io.json_text import json_text
from oclgenomics.kmers.analysis.intervals import Interval
from oclgenomics.kmers.analysis.spectrum import Spectrum
from oclgenomics.kmers.result import CountSummary, Histogram

UNITS = ((1e9, "Gb"), (1e6, "Mb"), (1e3, "kb"), (1.0, "bp"))
INTERVALS = (
    "approximate 95 % confidence intervals; they cover random error (sampling of reads), not systematic error "
    "(uneven coverage, repeats, ends of sequences)"
)

GENOMESCOPE_LAST, FASTK_LAST = 10_001, (1 << 15) - 1  # counts of the last rows, in which all higher ones are, too
SHOWN_COUNTS, SHOWN_COPIES = 100, 6  # counts of a spectrum that are shown: so many, or so many times the coverage


def histogram_table(histogram: Histogram, between: str = "\t") -> str:
    """Return a line for each count that occurs: the count, a tab or what is given, and how many k-mers have it."""
    return "".join([f"{count}{between}{kmers}\n" for count, kmers in histogram.rows()])


def genomescope_table(histogram: Histogram, last: int = GENOMESCOPE_LAST) -> str:
    """Return a histogram for GenomeScope: the count, a blank, and the k-mers, for every count from 1 on.

    GenomeScope takes rows for counts, so none is left out, and leaves the last row out of its fit but not out of the
    genome size. So the last row holds as many k-mers of this count as give the sum of all counts from there on: none
    where there are no such counts.
    """
    size = min(histogram.largest + 1, last)
    rows = histogram.dense(size)[1:].tolist()
    above = histogram.counts >= size
    rows.append(round(int((histogram.counts * histogram.kmers)[above].sum()) / max(size, 1)))
    return "".join([f"{count} {kmers}\n" for count, kmers in enumerate(rows, 1)])


def fastk_histogram(histogram: Histogram, k: int) -> bytes:
    """Return a histogram as FastK writes it to its `.hist`, which `Histex` and the programs built on it read.

    Three numbers of 32 bits (k, the first and the last count), and of 64 bits the k-mers with the first and those with
    at least the last count, repetitions included, then the distinct k-mers with each count; those of the last have at
    least that.
    """
    kmers = histogram.dense(FASTK_LAST + 1)
    above = histogram.counts >= FASTK_LAST
    kmers[FASTK_LAST] = histogram.kmers[above].sum()
    instances = int((histogram.counts * histogram.kmers)[above].sum())
    return struct.pack("<iiiqq", k, 1, FASTK_LAST, int(kmers[1]), instances) + kmers[1:].astype("<i8").tobytes()


def histogram_json(
    histogram: Histogram, spectrum: Spectrum, *, k: int, canonical: bool, provenance: dict[str, Any]
) -> str:
    """Return a histogram and its reading as JSON."""
    (reading,) = spectrum.records()
    whole = {
        "provenance": provenance, "k": k, "canonical": canonical, "distinct": histogram.distinct,
        "total": histogram.total, "spectrum": reading, "histogram": histogram.rows(),
    }  # fmt: skip
    return json_text(whole) + "\n"


def spectrum_content(sample: str, histogram: Histogram, spectrum: Spectrum, *, k: int) -> Content:
    """Return a spectrum for MultiQC, without the counts that few k-mers have."""
    last = max(SHOWN_COUNTS, SHOWN_COPIES * (spectrum.coverage or 0))
    points = [[count, kmers] for count, kmers in histogram.rows() if count <= last]  # names of an object have no order
    title = f"Spectrum of {k}-mers"
    description = "How many distinct k-mers occur how often. Peaks are at the coverage and its multiples."
    settings = {"xlab": "Occurrences of a k-mer", "ylab": "Distinct k-mers", "logswitch": True}
    settings["logswitch_active"] = True  # or nothing but errors can be seen
    return Content(f"spectrum_k{k}", title, description, "linegraph", {sample: points}, settings)


def count_content(sample: str, summary: CountSummary, *, k: int) -> Content:
    """Return the numbers of a count for MultiQC."""
    columns = {
        "records": ("Sequences", "Records of the input"),
        "kmers": (f"{k}-mers", "K-mers of the input, equal ones included"),
        "distinct": ("Distinct", "K-mers in the database"),
        "total": ("Counted", "Sum of the counts in the database"),
    }
    numbers = (summary.census.records, summary.kmers, summary.distinct, summary.total)
    headers = {
        name: {"title": title, "description": text, "format": "{:,.0f}"} for name, (title, text) in columns.items()
    }
    data = {sample: dict(zip(columns, numbers, strict=True))}
    return Content(f"count_k{k}", f"Counted {k}-mers", "Databases of k-mers, by `kmers count`.", "table", data,
                   columns=headers)  # fmt: skip


def reading_lines(spectrum: Spectrum) -> list[str]:
    """Say what a histogram says of a genome, in lines for people."""
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


def headline(spectrum: Spectrum) -> str:
    """Say in a few words what a histogram says of a genome."""
    if spectrum.coverage is None or spectrum.genome_size is None:
        return "No coverage peak"
    return f"Coverage {number_text(spectrum.coverage)}, genome size {bases_text(spectrum.genome_size)}"


def bases_between(some: Interval) -> str:
    """Write an interval of numbers of bp with as many digits as tell its ends apart, in the unit of its upper end."""
    scale, unit = next((one for one in UNITS if some.high >= one[0]), UNITS[-1])
    return f"{_between(some.low / scale, some.high / scale)} {unit}"


def percent_between(some: Interval) -> str:
    """Write an interval of shares in per cent."""
    return f"{_between(100 * some.low, 100 * some.high)} %"


def _between(low: float, high: float) -> str:
    """Two numbers with two digits of what they differ by."""
    digits = 0 if high <= low else max(0, 1 - floor(log10(high - low)))
    return f"{low:.{digits}f} to {high:.{digits}f}"


def bases_text(size: float) -> str:
    """Write a number of bp with three digits, in the largest unit that suits."""
    scale, unit = next((one for one in UNITS if size >= one[0]), UNITS[-1])
    return f"{number_text(size / scale)} {unit}"


def short_percent(share: float) -> str:
    """Write a share in per cent with two digits."""
    return f"{100 * share:.2g} %" if share >= 0.001 else "below 0.1 %"
