"""Assemblies assessed by the k-mers of reads, in three passes: they are counted, merged with the reads, and looked up.

The k-mers of each assembly are counted on the device, then merged with those of the reads on the host, so that sets of
any size are no more than streams. What no read has becomes a database of its own, which alone goes to the device, for
the sequences to be looked up in. `oclgenomics.kmers.analysis.quality` has the formulas and their source.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from oclgenomics.app.run import Run
from oclgenomics.errors import UsageError
from oclgenomics.io.packed_file import name_unpacked
from oclgenomics.kmers.analysis import quality
from oclgenomics.kmers.analysis.query import NamedSequences, QueryResult
from oclgenomics.kmers.analysis.spectrum import read_spectrum
from oclgenomics.kmers.database.kmer_set import KmerSet
from oclgenomics.kmers.database.section_file import is_database
from oclgenomics.kmers.device.reader import KmerDatabase, histogram_of_set
from oclgenomics.kmers.device.writer import DatabaseWriter
from oclgenomics.kmers.formats.quality import TrackWriter
from oclgenomics.kmers.options import BATCH_LETTERS, MAX_COUNTER, CountOptions, QualityOptions
from oclgenomics.kmers.result import AssemblyQuality, QualityReport, SequenceQualities
from oclgenomics.kmers.sources import (
    Folder,
    TemporaryDatabase,
    counted_for_a_while,
    database_for_a_while,
    read_twice,
)
from oclgenomics.runtime import Engine

NO_PEAK = "completeness is not known: the reads have no coverage peak; give the least count of solid k-mers"
BOTH = "both"  # assemblies together


@dataclass(frozen=True)
class Means:
    """What the work is done with.

    Attributes
    ----------
    engine : Engine
    run : Run
    tmp_dir : path or None
        Folder for temporary files; the system's if None.
    stage : callable
        Called with what is done next: 'count', 'merge' or 'look up'.
    """

    engine: Engine
    run: Run
    tmp_dir: Folder
    stage: Callable[[str], object]


def check_assemblies(paths: Sequence[str]) -> None:
    """Refuse inputs that are not an assembly, or two.

    Raises
    ------
    UsageError
    """
    if not 1 <= len(paths) <= 2:
        raise UsageError(f"{len(paths)} assemblies were given: name one, or two of one genome")
    if paths.count("-") > 1:
        raise UsageError("standard input (-) can be read once; name a file for the other assembly")
    for path in paths:
        if path != "-" and is_database(path):
            raise UsageError(f"{path} is a database: name the assembly as FASTA, and the database of the reads last")


def assess(
    paths: Sequence[str], reads: KmerSet, options: QualityOptions, bed: str | None, wig: str | None, means: Means
) -> QualityReport:
    """Assess assemblies; see `oclgenomics.kmers.qv` for what is raised and written.

    Parameters
    ----------
    paths : sequence of str
        One assembly or two, "-" being standard input.
    reads : KmerSet
    options : QualityOptions
    bed, wig : str or None
        Tracks to write.
    means : Means
    """
    bounds = _bounds_of(reads)
    _check_reads(reads, bounds, options, tracks=bed is not None or wig is not None)
    least, notes = _solid_from(reads, options)
    if bounds:
        notes = (*notes, f"QVs are lower bounds: the reads' k-mers have {bounds}, and others count as errors")
    kind = CountOptions(reads.k, compressed=reads.compressed)
    with contextlib.ExitStack() as lent:
        files = [lent.enter_context(read_twice(path, means.tmp_dir)) for path in paths]
        only = [lent.enter_context(database_for_a_while(means.tmp_dir)) for _ in paths]
        tallies = _merged(files, reads, kind, only, means)
        means.stage("look up")
        with TrackWriter(bed, wig, reads.k, len(paths)) as writer:
            found = [
                _looked_up(path, database, reads.k, number, writer, means)
                for number, (path, database) in enumerate(zip(files, only, strict=True))
            ]
    names = [*_names_of(paths), *([BOTH] if len(paths) > 1 else [])]
    qualities = tuple(
        AssemblyQuality(name, kind.k, one.kmers, one.only, one.only_distinct, least, one.spectrum(), sequences)
        for name, one, sequences in zip(names, tallies, [*found, None], strict=False)
    )
    return QualityReport(kind.k, least, bounds is not None, qualities, notes)


def _merged(
    files: Sequence[str], reads: KmerSet, kind: CountOptions, only: Sequence[TemporaryDatabase], means: Means
) -> list[quality.CopyTally]:
    """Count assemblies, tally their k-mers next to those of the reads, and write what no read has of each."""
    means.stage("count")
    with contextlib.ExitStack() as lent:
        counted = [
            lent.enter_context(
                counted_for_a_while(path, kind, engine=means.engine, run=means.run, tmp_dir=means.tmp_dir)
            )
            for path in files
        ]
        means.stage("merge")
        writers = [lent.enter_context(DatabaseWriter(each.file, kind)) for each in only]
        return quality.tally_copies(reads, counted, [each.append for each in writers], means.run.progress)


def _looked_up(
    path: str, only: TemporaryDatabase, k: int, number: int, writer: TrackWriter, means: Means
) -> SequenceQualities:
    """Look the sequences of an assembly up among its k-mers that no read has, and write the tracks of them."""
    tally = quality.SequenceTally()
    with only.opened() as database:
        sequences = NamedSequences((), k)
        along = QueryResult(
            database, k, sequences, BATCH_LETTERS, False, (path,), means.engine, means.run
        ).along_records()
        with contextlib.closing(along):  # type: ignore[type-var]
            writer.write(number, quality.marked_parts(k, along), [tally.add])
    return tally.qualities(k)


def _bounds_of(reads: KmerSet) -> str | None:
    """The counts that k-mers of a database have at all, in words, if others were left out."""
    if isinstance(reads, KmerDatabase):
        least, most = reads.options.min_count, reads.options.max_count
        if least > 1 or most < MAX_COUNTER:
            return f"counts from {least:,} to {most:,}"
    return None


def _check_reads(reads: KmerSet, bounds: str | None, options: QualityOptions, *, tracks: bool) -> None:
    """Refuse a set of reads' k-mers that makes errors of what is none, and tracks of places that are others."""
    if not reads.canonical:
        raise UsageError(
            "the reads were counted with strands apart, and an assembly has either: count canonical k-mers"
        )
    if bounds and not options.lower_bound:
        raise UsageError(
            f"the database of the reads holds only k-mers with {bounds}, so others of the assembly would count as "
            "errors: count the reads without bounds, or take QVs as lower bounds with `lower_bound=True`"
        )
    if reads.compressed and tracks:
        raise UsageError(
            "the reads were counted with homopolymers compressed, and tracks would not be those of the assembly: "
            "leave `bed` and `wig` out"
        )


def _solid_from(reads: KmerSet, options: QualityOptions) -> tuple[int | None, tuple[str, ...]]:
    """The count that solid k-mers begin with, and what to say if it is not known."""
    if options.min_solid is not None:
        return options.min_solid, ()
    spectrum = read_spectrum(histogram_of_set(reads), reads.k)
    if spectrum.coverage is None or spectrum.valley is None:
        return None, (NO_PEAK,)
    return spectrum.valley + 1, ()


def _names_of(paths: Sequence[str]) -> list[str]:
    """Names of assemblies: those of the files without what says their format, where these differ."""
    shown = ["standard input" if path == "-" else path for path in paths]
    names = [name if name == "standard input" else Path(name_unpacked(Path(name).name)).stem for name in shown]
    return names if len({*names, BOTH}) > len(names) else shown
