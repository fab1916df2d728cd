"""The whole way from signals of reads to their best alignments with references."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.device.staged import StagedReads, reads_together
from oclgenomics.sdtw.device.starts import StartFinder
from oclgenomics.sdtw.found import PrefixAligner
from oclgenomics.sdtw.options import AlignOptions, check_prefixes
from oclgenomics.sdtw.prefix_blocks import PrefixBlock, block_reads, prefix_blocks
from oclgenomics.sdtw.read_kind import KindCheck
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.sources import References, SignalSource, looked_into, open_references, signal_blocks
from oclgenomics.signals import TrimOptions

__all__ = ["align", "align_block", "align_parts"]


def align(
    signals: SignalSource,
    references: References,
    options: AlignOptions = AlignOptions(),
    *,
    prefixes: Sequence[int] = (1000, 2000),
    starts: bool = False,
    trim: TrimOptions | None = TrimOptions(),
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Alignments:
    """Align the beginnings of reads with references.

    Parameters
    ----------
    signals : Signals, path, or iterable of Signals or of paths
        Reads.
    references : Squiggle, path, or iterable of either
        Files are those of `write_squiggle`.
    options : AlignOptions
        How signals are compared.
    prefixes : sequence of int
        How many samples of each read are aligned, ascending; each prefix is aligned by itself.
    starts : bool
        Find where alignments start, too.
    trim : TrimOptions, optional
        What to leave out before, of reads in files: the adapter and its stall, if not given; None leaves out nothing.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files.

    Returns
    -------
    Alignments
        Of all reads in their order. A read that is shorter than a prefix has no cost there.

    Raises
    ------
    ParameterError
        Prefixes do not ascend, or are shorter than a row; two references have one name, or one is DNA and one RNA.
    UsageError
        Reads say that they are of another pore or molecule, or have another rate, than the references are for.
    InputError
        Anything wrong with an input.
    DeviceError
        There is no such device, its memory is too small, or it was lost on the way.

    Examples
    --------
    >>> from oclgenomics.sdtw import align
    >>> found = align("reads.blow5", "lambda.sdtw", prefixes=(1000, 2000))  # doctest: +SKIP
    >>> found.to_frame()  # doctest: +SKIP
    """
    parts = align_parts(
        signals, references, options, prefixes=prefixes, starts=starts, trim=trim, engine=engine, device=device,
        max_memory=max_memory, progress=progress,
    )  # fmt: skip
    return Alignments.joined(list(parts))


def align_parts(
    signals: SignalSource,
    references: References,
    options: AlignOptions = AlignOptions(),
    *,
    prefixes: Sequence[int] = (1000, 2000),
    starts: bool = False,
    trim: TrimOptions | None = TrimOptions(),
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Progress | None = None,
) -> Generator[Alignments, None, None]:
    """Align reads, some at a time; parameters and errors are those of `align`.

    Yields
    ------
    Alignments
        In the order of the reads, at least one. Memory does not grow with the input.
    """
    lengths = checked_prefixes(prefixes, options)
    opened = open_references(references)
    signals, from_files = looked_into(signals)
    check = KindCheck(opened, warn=from_files)
    with ExitStack() as stack:
        engine = stack.enter_context(lent_engine(engine, device, max_memory))
        aligner = Aligner(engine, opened, options)
        finder = StartFinder(engine, opened, options) if starts else None
        blocks = signal_blocks(signals, trim=trim, progress=progress)
        reads = reads_together(aligner, block_reads(lengths[-1]))
        for block in prefix_blocks(check.checked(stack.enter_context(closing(blocks))), lengths[-1], reads):
            found = align_block(aligner, block, lengths, finder)
            yield replace(found, trim=trim if from_files else "unknown", reads=check.kind)


def checked_prefixes(prefixes: Sequence[int], options: AlignOptions) -> tuple[int, ...]:
    """Return prefixes that can be aligned; see `check_prefixes` and `AlignOptions.rows` for what is refused."""
    lengths = check_prefixes(prefixes)
    options.rows(lengths[0])
    return lengths


def align_block(
    aligner: PrefixAligner, block: PrefixBlock, prefixes: tuple[int, ...], finder: StartFinder | None = None
) -> Alignments:
    """Align each prefix of the reads of a block that are long enough for it; with a finder, find where they start."""
    signals = block.signals
    found = Alignments.none(aligner.references, prefixes, signals.names, block.samples, aligner.options)
    staged = StagedReads(aligner, len(signals))
    for number, prefix in enumerate(prefixes):
        enough = np.flatnonzero(signals.lengths >= prefix)
        if len(enough):
            best = staged.align(signals.samples, signals.starts[enough], prefix, enough, np.zeros_like(enough))
            found.cost[enough, number] = best.cost
            found.column[enough, number] = best.column
    return found if finder is None else replace(found, start=_starts(finder, block, found))


def _starts(finder: StartFinder, block: PrefixBlock, found: Alignments) -> NDArray[np.int64]:
    """Where the alignments start that were found."""
    start = np.full_like(found.column, -1)
    signals = block.signals
    for number, prefix in enumerate(found.prefixes):
        for reference in range(len(found.references)):
            there = np.flatnonzero(found.column[:, number, reference] >= 0)
            start[there, number, reference] = finder.find(
                signals.samples,
                signals.starts[there],
                prefix,
                np.full(len(there), reference),
                found.column[there, number, reference],
            )
    return start
