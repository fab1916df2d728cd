"""The whole way from files of samples to the matches of signatures in them."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing

import numpy as np
from numpy.typing import NDArray

from oclgenomics.errors import InputError
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine
from oclgenomics.sequence.letter_blocks import LetterBlock, letter_blocks
from oclgenomics.signatures.device.describe import describe
from oclgenomics.signatures.device.encode import Encoder
from oclgenomics.signatures.device.found import FoundStarts
from oclgenomics.signatures.device.methods import Methods
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.device.samples import SampleLetters
from oclgenomics.signatures.edit_scan import EditScan
from oclgenomics.signatures.joining import PartJoiner, in_order, rows_of_part
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.plan import parts_of_pairs
from oclgenomics.signatures.result import Matches, Samples, ScanPart, ScanResult
from oclgenomics.signatures.source import read_panel

__all__ = ["SampleFiles", "scan", "scan_parts"]

SampleFiles = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def scan(
    samples: SampleFiles,
    panel: Panel | str | os.PathLike[str],
    options: ScanOptions = ScanOptions(),
    *,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ScanResult:
    """Find signatures in samples.

    Parameters
    ----------
    samples : path or iterable of path
        FASTA and FASTQ files, plain or gzip, in any mix; "-" is standard input.
    panel : Panel or path
        The signatures, or a file of them.
    options : ScanOptions
        What counts as a match, and which matches are reported.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack the input; at most 4 if not given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the file at work.

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
    panel = panel if isinstance(panel, Panel) else read_panel(panel)
    parts = list(
        scan_parts(
            samples, panel, options, engine=engine, device=device, max_memory=max_memory, threads=threads,
            progress=progress,
        )
    )  # fmt: skip
    every = Samples.joined([part.samples.take(part.samples.ends) for part in parts])
    return ScanResult(panel, every, in_order(Matches.joined([part.matches for part in parts])), options)


def scan_parts(
    samples: SampleFiles,
    panel: Panel | str | os.PathLike[str],
    options: ScanOptions = ScanOptions(),
    *,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Generator[ScanPart, None, None]:
    """Find signatures in samples, block by block of the input; parameters and errors are those of `scan`.

    Yields
    ------
    ScanPart
        In the order of the input, at least one. Memory does not grow with the input.
    """
    panel = panel if isinstance(panel, Panel) else read_panel(panel)
    patterns = panel.patterns(options.strand)
    with ExitStack() as stack:
        engine = stack.enter_context(Engine(device, max_memory=max_memory)) if engine is None else engine
        on_device = DevicePatterns.upload(engine, patterns, options)
        methods = Methods(engine, on_device, options.method)
        edits = EditScan(engine, on_device, options) if options.max_edits else None
        overlap = int(patterns.lengths.max()) + options.max_edits - 1
        blocks = letter_blocks(engine, _paths(samples), overlap=overlap, threads=threads, progress=progress)
        encoder = Encoder(engine)
        joiner = PartJoiner(options.report)
        for block in stack.enter_context(closing(blocks)):
            _check_qualities(block, options)
            encoded = encoder.encode(block)
            if edits is not None:
                yield joiner.add(_piece_rows(encoded), edits.matches(encoded))
                continue
            for rows, matches in _parts(engine, encoded, on_device, methods, options):
                yield joiner.add(rows, matches)


def _paths(samples: SampleFiles) -> list[str]:
    paths = [samples] if isinstance(samples, (str, os.PathLike)) else samples
    return [os.fspath(path) for path in paths]


def _check_qualities(block: LetterBlock, options: ScanOptions) -> None:
    if options.min_score > 0 and block.pieces.qualities is None:
        raise InputError("is FASTA, which has no qualities that `min_score` could look at", source=block.source)


def _piece_rows(samples: SampleLetters) -> Samples:
    """What is told of the pieces of a block as rows of samples."""
    block, pieces = samples.block, samples.block.pieces
    count = len(pieces)
    names = np.array([*block.names, ""], object)
    begun = pieces.record - block.first
    return Samples(
        pieces.record,
        np.where(begun >= 0, names[np.clip(begun, -1, len(names) - 1)], ""),
        np.full(count, block.source, object),
        pieces.owned.astype(np.int64),
        samples.ns,
        samples.ambiguous,
        np.full(count, samples.has_qualities),
        samples.quality_sum,
        np.zeros(count, np.int64),
        pieces.ends,
        samples.least_quality,
    )


def _parts(
    engine: Engine, samples: SampleLetters, patterns: DevicePatterns, methods: Methods, options: ScanOptions
) -> Iterator[tuple[Samples, Matches]]:
    """The pieces and matches of a block: at once where each pair has one match, else as many as memory takes."""
    rows, pairs = _piece_rows(samples), methods.pairs(samples)
    if options.report != "all":
        starts = FoundStarts(pairs.piece, pairs.pattern, pairs.best if options.report == "best" else pairs.first)
        yield rows, _rows(engine, samples, patterns, starts, pairs.hits.astype(np.int64))
        return
    for part in parts_of_pairs(pairs.piece, pairs.hits, len(rows)):
        starts = methods.starts(samples, pairs.part(part.begin, part.end))
        matches = _rows(engine, samples, patterns, starts, np.ones(len(starts), np.int64))
        yield rows_of_part(rows, part.first_piece, part.end_piece, again=part.again, goes_on=part.goes_on), matches


def _rows(
    engine: Engine,
    samples: SampleLetters,
    patterns: DevicePatterns,
    found: FoundStarts,
    hits: NDArray[np.int64],
) -> Matches:
    facts = describe(engine, samples, patterns, found)
    pieces, known = samples.block.pieces, patterns.patterns
    start = pieces.start[found.piece] + found.start
    return Matches(
        pieces.record[found.piece],
        known.signature[found.pattern],
        known.strand[found.pattern],
        start,
        start + known.lengths[found.pattern],
        hits,
        facts.mismatches.astype(np.int32),
        np.full(len(found), samples.has_qualities),
        facts.quality_sum,
        facts.informative,
        facts.sample_ns,
        facts.pattern_ns,
        facts.error_units,
    )
