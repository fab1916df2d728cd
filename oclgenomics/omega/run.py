"""The whole way from an input to scans: read, prepare, scan."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np

from oclgenomics.omega.options import Scan, ScanOptions

if TYPE_CHECKING:
    from oclgenomics.formats.alignment import Alignment
    from oclgenomics.formats.bed import BedRegions
    from oclgenomics.omega.engine import OmegaScanner
    from oclgenomics.runtime import Device, Engine

__all__ = ["scan", "scan_alignment"]


def scan(
    source: str | os.PathLike[str] | Iterable[Alignment],
    options: ScanOptions,
    *,
    length: float | None = None,
    samples: Iterable[str] | str | os.PathLike[str] | None = None,
    format: str | None = None,
    phase: str = "auto",
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Scan]:
    """Scan an input for selective sweeps, one alignment after the other.

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
        'auto' uses genotypes where a VCF is not phased; 'ignore' takes the order of its alleles as it is.
    exclude : BedRegions or path, optional
        Regions, or a BED file of them, whose sites are left out before anything else is done.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    progress : callable, optional
        Called with (grid positions done, grid positions in all) of the alignment at work.

    Yields
    ------
    Scan
        One for each chromosome or replicate, in the order of the input; only one alignment is in memory at a time.

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
    from oclgenomics.formats import read_alignments
    from oclgenomics.formats.bed import read_bed
    from oclgenomics.omega.engine import OmegaScanner
    from oclgenomics.runtime import Engine

    if isinstance(exclude, (str, os.PathLike)):
        exclude = read_bed(exclude)
    with ExitStack() as stack:
        if engine is None:
            engine = stack.enter_context(Engine(device, max_memory=max_memory))
        scanner = OmegaScanner(engine)
        if isinstance(source, (str, os.PathLike)):
            source = read_alignments(source, length=length, format=format, samples=samples, phase=phase)
        for alignment in source:
            result = scan_alignment(alignment, options, scanner, progress, exclude=exclude)
            del alignment  # before the next one is read
            yield result


def scan_alignment(
    alignment: Alignment,
    options: ScanOptions,
    scanner: OmegaScanner,
    progress: Callable[[int, int], None] | None = None,
    *,
    exclude: BedRegions | None = None,
) -> Scan:
    """Filter and scan one alignment as it was read, and count what was left out and the sites of each window.

    Parameters
    ----------
    alignment : Alignment
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
    from oclgenomics.omega.sites import Prepared, exclude_regions, prepare

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
    result = scanner.scan(prepared.alignment, options, progress)
    counts = (alignment.skipped, outside.discarded, prepared.discarded)
    reasons = dict.fromkeys(reason for count in counts for reason in count)
    result.discarded = {reason: sum(count.get(reason, 0) for count in counts) for reason in reasons}
    at = prepared.alignment.positions
    counted = np.searchsorted(at, result.right, "right") - np.searchsorted(at, result.left, "left")
    result.window_sites = np.where(result.valid, counted, -1).astype(np.int64)
    return result
