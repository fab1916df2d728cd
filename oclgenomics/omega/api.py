"""The verbs, in the order in which a user meets them: scans, peaks, thresholds, sweeps, linkage disequilibrium.

All of them that scan go one way from an input to scans: read, filter, scan.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from oclgenomics.app.alignment_jobs import file_names, source_of
from oclgenomics.app.jobs import ExecutorLike, spread_over
from oclgenomics.app.run import EngineLike, Run, all_parts_of, lent_engine, verb
from oclgenomics.errors import ParameterError, UsageError
from oclgenomics.omega.device.scanner import OmegaScanner, Progress
from oclgenomics.omega.formats.scans import read_report
from oclgenomics.omega.jobs import (
    ScanJob,
    ScanPart,
    ThresholdJob,
    scan_batch,
    scan_parts,
)
from oclgenomics.omega.ld.map import LdMap, map_region
from oclgenomics.omega.ld.request import read_region, request_map
from oclgenomics.omega.options import LdOptions, ScanOptions
from oclgenomics.omega.result import OmegaReport, Scan, Scans, Track
from oclgenomics.omega.significance.comparable import compare
from oclgenomics.omega.significance.peaks import merge_peaks, quantile_threshold, top_threshold
from oclgenomics.omega.significance.replicates import Replicates, ReplicateScan
from oclgenomics.omega.significance.thresholds import Peaks, Significance, SweepResults, Threshold, thresholds
from oclgenomics.omega.sites.sources import filter_batch
from oclgenomics.variation import Alignment, BedRegions, ReadOptions
from oclgenomics.variation.sources import AlignmentSource, Excluded


@verb
def iter_scan(
    source: AlignmentSource,
    options: ScanOptions | None = None,
    *,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    on_result: Callable[[Scan], None] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Generator[Scan, None, None]:
    """Give the scans of an input one by one; parameters and errors as for `scan`.

    Yields
    ------
    Scan
        One alignment (or one batch of small ones) is in memory at a time, or two where they are small enough to be
        read ahead.
    """
    options, run = options or ScanOptions(), run or Run()
    parts: Generator[ScanPart, None, None]
    if executor is None:
        how: dict[str, Any] = {"reading": reading, "exclude": exclude, "on_alignment": on_alignment}
        parts = scan_parts(source, options, engine, run, **how)
    else:
        _no_callback(on_alignment)
        parts = spread_over(executor, engine).parts(ScanJob(file_names(source), options, reading, exclude), run)
    with closing(parts):
        for part in parts:
            if isinstance(part, Scan):
                if on_result is not None:
                    on_result(part)
                yield part


def _no_callback(on_alignment: Callable[[Alignment], None] | None) -> None:
    """Refuse to tell of alignments that other processes read."""
    if on_alignment is not None:
        raise ParameterError("on_alignment", "cannot be called with `executor`, whose workers read the input")


@all_parts_of(iter_scan)
def scan(scans: list[Scan]) -> Scans:
    """Scan an input for selective sweeps: one large alignment after the other, and small ones together.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        A file (ms, MaCS, FASTA or VCF, uncompressed or compressed, "-" for standard input; a tree sequence; a VCF
        Zarr), an alignment from elsewhere (`Alignment.from_haplotypes`, `Alignment.from_genotypes`), or several of
        them.
    options : ScanOptions, optional
        Grid, windows and filters.
    reading : ReadOptions
        What is read of files: length of the region, format, samples, phase, and the records of a region alone.
    exclude : BedRegions or path, optional
        Regions, or a BED file of them, whose sites are left out before anything else is done.
    on_alignment : callable, optional
        Called with each alignment as it was read, just before it is filtered and scanned.
    on_result : callable, optional
        Called with each scan, in the order of the input, as soon as it is there.
    engine : Engine, Device or str, optional
        An engine in use already, which stays open; or where to run, as `oclgenomics.runtime.select_device` takes it.
        The device is opened after the first alignment has been read, so that errors in the input come first.
    run : Run, optional
        Host threads that decompress and parse the input; and progress, called with (grid positions done, grid
        positions in all) of the alignments at work, or with `executor` (bytes done, bytes in all) of all inputs.
    executor : Executor or Spread, optional
        Who does pieces of the work, each in its own process; inputs are files then, and there is no `on_alignment`. See
        `oclgenomics.app.jobs.Spread`.

    Returns
    -------
    Scans
        A sequence of `Scan`, one for each chromosome or replicate, in the order of the input. `iter_scan` gives them
        one by one.

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
    return Scans(scans)


