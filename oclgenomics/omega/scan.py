"""The whole way from an input to scans: read, prepare, scan."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from oclgenomics.omega.options import ScanOptions
from oclgenomics.omega.result import Scan
from oclgenomics.variation.readers.prefetch import PREFETCH_BYTES

if TYPE_CHECKING:
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.omega.sites import Prepared
    from oclgenomics.runtime import Device, Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions
    from oclgenomics.variation.phase import Phase
    from oclgenomics.variation.read_options import Format

__all__ = ["filter_alignment", "scan", "scan_alignment", "scan_alignments"]


def scan(
    source: str | os.PathLike[str] | Iterable[Alignment],
    options: ScanOptions,
    *,
    length: float | None = None,
    samples: Iterable[str] | str | os.PathLike[str] | None = None,
    format: Format | None = None,
    phase: Phase = "auto",
    threads: int | None = None,
    prefetch: int = PREFETCH_BYTES,
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Scan]:
    """Scan an input for selective sweeps: one large alignment after the other, and small ones together.

    Parameters
    ----------
    source : path or iterable of Alignment
        A file (ms, MaCS, FASTA or VCF, plain or gzip, "-" for standard input; a tree sequence; a VCF Zarr), or
        alignments from elsewhere.
    options : ScanOptions
        Grid, windows and filters.
    length : float, optional
        Length of the region in bp; ms and MaCS need it.
    samples : iterable of str, or path, optional
        Samples to keep (VCF, VCF Zarr, tree sequences), or a file with one name a line.
    format : str, optional
        The input's format; told from its content if not given.
    phase : str
        'auto' uses genotypes where calls of a VCF are not phased; 'missing' takes these calls as missing, 'strict'
        refuses them, 'ignore' takes the order of their alleles as it is.
    threads : int, optional
        Host threads that unpack and read the input; one per core, at most 4, if not given.
    prefetch : int
        While an alignment is scanned whose packed planes take fewer bytes than this, the next one of a file is read.
    exclude : BedRegions or path, optional
        Regions, or a BED file of them, whose sites are left out before anything else is done.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    progress : callable, optional
        Called with (grid positions done, grid positions in all) of the alignments at work.

    Yields
    ------
    Scan
        One for each chromosome or replicate, in the order of the input; one alignment (or one batch of small ones) is
        in memory at a time, or two where they are smaller than `prefetch`.

    Raises
    ------
    InputError
        Anything wrong with the input.
    UsageError
        Options that do not suit the input.
    DeviceError
        No such device, or not enough device memory.

    Examples
    --------
    >>> from oclgenomics.omega import ScanOptions, scan
    >>> options = ScanOptions(grid=500, minwin=1_000, maxwin=100_000)
    >>> for result in scan("chr20.vcf.gz", options):  # doctest: +SKIP
    ...     best = result.best
    ...     print(result.name, result.positions[best], result.omega[best], result.left[best], result.right[best])
    """
    from oclgenomics.omega.batch import batches
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.runtime import Engine
    from oclgenomics.variation import ReadOptions, read_alignments
    from oclgenomics.variation.bed import read_bed

    if isinstance(exclude, (str, os.PathLike)):
        exclude = read_bed(exclude)
    with ExitStack() as stack:
        if engine is None:
            engine = stack.enter_context(Engine(device, max_memory=max_memory))
        scanner = OmegaScanner(engine)
        if isinstance(source, (str, os.PathLike)):
            reading = ReadOptions(length=length, format=format, samples=samples, phase=phase)
            read = read_alignments(source, reading, threads=threads, prefetch=prefetch)
            source = stack.enter_context(closing(read))
        for batch in batches(source):
            results = scan_alignments(batch, options, scanner, progress, exclude=exclude)
            del batch  # before the next one is read
            yield from results


def scan_alignments(
    alignments: Sequence[Alignment],
    options: ScanOptions,
    scanner: OmegaScanner,
    progress: Callable[[int, int], None] | None = None,
    *,
    exclude: BedRegions | None = None,
) -> list[Scan]:
    """Filter and scan alignments as they were read, and count what was left out and the sites of each window.

    Parameters
    ----------
    alignments : sequence of Alignment
        Scanned at the same time where that is faster; results do not depend on which are.
    options : ScanOptions
    scanner : OmegaScanner
    progress : callable, optional
        Called with (grid positions done, grid positions in all).
    exclude : BedRegions, optional
        Regions whose sites are left out before anything else is done, and counted as "excluded".

    Raises
    ------
    UsageError
        Options that do not suit the input.
    DeviceError
        Not enough device memory, or a device lost on the way.
    """
    prepared = [filter_alignment(alignment, options, exclude) for alignment in alignments]
    results = scanner.scan_batch([one.alignment for one in prepared], options, progress)
    return [_counted(result, one) for result, one in zip(results, prepared, strict=True)]


def _counted(result: Scan, prepared: Prepared) -> Scan:
    """The result with what was left out, and the sites of each window."""
    at = prepared.alignment.positions
    counted = np.searchsorted(at, result.right, "right") - np.searchsorted(at, result.left, "left")
    sites = np.where(result.valid, counted, -1).astype(np.int64)
    return replace(result, discarded=prepared.discarded, window_sites=sites)


def scan_alignment(
    alignment: Alignment,
    options: ScanOptions,
    scanner: OmegaScanner,
    progress: Callable[[int, int], None] | None = None,
    *,
    exclude: BedRegions | None = None,
) -> Scan:
    """Filter and scan one alignment; see `scan_alignments`."""
    return scan_alignments([alignment], options, scanner, progress, exclude=exclude)[0]


def filter_alignment(alignment: Alignment, options: ScanOptions, exclude: BedRegions | None) -> Prepared:
    """Return the sites that a scan uses, and all that was left out on the way, the reader's counts first."""
    from oclgenomics.omega.sites import Prepared, exclude_regions, prepare

    alignment.validate()
    outside = Prepared(alignment, {}) if exclude is None else exclude_regions(alignment, exclude)
    prepared = prepare(
        outside.alignment,
        maf=options.maf,
        no_singletons=options.no_singletons,
        impute=options.impute,
        binary=options.binary,
        seed=options.seed,
        compat=options.precision == "compat",
    )
    counts = (alignment.skipped, outside.discarded, prepared.discarded)
    reasons = dict.fromkeys(reason for count in counts for reason in count)
    return Prepared(prepared.alignment, {reason: sum(count.get(reason, 0) for count in counts) for reason in reasons})
