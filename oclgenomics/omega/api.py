"""The whole way from an input to scans: read, filter, scan. Whatever scans alignments goes this way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from oclgenomics.omega.options import ScanOptions, scan_parameters
from oclgenomics.omega.result import Scan, ScanStats
from oclgenomics.omega.sources import AlignmentSource, open_alignments
from oclgenomics.variation.read_options import ReadOptions

if TYPE_CHECKING:
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.omega.sites import Prepared
    from oclgenomics.runtime import Device, Engine
    from oclgenomics.variation.alignment import Alignment
    from oclgenomics.variation.bed import BedRegions

__all__ = ["FilteredBatch", "filter_alignment", "filtered_batches", "scan", "scan_alignment", "scan_alignments"]


def scan(
    source: AlignmentSource,
    options: ScanOptions,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    on_result: Callable[[Scan], None] | None = None,
    engine: Engine | None = None,
    device: Device | str | None = None,
    max_memory: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Generator[Scan, None, None]:
    """Scan an input for selective sweeps: one large alignment after the other, and small ones together.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        A file (ms, MaCS, FASTA or VCF, plain or packed, "-" for standard input; a tree sequence; a VCF Zarr), an
        alignment from elsewhere (`Alignment.from_haplotypes`, `Alignment.from_genotypes`), or several of them.
    options : ScanOptions
        Grid, windows and filters.
    reading : ReadOptions
        What is read of files: length of the region, format, samples, phase.
    exclude : BedRegions or path, optional
        Regions, or a BED file of them, whose sites are left out before anything else is done.
    on_alignment : callable, optional
        Called with each alignment as it was read, just before it is filtered and scanned.
    on_result : callable, optional
        Called with each scan, in the order of the input, just before it is given to the caller: for messages and
        counts beside whatever consumes the scans.
    engine : Engine, optional
        A device in use already. It stays open.
    device : Device or str, optional
        Where to run, if no engine is given; as `oclgenomics.runtime.select_device` takes it. It is opened when the
        first alignment has been read.
    max_memory : int, optional
        Bytes of device memory to use at most, if no engine is given.
    threads : int, optional
        Host threads that unpack and read the input; one per core, at most 4, if not given.
    progress : callable, optional
        Called with (grid positions done, grid positions in all) of the alignments at work.

    Yields
    ------
    Scan
        One for each chromosome or replicate, in the order of the input; one alignment (or one batch of small ones) is
        in memory at a time, or two where they are small enough to be read ahead.

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
    from oclgenomics.omega.device.scanner import OmegaScanner
    from oclgenomics.runtime import Engine

    with ExitStack() as stack:
        scanner = None if engine is None else OmegaScanner(engine)
        batches = filtered_batches(
            source, options, reading=reading, exclude=exclude, on_alignment=on_alignment, threads=threads
        )
        for batch in stack.enter_context(closing(batches)):
            if scanner is None:
                scanner = OmegaScanner(stack.enter_context(Engine(device, max_memory=max_memory)))
            results = _scan_batch(batch, options, scanner, progress)
            del batch  # before the next one is read
            for result in results:
                if on_result is not None:
                    on_result(result)
                yield result


@dataclass(frozen=True, eq=False)
class FilteredBatch:
    """Alignments that are scanned together, because they are small, or a large one alone.

    Attributes
    ----------
    prepared : sequence of Prepared
        The sites that are left of each, and what was left out.
    seconds : float
        Time it took to filter them.
    """

    prepared: Sequence[Prepared]
    seconds: float

    @property
    def alignments(self) -> list[Alignment]:
        """The sites that are left of each."""
        return [one.alignment for one in self.prepared]


def filtered_batches(
    source: AlignmentSource,
    options: ScanOptions,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: BedRegions | str | os.PathLike[str] | None = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    threads: int | None = None,
) -> Generator[FilteredBatch, None, None]:
    """Read alignments and leave out the sites that a scan does not use; parameters and errors as for `scan`.

    Yields
    ------
    FilteredBatch
        One is in memory at a time if the caller keeps none.
    """
    from oclgenomics.omega.batch import batches
    from oclgenomics.variation.bed import read_bed

    regions = read_bed(exclude) if isinstance(exclude, (str, os.PathLike)) else exclude
    with closing(open_alignments(source, reading, threads=threads)) as alignments:
        for batch in batches(alignments):
            if on_alignment is not None:
                _tell(batch, on_alignment)
            filtered = [_filter_batch(batch, options, regions)]
            del batch
            yield filtered.pop()  # the caller's alone, so that it can be gone before the next one is read


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
    return _scan_batch(_filter_batch(alignments, options, exclude), options, scanner, progress)


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
    from oclgenomics.omega.data_facts import facts_of
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
    discarded = {reason: sum(count.get(reason, 0) for count in counts) for reason in reasons}
    facts = facts_of(alignment, outside.alignment, prepared.alignment, exclude)
    return Prepared(prepared.alignment, discarded, facts)


def _tell(alignments: Sequence[Alignment], on_alignment: Callable[[Alignment], None]) -> None:
    for alignment in alignments:
        on_alignment(alignment)


def _filter_batch(alignments: Sequence[Alignment], options: ScanOptions, exclude: BedRegions | None) -> FilteredBatch:
    start = time.perf_counter()
    prepared = [filter_alignment(alignment, options, exclude) for alignment in alignments]
    return FilteredBatch(prepared, time.perf_counter() - start)


def _scan_batch(
    batch: FilteredBatch, options: ScanOptions, scanner: OmegaScanner, progress: Callable[[int, int], None] | None
) -> list[Scan]:
    """Scan filtered alignments; the seconds of each are its share, of those that the filter took, too."""
    start = time.perf_counter()
    results = scanner.scan_filtered(batch.alignments, options, progress)
    share = (batch.seconds + time.perf_counter() - start) / max(len(results), 1)
    made = scan_parameters(options)
    return [_counted(result, one, share, made) for result, one in zip(results, batch.prepared, strict=True)]


def _counted(result: Scan, prepared: Prepared, seconds: float, parameters: dict[str, Any]) -> Scan:
    """The result with what was left out, the sites of each window, what was scanned how, and the seconds it took."""
    at = prepared.alignment.positions
    counted = np.searchsorted(at, result.right, "right") - np.searchsorted(at, result.left, "left")
    sites = np.where(result.valid, counted, -1).astype(np.int64)
    stats = ScanStats(result.stats.scores, result.stats.pairs, seconds)
    return replace(
        result, discarded=prepared.discarded, window_sites=sites, stats=stats, data=prepared.data,
        parameters=parameters,
    )  # fmt: skip
