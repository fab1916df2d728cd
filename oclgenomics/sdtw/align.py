"""The whole way from signals of reads to their best alignments with references."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, closing
from typing import Any

import numpy as np

from oclgenomics.io.source import Progress
from oclgenomics.runtime import Device, Engine, lent_engine
from oclgenomics.sdtw.found import PrefixAligner
from oclgenomics.sdtw.options import AlignOptions, check_prefixes
from oclgenomics.sdtw.prefix_blocks import PrefixBlock, block_reads, prefix_blocks
from oclgenomics.sdtw.result import Alignments
from oclgenomics.sdtw.sources import References, SignalSource, open_references, signal_blocks
from oclgenomics.signals import Signals

__all__ = ["align", "align_block", "align_blocks", "align_parts"]


def align(
    signals: SignalSource,
    references: References,
    options: AlignOptions = AlignOptions(),
    *,
    prefixes: Sequence[int] = (1000, 2000),
    trim: Any = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
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
    trim : optional
        What to leave out before, of reads in files; as `oclgenomics.signals.read_signals` takes it.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that read files.
    progress : callable, optional
        Called with (bytes read, bytes in all) of the files.

    Returns
    -------
    Alignments
        Of all reads in their order. A read that is shorter than a prefix has no cost there.

    Raises
    ------
    ParameterError
        Prefixes do not ascend, or are shorter than an average; two references have one name, or one is DNA and one RNA.
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
    opened = open_references(references)
    parts = align_parts(
        signals, opened, options, prefixes=prefixes, trim=trim, engine=engine, device=device, max_memory=max_memory,
        threads=threads, progress=progress,
    )  # fmt: skip
    nothing = Alignments.none(opened, check_prefixes(prefixes), np.empty(0, object), np.empty(0, np.int64), options)
    return Alignments.joined([nothing, *parts])


def align_parts(
    signals: SignalSource,
    references: References,
    options: AlignOptions = AlignOptions(),
    *,
    prefixes: Sequence[int] = (1000, 2000),
    trim: Any = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Generator[Alignments, None, None]:
    """Align reads, some at a time; parameters and errors are those of `align`.

    Yields
    ------
    Alignments
        In the order of the reads; none if there are no reads. Memory does not grow with the input.
    """
    from oclgenomics.sdtw.device.aligner import Aligner

    lengths = check_prefixes(prefixes)
    options.rows(lengths[0])  # tells a prefix that is too short before anything is opened
    opened = open_references(references)
    with ExitStack() as stack:
        engine = stack.enter_context(lent_engine(engine, device, max_memory))
        aligner = Aligner(engine, opened, options)
        blocks = signal_blocks(signals, trim=trim, threads=threads, progress=progress)
        yield from align_blocks(aligner, stack.enter_context(closing(blocks)), lengths, block_reads(lengths[-1]))


def align_blocks(
    aligner: PrefixAligner, blocks: Iterable[Signals], prefixes: tuple[int, ...], reads: int
) -> Generator[Alignments, None, None]:
    """Align blocks of reads, `reads` at a time."""
    for block in prefix_blocks(blocks, prefixes[-1], reads):
        yield align_block(aligner, block, prefixes)


def align_block(aligner: PrefixAligner, block: PrefixBlock, prefixes: tuple[int, ...]) -> Alignments:
    """Align each prefix of the reads of a block that are long enough for it."""
    signals = block.signals
    found = Alignments.none(aligner.references, prefixes, signals.names, block.samples, aligner.options)
    for number, rows in enumerate(prefixes):
        enough = np.flatnonzero(signals.lengths >= rows)
        if len(enough):
            best = aligner.align(signals.samples, signals.starts[enough], rows)
            found.cost[enough, number] = best.cost
            found.column[enough, number] = best.column
    return found