def scan_alignments(
    alignments: Sequence[Alignment],
    options: ScanOptions,
    scanner: OmegaScanner,
    progress: Progress | None = None,
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
    return scan_batch(filter_batch(alignments, options, exclude), options, scanner, progress)


def scan_alignment(
    alignment: Alignment,
    options: ScanOptions,
    scanner: OmegaScanner,
    progress: Progress | None = None,
    *,
    exclude: BedRegions | None = None,
) -> Scan:
    """Filter and scan one alignment; see `scan_alignments`."""
    return scan_alignments([alignment], options, scanner, progress, exclude=exclude)[0]


def find_peaks(
    tracks: Sequence[Track],
    *,
    threshold: float | Significance | None = None,
    top: int | None = None,
    quantile: float | None = None,
    fpr: float | None = None,
    merge: int = 0,
) -> Peaks:
    """Find the regions in which omega is high; one of `threshold`, `top` and `quantile` says what that is.

    A function of its arguments alone, quick and on no device, so it takes neither an engine nor a run.

    Parameters
    ----------
    tracks : sequence of Track
        All scans of an input (`scan`), or a report of them (`read_report`).
    threshold : float or Significance, optional
        Positions with a larger omega count. What neutral replicates say (`find_thresholds`, `read_thresholds`) gives
        p-values, too.
    top : int, optional
        The positions with the largest omegas count, so many of them.
    quantile : float, optional
        Positions above this quantile of all omegas count, such as 0.995.
    fpr : float, optional
        False-positive rate of the threshold from neutral replicates; the first that they were asked for if not given.
    merge : int
        Windows at most so many bp apart are one region.

    Raises
    ------
    UsageError
        Not one of the three is given, `fpr` without neutral replicates, or a value out of range; neutral replicates
        of other data or options than the scan's (`oclgenomics.omega.significance.comparable`).

    Examples
    --------
    >>> from oclgenomics.omega import find_peaks, read_report
    >>> find_peaks(read_report("chr20.tsv"), quantile=0.995).to_frame()  # doctest: +SKIP
    """
    if sum(given is not None for given in (threshold, top, quantile)) != 1:
        raise UsageError("which positions are high is for you to say: give one of `threshold`, `top` and `quantile`")
    if fpr is not None and not isinstance(threshold, Significance):
        raise ParameterError("fpr", "has no effect without a `threshold` from neutral replicates")
    maxima = compared = None
    if isinstance(threshold, Significance):
        compared = compare(threshold, tracks)
        (chosen,) = threshold.thresholds[:1] if fpr is None else thresholds(threshold.maxima.omega, [fpr])
        omega, maxima, fpr = chosen.omega, threshold.maxima, chosen.fpr
    elif top is not None:
        omega = top_threshold(tracks, top)
    elif quantile is not None:
        omega = quantile_threshold(tracks, quantile)
    else:
        assert threshold is not None
        omega = threshold
    return Peaks(tuple(merge_peaks(tracks, omega, merge)), omega, maxima, fpr, compared)


@verb
def find_thresholds(
    source: AlignmentSource,
    options: ScanOptions | None = None,
    *,
    fpr: Sequence[float] = (0.05,),
    length: int | None = None,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> Significance:
    """Scan neutral replicates and find the omegas that a neutral alignment exceeds with given probabilities.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        The replicates: a file, or alignments such as `oclgenomics.simulate.NeutralReplicates` gives.
    options : ScanOptions, optional
        Those of the scan whose peaks are judged.
    fpr : sequence of float
        False-positive rates per replicate, each between 0 and 1.
    length : int, optional
        Of a replicate, bp, for the record; that of `reading` if not given.
    reading, exclude, on_alignment, engine
        As for `scan`.
    run : Run, optional
        As for `scan`; progress is called with (replicates that have come, None).
    executor : Executor or Spread, optional
        As for `scan`; besides files, workers take `oclgenomics.simulate.NeutralReplicates`, each of which they simulate
        themselves.

    Raises
    ------
    UsageError
        A rate outside its range, or too small for so few replicates; options that do not suit the replicates.
    InputError, DeviceError
        As for `scan`.

    Examples
    --------
    >>> from oclgenomics.omega import ScanOptions, find_thresholds
    >>> from oclgenomics.simulate import NeutralReplicates, Region
    >>> options = ScanOptions(grid=100, minwin=1_000, maxwin=20_000)
    >>> neutral = NeutralReplicates(Region(50, 100_000, 10_000, theta=50, rho=50), 1, 1_000)
    >>> found = find_thresholds(neutral, options, fpr=(0.05, 0.01))  # doctest: +SKIP
    >>> found.p_values(12.5)  # doctest: +SKIP
    """
    options = options or ScanOptions()
    found = _replicates(source, options, reading, exclude, on_alignment, engine, run, executor)
    return found.significance(options, fpr, reading.length if length is None else length)


@verb
def detect_sweeps(
    source: AlignmentSource,
    options: ScanOptions | None = None,
    thresholds: Sequence[Threshold] = (),
    *,
    site: int,
    within: int | None = None,
    reading: ReadOptions = ReadOptions(),
    exclude: Excluded = None,
    on_alignment: Callable[[Alignment], None] | None = None,
    engine: EngineLike = None,
    run: Run | None = None,
    executor: ExecutorLike = None,
) -> SweepResults:
    """Scan replicates with a sweep at a known site, and count those that exceed each threshold.

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        The replicates, of the length of the neutral ones.
    options : ScanOptions, optional
        Those of the neutral replicates.
    thresholds : sequence of Threshold
        Of neutral replicates; see `find_thresholds`.
    site : int
        True position of the selected site, bp.
    within : int, optional
        Greatest distance from it, in bp, of a detection in the right place.
    reading, exclude, on_alignment, engine, run, executor
        As for `find_thresholds`.

    Raises
    ------
    InputError, UsageError, DeviceError
        As for `scan`.
    """
    found = _replicates(source, options or ScanOptions(), reading, exclude, on_alignment, engine, run, executor)
    return found.sweep_results(thresholds, site, within)


def _replicates(
    source: AlignmentSource,
    options: ScanOptions,
    reading: ReadOptions,
    exclude: Excluded,
    on_alignment: Callable[[Alignment], None] | None,
    engine: EngineLike,
    run: Run | None,
    executor: ExecutorLike,
) -> Replicates:
    """Scan replicates and keep the largest omega of each; progress tells how many have been read or simulated."""
    run = run or Run()
    if executor is None:
        parts = ThresholdJob(source, options, reading, exclude).parts(engine, run, on_alignment=on_alignment)
    else:
        _no_callback(on_alignment)
        job = ThresholdJob(source_of(source), options, reading, exclude)
        parts = spread_over(executor, engine).parts(job, run)
    with closing(parts):
        return Replicates.of(part for part in parts if isinstance(part, ReplicateScan))


@verb
def ld_around_peak(
    source: AlignmentSource,
    options: LdOptions | None = None,
    *,
    reading: ReadOptions | None = None,
    exclude: Excluded = None,
    engine: EngineLike = None,
    run: Run | None = None,
) -> LdMap:
    """Compute r2 between all sites around a peak of a scan, or of a region.

    For more of the values than means and a picture, take its three steps: `request_map` settles what is read,
    `read_region` reads it, and `map_region` gives each block of values away (`oclgenomics.omega.ld`).

    Parameters
    ----------
    source : path, Alignment, or iterable of both
        What was scanned.
    options : LdOptions
        The scan's report or a region, one of which has to be given.
    reading : ReadOptions, optional
        What is read of a file; as the scan's report says if not given, and nothing else where it says something.
    exclude : BedRegions or path, optional
        Regions whose sites are left out; those of the report if not given.
    engine : Engine, Device or str, optional
        As for `scan`.
    run : Run, optional
        As for `scan`; progress is called with (sites done, sites in all).

    Raises
    ------
    UsageError
        Parameters that contradict each other or the report, or a region of too many sites.
    InputError
        Anything wrong with the input or the report, or they do not belong together.
    DeviceError
        No such device, or not enough device memory.

    Examples
    --------
    >>> from oclgenomics.omega import LdOptions, ld_around_peak
    >>> found = ld_around_peak("chr20.vcf.gz", LdOptions(scan="scan.tsv"))  # doctest: +SKIP
    >>> found.to_frame()  # doctest: +SKIP
    """
    options, run = options or LdOptions(), run or Run()
    given: dict[str, Any] = {"exclude": exclude}
    if reading is not None:
        given |= {"length": reading.length, "input_format": reading.format}
        given |= {"samples": reading.samples, "phase": reading.phase, "region": reading.region}
    report = options.scan
    if report is not None and not isinstance(report, OmegaReport):
        report = read_report(report)
    request = request_map(options, report, given)
    region = read_region(source, request, threads=run.threads)
    with lent_engine(engine) as opened:
        return map_region(region, request, opened, progress=run.progress)
