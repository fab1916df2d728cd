"""Reports of the quality of assemblies: tables, JSON, the spectrum by copies, and tracks of what no read has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import isinf
from typing import Any

from oclgenomics.app.read_files import output_names
from oclgenomics.app.reports import Lines, Report, cell, encoded, table_text, write_reports
from oclgenomics.errors import OutputError
from oclgenomics.io.json_text import json_text
from oclgenomics.io.packed_file import open_packed
from oclgenomics.kmers.analysis.quality import Depths, MarkedKmers
from oclgenomics.kmers.formats.query import IntervalLines
from oclgenomics.kmers.result import MOST_COPIES, AssemblyQuality, QualityReport
from oclgenomics.sequence.joined_lines import Column, HostJoiner, NumberColumn, TextTable

COLUMNS = ("assembly", "assembly_only", "kmers", "qv", "error", "solid_found", "solid", "completeness")
SEQUENCE_COLUMNS = ("assembly", "sequence", "assembly_only", "kmers", "qv", "error")
COPIES = ("read-only", *(str(copies) for copies in range(1, MOST_COPIES)), f">{MOST_COPIES - 1}")
HISTOGRAM_HEAD = "Copies\tkmer_multiplicity\tCount\n"  # as Merqury's figure reads it


def quality_table(report: QualityReport, provenance: Mapping[str, Any]) -> str:
    """Return a line for each assembly, with the columns of Merqury's `.qv` and then of its `.completeness.stats`."""
    rows = [[_cell(record[name]) for name in COLUMNS] for record in report.records()]
    return table_text(provenance, COLUMNS, rows)


def sequence_table(report: QualityReport, provenance: Mapping[str, Any]) -> str:
    """Return a line for each sequence, as in Merqury's `.ASSEMBLY.qv`, behind the name of its assembly."""
    rows = [
        [_cell(each.name), *(_cell(record[name]) for name in SEQUENCE_COLUMNS[1:])]
        for each in report.assemblies
        if each.sequences is not None
        for record in each.sequences.records()
    ]
    return table_text(provenance, SEQUENCE_COLUMNS, rows)


def _cell(value: Any) -> str:
    return "inf" if isinstance(value, float) and isinf(value) else cell(value)


def quality_json(report: QualityReport, provenance: dict[str, Any]) -> str:
    """Return all that was found as JSON; an infinite QV is null, with an error of 0."""
    whole = {
        "provenance": provenance, "k": report.k, "min_solid": report.min_solid, "lower_bound": report.lower_bound,
        "notes": list(report.notes), "assemblies": [_assembly(each) for each in report.assemblies],
    }  # fmt: skip
    return json_text(whole) + "\n"


def _assembly(each: AssemblyQuality) -> dict[str, Any]:
    (record,) = each.records()
    record |= {
        "distinct_only": each.distinct_only,
        "spectrum": [[COPIES[copies], count, kmers] for copies, count, kmers in each.spectrum.rows()],
    }
    if each.sequences is not None:
        record["sequences"] = list(each.sequences.records())
    return record


def copy_table(quality: AssemblyQuality) -> str:
    """Return the spectrum by copies in the assembly, line for line as Merqury's `.spectra-cn.hist`."""
    rows = quality.spectrum.rows()
    return HISTOGRAM_HEAD + "".join([f"{COPIES[copies]}\t{count}\t{kmers}\n" for copies, count, kmers in rows])


def quality_lines(report: QualityReport) -> list[str]:
    """Say how good assemblies are, in lines for people."""
    lines = []
    for each in report.assemblies:
        at_least = "at least " if report.lower_bound else ""
        qv = "no k-mers" if each.qv is None else f"QV {at_least}{each.qv:.2f}"
        if each.qv is not None and isinf(each.qv):
            qv = "every k-mer is in the reads"
        missing = f"{each.assembly_only:,} of {each.kmers:,} {each.k}-mers in no read"
        share = "" if each.completeness is None else f"; completeness {each.completeness:.2f} %"
        lines.append(f"{each.name}: {qv}; {missing}{share}")
    return [*lines, *report.notes]


class TrackLines:
    """Lines of BED: the bases of each marked k-mer, one behind the other, so that neighbours overlap."""

    def __init__(self) -> None:
        self._lines = IntervalLines()

    def head(self) -> bytes:
        return b""

    def body(self, part: MarkedKmers, /) -> memoryview:
        return self._lines.body(part.intervals())

    def tail(self) -> bytes:
        return b""


class DepthLines(Lines):
    """Wiggle: for each sequence, how many marked k-mers cover a base, where any do; positions count from 1."""

    def __init__(self, k: int) -> None:
        self._depths = Depths(k)

    def body(self, part: MarkedKmers, /) -> bytes:
        return b"".join(self._texts(part))

    def _texts(self, part: MarkedKmers) -> Iterator[bytes | memoryview]:
        for some in self._depths.of(part):
            if some.begins:
                yield b"variableStep chrom=" + encoded(some.name) + b"\n"
            size = len(some.position)
            tabs, ends = (TextTable.same(text).repeated(size) for text in "\t\n")
            columns: list[Column] = [NumberColumn.of(some.position + 1), tabs, NumberColumn.of(some.depth), ends]
            yield HostJoiner().join(size, columns)


def track_names(name: str, assemblies: int) -> list[str]:
    """Return the file of each assembly's track; a # in the name becomes _1 and _2, else there is one file for all."""
    names = output_names(name)
    return names[:assemblies]


class TrackWriter:
    """Writes tracks of several assemblies, one after the other; a context manager.

    Parameters
    ----------
    bed, wig : str or None
        Files to write; see `track_names`.
    k, assemblies : int

    Raises
    ------
    OutputError
        A file cannot be written.
    """

    def __init__(self, bed: str | None, wig: str | None, k: int, assemblies: int) -> None:
        self._tracks: list[tuple[str, Callable[[], Report[MarkedKmers]]]] = []
        if bed is not None:
            self._tracks.append((bed, TrackLines))
        if wig is not None:
            self._tracks.append((wig, lambda: DepthLines(k)))
        self._assemblies = assemblies

    def __enter__(self) -> TrackWriter:
        with ExitStack() as stack:
            self._streams = [
                [
                    stack.enter_context(open_packed(name, "wb", OutputError))
                    for name in track_names(track, self._assemblies)
                ]
                for track, _ in self._tracks
            ]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *how: Any) -> None:
        self._stack.__exit__(*how)

    def write(self, number: int, parts: Iterator[MarkedKmers], see: Sequence[Callable[[MarkedKmers], object]]) -> None:
        """Write the tracks of an assembly, and let others see its parts."""
        reports = [
            (streams[min(number, len(streams) - 1)], report())
            for streams, (_, report) in zip(self._streams, self._tracks, strict=True)
        ]
        write_reports(parts, reports, on_part=see)
