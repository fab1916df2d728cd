"""The whole way from files of samples to the matches of signatures in them."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack, closing

from oclgenomics.errors import InputError
from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sequence.files import SequenceFiles, file_names
from oclgenomics.sequence.letters import LetterBlock, letter_blocks
from oclgenomics.signatures.device.encode import Encoder
from oclgenomics.signatures.device.patterns import DevicePatterns
from oclgenomics.signatures.edit_scan import EditScan
from oclgenomics.signatures.joining import PartJoiner, in_order
from oclgenomics.signatures.match_scan import MatchScan
from oclgenomics.signatures.options import ScanOptions
from oclgenomics.signatures.panel import Panel
from oclgenomics.signatures.result import Matches, Samples, ScanPart, ScanResult
from oclgenomics.signatures.source import read_panel

__all__ = ["scan", "scan_parts"]


def scan(
    samples: SequenceFiles,
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
        FASTA and FASTQ files, plain or packed, in any mix; "-" is standard input.
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
    samples: SequenceFiles,
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
        engine = stack.enter_context(lent_engine(engine, device, max_memory))
        on_device = DevicePatterns.upload(engine, patterns, options)
        finder = (EditScan if options.max_edits else MatchScan)(engine, on_device, options)
        overlap = int(patterns.lengths.max()) + options.max_edits - 1
        blocks = letter_blocks(
            engine, file_names(samples), overlap=overlap, may_be_empty=True, threads=threads, progress=progress
        )
        encoder = Encoder(engine)
        joiner = PartJoiner(options.report)
        given = False
        for block in stack.enter_context(closing(blocks)):
            _check_qualities(block, options)
            for rows, matches in finder.parts(encoder.encode(block)):
                yield joiner.add(rows, matches)
                given = True
        if not given:
            yield ScanPart(Samples.none(), Matches.none())


def _check_qualities(block: LetterBlock, options: ScanOptions) -> None:
    if options.min_score > 0 and block.pieces.qualities is None:
        raise InputError("is FASTA, which has no qualities that `min_score` could look at", source=block.source)
