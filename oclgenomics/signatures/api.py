"""The verbs: read and build panels of signatures, find them in samples, and filter reads by them."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, closing

from oclgenomics.app import read_files
from oclgenomics.app.jobs import ExecutorLike, path_of, spread_over
from oclgenomics.app.run import EngineLike, Run, lent_engine, verb
from oclgenomics.sequence.files import InputProgress, SequenceFiles, file_names, largest_block
from oclgenomics.signatures.formats.panel_file import BuiltPanel, read_panel, write_panel
from oclgenomics.signatures.jobs import Finder, ScanJob, blocks_of, scan_parts
from oclgenomics.signatures.matches.joining import in_order
from oclgenomics.signatures.matches.read_filter import filter_files
from oclgenomics.signatures.options import FilterOptions, ScanOptions, Strand
from oclgenomics.signatures.panels.panel import Panel
from oclgenomics.signatures.panels.seeds import SeedTable, make_table
from oclgenomics.signatures.plan import choose_head
from oclgenomics.signatures.result import Alignments, FilterSummary, Matches, Rivals, Samples, ScanPart, ScanResult

USUAL_N_RATE = 0.05  # of samples, which nobody knows yet
MANY_LETTERS = 10**10  # to look through: what it takes to make the table, once, does not count


def build_panel(
    signatures: Panel | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    strand: Strand = "+",
    max_mismatches: int = 0,
    run: Run | None = None,
) -> tuple[Panel, SeedTable]:
    """Write signatures, and the seed table that finds them, to a file that opens in milliseconds.

    Parameters
    ----------
    signatures : Panel or path
        As `read_panel` takes them. A panel that was built keeps the tables that it has.
    path : path
        The file to write, which may be the one that was read.
    strand : {'+', '-', 'both'}
    max_mismatches : int
        What the table is for. Scans with other ones make their own.
    run : Run, optional
        See `read_panel`.

    Returns
    -------
    panel : Panel
    table : SeedTable

    Raises
    ------
    ParameterError
        A value is outside its range.
    InputError
        See `read_panel`.
    OutputError
        The file cannot be written; nothing half written is left.
    """
    ScanOptions(strand=strand, max_mismatches=max_mismatches)
    panel = signatures if isinstance(signatures, Panel) else read_panel(signatures, run=run)
    patterns = panel.patterns(strand)
    table = make_table(patterns, max_mismatches, choose_head(patterns, max_mismatches, USUAL_N_RATE, MANY_LETTERS))
    tables = [(strand, table)]
    if isinstance(panel, BuiltPanel):
        others = (key for key in panel.tables.numbers if key[:2] != (strand, max_mismatches))
        tables += [(key.strand, panel.tables.read(key)) for key in others]
    write_panel(path, panel, tables)
    return panel, table


@verb
def scan(
    samples: SequenceFiles,
    panel: Panel | str | os.PathLike[str],
    options: ScanOptions | None = None,
    *,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> ScanResult:
    """Find signatures in samples.

    Parameters
    ----------
    samples : path or iterable of path
        FASTA and FASTQ files, uncompressed or compressed, in any mix; "-" is standard input.
    panel : Panel or path
        The signatures, or a file of them.
    options : ScanOptions, optional
        What counts as a match, and which matches are reported.
    engine : Engine, Device or str, optional
        Where to run: an engine, which stays open, a device, or its name as `oclgenomics.runtime.select_device` takes
        it; the default device if not given.
    run : Run, optional
        Host threads, and whom to tell how far the work is.
    executor : Executor or Spread, optional
        Who does pieces of the work, each in its own process; inputs are files then. See `oclgenomics.app.jobs.Spread`.

    Returns
    -------
    ScanResult

    Raises
    ------
    InputError
        Anything wrong with an input; samples without qualities where `min_score` needs them.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.signatures import ScanOptions, scan
    >>> found = scan("samples.fastq", "signatures.fasta", ScanOptions(strand="both"))  # doctest: +SKIP
    >>> for match in found.records():  # doctest: +SKIP
    ...     print(match["sample"], match["signature"], match["score"])
    """
    options = options or ScanOptions()
    given = panel
    panel = panel if isinstance(panel, Panel) else read_panel(panel)
    parts = list(iter_scan(samples, given if executor else panel, options, engine=engine, run=run, executor=executor))
    every = Samples.joined(part.samples.ended for part in parts)
    found = Matches.joined(part.matches for part in parts)
    if not options.alignments and options.report != "read":
        return ScanResult(panel, every, in_order(found), options)
    # All matches of a sample came together, so they are in order.
    alignments = [part.alignments for part in parts if part.alignments is not None]
    rivals = [part.rivals for part in parts if part.rivals is not None]
    return ScanResult(
        panel, every, found, options, Alignments.joined(alignments) if alignments else None,
        Rivals.joined(rivals) if rivals else None,
    )  # fmt: skip


@verb
def filter_reads(
    reads: SequenceFiles,
    panel: Panel | str | os.PathLike[str],
    output: str | os.PathLike[str],
    options: FilterOptions | None = None,
    *,
    rest: str | os.PathLike[str] | None = None,
    paired: read_files.MateFiles | None = None,
    interleaved: bool = False,
    any_mates: bool = False,
    engine: EngineLike = None,
    run: Run | None = None,
) -> FilterSummary:
    """Write the reads that any signature matches, in the order of the input; records stay as they are unless trimmed.

    Parameters
    ----------
    reads : path or iterable of path
        Files, all FASTA or all FASTQ, uncompressed or compressed; "-" is standard input, "@name" the files of a list.
    panel : Panel or path
        The signatures, or a file of them.
    output : path
        Where the reads that are kept go; blocked gzip if the name ends in .gz, "-" for standard output. A # in the
        name becomes _1 and _2 for the mates of pairs, which else follow each other.
    options : FilterOptions, optional
        What counts as a match, which reads are kept, and what of them.
    rest : path, optional
        Where all other reads go, as `output`; they are never cut.
    paired : iterable of (path, path), optional
        Files, or lists of them, of first mates and of second mates, which come after `reads`.
    interleaved : bool
        In `reads`, mates of a pair follow each other.
    any_mates : bool
        Take mates that have different names as pairs.
    engine : Engine, Device or str, optional
        See `scan`.
    run : Run, optional
        Host threads that decompress the input, and progress: bytes of the files that have been read, those of second
        mates left out.

    Returns
    -------
    FilterSummary

    Raises
    ------
    UsageError
        There are no reads, standard input is to be read twice, or an output is an input or another output.
    InputError
        Anything wrong with an input; mates that do not belong together; reads without qualities where `min_score`
        needs them.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.
    OutputError
        An output cannot be written; nothing half written is left.

    Examples
    --------
    >>> from oclgenomics.signatures import FilterOptions, Panel, ScanOptions, filter_reads
    >>> adapter = Panel.from_signatures([("adapter", "AGATCGGAAGAGC")])
    >>> options = FilterOptions(ScanOptions(max_mismatches=1), trim="after")
    >>> filter_reads("reads.fq.gz", adapter, "trimmed.fq.gz", options)  # doctest: +SKIP
    """
    options, run = options or FilterOptions(), run or Run()
    singles, pairs = file_names(reads), read_files.mate_files(paired or ())
    outputs = [os.fspath(name) for name in (output, rest) if name is not None]
    inputs = [*singles, *(name for pair in pairs for name in pair)]
    read_files.check_filter_inputs(singles, pairs)
    read_files.check_outputs([*inputs, *([] if isinstance(panel, Panel) else [os.fspath(panel)])], outputs)
    panel = panel if isinstance(panel, Panel) else read_panel(panel)
    progress = None if run.progress is None else InputProgress([*singles, *(one for one, _ in pairs)], run.progress)
    with lent_engine(engine) as engine, ExitStack() as stack:
        times = blocks_of(engine, inputs)
        finders = [stack.enter_context(Finder(engine, panel, options.of_reads, times)) for _ in range(1 + bool(pairs))]
        writers = [stack.enter_context(read_files.read_writer(name)).write for name in outputs]
        return filter_files(
            finders, panel, singles, pairs, options, writers, Run(run.threads, progress),
            block_bytes=largest_block(engine) // 2 if pairs else None, interleaved=interleaved, any_mates=any_mates,
        )  # fmt: skip


@verb
def iter_scan(
    samples: SequenceFiles,
    panel: Panel | str | os.PathLike[str],
    options: ScanOptions | None = None,
    *,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Generator[ScanPart, None, None]:
    """Find signatures in samples, block by block of the input; parameters and errors are those of `scan`.

    Yields
    ------
    ScanPart
        In the order of the input, at least one; its arrays are its own. Memory does not grow with the input.
    """
    options, run = options or ScanOptions(), run or Run()
    if executor is not None:
        job = ScanJob(tuple(file_names(samples)), path_of("panel", panel), options)
        yield from spread_over(executor, engine).parts(job, run)
        return
    panel = panel if isinstance(panel, Panel) else read_panel(panel)
    with closing(scan_parts(samples, panel, options, engine, run)) as parts:
        for part in parts:
            yield part.of_its_own()
